"""Observations made of log lines alone: all lines of a kind become one observation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Confidence, Observation

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.finding import Severity, Step
    from trtforensics.model.notes import Note


_OF_THE_NETWORK = ("layer", "tensor")
_BELOW = 2
"""Lines below an error that may say what it is about."""


def observe(  # noqa: PLR0913 - the fields of an observation
    notes: Sequence[Note],
    title: str,
    *,
    steps: Sequence[Step] = (),
    names: str = "",
    cause: str = "",
    settle: str = "",
    confidence: Confidence | None = None,
    severity: Severity | None = None,
    same_as: str = "",
) -> Iterator[Observation]:
    """Give one observation that cites these notes; none where there are no notes.

    ``names`` is a field of the notes: its values replace ``{names}`` in the title, and names of layers and tensors are
    the observation's layers.
    Without ``confidence`` the observation is certain, or likely where ``settle`` is given.
    """
    if notes:
        named = list(dict.fromkeys(note.text(names) for note in notes if names and note.text(names)))
        yield Observation(
            title.replace("{names}", listed(named)),
            [note.span for note in notes],
            cause=cause,
            confidence=confidence or (Confidence.LIKELY if settle else Confidence.CERTAIN),
            settle=settle,
            steps=steps,
            layers=named if names in _OF_THE_NETWORK else (),
            severity=severity,
            same_as=same_as,
        )


def listed(names: Sequence[str], most: int = 3) -> str:
    """Return the first names, and how many more there are: ``a, b, c and 4 more``."""
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest} more" if rest > 0 else "")


def followed_by(notes: Sequence[Note], others: Sequence[Note]) -> list[Note]:
    """Return the notes below which one of the others stands, on the same line or a line or two below."""
    lines = [other.span.line for other in others]
    return [note for note in notes if any(0 <= line - note.span.line <= _BELOW for line in lines)]
