"""The passes of a build: TensorRT >= 10.13 may build a graph once for each backend strategy and keeps the fastest.

The last pass in the log is not always the engine's: only ``Use``, ``Chose`` and ``Skip`` lines say which one is.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model import BackendPass

if TYPE_CHECKING:
    import numpy.typing as npt

    from trtforensics.parsers.views import Log, View

_ENGINE = (
    "engine_generated",
    "engine_generated_old",
    "engine_layers",
    "engine_layers_detailed",
    "engine_built",
    "plan_engines",
)


class Passes:
    """The passes of each build, and which of them a line belongs to."""

    def __init__(self, log: Log) -> None:
        self.of_builds = _of_builds(log)
        self._begins: list[int] = []
        self._places: list[tuple[int | None, bool]] = []
        """From each beginning on: which pass of its build a line is of, and whether that was thrown away."""
        for (first_line, _), passes in zip(log.builds, self.of_builds, strict=True):
            if first_line < passes[0].first_line:
                self._begin(first_line, (None, False))
            for index, one in enumerate(passes):
                self._begin(one.first_line, (index, one.chosen is False))

    def _begin(self, line: int, place: tuple[int | None, bool]) -> None:
        if not self._places or self._places[-1] != place:
            self._begins.append(line)
            self._places.append(place)

    def index(self, line: int) -> int | None:
        """Return the pass of its build that a line belongs to; None before the first of several (what all share)."""
        return self._places[bisect_right(self._begins, line) - 1][0]

    def indexes(self, lines: npt.NDArray[np.int64]) -> tuple[int | None, ...]:
        """Return the pass of each line, as :meth:`index` does."""
        places = np.array(self._begins).searchsorted(lines, side="right") - 1
        indexes = [index for index, _ in self._places]
        return tuple([indexes[place] for place in places.tolist()])

    def discarded(self, line: int) -> bool:
        """Whether a line is of a pass whose engine was thrown away."""
        return self._places[bisect_right(self._begins, line) - 1][1]


def _of_builds(log: Log) -> list[tuple[BackendPass, ...]]:
    begun: dict[int, list[tuple[int, int | None]]] = {}
    for (build, strategy), line in zip(
        log.placed("strategy_begin", "strategy"), log.lines("strategy_begin"), strict=True
    ):
        begun.setdefault(build, []).append((line, strategy))
    alone = {build: begins[0][1] for build, begins in begun.items() if len(begins) == 1}
    passes: list[tuple[BackendPass, ...]] = [
        (BackendPass(alone.get(build), first_line, last_line, True if has_engine else None),)
        for build, ((first_line, last_line), has_engine) in enumerate(
            zip(log.builds, log.having(*_ENGINE), strict=True)
        )
    ]
    for build, begins in begun.items():
        if len(begins) > 1:
            passes[build] = _several(log.views[build], begins)
    return passes


def _several(view: View, begins: list[tuple[int, int | None]]) -> tuple[BackendPass, ...]:
    limits = [*(line for line, _ in begins[1:]), view.last_line + 1]
    verdicts = sorted(
        (line, kind, strategy, ms)
        for kind in ("strategy_initial", "strategy_chosen", "strategy_skipped")
        for line, strategy, ms in view.each(kind, "strategy", "ms")
    )
    outcome: dict[int, tuple[bool | None, float | None]] = {}
    best: int | None = None
    for line, kind, strategy, ms in verdicts:
        judged = max((i for i, (begin, s) in enumerate(begins) if begin < line and s == strategy), default=None)
        if judged is None:
            continue
        kept = kind != "strategy_skipped"
        outcome[judged] = (kept, ms)
        if kept:
            if best is not None:
                outcome[best] = (False, outcome[best][1])
            best = judged
    if best is not None and len(outcome) < len(begins):
        outcome[best] = (None, outcome[best][1])  # a pass without a verdict may still have replaced it
    return tuple(
        BackendPass(strategy, begin, limit - 1, *outcome.get(i, (None, None)))
        for i, ((begin, strategy), limit) in enumerate(zip(begins, limits, strict=True))
    )
