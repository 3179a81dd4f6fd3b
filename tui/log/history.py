"""What was looked at, to go back and forward through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.engines.facts import LayerFacts

MOST = 100
"""Places that are kept."""


@dataclass(frozen=True, slots=True)
class Place:
    """What the screen showed: a build, the list in focus with its cursor, the selected layer, and the log's line."""

    build: int
    pane: str
    entry: LayerFacts | None
    cursor: int
    line: int

    def is_at(self, other: Place) -> bool:
        """Whether both show the same: the log that follows a cursor does not count, a log in focus does."""
        if (self.build, self.pane) != (other.build, other.pane) or self.entry is not other.entry:
            return False
        return self.line == other.line if self.pane == "log" else self.cursor == other.cursor


class Trail:
    """Places in the order in which they were looked at. A jump from an older place drops the newer ones."""

    def __init__(self) -> None:
        self._places: list[Place] = []
        self._at = -1

    def keep(self, place: Place) -> None:
        """Keep the place that a jump starts from, or led to."""
        if self._at >= 0 and place.is_at(self._places[self._at]):
            return
        del self._places[self._at + 1 :]
        self._places.append(place)
        del self._places[:-MOST]
        self._at = len(self._places) - 1

    def step(self, by: int, here: Place) -> Place | None:
        """Go ``by`` places back (negative) or forward from here; None where there is none."""
        if by < 0 and self._at == len(self._places) - 1 and self._places and not here.is_at(self._places[self._at]):
            self.keep(here)
        if not 0 <= self._at + by < len(self._places):
            return None
        self._at += by
        return self._places[self._at]
