"""What a body says by the regex of its kind alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.parsers.grammar.line_kinds import named_fields

if TYPE_CHECKING:
    from trtforensics.parsers.lines.singly import Dispatch


def fields_of(dispatch: Dispatch, body: bytes) -> tuple[str, dict[str, bytes | None]] | None:
    """Return the name of a body's kind and its fields, or None where no rule reads the body."""
    found = dispatch.find(body)
    if found is None:
        return None
    kind, match = found
    return kind.name, named_fields(kind, match.groups())
