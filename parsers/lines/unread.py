"""Lines that no rule reads: which of them name a cause or TensorRT, and how many there are of each shape.

Each distinct line is looked at once, because the searches are slow and other programs repeat their lines. A shape is
the line with its numbers, ids and quoted names blanked out. A thousand lines of a new message of TensorRT are so one
entry, and a person sees at a glance which messages this tool does not know.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from trtforensics.console.secrets import masked
from trtforensics.knowledge.table import rows
from trtforensics.model.arrays import Positions
from trtforensics.model.deferred import regex
from trtforensics.model.span import UnknownShape
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import ASIDE, CAUSE, LineKind, named_fields
from trtforensics.parsers.lines.interning import Memo, TextSpans
from trtforensics.parsers.text.decoding import JSON_OPENING
from trtforensics.parsers.text.line_index import LineIndex

Causes = Sequence[tuple[LineKind, tuple[bytes, ...]]]

MOST_WRAPPED = 2000
"""Lines up to which a text is an excerpt that somebody may have wrapped."""
MOST_OF_MESSAGE = 1 << 16
"""Bytes of a line in which causes are looked for: the longest messages name thousands of nodes, behind their cause."""

_MENTION = regex("|".join(row["pattern"] for row in rows("mentions", "trtforensics.parsers.lines")).encode())
"""What only text that has to do with TensorRT, or comes of the programs around it, says."""
_SUBJECT = regex(
    rb"(?i)\b(?:b?fp?16|int8|onnx|cuda|engine|trt|batch)\b|infer(?:ence|ring)?\b|nv_infer|\"averageMs\"|\{ForeignNode\["
)
"""What a few lines by themselves are about, where they come of a build or its profile."""
_TYPES = regex(rb"(?i)\b(?:fp16|int8)\b|\d ?ms\W+infer|\binfer\w*\W+(?:time\W+)?\d+(?:\.\d+)? ?ms\b")
_TIMED, _SERIES = regex(rb"\d ?(?:ms|msec|milliseconds|fps|FPS)\b"), 3
"""A time or rate, and how many of them a question about speed holds."""
ONE_QUESTION = 60
"""A pasted question has at most so many lines."""
_FRAME = regex(rb"^[\s|>]*File \"[^\"]+\", line \d+, in ")
"""A frame of a Python traceback. A traceback is read even where it does not name TensorRT."""
_HINTS = tuple(row["word"].encode() for row in rows("hints", "trtforensics.parsers.lines"))
"""Words of which :data:`_MENTION` holds one, in small letters: they are found a hundred times as fast."""
ANY_ERROR = "program_error"
"""The cause that only says that something failed; it counts where a message names no other."""
ANYBODY_MAY_SAY, _OF_NO_PROGRAM = (
    frozenset(row["kind"] for row in rows("common_causes", "trtforensics.parsers.lines") if row[column])
    for column in ("uncertain", "of_any_program")
)
"""Causes that, in a whole log, lines of other programs name for reasons of their own; and those that texts name which
have nothing to do with TensorRT."""
FEW = 12
"""A file of at most so many lines is an excerpt: its reader asks about the error in it."""
_FAILURES = "|".join(row["pattern"] for row in rows("failure_words", "trtforensics.parsers.lines"))
says_failure = regex(rf"(?i)(?<!--)(?<!\w-)\b(?:{_FAILURES})\b(?!-\w)").search
"""Finds a word of failures in a line, in whatever form it says so; the name of an option or file is none."""
CODE = regex(rb"\s*(?:[\w:]*(?:c(?:err|out)|[lL]og\w*|LOG\w*(?:\(\w+\))?) ?<<|f?printf\(|throw \w)")
"""The beginning of a line of C++: what it would print, no program has printed."""
ENDINGS = ("crashed", "terminated", "host_killed", "build_failed", "build_stopped")
"""The causes that say how a program, or its build, ended."""
ASIDES = {kind.name: tuple(dict.fromkeys(kind.fields)) for kind in tables.kinds(ASIDE)} | dict.fromkeys(ENDINGS, ())
"""What lines that no rule reads tell of a run, with the fields."""


class Told(NamedTuple):
    """What some lines tell: those that name a cause, and what others tell of a run."""

    causes: set[int]
    asides: list[tuple[int, str, dict[str, bytes | None]]]


class UnreadLines:
    """Looks at the lines of one window after the other."""

    def __init__(self) -> None:
        self._memo = Memo()
        self._asides: list[list[tuple[str, dict[str, bytes | None]]]] = [[]]
        """What a text tells of a run, by half the text's number; an odd number names a cause."""

    def told(self, index: LineIndex, lines: Positions) -> Told:
        """Return what some lines tell."""
        if not len(lines):
            return Told(set(), [])
        numbers = self._memo.values(index, _spans(index, lines), lambda new: self._read(new.texts(index.data)))
        tell = np.flatnonzero(numbers > 1)
        both = zip(lines[tell].tolist(), numbers[tell].tolist(), strict=True)
        asides = [(line, kind, fields) for line, number in both for kind, fields in self._asides[number >> 1]]
        return Told(set(lines[numbers % 2 > 0].tolist()), asides)

    def _read(self, whole: list[bytes]) -> list[int]:
        texts = [text[:MOST_OF_MESSAGE] for text in whole]
        causes = [(kind, words) for kind, words in possible_causes(texts) if kind.name != ANY_ERROR]
        asides = [*_possible(ASIDE, texts), *(cause for cause in causes if cause[0].name in ENDINGS)]
        said = (b"" if CODE.match(text) else text for text in texts)
        return [int(any(True for _ in causes_in(text, causes))) + 2 * self._number(text, asides) for text in said]

    def _number(self, text: bytes, possible: Causes) -> int:
        asides = [
            (kind.name, named_fields(kind, match.groups()) if ASIDES[kind.name] else {})
            for kind, match in causes_in(text, possible)
        ]
        if asides:
            self._asides.append(asides)
        return len(self._asides) - 1 if asides else 0


