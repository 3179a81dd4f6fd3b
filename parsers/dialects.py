"""Which logger wrote a line: its prefix comes off, the body goes on to the grammars.

Decided per line, never per file: a log holds what trtexec, TensorRT's Python logger, Polygraphy and
the user's own program wrote, in any order.
"""

from __future__ import annotations

from typing import NamedTuple

from trtforensics.parsers import grammar

_SEVERITY = {b"INTERNAL_ERROR": "E", b"F": "E", b"!": "E", b"X": "V", b"S": "V", b"U": "V"}
"""Levels beside TensorRT's own E, W, I and V: Polygraphy prints TensorRT VERBOSE as X, critical errors as ``!``."""


WEAK_DIALECTS = frozenset({"bare", "bare_word"})
"""Prefixes that other programs print too: alone they do not make a file a build log."""


class Prefix(NamedTuple):
    """A line's prefix: the rule that read it, E/W/I/V, TensorRT's own mark or not, and where the body begins."""

    dialect: str
    severity: str
    tensorrt: bool
    end: int


_KINDS = grammar.kinds(grammar.PREFIX)


def prefix_of(line: bytes) -> Prefix | None:
    """Return the logger prefix that opens a line, or None."""
    for kind in _KINDS:
        found = kind.match.match(line)
        if found:
            fields = dict(zip(kind.fields, found.groups(), strict=True))
            level = fields["severity"] or b""
            severity = _SEVERITY.get(level) or level[:1].decode()
            tensorrt = kind.name != "trtexec" or line.find(b"[TRT]", 0, found.end()) >= 0
            return Prefix(kind.name, severity, tensorrt, found.end())
    return None
