"""A lazy terminal's quick answer is never another than its regex would give, and usual texts get one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.grammar import REGEX_FLAGS
from trtforensics.parsers.lines.lazy import LazyText

_REGEXES = sorted({s.regex for layout in tables.layouts() for s in layout.segments if LazyText.of(s.regex)})


def _lazy(regex: str) -> LazyText:
    lazy = LazyText.of(regex)
    assert lazy is not None
    return lazy


def _surely_takes(lazy: LazyText, line: bytes, end: int, begin: int = 0) -> bool:
    """Ask about one text."""
    (taken,) = lazy.surely_takes(line, [begin], [end], [len(line)])
    return taken


@pytest.mark.parametrize(
    ("regex", "text"),
    [
        (r"((?>.+?(?=, Tactic: (?:0x[0-9a-f]+|-?[0-9]+), )))", b"conv1 + relu1|, Tactic: 0x1, out"),
        (r"((?>(?!Set Tactic Name: ).+?(?= Set Tactic Name: )))", b"conv1| Set Tactic Name: sm80"),
        (r"((?>.+?(?= for ONNX node: | required by ONNX-TRT$)))", b"conv1| for ONNX node: conv1"),
        (r"(?>.+?(?= version ))", b"BatchTilePlugin_TRT| version 1"),
    ],
)
def test_a_usual_text_is_surely_taken(regex: str, text: bytes) -> None:
    name, rest = text.split(b"|")
    assert _surely_takes(_lazy(regex), name + rest, len(name))


def test_the_beginning_of_what_follows_inside_the_text_is_for_the_regex() -> None:
    line = b"a [b] inputs [Conv] inputs:"
    lazy = _lazy(r"((?>.+?(?= \[[A-Za-z0-9_.:]+\] inputs:(?: |$))))")
    assert not _surely_takes(lazy, line, len(b"a [b] inputs"))


def test_what_must_not_stand_at_the_beginning_is_looked_at() -> None:
    line = b"Set Tactic Name: x Set Tactic Name: y"
    assert not _surely_takes(_lazy(r"((?>(?!Set Tactic Name: ).+?(?= Set Tactic Name: )))"), line, 18)


@pytest.mark.parametrize("regex", [r"((?>.+(?= x$)))", r"((?>[^ ]+))", r"((?>.+?(?=[a-z])))", r"((?>.+?(?=a?b)))", "x"])
def test_other_terminals_have_no_quick_answer(regex: str) -> None:
    assert LazyText.of(regex) is None


_pieces = st.sampled_from(
    [
        *("a", " ", "[", "(", ": ", " with ", " Host Persistent: ", ", Tactic: 0x1, ", " [Conv] inputs:", " version "),
        *(" for ONNX node: ", " required by ONNX-TRT", " Set Tactic Name: "),
        " (R[0x80000001]) profiling completed in ",
    ]
)


@given(st.lists(_pieces, min_size=2, max_size=8), st.integers(0, 3))
def test_quick_answers_are_the_regexes(pieces: list[str], begin: int) -> None:
    line = "".join(pieces).encode()
    ends = [end for end in (len("".join(pieces[:count])) for count in range(1, len(pieces))) if begin < end]
    for regex in _REGEXES:
        alone = re.compile(regex.encode("latin-1"), REGEX_FLAGS).match(line, begin)
        taken = _lazy(regex).surely_takes(line, [begin] * len(ends), ends, [len(line)] * len(ends))
        for end in (end for end, sure in zip(ends, taken, strict=True) if sure):
            assert alone is not None
            assert alone.end() == end
