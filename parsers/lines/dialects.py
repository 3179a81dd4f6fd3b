"""Finds out which logger wrote a line, by its prefix; the body behind the prefix is for the grammars of lines.

Each line is judged by itself: a log holds lines of trtexec, TensorRT's Python logger, Polygraphy and the user's own
program in any order. ``prefixes.py`` reads the prefixes of many lines at once.
"""

import json
import re
from functools import cache
from typing import NamedTuple

from trtforensics.model.older_python import compiled
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import LEVEL, PREFIX, REGEX_FLAGS, LineKind

_SEVERITY = {
    **dict.fromkeys((b"F", b"!", b"INTERNAL_ERROR", b"INTERNALERROR", b"BUG", b"CRITICAL"), "E"),
    **dict.fromkeys((b"X", b"S", b"U", b"D", b"DEBUG", b"UNKNOWN", b"GRAPH", b"TRACE", b"LOG", b"FIXME"), "V"),
}
"""Levels beside TensorRT's own E, W, I and V: Polygraphy prints TensorRT VERBOSE as X, critical errors as ``!``;
ONNX Runtime prints it as UNKNOWN, PyTorch and TensorRT-LLM as DEBUG."""

LEVEL_LOST = "?"
"""For loggers that drop the level: a line is an error only where its logger says so."""

WEAK_DIALECTS = frozenset(
    {
        *("bare", "bare_word", "ros", "tensorrt_llm", "tensorrt_llm_cpp", "dated", "triton", "triton_json"),
        *("word_site", "named", "tagged", "other"),
    }
)
"""Prefixes that other programs print too: alone they do not make a file a build log."""

_USUAL, *_OTHERS = tables.kinds(PREFIX)
"""Where two kinds can read a prefix, the first wins. That is trtexec's, the only one in many logs."""
DIALECTS = (_USUAL.name, *(kind.name for kind in _OTHERS))

_LEVEL_WITHIN = 80
"""The first bytes of a line in which a level is looked for."""
_PROSE = re.compile(rb"[a-z]{2,} [a-z]{2,} |[Ee]rror\b")
"""Words that stand in no prefix: a level behind them is one that the sentence is about."""
_OPENINGS = frozenset((b"[", b">", b"_", b"("))
"""The bytes that open a prefix beside letters and digits; for any other line, ``&&&&`` say, no regex has to run."""


class Prefix(NamedTuple):
    """A line's prefix: the rule that read it, its level as E, W, I or V (``?``: lost), and where the body begins."""

    dialect: str
    severity: str
    end: int


def may_open(first: bytes) -> bool:
    """Whether a line that begins with this byte may have a prefix."""
    return first.isalnum() or first in _OPENINGS


def prefix_of(line: bytes) -> Prefix | None:
    """Return the logger prefix that opens a line, or None."""
    match = _USUAL.match.match(line)
    if match is not None:
        return _prefix(_USUAL, match.groups(), match.end())
    if not may_open(line[:1]):
        return None
    regex, kinds = _union(PREFIX)
    match = regex.match(line)
    if match is None:
        return None
    group = match.lastindex or 0  # that of the kind: it closes behind those in it
    kind = kinds[group]
    return _prefix(kind, match.groups()[group : group + len(kind.fields)], match.end())


def severity_of(line: bytes) -> str:
    """Return the level of a line as E, W, I, V or ?; empty where neither a prefix nor another mark tells it."""
    prefix = prefix_of(line)
    if prefix is not None:
        return prefix.severity
    regex, levels = _union(LEVEL)
    mark = regex.search(line, 0, _LEVEL_WITHIN)
    is_told = mark is not None and not _PROSE.search(line, 0, mark.start())
    return levels[mark.lastindex or 0].name[0].upper() if mark and is_told else ""


def is_error(line: str) -> bool:
    """Whether a line reports an error, by its level."""
    return severity_of(line.encode()) == "E"


def _prefix(kind: LineKind, levels: tuple[bytes | None, ...], end: int) -> Prefix:
    level = next((level for level in levels if level is not None), b"").upper()
    return Prefix(kind.name, _SEVERITY.get(level) or level[:1].decode() or LEVEL_LOST, end)


@cache
def _union(start: str) -> tuple[re.Pattern[bytes], dict[int, LineKind]]:
    """Return one regex for all kinds of a grammar, in their order, and the kind of each group.

    One regex, because a line without a prefix then costs one call. Many logs do without it, and it takes milliseconds
    to compile.
    """
    kinds: dict[int, LineKind] = {}
    group = 1
    for kind in tables.kinds(start):
        kinds[group] = kind
        group += 1 + len(kind.fields)
    regex = "|".join(f"({kind.regex})" for kind in kinds.values())
    return compiled(regex.encode("latin-1"), REGEX_FLAGS), kinds


_SITE = re.compile(rb" (?:\[[^\[\]]+:[0-9]+ [^\[\]]+\]|\S+\.(?:cpp|h|cc):[0-9]+)")


def _without_site(body: bytes) -> bytes:
    """Remove the place in the source code that some loggers print behind a message."""
    at = body.rfind(b" [" if body.endswith(b"]") else b" ")
    return body[:at] if at >= 0 and _SITE.fullmatch(body, at) else body


def _unquoted(body: bytes) -> bytes:
    """Undo JSON's escapes, and return the first line of the message; text that is no JSON stays as it is."""
    if body.isascii() and b"\\" not in body and body.find(b'"') == len(body) - 1:
        return body[:-1]
    try:
        message = json.loads(b'"' + body, strict=False)
        return str(message).encode("utf-8", "surrogatepass").partition(b"\n")[0]
    except ValueError:
        return body


WRAPPED = {"onnxruntime_site": _without_site, "word_site": _without_site, "triton_json": _unquoted}
"""The loggers that wrap the message, each with the function that unwraps it."""
