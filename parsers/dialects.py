"""Which logger wrote a line: its prefix comes off, the body goes on to the grammars.

Decided per line, never per file: a log holds what trtexec, TensorRT's Python logger, Polygraphy and
the user's own program wrote, in any order. A whole window is read at once: a line that begins with the same
32 bytes as the line before has its prefix, and most others begin as some line did before.
"""

from __future__ import annotations

import json
import re
from functools import cache, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trtforensics.parsers import grammar
from trtforensics.parsers.interning import Memo, Spans
from trtforensics.parsers.numbers import blocks

if TYPE_CHECKING:
    import numpy.typing as npt

    from trtforensics.parsers.grammar import Kind
    from trtforensics.parsers.line_index import LineIndex

_SEVERITY = {
    **dict.fromkeys((b"F", b"!", b"INTERNAL_ERROR", b"INTERNALERROR", b"BUG", b"CRITICAL"), "E"),
    **dict.fromkeys((b"X", b"S", b"U", b"D", b"DEBUG", b"UNKNOWN", b"GRAPH", b"TRACE", b"LOG", b"FIXME"), "V"),
}
"""Levels beside TensorRT's own E, W, I and V: Polygraphy prints TensorRT VERBOSE as X, critical errors as ``!``;
ONNX Runtime prints it as UNKNOWN, PyTorch and TensorRT-LLM as DEBUG."""

_LEVEL_LOST = "V"
"""For loggers that drop the level: a line is an error only where its logger says so."""

WEAK_DIALECTS = frozenset(
    {
        "bare",
        "bare_word",
        "tensorrt_llm",
        "tensorrt_llm_cpp",
        "dated",
        "triton",
        "triton_json",
        "word_site",
        "named",
        "tagged",
        "other",
    }
)
"""Prefixes that other programs print too: alone they do not make a file a build log."""

_KINDS = grammar.kinds(grammar.PREFIX)
DIALECTS = tuple(kind.name for kind in _KINDS)

_KEY_BYTES = 32
_LONGEST_PREFIX = 512
_OPEN = -1
"""Instead of a prefix's number: the first bytes do not decide it."""
_LOOKS_FAR = "named"
"""A prefix that counts only before certain messages, told apart beyond the bytes that are compared."""
_MAY_GO_ON = (ord("["), ord("("))
"""Behind a prefix these may begin more of it, beyond the bytes that were compared."""


class Prefix(NamedTuple):
    """A line's prefix: the rule that read it, its level as E, W, I or V, and where the body begins."""

    dialect: str
    severity: str
    end: int


def prefix_of(line: bytes) -> Prefix | None:
    """Return the logger prefix that opens a line, or None."""
    regex, kinds = _any_prefix()
    found = regex.match(line)
    if found is None:
        return None
    own = found.lastindex or 0  # the group of the kind: it closes behind those in it
    kind = kinds[own]
    levels = found.groups()[own : own + len(kind.fields)]
    return Prefix(kind.name, _severity(next((level for level in levels if level is not None), b"")), found.end())


@cache
def _any_prefix() -> tuple[re.Pattern[bytes], dict[int, Kind]]:
    """Return one regex for all kinds, in their order, and which group is whose: a line without one costs one call."""
    kinds: dict[int, Kind] = {}
    group = 1
    for kind in _KINDS:
        kinds[group] = kind
        group += 1 + len(kind.fields)
    return re.compile("|".join(f"({kind.regex})" for kind in _KINDS).encode("latin-1"), grammar.REGEX_FLAGS), kinds


def _severity(level: bytes) -> str:
    """Return a level as E, W, I or V."""
    upper = level.upper()
    return _SEVERITY.get(upper) or upper[:1].decode() or _LEVEL_LOST


_SITE_BEHIND = re.compile(rb" (?:\[[^\[\]]+:[0-9]+ [^\[\]]+\]|\S+\.(?:cpp|h|cc):[0-9]+)$")


def _without_site(body: bytes) -> bytes:
    """Take the place in the source off that some loggers print behind a message."""
    return _SITE_BEHIND.sub(b"", body)


def _unquoted(body: bytes) -> bytes:
    """Undo JSON's escapes; of a message of several lines the first speaks, as everywhere. What is no JSON stays."""
    try:
        message = json.loads(b'"' + body, strict=False)
        return str(message).encode("utf-8", "surrogatepass").partition(b"\n")[0]
    except ValueError:
        return body


