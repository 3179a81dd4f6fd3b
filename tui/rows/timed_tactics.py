"""What was timed for a subject of the candidates pane, fastest first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.log import Choice, MyelinOperation
from trtforensics.model.timings import Candidate, TimedTactics

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.model.log import Build, CachedResult
    from trtforensics.tui.rows.layer_index import Subject


class ListedTactics(list[Candidate]):
    """The candidates of an operation that Myelin timed: some hundreds."""

    def with_tactic(self, tactic: int) -> list[int]:
        """Return where a tactic stands."""
        return [index for index, candidate in enumerate(self) if candidate.tactic == tactic]

    def widest_kernel(self) -> int:
        """Return how long the longest kernel name is."""
        return max((len(candidate.kernel) for candidate in self), default=0)

    def widest_runner(self) -> int:
        """Return nothing: the table names no runners."""
        return 0


Tactics = TimedTactics | ListedTactics


def tactics_of(build: Build, subject: Subject) -> tuple[Tactics, Choice | None]:
    """Return what was timed for a subject, and for a cached result the choice that timed it."""
    if isinstance(subject, MyelinOperation):
        return ListedTactics(subject.candidates), None
    origin = None if isinstance(subject, Choice) else timed_before(build.choices, subject)
    timed = subject if isinstance(subject, Choice) else origin
    if timed is None:
        return ListedTactics(), None
    rows = build.timings.rows(timed.first_line, timed.span.line)
    return TimedTactics(build.timings, rows), origin


def timed_before(choices: Iterable[Choice], cached: CachedResult) -> Choice | None:
    """Find the choice whose result was taken from the cache: same runner, tactic, time and formats, further up.

    The cache is keyed by what a layer computes and not by its name, so that another layer may have been timed; the
    layer's own choice is preferred.
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
