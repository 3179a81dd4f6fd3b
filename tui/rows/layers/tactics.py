"""The tactics timed for the subject of the candidates pane, fastest first."""

from __future__ import annotations

from bisect import bisect_left
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model.log import Choice, MyelinOperation
from trtforensics.model.timings import Candidate, TimedTactics

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from trtforensics.engines.alternatives import Alternatives, Result
    from trtforensics.model.timings import TacticTimings
    from trtforensics.tui.rows.layers.entries import Subject


class ListedTactics(list[Candidate]):
    """The candidates of an operation timed by Myelin, at most some hundreds."""

    def with_tactic(self, tactic: int) -> list[int]:
        """Return the rows of a tactic."""
        return [index for index, candidate in enumerate(self) if candidate.tactic == tactic]

    def widest_kernel(self) -> int:
        """Return the length of the longest kernel name."""
        return max((len(candidate.kernel) for candidate in self), default=0)

    def widest_runner(self) -> int:
        """Return 0: Myelin's table names no runners."""
        return 0


class CombinedTactics(TimedTactics):
    """The tactics timed for a layer in all combinations of formats and in all passes, fastest first."""

    def __init__(self, timings: TacticTimings, timed: Sequence[Choice]) -> None:
        super().__init__(timings, range(0))
        self.blocks = sorted(timed, key=lambda choice: choice.span.line)
        """The choices whose blocks are listed, in the log's order."""
        rows = [timings.rows(choice.first_line, choice.span.line) for choice in self.blocks]
        self._all = np.concatenate([np.arange(own.start, own.stop) for own in rows] or [np.arange(0)])

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _rows(self) -> npt.NDArray[np.intp]:
        order: npt.NDArray[np.intp] = self._timings.ms[self._all].argsort(kind="stable")
        return order if not len(order) else self._all[order]

    def choice_of(self, candidate: Candidate) -> Choice:
        """Return the choice whose block timed a candidate."""
        return self.blocks[bisect_left(self.blocks, candidate.line, key=lambda choice: choice.span.line)]


Tactics = CombinedTactics | ListedTactics


def tactics_of(alternatives: Alternatives, subject: Subject) -> tuple[Tactics, Choice | None]:
    """Return the tactics timed for a subject, and for a cached result the choice that timed it."""
    if isinstance(subject, MyelinOperation):
        return ListedTactics(subject.candidates), None
    timed = alternatives.timed(subject)
    if timed is None:
        return ListedTactics(), None
    return CombinedTactics(alternatives.build.timings, [timed]), None if timed is subject else timed


def tactics_of_all(alternatives: Alternatives, subject: Result, results: Iterable[Result]) -> CombinedTactics:
    """Return the tactics timed for all results of a layer, and for the one that a cached ``subject`` repeats."""
    timed = [alternatives.timed(subject), *(result for result in results if isinstance(result, Choice))]
    return CombinedTactics(alternatives.build.timings, list({id(one): one for one in timed if one}.values()))
