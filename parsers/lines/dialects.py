"""Which logger wrote a line: its prefix comes off, the body goes on to the grammars.

Decided per line, never per file: a log holds what trtexec, TensorRT's Python logger, Polygraphy and
the user's own program wrote, in any order. ``prefixes.py`` reads those of many lines at once.
"""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.parsers.grammar import line_kinds, tables

if TYPE_CHECKING:
    from trtforensics.parsers.grammar.line_kinds import LineKind

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

_USUAL, *_OTHERS = tables.kinds(line_kinds.PREFIX)
"""Of two kinds that read a line the first has it. That is trtexec's, and many a log has no other."""
DIALECTS = (_USUAL.name, *(kind.name for kind in _OTHERS))

_OPENINGS = frozenset((b"[", b">", b"_"))
"""What a prefix opens with, if not with a letter or a digit: a line of ``&&&&`` needs no other kind's regex either."""


class Prefix(NamedTuple):
    """A line's prefix: the rule that read it, its level as E, W, I or V, and where the body begins."""

    dialect: str
    severity: str
    end: int


def may_open(first: bytes) -> bool:
    """Whether a line that begins with this byte may have a prefix."""
    return first.isalnum() or first in _OPENINGS


def prefix_of(line: bytes) -> Prefix | None:
    """Return the logger prefix that opens a line, or None."""
    found = _USUAL.match.match(line)
    if found is not None:
        return _prefix(_USUAL, found.groups(), found.end())
    if not may_open(line[:1]):
        return None
    regex, kinds = _other_prefix()
    found = regex.match(line)
    if found is None:
        return None
    own = found.lastindex or 0  # the group of the kind: it closes behind those in it
    kind = kinds[own]
    return _prefix(kind, found.groups()[own : own + len(kind.fields)], found.end())


def _prefix(kind: LineKind, levels: tuple[bytes | None, ...], end: int) -> Prefix:
    return Prefix(kind.name, _severity(next((level for level in levels if level is not None), b"")), end)


@cache
def _other_prefix() -> tuple[re.Pattern[bytes], dict[int, LineKind]]:
    """Return one regex for all other kinds, in their order, and which group is whose: it takes milliseconds to compile.

    A line without a prefix costs one call.
    """
    kinds: dict[int, LineKind] = {}
    group = 1
    for kind in _OTHERS:
        kinds[group] = kind
        group += 1 + len(kind.fields)
    return re.compile("|".join(f"({kind.regex})" for kind in _OTHERS).encode("latin-1"), line_kinds.REGEX_FLAGS), kinds


def _severity(level: bytes) -> str:
    """Return a level as E, W, I or V."""
    upper = level.upper()
    return _SEVERITY.get(upper) or upper[:1].decode() or _LEVEL_LOST


_SITE = re.compile(rb" (?:\[[^\[\]]+:[0-9]+ [^\[\]]+\]|\S+\.(?:cpp|h|cc):[0-9]+)")


def _without_site(body: bytes) -> bytes:
    """Take the place in the source off that some loggers print behind a message."""
    at = body.rfind(b" [" if body.endswith(b"]") else b" ")
    return body[:at] if at >= 0 and _SITE.fullmatch(body, at) else body


def _unquoted(body: bytes) -> bytes:
    """Undo JSON's escapes; of a message of several lines the first speaks, as everywhere. What is no JSON stays."""
    if body.isascii() and b"\\" not in body and body.find(b'"') == len(body) - 1:
        return body[:-1]
    try:
        message = json.loads(b'"' + body, strict=False)
        return str(message).encode("utf-8", "surrogatepass").partition(b"\n")[0]
    except ValueError:
        return body


WRAPPED = {"onnxruntime_site": _without_site, "word_site": _without_site, "triton_json": _unquoted}
"""Loggers that wrap the message: what gives it back."""
