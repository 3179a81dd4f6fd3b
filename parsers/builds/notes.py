"""The lines that findings read: kinds of line that have no field of their own, and the causes in messages."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from trtforensics.model.notes import Note
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE
from trtforensics.parsers.lines.events import KEPT
from trtforensics.parsers.lines.singly import named_fields

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model.span import SourceSpan
    from trtforensics.parsers.builds.views import Log

NOTED = tuple(kind.name for kind in tables.kinds() if kind.noted)
"""Kinds of line that findings read, all of which a log has few of."""


def notes(log: Log, span: Callable[[int], SourceSpan]) -> Sequence[tuple[Note, ...]]:
    """Return each build's noted lines and the causes that its warnings and errors name, in the log's order."""
    found = [
        Note(kind, span(line), dict(zip(KEPT[kind], values, strict=True)))
        for kind in log.present(NOTED)
        for line, *values in log.each(kind, *KEPT[kind])
    ]
    for line, text in log.each("message", "text"):
        found += [Note(kind, span(line), fields) for kind, fields in causes(text)]
    return log.parted(found)


@lru_cache(maxsize=4096)
def causes(message: str) -> tuple[tuple[str, dict[str, str | None]], ...]:
    """Return the causes that a message names (rules of ``causes.lark``), with what each captures."""
    raw = message.encode()
    found = []
    for kind in tables.kinds(CAUSE):
        match = kind.match.search(raw) if kind.needle.encode("latin-1") in raw else None
        if match is not None:
            values = tuple(value and value.decode("utf-8", "replace") for value in match.groups())
            found.append((kind.name, named_fields(kind, values)))
    return tuple(found)
