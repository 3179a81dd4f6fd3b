"""The passes of a build: TensorRT >= 10.13 may build a graph once for each backend strategy and keeps the fastest.

The last pass in the log is not always the engine's: only ``Use``, ``Chose`` and ``Skip`` lines say which one is. They
end a pass: what follows the last of them is of the engine, whichever pass made it.
"""

from itertools import pairwise

import numpy as np

from trtforensics.model.arrays import Positions
from trtforensics.model.log import BackendPass
from trtforensics.parsers.builds.views import ENGINE, LinesView, Log

_Begins = list[tuple[int, int | None]]
"""Where passes begin: line and backend strategy."""

_ENGINE = (*ENGINE, "layer_short", "layer_detailed", "engine_built", "plan_engines")
_VERDICTS = ("strategy_initial", "strategy_chosen", "strategy_skipped")


class Passes:
    """The passes of each build, and which of them a line belongs to."""

    def __init__(self, log: Log) -> None:
        self.of_builds = _of_builds(log)
        begins: list[tuple[int, int | None, bool]] = []
        for (first, behind), passes in zip(pairwise(log.edges.tolist()), self.of_builds, strict=True):
            begins += [(first, None, False)] if passes[0].first_line > first else []
            begins += [(each.first_line, place, each.chosen is False) for place, each in enumerate(passes)]
            begins += [(passes[-1].last_line + 1, None, False)] if passes[-1].last_line + 1 < behind else []
        self._begins = np.array([line for line, _, _ in begins], np.int64)
        self._places = [place for _, place, _ in begins]
        """By beginning: the pass that starts there; None before the first and behind the last of several."""
        self._discarded = [discarded for _, _, discarded in begins]

    def indexes(self, lines: Positions) -> list[int | None]:
        """Return each line's pass, by its index in its build; None before the first and behind the last of several."""
        begins = self._begins.searchsorted(lines, side="right") - 1
        return list(map(self._places.__getitem__, begins.tolist()))

    def discarded(self, line: int) -> bool:
        """Whether a line is of a pass whose engine was thrown away."""
        return self._discarded[self._begins.searchsorted(line, side="right") - 1]


def chosen_pass(passes: tuple[BackendPass, ...]) -> int | None:
    """Return which pass of a build made its engine; None where the log does not tell."""
    return next((index for index, backend_pass in enumerate(passes) if backend_pass.chosen), None)


def _of_builds(log: Log) -> list[tuple[BackendPass, ...]]:
    begun: dict[int, _Begins] = {}
    for (build, strategy), line in zip(
        log.placed("strategy_begin", "strategy"), log.lines("strategy_begin"), strict=True
    ):
        begun.setdefault(build, []).append((line, strategy))
    has_engine = log.having(*_ENGINE).tolist()
    passes = []
    for build, (first, behind) in enumerate(pairwise(log.edges.tolist())):
        begins = begun.get(build, ())
        if len(begins) > 1:
            passes.append(_several(log.views[build], [*begins]))
        else:
            strategy = begins[0][1] if begins else None
            passes.append((BackendPass(strategy, first, behind - 1, has_engine[build] or None),))
    return passes


def _several(view: LinesView, begins: _Begins) -> tuple[BackendPass, ...]:
    outcomes = _outcomes(view, begins)
    verdicts = view.lines(*_VERDICTS)
    behind_last = verdicts[-1] if len(begins) - 1 in outcomes else view.last_line
    limits = [*(line for line, _ in begins[1:]), behind_last + 1]
    return tuple(
        BackendPass(strategy, begin, limit - 1, *outcomes.get(index, (None, None)))
        for index, ((begin, strategy), limit) in enumerate(zip(begins, limits, strict=True))
    )


def _outcomes(view: LinesView, begins: _Begins) -> dict[int, tuple[bool | None, float | None]]:
    """Return which passes were kept or skipped, as far as the log says, and TensorRT's estimate in ms for each."""
    verdicts = sorted(
        (line, kind, strategy, ms) for kind in _VERDICTS for line, strategy, ms in view.each(kind, "strategy", "ms")
    )
    outcomes: dict[int, tuple[bool | None, float | None]] = {}
    best: int | None = None
    for line, kind, strategy, ms in verdicts:
        judged = max((i for i, (begin, s) in enumerate(begins) if begin < line and s == strategy), default=None)
        if judged is None:
            continue
        kept = kind != "strategy_skipped"
        outcomes[judged] = (kept, ms)
        if kept:
            if best is not None:
                outcomes[best] = (False, outcomes[best][1])
            best = judged
    if best is not None and len(outcomes) < len(begins):
        outcomes[best] = (None, outcomes[best][1])  # a pass without a verdict may still have replaced it
    return outcomes
