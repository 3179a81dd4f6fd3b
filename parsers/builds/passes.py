"""The passes of a build: TensorRT >= 10.13 may build a graph once for each backend strategy and keeps the fastest.

The last pass in the log is not always the engine's: only ``Use``, ``Chose`` and ``Skip`` lines say which one is.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.model.log import BackendPass
from trtforensics.model.table import Column, Table
from trtforensics.parsers.lines.events import NO_INTEGER, duration_or_none, integer_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from trtforensics.model.table import Parts
    from trtforensics.parsers.builds.views import Log, View

_ENGINE = (
    "engine_generated",
    "engine_generated_old",
    "engine_layers",
    "engine_layers_detailed",
    "engine_built",
    "plan_engines",
)


_CHOSEN = (False, True, None)
_THROWN_AWAY, _KEPT, _UNTOLD = range(3)
"""Their places."""

NO_PASS = -1

_Row = tuple[int | None, int, int, bool | None, float | None]
"""The fields of a pass."""


class Passes:
    """The passes of each build, and which of them a line belongs to."""

    def __init__(self, log: Log) -> None:
        self.of_builds: Parts[BackendPass] = log.rows(_table(log), "first_line")
        table, limits = self.of_builds.table, self.of_builds.limits
        begins, chosen = table.column("first_line").codes, table.column("chosen").codes
        index = np.arange(len(begins)) - np.repeat(limits[:-1], np.diff(limits))
        before = log.edges[:-1][begins[limits[:-1]] > log.edges[:-1]]
        lines = np.concatenate((begins, before))
        places = np.concatenate((index << 1 | (chosen == _THROWN_AWAY), np.full(len(before), NO_PASS << 1)))
        order = lines.argsort()
        changes = np.diff(places[order], prepend=(NO_PASS << 1) - 1).nonzero()[0]
        self._begins: list[int] = lines[order][changes].tolist()
        self._places: list[int] = places[order][changes].tolist()
        """From each beginning on: which pass of its build a line is of, and as the last bit if that was thrown away."""

    def chosen(self) -> npt.NDArray[np.int64]:
        """Return which pass of each build made its engine; NO_PASS where the log does not tell."""
        limits = self.of_builds.limits
        kept = np.append((self.of_builds.table.column("chosen").codes == _KEPT).nonzero()[0], limits[-1])
        first = kept[kept.searchsorted(limits[:-1])]
        return np.where(first < limits[1:], first - limits[:-1], NO_PASS)

    def column(self, lines: npt.NDArray[np.int64]) -> Column[int | None]:
        """Return the pass of its build that each line is of; None before the first of several (what all share)."""
        places = np.array(self._places)[np.array(self._begins).searchsorted(lines, side="right") - 1]
        return Column(places >> 1, _index)

    def discarded(self, line: int) -> bool:
        """Whether a line is of a pass whose engine was thrown away."""
        return bool(self._places[bisect_right(self._begins, line) - 1] & 1)


def _index(code: int) -> int | None:
    return None if code == NO_PASS else code


def _table(log: Log) -> Table:
    """Return the passes of all builds: one each, but for those that tell of several."""
    begun: dict[int, list[tuple[int, int | None]]] = {}
    for (build, strategy), line in zip(
        log.placed("strategy_begin", "strategy"), log.lines("strategy_begin"), strict=True
    ):
        begun.setdefault(build, []).append((line, strategy))
    strategies = np.full(log.size, NO_INTEGER)
    alone = np.ones(log.size, bool)
    rows: list[_Row] = []
    for build, begins in begun.items():
        if len(begins) == 1:
            strategies[build] = _code(begins[0][1])
        else:
            alone[build] = False
            rows += _several(log.views[build], begins)
    chosen = np.where(log.having(*_ENGINE), _KEPT, _UNTOLD)
    ms = np.full(log.size, math.nan)
    columns = [column[alone] for column in (strategies, log.edges[:-1], log.edges[1:] - 1, chosen, ms)]
    if rows:
        coded = [
            (_code(strategy), *lines, _CHOSEN.index(kept), math.nan if ms is None else ms)
            for strategy, *lines, kept, ms in rows
        ]
        columns = [np.append(column, more) for column, more in zip(columns, zip(*coded, strict=True), strict=True)]
        order = columns[1].argsort()
        columns = [column[order] for column in columns]
    reads: tuple[Callable[[Any], Any], ...] = integer_or_none, int, int, _CHOSEN.__getitem__, duration_or_none
    names = BackendPass.__dataclass_fields__
    held = [Column(codes, read) for codes, read in zip(columns, reads, strict=True)]
    return Table(BackendPass, dict(zip(names, held, strict=True)))


def _code(strategy: int | None) -> int:
    return NO_INTEGER if strategy is None else strategy


def _several(view: View, begins: list[tuple[int, int | None]]) -> list[_Row]:
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
    return [
        (strategy, begin, limit - 1, *outcome.get(i, (None, None)))
        for i, ((begin, strategy), limit) in enumerate(zip(begins, limits, strict=True))
    ]