WRAPPED = {"onnxruntime_site": _without_site, "word_site": _without_site, "triton_json": _unquoted}
"""Loggers that wrap the message: what gives it back. Their lines are never read in bulk."""


class _Read(NamedTuple):
    """A prefix in numbers: place in DIALECTS (-1: none), the level's letter, bytes, separators."""

    dialect: int
    severity: int
    length: int
    separators: int


_NONE = _Read(-1, 0, 0, 0)


class Prefixes(NamedTuple):
    """The prefixes of a window's lines, in columns; see :class:`_Read`."""

    dialect: npt.NDArray[np.int64]
    severity: npt.NDArray[np.int64]
    length: npt.NDArray[np.int64]
    separators: npt.NDArray[np.int64]


class PrefixReader:
    """Reads prefixes window by window and remembers those it has seen."""

    def __init__(self) -> None:
        self._codes: dict[_Read, int] = {}
        """Every distinct prefix with its number, in the order of the numbers."""
        self._by_start = Memo()
        """By the first 32 bytes, where they decide."""
        self._by_line = Memo()
        """By the whole line: what other programs print comes again word for word."""

    def read(self, index: LineIndex) -> Prefixes:
        """Return the prefix of every line."""
        runs = _runs(index)
        starts = index.starts[runs]
        undecided: dict[int, int] = {}
        decide = partial(self._decide, index, undecided)
        codes = self._by_start.values(index, Spans(runs, starts, starts + _KEY_BYTES), decide)
        of_line = np.repeat(codes, np.append(runs[1:], len(index)) - runs)
        left = np.flatnonzero(of_line == _OPEN)
        ends = np.minimum(index.ends[left], index.starts[left] + _LONGEST_PREFIX)
        code = partial(self._code, index, undecided)
        of_line[left] = self._by_line.values(index, Spans(left, index.starts[left], ends), code)
        table = np.array(list(self._codes), np.int64).reshape(-1, len(_NONE))
        return Prefixes(*(column[of_line] for column in np.ascontiguousarray(table.T)))

    def _decide(self, index: LineIndex, undecided: dict[int, int], begin: int, _: int, limit: int) -> int:
        """Return the number of a line's prefix if its first 32 bytes (perhaps the next line's too) decide it.

        Else it is kept in ``undecided``, by where the line begins.
        """
        read, decided = _read(index.data[begin : min(limit, begin + _LONGEST_PREFIX)])
        number = self._number(read)
        if decided:
            return number
        undecided[begin] = number
        return _OPEN

    def _code(self, index: LineIndex, undecided: dict[int, int], begin: int, end: int, _: int) -> int:
        known = undecided.get(begin)
        return self._number(_read(index.data[begin:end])[0]) if known is None else known

    def _number(self, read: _Read) -> int:
        return self._codes.setdefault(read, len(self._codes))


def _runs(index: LineIndex) -> npt.NDArray[np.int64]:
    """Return the lines that begin otherwise than the line before, the first included."""
    if not len(index):
        return np.zeros(0, np.int64)
    other = np.zeros(len(index), np.bool_)
    other[0] = True
    words = blocks(index.data, index.starts, _KEY_BYTES)
    other[1:] = (words[1:] != words[:-1]).view(np.uint32).reshape(-1) != 0  # four booleans are one number
    return np.flatnonzero(other)


def _read(text: bytes) -> tuple[_Read, bool]:
    """Read the prefix of a line's beginning, and whether its first 32 bytes decide it."""
    whole = len(text) < _KEY_BYTES
    prefix = prefix_of(text)
    if prefix is None:
        return _NONE, whole
    separators = sum(1 for byte in text[: prefix.end] if byte <= ord(" "))
    read = _Read(DIALECTS.index(prefix.dialect), ord(prefix.severity), prefix.end, separators)
    goes_on = text[prefix.end : prefix.end + 1]
    within = prefix.end < _KEY_BYTES or (prefix.end == _KEY_BYTES and text.endswith(b" ", 0, prefix.end))
    within = within and prefix.dialect != _LOOKS_FAR
    return read, whole or (within and (not goes_on or goes_on[0] not in _MAY_GO_ON))
