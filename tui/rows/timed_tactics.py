"""The tactics timed for the subject of the candidates pane, fastest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.log import Choice, MyelinOperation
from trtforensics.model.timings import Candidate, TimedTactics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.model.log import Build, CachedResult
    from trtforensics.tui.rows.layer_index import Subject


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


Tactics = TimedTactics | ListedTactics


def tactics_of(build: Build, subject: Subject) -> tuple[Tactics, Choice | None]:
    """Return the tactics timed for a subject, and for a cached result the choice that timed it."""
    if isinstance(subject, MyelinOperation):
        return ListedTactics(subject.candidates), None
    origin = None if isinstance(subject, Choice) else timed_before(build.choices, subject)
    timed = subject if isinstance(subject, Choice) else origin
    if timed is None:
        return ListedTactics(), None
    rows = build.timings.rows(timed.first_line, timed.span.line)
    return TimedTactics(build.timings, rows), origin


def timed_before(choices: Iterable[Choice], cached: CachedResult) -> Choice | None:
    """Return the earlier choice whose result the cache returned: same runner, tactic, time and formats.

    The cache's key is the computation, not the layer's name, so the choice may be another layer's. The layer's own
    choice is preferred.
    """
    same = [
        choice
        for choice in choices
        if choice.tactic == cached.tactic
        and choice.time_ms == cached.time_ms
        and choice.span.line < cached.span.line
        and (choice.runner, choice.inputs, choice.outputs) == (cached.runner, cached.inputs, cached.outputs)
    ]
    return min(same, key=lambda choice: choice.layer != cached.layer, default=None)