def is_pasted(opening: bytes) -> bool:
    """Whether a source may be an excerpt of a log, by its beginning: a JSON document or a binary file is none."""
    return JSON_OPENING.match(opening) is None and b"\0" not in opening


def mention_tensorrt(index: LineIndex, lines: Positions) -> bool:
    """Whether any of some lines names TensorRT or something of it, or a cause of the grammar, or is of a traceback.

    A few lines by themselves are asked about because of what they say: any error in them is enough, or their subject.
    """
    texts = [text[:MOST_OF_MESSAGE] for text in _spans(index, lines).texts(index.data)]
    about = _SUBJECT if len(index) <= FEW else _TYPES
    few = len(index) <= FEW and any(says_failure(text.decode(errors="replace")) for text in texts)
    if not few and len(index) <= ONE_QUESTION:
        few = any(map(about.search, texts)) or sum(1 for _ in filter(_TIMED.search, texts)) >= _SERIES
    return few or any(map(_FRAME.search, texts)) or name_tensorrt(texts)


def name_tensorrt(texts: Sequence[bytes]) -> bool:
    """Whether any of some lines names TensorRT or something of it, or a cause that no other program has."""
    hinted = (text for text in texts if any(map(text.lower().__contains__, _HINTS)))
    causes = [cause for cause in possible_causes(texts) if cause[0].name not in _OF_NO_PROGRAM]
    return any(map(_MENTION.search, hinted)) or any(True for text in texts for _ in causes_in(text, causes))


def _spans(index: LineIndex, lines: Positions) -> TextSpans:
    return TextSpans(lines, index.starts[lines], index.ends[lines])


def possible_causes(texts: Sequence[bytes]) -> Causes:
    """Return the causes that the texts may name; a text that names one holds one of its literals."""
    return _possible(CAUSE, texts)


def _possible(start: str, texts: Sequence[bytes]) -> Causes:
    """Return the causes of which some text holds a literal, each with the literals that stand there."""
    kinds, literals = _with_literals(start)
    held = groupby(literals.held_by(b"\n".join(texts)), kinds.__getitem__)
    return [(kind, tuple([literals.texts[place] for place in places])) for kind, places in held]


