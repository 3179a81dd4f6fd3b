"""What was timed for a choice, fastest first, built a row at a time: a choice may have 10⁵ candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, overload

from trtforensics.model import Candidate, Choice, MyelinOperation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.model import Build, CachedResult, Int32Column, TacticTimings
    from trtforensics.tui.layer_index import Subject


class TimedTactics(Sequence[Candidate]):
    """The tactics timed on some lines, over a build's columns; a candidate exists only while it is looked at."""

    def __init__(self, timings: TacticTimings, first_line: int, last_line: int) -> None:
        self._timings = timings
        self._rows = timings.rows(first_line, last_line)

    def __len__(self) -> int:
        return len(self._rows)

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


def tactics_of(build: Build, subject: Subject) -> tuple[TimedTactics, Choice | None]:
    """Return what was timed for a subject, and for a cached result the choice that timed it."""
    if isinstance(subject, MyelinOperation):
        return TimedTactics(subject.timings, subject.span.line, subject.last_line), None
    origin = None if isinstance(subject, Choice) else timed_before(build.choices, subject)
    timed = subject if isinstance(subject, Choice) else origin
    if timed is None:
        return TimedTactics(build.timings, 1, 0), None
    return TimedTactics(build.timings, timed.first_line, timed.span.line), origin


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
