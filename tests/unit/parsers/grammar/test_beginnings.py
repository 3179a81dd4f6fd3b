"""How every text begins that a regex matches."""

from __future__ import annotations

from tests.support.for_each import for_each
from trtforensics.parsers.grammar.patterns import beginnings_of

_UNKNOWN = ("",)


@for_each(
    ("regex", "texts"),
    [
        ("abcdefghij", ("abcdefgh",)),
        ("(?:a|b)?c", ("ac", "bc", "c")),
        ("(?>a|b(?:c|d))e", ("ae", "bce", "bde")),
        ("(?:ab|c)+d", ("ab", "c")),  # what follows a repetition is of no certain place
        ("a{2}b", ("a",)),
        ("a{0,2}b", ("a", "b")),
        ("a*b", ("a", "b")),
        ("(?=x(?:y|z))ab", ("ab",)),
        ("[ab]c", ("ac", "bc")),
        ("[^\\x00-\\x7e]x", _UNKNOWN),  # bytes beyond ASCII are characters too
        ("(?i:ab)c", _UNKNOWN),
        (r"\d", _UNKNOWN),
        ("a|.b", _UNKNOWN),
        (r"\(a\)", ("(a)",)),
        ("(?:    )+ *a b", ("a b",)),  # blanks in front do not count
        ("ab +c", ("ab ",)),
        (r"(?:\ x\ )? *y", _UNKNOWN),  # the blanks behind nothing are in front, those behind x are not
    ],
)
def test_what_a_regex_begins_with(regex: str, texts: tuple[str, ...]) -> None:
    assert beginnings_of(regex) == texts
