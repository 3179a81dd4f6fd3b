"""The choices of a build: every ``Chose`` line with the block of timings that it ends.

A block is a layer in one combination of formats: from the combination's line to the ``Chose`` line. Which tactic
was how fast is looked up for all blocks at once, in numpy, because a log times hundreds of tactics for a choice.
"""

from __future__ import annotations

from bisect import bisect_right
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
    blocks = _Blocks(view)
    chosen = _chosen(view)
    begins = [blocks.begin(line) for line in chosen.line.tolist()]
    races = _races(timed, np.array(begins, np.int64), chosen)
    rows = zip(chosen.line.tolist(), chosen.runner.tolist(), chosen.tactic.tolist(), begins, races, strict=True)
    result = []
    for line, runner_text, tactic_id, begin, race in rows:
        runner = timed.texts[runner_text]
        tactic = None if tactic_id == NO_TACTIC else tactic_id
        layer, runner_id = blocks.layer(begin, line, runner)
        inputs, outputs = blocks.formats(begin)
        index = passes.index(line)
        result.append(Choice(layer, runner, runner_id, tactic, *race, inputs, outputs, begin, span(line), index))
    return tuple(result)


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
        self._begins = view.lines(*_BLOCK_BEGINS)
        self._costs = list(view.each("costs_begin", "layer"))
        self._cost_lines = [c[0] for c in self._costs]
        self._runners = sorted(
            [
                *view.each("timing_runner", "layer", "runner", "runner_id"),
                *((*r, None) for r in view.each("timing_old", "layer", "runner")),
            ]
        )
        self._runner_lines = [r[0] for r in self._runners]
        self._combinations = sorted(
            [
                *view.each("format_combination", "inputs", "outputs"),
                *view.each("reformat_combination", "source", "target"),
            ],
            key=lambda combination: combination[0],
        )
        self._combination_lines = [c[0] for c in self._combinations]

    def begin(self, line: int) -> int:
        found = bisect_right(self._begins, line - 1) - 1
        if found >= 0:
            return self._begins[found]
        return self._first_line  # an excerpt, or TensorRT 4 to 6, which print no line before the first block

    def formats(self, begin: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
        found = bisect_right(self._combination_lines, begin) - 1
        if found < 0 or self._combination_lines[found] != begin:
            return (), ()
        _, inputs, outputs = self._combinations[found]
        return format_texts(inputs, outputs), format_texts(outputs, inputs)

    def layer(self, begin: int, line: int, runner: str) -> tuple[str, int | None]:
        """Return the layer of a block and the id of a runner that was timed in it."""
        low, high = bisect_right(self._runner_lines, begin - 1), bisect_right(self._runner_lines, line)
        timed = self._runners[low:high]
        ids = (runner_id for _, _, name, runner_id in timed if name == runner and runner_id)
        runner_id = next((int(text, 16) for text in ids), None)
        if timed:
            return timed[-1][1], runner_id
        found = bisect_right(self._cost_lines, line) - 1
        return (self._costs[found][1] or "") if found >= 0 else "", None
