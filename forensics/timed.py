"""The tactics timed on some lines, fastest first, built a row at a time: a choice may have 10⁵ candidates."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, overload

from trtforensics.model import Candidate

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from trtforensics.model import Int32Column, TacticTimings


class TimedTactics(Sequence[Candidate]):
    """Some rows of a build's timed tactics; they are sorted when one is looked at, and a candidate exists only then."""

    def __init__(self, timings: TacticTimings, rows: range) -> None:
        self._timings = timings
        self._unsorted = rows

    def __len__(self) -> int:
        return len(self._unsorted)

    @cached_property
    def _rows(self) -> npt.NDArray[np.intp]:
        return self._timings.fastest_first(self._unsorted)

    @overload
    def __getitem__(self, index: int) -> Candidate: ...
    @overload
    def __getitem__(self, index: slice) -> list[Candidate]: ...
    def __getitem__(self, index: int | slice) -> Candidate | list[Candidate]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._timings.candidate(int(self._rows[index]))

    def with_tactic(self, tactic: int) -> list[int]:
        """Return where a tactic stands; it may have been timed more than once."""
        found: list[int] = (self._timings.tactic[self._rows] == tactic).nonzero()[0].tolist()
        return found

    def widest_kernel(self) -> int:
        """Return how long the longest kernel name is."""
        return self._widest(self._timings.kernel[self._rows])

    def widest_runner(self) -> int:
        """Return how long the longest runner name is."""
        blocks = self._timings.runner_line.searchsorted(self._timings.line[self._rows]) - 1
        return self._widest(self._timings.runner_name[blocks[blocks >= 0]])

    def _widest(self, texts: Int32Column) -> int:
        indexes = set(texts[texts >= 0].tolist())
        return max((len(self._timings.texts[index]) for index in indexes), default=0)
