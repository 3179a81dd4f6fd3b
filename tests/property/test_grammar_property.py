"""Regexes and LALR read any body alike: bodies made from the rules themselves, and lines of logs that were damaged."""

from __future__ import annotations

import importlib
import re
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample
from lark.load_grammar import load_grammar

from tests.support import reference_executor
from tests.support.for_each import for_each
from tests.support.judging import fields_of
from tests.support.property_settings import examples
from trtforensics.parsers.grammar import grammar, tables
from trtforensics.parsers.grammar.line_kinds import LINE
from trtforensics.parsers.lines.dialects import prefix_of
from trtforensics.parsers.lines.singly import Dispatch
from trtforensics.parsers.text.source import open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from pathlib import Path

    Fault = Callable[[bytes, int, int, bytes], bytes]

parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")
"""Hypothesis reads patterns through it too."""
READER = Dispatch(tables.kinds())
KINDS = {kind.name: kind for kind in tables.kinds()}

FREE = [*"aZ0_/.,:()[]{}>-+ \x1e\xff", ", ", " -> ", " with ", " (", "]", "0x1f", " = "]
"""What names and formats are made of, for text that a rule does not look into."""

ALPHABET = "".join(map(chr, (*range(0x20, 0x7F), 0x09, 0x1E, 0x1F, 0xFF)))
CATEGORIES = {
    "CATEGORY_DIGIT": r"\d",
    "CATEGORY_SPACE": r"\s",
    "CATEGORY_NOT_SPACE": r"\S",
    "CATEGORY_WORD": r"\w",
}


def readings(body: bytes) -> list[tuple[str, dict[str, bytes]]]:
    """Return every kind whose regex reads the body, with its fields."""
    found = []
    for kind in KINDS.values():
        begins = body.decode("latin-1").lstrip(" ").startswith(kind.starts)
        match = kind.match.fullmatch(body) if begins else None
        if match:
            found.append(
                (kind.name, dict(pair for pair in zip(kind.fields, match.groups(), strict=True) if pair[1] is not None))
            )
    return found


def opens_with_literal(kind: str) -> bool:
    """Whether a body of this kind opens with words; mere blanks open the lines of several programs."""
    return all(opener.strip() for opener in KINDS[kind].openers)


def check_alike(body: bytes) -> None:
    """Hold LALR and the regexes together, as far as a lexer and a regex can be.

    A lexer commits to the literal that opens a body and never comes back; a regex that opens with free text
    (a layer's name) still reads ``Running: 4 (CaskPooling[0x…]) profiling completed in …``. So LALR may refuse
    what only such a rule reads, and of several rules takes the one whose literal it has seen, as the scanner
    does. Only names chosen to look like another message get there: no line of any log does.
    """
    found = readings(body)
    read = reference_executor.parse(body)
    literal = [reading for reading in found if opens_with_literal(reading[0])]
    assert len(literal) <= 1
    if read is None:
        assert literal == []
        return
    assert read in found
    scanned = fields_of(READER, body)
    assert scanned is not None
    assert literal in ([], [read])
    assert scanned[0] in [kind for kind, _ in literal or found]


def _greedy(regex: str) -> str:
    """Return a regex with greedy quantifiers for possessive ones, which the parser of Python 3.10 does not know."""
    return re.sub(r"(?<!\\)([+*])\+(?!\])", r"\1", regex)


def text_of(pattern: Iterable[tuple[Any, Any]]) -> st.SearchStrategy[str]:
    """Return what draws texts of a parsed pattern; what it says of the text around it, its neighbours bring along."""
    return st.tuples(*(_item(str(op), argument) for op, argument in pattern)).map("".join)


def _item(op: str, argument: Any) -> st.SearchStrategy[str]:
    match op:
        case "LITERAL" | "ANY" | "IN" | "NOT_LITERAL":
            return st.sampled_from(_characters(op, argument))
        case "BRANCH":
            return st.one_of([text_of(branch) for branch in argument[1]])
        case "SUBPATTERN":
            return text_of(argument[3])
        case "MAX_REPEAT" | "MIN_REPEAT":
            low, high, repeated = argument
            return st.lists(text_of(repeated), min_size=low, max_size=min(high, low + 5)).map("".join)
    assert op in {"ASSERT", "ASSERT_NOT", "AT"}, op
    return st.just("")


def _characters(op: str, argument: Any) -> Sequence[str]:
    match op:
        case "LITERAL":
            return chr(argument)
        case "ANY":
            return FREE
        case "NOT_LITERAL":
            return ALPHABET.replace(chr(argument), "")
    return [char for char in ALPHABET if _is_in(argument, char)]


def _is_in(items: list[tuple[Any, Any]], char: str) -> bool:
    negated = str(items[0][0]) == "NEGATE"
    return any(_is_item(str(op), argument, char) for op, argument in items[negated:]) != negated


def _is_item(op: str, argument: Any, char: str) -> bool:
    match op:
        case "LITERAL":
            return bool(ord(char) == argument)
        case "RANGE":
            return bool(argument[0] <= ord(char) <= argument[1])
    return re.fullmatch(CATEGORIES[str(argument)], char, re.ASCII) is not None


