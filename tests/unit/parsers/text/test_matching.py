"""Which lines match: every strategy against one line at a time."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.parsers.text import text as log_text
from trtforensics.parsers.text.text import LineMatcher, LogText
from trtforensics.parsers.text.windows import Window


def text_of(*windows: list[str]) -> LogText:
    text = LogText()
    first, offset = 1, 0
    for lines in windows:
        data = "".join(f"{line}\n" for line in lines).encode()
        text.append(Window(first, offset, data))
        first, offset = first + len(lines), offset + len(data)
    return text


def found(text: LogText, matcher: LineMatcher) -> list[int]:
    return [int(number) for some in text.matches(matcher) for number in some]


LINES = st.lists(st.text(st.sampled_from("aAb.Ü ü(\t"), max_size=6), min_size=1, max_size=8)
PATTERNS = st.sampled_from(["a", "A", "ü", "Ü", ".", "a.b", "^a", "b$", r"\s", r"\S", "", "a|b", "[^a]", "(a)?b"])


@given(windows=st.lists(LINES, min_size=1, max_size=3), text=PATTERNS, regex=st.booleans(), size=st.integers(1, 9))
def test_lines_match_as_each_would_alone(windows: list[list[str]], text: str, regex: bool, size: int) -> None:  # noqa: FBT001 - drawn
    matcher = LineMatcher(text, regex)
    lines = [line for window in windows for line in window]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(log_text, "SLICE", size)
        got = found(text_of(*windows), matcher)
    if regex and not text.isascii():
        return  # a class of bytes knows no letters beyond ASCII
    if regex and text in {".", "[^a]", r"\S"}:
        assert set(got) <= set(range(1, len(lines) + 1))
    assert got == [number for number, line in enumerate(lines, 1) if matcher.pattern.search(line)]


def test_no_match_goes_over_the_end_of_a_line() -> None:
    assert found(text_of(["a", "b", "a b"]), LineMatcher(r"a\s+b", regex=True)) == [3]


def test_a_capital_makes_case_count_but_not_in_a_class() -> None:
    text = text_of(["Tactic", "tactic"])
    assert found(text, LineMatcher("tactic")) == [1, 2]
    assert found(text, LineMatcher("Tactic")) == [1]
    assert found(text, LineMatcher(r"\Stactic|^tactic", regex=True)) == [1, 2]


def test_an_invalid_expression_raises_where_it_is_compiled() -> None:
    with pytest.raises(re.error):
        _ = LineMatcher("a(", regex=True).pattern
