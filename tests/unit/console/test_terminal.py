"""What reaches a terminal: nothing it would obey, and colour only where it is wanted."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.console.terminal import visible, wants_colour


class Screen(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        """Say so."""
        return True


@given(st.text())
def test_nothing_that_a_terminal_obeys_comes_out(text: str) -> None:
    categories = {unicodedata.category(character) for character in visible(text)}
    assert categories.isdisjoint({"Cc", "Cf", "Cs", "Zl", "Zp"})


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))))
def test_what_a_terminal_only_shows_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text())
def test_what_is_visible_stays_so(text: str) -> None:
    assert visible(visible(text)) == visible(text)


@for_each(
    ("character", "shown"),
    [
        ("\x00", "␀"),
        ("\x1b", "␛"),
        ("\x1e", "␞"),
        ("\n", "␊"),
        ("\r", "␍"),
        ("\x7f", "␡"),
        ("\t", "    "),
        ("\x9b", "\ufffd"),
        ("\u202e", "\ufffd"),
        ("\u200b", "\ufffd"),
        ("\u2028", "\ufffd"),
        ("\udcff", "\ufffd"),
    ],
)
def test_each_control_character_has_a_sign(character: str, shown: str) -> None:
    assert visible(f"a{character}b") == f"a{shown}b"


@for_each(
    ("raw", "shown"),
    [
        ("plain [text] ü 漢", "plain [text] ü 漢"),
        ("\x1b[31m", "␛[31m"),
        ("a\x1eb\x00c\x7f", "a␞b␀c␡"),
        ("a\tb", "a    b"),
        ("\x9b31m\u202eevil\u200b\ud800", "�31m�evil��"),
        ("one\u2028two\r", "one�two␍"),
    ],
)
def test_nothing_a_terminal_obeys_survives(raw: str, shown: str) -> None:
    assert visible(raw) == shown


@pytest.mark.parametrize(
    ("stream", "environment", "wanted"),
    [
        (Screen(), {}, True),
        (Screen(), {"NO_COLOR": ""}, True),
        (Screen(), {"NO_COLOR": "0"}, False),
        (Screen(), {"TERM": "dumb"}, False),
        (io.StringIO(), {}, False),
        (None, {}, False),
        (io.StringIO(), {"FORCE_COLOR": "1"}, True),
        (Screen(), {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        (Screen(), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (io.StringIO(), {"FORCE_COLOR": ""}, False),
        (None, {"FORCE_COLOR": "1"}, False),
    ],
    ids=["terminal", "NO_COLOR empty", "NO_COLOR", "dumb", "pipe", "closed", *(f"forced {n}" for n in range(5))],
)
def test_colour_is_for_terminals_unless_no_color_is_set(
    stream: io.StringIO | None,
    environment: dict[str, str],
    wanted: bool,  # noqa: FBT001 - a column of the table
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert wants_colour(stream) is wanted
