"""The choices of a build: every ``Chose`` line with the block of timings that it ends.

A block is a layer in one combination of formats: from the combination's line to the ``Chose`` line. Which tactic
was how fast is looked up for all blocks at once, in numpy, because a log times hundreds of tactics for a choice.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trtforensics.model.log import Choice
from trtforensics.model.table import Column, numbers, same, spanned
from trtforensics.parsers.builds.autotuning import RUNNERS, formats_of
from trtforensics.parsers.builds.views import latest
from trtforensics.parsers.lines.events import NO_TEXT, tactic_or_none

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from trtforensics.model.span import SourceSpan
    from trtforensics.model.table import Parts
    from trtforensics.model.timings import TacticTimings
    from trtforensics.parsers.builds.passes import Passes
    from trtforensics.parsers.builds.views import Log

    _Indexes = npt.NDArray[np.intp]
    _Lines = npt.NDArray[np.int64]
    _Texts = npt.NDArray[np.int32]
    _Times = npt.NDArray[np.float64]

CHOSEN = ("chose", "chose_old")
_BLOCK_BEGINS = ("format_combination", "costs_begin", *CHOSEN, "reformat_costs_begin", "reformat_combination")


def choices(log: Log, timed: TacticTimings, passes: Passes, span: Callable[[int], SourceSpan]) -> Parts[Choice]:
    """Return the choices of each build; ``final`` is not decided here."""
    blocks = _blocks(log)
    layer, runner_id = _layers(log, blocks)
    time, other, candidates = _races(timed, blocks)
    inputs, outputs = formats_of(log, *_tried(log, blocks))
    columns: dict[str, Column[Any]] = {
        "layer": log.column(layer),
        "runner": log.column(blocks.runner),
        "runner_id": runner_id,
        "tactic": Column(blocks.tactic, tactic_or_none),
        "time_ms": Column(time, _finite),
        "runner_up_ms": Column(other, _finite),
        "candidates": numbers(candidates),
        "inputs": inputs,
        "outputs": outputs,
        "first_line": numbers(blocks.begin),
        "span.line": numbers(blocks.line),
        "pass_index": passes.column(blocks.line),
        "final": same(None, len(blocks.line)),
    }
    return log.rows(spanned(Choice, span, columns))


class _Blocks(NamedTuple):
    """The blocks in columns: the build's first line, first and last line, chosen runner (a text's index) and tactic.

    No two blocks share a line. In an excerpt, and in TensorRT 4 to 6, no line may stand before the first block: it
    begins with the build.
    """

    build: _Lines
    begin: _Lines
    line: _Lines
    runner: _Texts
    tactic: npt.NDArray[np.uint64]

    def rows(self, lines: _Lines) -> _Rows:
        """Return which of some sorted lines are in which block."""
        first = lines.searchsorted(self.begin)
        count = lines.searchsorted(self.line, side="right") - first
        block = np.repeat(np.arange(len(count)), count)
        row = np.arange(len(block)) + np.repeat(first - (np.cumsum(count) - count), count)
        return _Rows(first, count, block, row)


class _Rows(NamedTuple):
    """The rows of a table that are in blocks: each block's first one and how many; then block and index of each row."""

    first: _Indexes
    size: _Indexes
    block: _Indexes
    row: _Indexes


def _blocks(log: Log) -> _Blocks:
    line, runner, tactic = log.columns(CHOSEN, "runner", "tactic")
    (begins,) = log.columns(_BLOCK_BEGINS)
    build = log.build_of(line)
    return _Blocks(build, np.maximum(build, latest(begins, begins, line - 1)), line, runner, tactic)


def _races(timed: TacticTimings, blocks: _Blocks) -> tuple[_Times, _Times, _Indexes]:
    """Return of each block the time of the chosen tactic and of the best other one in ms, and how many were timed.

    A time that the log does not tell is endless.
    A tactic may have been timed under several runners; its time is that under the chosen one, if there is one.
    """
    rows = blocks.rows(timed.line)
    ms = timed.ms[rows.row]
    ms[np.isnan(ms)] = np.inf
    own = np.flatnonzero(timed.tactic[rows.row] == np.repeat(blocks.tactic, rows.size))
    runner = latest(timed.runner_line, timed.runner_name, timed.line[rows.row[own]], blocks.build[rows.block[own]])
    of_runner = own[runner == blocks.runner[rows.block[own]]]
    winner = _fastest(rows, ms, own)
    named = _fastest(rows, ms, of_runner)
    winner[named >= 0] = named[named >= 0]
    won = np.flatnonzero(winner >= 0)
    times, others = np.full((2, len(winner)), np.inf)
    times[won] = ms[winner[won]]
    ms[winner[won]] = np.inf
    some = np.flatnonzero(rows.size)
    if len(some):
        others[some] = np.minimum.reduceat(ms, (np.cumsum(rows.size) - rows.size)[some])
    return times, others, rows.size


def _fastest(rows: _Rows, ms: npt.NDArray[np.float64], among: _Indexes) -> _Indexes:
    """Return for each block the fastest row ``among`` these, the first of equals; -1 for none."""
    result = np.full(len(rows.first), -1)
    order = among[np.lexsort((among, ms[among], rows.block[among]))]
    first = order[np.flatnonzero(np.diff(rows.block[order], prepend=-1))]
    result[rows.block[first]] = first
    return result


def _finite(value: float) -> float | None:
    return value if value < math.inf else None


def _layers(log: Log, blocks: _Blocks) -> tuple[_Texts, Column[int | None]]:
    """Return of each block its layer, as a text's index, and the id of its runner where that was timed in it."""
    line, layer, runner, printed = log.columns(RUNNERS, "layer", "runner", "runner_id")
    rows = blocks.rows(line)
    timed = np.flatnonzero(rows.size)
    costs_line, costs_layer = log.columns(("costs_begin",), "layer")
    layers = latest(costs_line, costs_layer, blocks.line, blocks.build)
    layers[timed] = layer[(rows.first + rows.size - 1)[timed]]
    own = np.flatnonzero((runner[rows.row] == blocks.runner[rows.block]) & (printed[rows.row] != NO_TEXT))[::-1]
    identifiers = np.full(len(rows.first), NO_TEXT)
    identifiers[rows.block[own]] = printed[rows.row[own]]  # the last assignment stays: that of the first row
    ids = {index: int(log.text(index), 16) for index in set(identifiers.tolist()) - {NO_TEXT}}
    return layers, Column(identifiers, ids.get)


def _tried(log: Log, blocks: _Blocks) -> _Texts:
    """Return the formats of both sides that each block tries, a row a side, as texts' indexes."""
    sides = np.full((2, len(blocks.begin)), NO_TEXT, np.int32)
    for kind, *names in (("format_combination", "inputs", "outputs"), ("reformat_combination", "source", "target")):
        line, *columns = log.columns((kind,), *names)
        of_kind = latest(line, line, blocks.begin) == blocks.begin
        sides[:, of_kind] = [latest(line, column, blocks.begin[of_kind]) for column in columns]
    return sides
