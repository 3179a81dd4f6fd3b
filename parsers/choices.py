"""The choices of a build: every ``Chose`` line with the block of timings that it ends.

A block is a layer in one combination of formats: from the combination's line to the ``Chose`` line. Which tactic
was how fast is looked up for all blocks at once, in numpy, because a log times hundreds of tactics for a choice.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from trtforensics.model import NO_TACTIC, Choice
from trtforensics.parsers.formats import format_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from trtforensics.model import SourceSpan, TacticTimings
    from trtforensics.parsers.events import View
    from trtforensics.parsers.passes import Passes

_BLOCK_BEGINS = (
    "format_combination",
    "costs_begin",
    "chose",
    "chose_old",
    "reformat_costs_begin",
    "reformat_combination",
)


def read_choices(
    view: View, timed: TacticTimings, passes: Passes, span: Callable[[int], SourceSpan]
) -> tuple[Choice, ...]:
    """Read every ``Chose`` line of a build, with its block; ``final`` is not decided here."""
    if not view.has("chose", "chose_old"):
        return ()
    blocks = _Blocks(view)
    chosen = _chosen(view)
    begins = blocks.begins(chosen.line)
    races = _races(timed, begins, chosen)
    runners = [timed.texts[runner] for runner in chosen.runner.tolist()]
    lines, starts = chosen.line.tolist(), begins.tolist()
    layers = blocks.layers(begins, chosen.line, runners)
    formats = blocks.formats(begins)
    rows = zip(lines, starts, runners, chosen.tactic.tolist(), races, layers, formats, strict=True)
    return tuple(
        [
            Choice(
                *(layer, runner, runner_id, None if tactic == NO_TACTIC else tactic),
                *(*race, *sides, start, span(line), passes.index(line)),
            )
            for line, start, runner, tactic, race, (layer, runner_id), sides in rows
        ]
    )


class _Chosen(NamedTuple):
    """The ``Chose`` lines in columns: the runner as an index into the texts, the tactic's id."""

    line: npt.NDArray[np.int64]
    runner: npt.NDArray[np.int64]
    tactic: npt.NDArray[np.uint64]


def _chosen(view: View) -> _Chosen:
    parts = []
    for kind in ("chose", "chose_old"):
        rows = view.events[kind]
        span = rows.between(view.first_line, view.last_line)
        cut = slice(span.start, span.stop)
        parts.append(
            (
                np.array(rows.lines[cut], np.int64),
                np.array(rows.columns["runner"][cut], np.int64),
                np.array(rows.columns["tactic"][cut], np.uint64),
            )
        )
    line, runner, tactic = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    return _Chosen(line[order], runner[order], tactic[order])


class _Race(NamedTuple):
    """How a block went: time of the chosen tactic and of the best other one in ms, and how many were timed."""

    time_ms: float | None
    runner_up_ms: float | None
    candidates: int


def _races(timed: TacticTimings, begins: npt.NDArray[np.int64], chosen: _Chosen) -> list[_Race]:
    """Look up every block's own time and runner-up; no two blocks share a line."""
    blocks = len(begins)
    low = timed.line.searchsorted(begins)
    sizes = timed.line.searchsorted(chosen.line, side="right") - low
    block = np.repeat(np.arange(blocks), sizes)
    row = np.arange(len(block)) - np.repeat(np.cumsum(sizes) - sizes, sizes) + np.repeat(low, sizes)
    ms = np.where(np.isnan(timed.ms[row]), np.inf, timed.ms[row])
    own = timed.tactic[row] == chosen.tactic[block]
    of_runner = own & (_runner_of(timed, row) == chosen.runner[block])
    first = _fastest(block, ms, np.flatnonzero(own), blocks)
    named = _fastest(block, ms, np.flatnonzero(of_runner), blocks)
    winner = np.where(named >= 0, named, first)
    best_other = np.full(blocks, np.inf)
    others = np.ones(len(row), np.bool_)
    others[winner[winner >= 0]] = False
    np.minimum.at(best_other, block[others], ms[others])
    times = np.where(winner >= 0, ms[winner] if len(ms) else np.inf, np.inf)
    return [
        _Race(_finite(time), _finite(other), size)
        for time, other, size in zip(times.tolist(), best_other.tolist(), sizes.tolist(), strict=True)
    ]


def _runner_of(timed: TacticTimings, row: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the runner (an index into the texts) under which each row was timed; -1 for none."""
    at = timed.runner_line.searchsorted(timed.line[row]) - 1
    if not len(timed.runner_name):
        return np.full(len(row), -1)
    return np.where(at >= 0, timed.runner_name[at], -1)


def _fastest(
    block: npt.NDArray[np.int64], ms: npt.NDArray[np.float64], among: npt.NDArray[np.int64], blocks: int
) -> npt.NDArray[np.int64]:
    """Return for each block the fastest row ``among`` these, the first of equals; -1 for none."""
    result = np.full(blocks, -1)
    order = among[np.lexsort((among, ms[among], block[among]))]
    of_block, place = np.unique(block[order], return_index=True)
    result[of_block] = order[place]
    return result


def _finite(value: float) -> float | None:
    return value if value < np.inf else None


class _Blocks:
    """What stands around a line: the begin of its block, the layer it is about, the formats tried."""

    def __init__(self, view: View) -> None:
        self._first_line = view.first_line
        self._begins = np.array(view.lines(*_BLOCK_BEGINS), np.int64)
        self._costs = list(view.each("costs_begin", "layer"))
        self._runners = sorted(
            [
                *view.each("timing_runner", "layer", "runner", "runner_id"),
                *((*r, None) for r in view.each("timing_old", "layer", "runner")),
            ],
            key=itemgetter(0),
        )
        self._combinations = {
            line: (inputs, outputs)
            for kind, *sides in (
                ("format_combination", "inputs", "outputs"),
                ("reformat_combination", "source", "target"),
            )
            for line, inputs, outputs in view.each(kind, *sides)
        }

    def begins(self, lines: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return where the blocks of these lines begin.

        In an excerpt, and in TensorRT 4 to 6, no line may stand before the first block: it begins with the build.
        """
        return np.concatenate(([self._first_line], self._begins))[self._begins.searchsorted(lines)]

    def formats(self, begins: npt.NDArray[np.int64]) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
        sides = [self._combinations.get(begin, ("", "")) for begin in begins.tolist()]
        return [(format_texts(inputs, outputs), format_texts(outputs, inputs)) for inputs, outputs in sides]

    def layers(
        self, begins: npt.NDArray[np.int64], lines: npt.NDArray[np.int64], runners: list[str]
    ) -> list[tuple[str, int | None]]:
        """Return for each block its layer, and the id of its runner where that was timed in it."""
        runner_lines = np.array([runner[0] for runner in self._runners], np.int64)
        low = runner_lines.searchsorted(begins).tolist()
        high = runner_lines.searchsorted(lines, side="right").tolist()
        costs = np.array([line for line, _ in self._costs], np.int64).searchsorted(lines, side="right").tolist()
        return [
            self._timed(self._runners[first:behind], runner)
            if first < behind
            else ((self._costs[cost - 1][1] or "") if cost else "", None)
            for first, behind, cost, runner in zip(low, high, costs, runners, strict=True)
        ]

    @staticmethod
    def _timed(timed: list[tuple[int, str, str, str | None]], runner: str) -> tuple[str, int | None]:
        for _, _, name, runner_id in timed:
            if name == runner and runner_id:
                return timed[-1][1], int(runner_id, 16)
        return timed[-1][1], None