_LONG = 1 << 17
"""How many bytes of a text are turned into runs in one step."""
_ANY = np.zeros(1, np.uint32)
"""The run of a text that is shorter than one."""


class Literals:
    """Texts that are looked for at once: few of them stand in a text, and few more have to be searched for there.

    Those are the texts all of whose runs of four bytes stand there too.
    """

    def __init__(self, texts: Sequence[bytes]) -> None:
        self.texts = texts
        runs = [_runs(text) if text[3:] else _ANY for text in texts]
        self._runs = np.concatenate(runs)
        self._begins = np.cumsum([0, *map(len, runs[:-1])])

    def held_by(self, text: bytes) -> list[int]:
        """Return the indexes of those that stand in a text."""
        seen = np.zeros(1 << 16, np.bool_)
        seen[_ANY] = True
        for begin in range(0, len(text), _LONG):
            seen[_runs(text[begin : begin + _LONG + 3])] = True
        possible = np.logical_and.reduceat(seen[self._runs], self._begins)
        return [place for place in np.flatnonzero(possible).tolist() if self.texts[place] in text]


def _runs(text: bytes) -> npt.NDArray[np.uint32]:
    """Return a number below 65,536 for each four consecutive bytes of a text."""
    words = np.ndarray(max(len(text) - 3, 0), np.uint32, text, strides=(1,))
    return (words * np.uint32(0x9E3779B1)) >> np.uint32(16)


def causes_in(text: bytes, causes: Causes) -> Iterator[tuple[LineKind, re.Match[bytes]]]:
    """Give those of some causes that a text names."""
    for kind, literals in causes:
        match = kind.match.search(text) if any(literal in text for literal in literals) else None
        if match is not None:
            yield kind, match


@cache
def _with_literals(start: str) -> tuple[list[LineKind], Literals]:
    """Return the literals of a grammar's kinds, with the kind of each."""
    every = [(kind, text.encode("latin-1")) for kind in tables.kinds(start) for text in kind.literals]
    return [kind for kind, _ in every], Literals([text for _, text in every])


MAX_SAMPLES = 20
_MAX_SHAPES = 4096
_TEXT_LIMIT = 500
_SHAPE_LIMIT = 200
_MARGIN = 200
"""Bytes that are kept beyond those shown, so that a secret is masked before it is cut."""
_VARYING = regex(rb"0x[0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:e[-+]?[0-9]+)?|'[^']*'|\"[^\"]*\"|\{ForeignNode\[.*?\]\}")


class Drift:
    """Counts the shapes of unknown lines, in bounded memory: shapes beyond 4,096 share one entry."""

    def __init__(self) -> None:
        self._shapes: dict[bytes, list[int]] = {}
        self._texts: dict[bytes, bytes] = {}

    def add(self, line: int, body: bytes) -> None:
        """Note an unknown line."""
        shape = _VARYING.sub(b"#", body[:_TEXT_LIMIT])[:_SHAPE_LIMIT]
        self._count(shape, line, 1, body[: _TEXT_LIMIT + _MARGIN])

    def join(self, other: Drift, shift: int) -> None:
        """Take over the shapes of the lines that follow, ``shift`` lines further down."""
        for shape, (line, count) in other._shapes.items():
            self._count(shape, line + shift, count, other._texts[shape])

    def _count(self, shape: bytes, line: int, count: int, text: bytes) -> None:
        known = shape if shape in self._shapes or len(self._shapes) < _MAX_SHAPES else b""
        self._shapes.setdefault(known, [line, 0])[1] += count
        self._texts.setdefault(known, text)

    def __len__(self) -> int:
        return len(self._shapes)

    def samples(self) -> tuple[UnknownShape, ...]:
        """Return the most frequent shapes, most frequent first."""
        order = sorted(self._shapes.items(), key=lambda item: (-item[1][1], item[1][0]))
        return tuple(
            UnknownShape(line, masked(self._texts[shape].decode("utf-8", "replace"))[:_TEXT_LIMIT], count)
            for shape, (line, count) in order[:MAX_SAMPLES]
        )