@cache
def bodies_of() -> dict[str, st.SearchStrategy[bytes]]:
    """Return for each kind what draws bodies from its rule, terminal by terminal."""
    parsed, _ = load_grammar(grammar.grammar_text(LINE), "test", [], False)  # type: ignore[no-untyped-call]  # noqa: FBT003
    terminals, rules, _ = parsed.compile([LINE], "*")
    drawn = {
        t.name: st.just(t.pattern.value) if t.pattern.type == "str" else text_of(parser.parse(_greedy(t.pattern.value)))
        for t in terminals
    }
    kinds: dict[str, list[st.SearchStrategy[bytes]]] = {}
    for rule in rules:
        if rule.origin.name != LINE:
            text = st.tuples(*(drawn[symbol.name] for symbol in rule.expansion)).map("".join)
            kinds.setdefault(str(rule.origin.name), []).append(text.map(lambda t: t.encode("latin-1")))
    return {name: st.one_of(alternatives) for name, alternatives in kinds.items()}


LOOK_FAR = {
    "adding_reformat": b"Adding reformat layer: Reformatted Input Tensor 0 to a (b) from Half(1,1) to Float(1,1)",
    "profile_row_old": b"    conv + relu      12.50           0.0250             0.0246     10.4",
}
"""Rules whose free text must be followed by more than chance will draw."""


@for_each("kind", KINDS)
@pytest.mark.slow
def test_every_rule_reads_a_body_made_of_its_own_terminals(kind: str) -> None:
    def is_read(body: bytes) -> bool:
        read = reference_executor.parse(body)
        return read is not None and read[0] == kind and readings(body) == [read]

    if kind in LOOK_FAR:
        assert is_read(LOOK_FAR[kind])
    else:
        bounded = settings(max_examples=500, derandomize=True, database=None, phases=[Phase.generate])
        try:
            find(bodies_of()[kind], is_read, settings=bounded)
        except NoSuchExample:
            pytest.fail("no body that is drawn from it is read as this kind")


@pytest.mark.slow
@examples(1000)
@given(body=st.sampled_from(sorted(KINDS)).flatmap(lambda kind: bodies_of()[kind]))
def test_bodies_made_from_the_rules_are_read_alike(body: bytes) -> None:
    check_alike(body)


VARYING = re.compile(rb"(?<![A-Za-z])(?:0x[0-9a-f]+|[0-9]+)")
INSERTED = [
    b"\x1e",
    b"\x1f",
    b"\xff",
    b"\x85",
    b"\t",
    b"\r",
    b"\x0b",
    b" ",
    b".",
    b"-",
    b"]",
    b"{",
    b" -> ",
    b", ",
    b": ",
]


def distinct(files: list[Path]) -> list[bytes]:
    """Return line bodies of logs, one for each beginning that is not the same but for its numbers."""
    bodies: dict[bytes, bytes] = {}
    for file in files:
        with open_source(str(file)) as source:
            for line in (line for window in source.windows() for line in window.lines):
                prefix = prefix_of(line)
                body = line[prefix.end :] if prefix else line.lstrip(b" ")
                bodies.setdefault(VARYING.sub(b"0", body)[:60], body)
    return sorted(bodies.values())


def cut(body: bytes, low: int, high: int, _: bytes) -> bytes:
    return body[:low] + body[high:]


def repeat(body: bytes, low: int, high: int, _: bytes) -> bytes:
    return body[:high] + body[low:]


def insert(body: bytes, _: int, high: int, what: bytes) -> bytes:
    return body[:high] + what + body[high:]


def splice(body: bytes, low: int, high: int, other: bytes) -> bytes:
    return body[:low] + other[high:]


def swap(body: bytes, low: int, _: int, __: bytes) -> bytes:
    words = body.split(b" ")
    at = low % len(words)
    words[at - 1], words[at] = words[at], words[at - 1]
    return b" ".join(words)


FAULTS = (cut, repeat, swap, insert, splice)
places = st.integers(0, 400)
picks = st.integers(0, 1 << 16)
damages = st.lists(
    st.tuples(st.sampled_from(FAULTS), places, places, picks, st.sampled_from(INSERTED)), min_size=1, max_size=3
)


class Damaged:
    """Bodies of logs with one to three faults. Its repr is short: hypothesis prints the fixtures of a test."""

    def __init__(self, bodies: list[bytes]) -> None:
        self._bodies = bodies

    def body(self, pick: int, faults: list[tuple[Fault, int, int, int, bytes]]) -> bytes:
        """Return a body, damaged."""
        body = self._of(pick)
        for fault, first, second, other, inserted in faults:
            low, high = sorted((first % (len(body) + 1), second % (len(body) + 1)))
            body = fault(body, low, high, inserted if fault is insert else self._of(other))
        return body

    def _of(self, pick: int) -> bytes:
        return self._bodies[pick % len(self._bodies)]


@pytest.fixture(scope="module")
def own_logs(samples: list[Path]) -> Damaged:
    return Damaged(distinct(samples))


@pytest.fixture(scope="module")
def real_logs(corpus: Path) -> Damaged:
    return Damaged(distinct(sorted((corpus / "buildlog").iterdir())))


@examples(1000)
@given(pick=picks, faults=damages)
def test_damaged_lines_of_our_logs_are_read_alike(pick: int, faults: list[Any], own_logs: Damaged) -> None:
    check_alike(own_logs.body(pick, faults))


@pytest.mark.corpus
@examples(2000)
@given(pick=picks, faults=damages)
@pytest.mark.slow
def test_damaged_lines_of_the_corpus_are_read_alike(pick: int, faults: list[Any], real_logs: Damaged) -> None:
    check_alike(real_logs.body(pick, faults))
