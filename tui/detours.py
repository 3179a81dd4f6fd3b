"""What a screen asks to be shown meanwhile: its app ends with one of these, and begins again when that was left."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class LogDetour:
    """A build log, in the full screen of build logs; ``probe`` is the one to come back to."""

    path: str
    probe: int


@dataclass(frozen=True, slots=True)
class DiffDetour:
    """Two files, side by side; ``probe`` is the one to come back to."""

    good: str
    bad: str
    probe: int


Detour = LogDetour | DiffDetour
