"""Autotuning of each build: timed tactics in columns, the choices and cached results that came out of them.

A block is a layer in one combination of formats: from the combination's line to the ``Chose`` line. Which tactic
was how fast is looked up for all blocks at once, in numpy, because a log times hundreds of tactics for a choice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, compress, repeat
from typing import NamedTuple

import numpy as np

from trtforensics.model.arrays import Bools, Floats, Numbers, Positions, Words
from trtforensics.model.log import Autotuning, CachedResult, Choice, LayerTuning
from trtforensics.model.timings import NO_TACTIC, OpenBlock, TacticTimings
from trtforensics.parsers.builds.passes import Passes
from trtforensics.parsers.builds.views import Log, latest
from trtforensics.parsers.lines.events import NO_INTEGER, NO_TEXT, duration_or_none, integer_or_none, tactic_or_none
from trtforensics.parsers.notation.formats import both_sides

_Formats = tuple[str, ...]

RUNNERS = ("timing_runner", "timing_old")
CHOSEN = ("chose", "chose_old")
TIMED = ("tactic_timed", "tactic_old")
BLOCK_BEGINS = ("format_combination", "costs_begin", *CHOSEN, "reformat_costs_begin", "reformat_combination")
_HALF = 32
_LOW = (1 << _HALF) - 1
_AT_ONCE = 4096


def timings(log: Log) -> TacticTimings:
    """Gather every timed tactic and runner block of a log, sorted by line."""
    line, tactic, ms, kernel, splits = log.columns(TIMED, "tactic", "ms", "kernel", "splits")
    runner_line, layer, runner = log.columns(RUNNERS, "layer", "runner")
    if log.has("set_tactic_name") and len(line):
        kernel, splits = _named_kernels(log, line, tactic, kernel, splits)
    printed = splits if (splits != NO_INTEGER).any() else None
    return TacticTimings(line, tactic, ms, kernel, runner_line, layer, runner, log.events.texts.all(), printed)


def timings_of_builds(timed: TacticTimings, log: Log, wanted: Sequence[bool] | None = None) -> list[TacticTimings]:
    """Return each build's part of the timings of its log; an empty part for builds that are not ``wanted``."""
    parts = [_rows_of(timed, slice(0), slice(0))] * log.size
    limits = enumerate(zip(log.ranges(timed.line), log.ranges(timed.runner_line), strict=True))
    for build, (rows, blocks) in limits if wanted is None else compress(limits, wanted):
        if rows[0] < rows[1] or blocks[0] < blocks[1]:
            parts[build] = _rows_of(timed, slice(*rows), slice(*blocks))
    return parts


def _rows_of(timed: TacticTimings, tactics: slice, runners: slice) -> TacticTimings:
    of_tactics = timed.line[tactics], timed.tactic[tactics], timed.ms[tactics], timed.kernel[tactics]
    of_runners = timed.runner_line[runners], timed.runner_layer[runners], timed.runner_name[runners]
    splits = None if timed.splits is None else timed.splits[tactics]
    return TacticTimings(*of_tactics, *of_runners, timed.texts, splits)


def _named_kernels(
    log: Log, line: np.ndarray, tactic: np.ndarray, kernel: np.ndarray, splits: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Give a tactic kernel and split of K of the ``Set Tactic Name`` line before it (7.x to 8.5; since 8.0 its id)."""
    named_line, named_tactic, *named = log.columns(("set_tactic_name",), "tactic", "kernel", "splits")
    before = named_line.searchsorted(line) - 1
    previous = np.maximum(np.concatenate(([0], line[:-1])), log.build_of(line) - 1)
    same = (named_tactic[before] == tactic) | (named_tactic[before] == np.uint64(NO_TACTIC))
    fits = (before >= 0) & same & (named_line[before] > previous) & (kernel == NO_TEXT)
    return np.where(fits, named[0][before], kernel), np.where(fits, named[1][before], splits)


def runner_ids(log: Log) -> Sequence[dict[str, int]]:
    """Return by build the ids of the runners that were timed, by name, as far as the log prints ids."""
    line, runner, identifier = log.columns(("timing_runner",), "runner", "runner_id")
    texts, ids = log.events.texts.all(), []
    for low, high in log.ranges(line):
        pairs: set[int] = set()  # of single numbers: it is built much faster than a set of pairs
        for at in range(low, high, _AT_ONCE):
            rows = slice(at, min(at + _AT_ONCE, high))
            pairs.update((runner[rows].astype(np.int64) << _HALF | identifier[rows]).tolist())
        ids.append(dict(sorted((texts[p >> _HALF], int(texts[p & _LOW], 16)) for p in pairs if p >= 0)))
    return ids


def counts(log: Log) -> list[Autotuning]:
    """Count the lines of each build's autotuning."""
    kinds = (("timing_runner",), TIMED, ("tactic_skipped", "tactic_skipped_old"), ("cached_result",))
    return list(map(Autotuning, *(log.counts(*group).tolist() for group in kinds)))


def layer_tuning(log: Log) -> Sequence[tuple[LayerTuning, ...]]:
    """Add up how long each build's layers were profiled, slowest first."""
    line, layer, duration = log.columns(("profiling_completed",), "layer", "seconds")
    profiled = (log.build_of(line) << _HALF) + layer
    changes = np.flatnonzero(np.diff(profiled, prepend=-1))
    _, first, which = np.unique(profiled[changes], return_index=True, return_inverse=True)
    which, first = np.repeat(which, np.diff(changes, append=len(line))), changes[first]
    seconds = np.bincount(which, np.where(np.isnan(duration), 0.0, duration), len(first))
    build = log.build_of(line[first])
    order = np.lexsort((line[first], -seconds, build))
    first = first[order]
    made = map(LayerTuning, log.texts(layer[first]), seconds[order].tolist(), log.spans.of_each(line[first]))
    return log.divide(build[order], made)


def cached_results(log: Log, passes: Passes) -> Sequence[tuple[CachedResult, ...]]:
    """Read every ``got cached result`` line of each build; ``final`` is not decided here."""
    line, layer, runner, tactic, ms, *sides = log.columns(
        ("cached_result",), "layer", "runner", "tactic", "ms", "inputs", "outputs"
    )
    made = map(
        CachedResult,
        log.texts(layer),
        log.texts(runner),
        map(tactic_or_none, tactic.tolist()),
        map(duration_or_none, ms.tolist()),
        *formats_of(log, *sides),
        log.spans.of_each(line),
        passes.indexes(line),
    )
    return log.divide(line, made)


def formats_of(log: Log, inputs: Numbers, outputs: Numbers) -> tuple[list[_Formats], list[_Formats]]:
    """Return the formats of both sides of combinations, by their texts' indexes."""
    pairs = list(zip(inputs.tolist(), outputs.tolist(), strict=True))
    read = {pair: both_sides(log.text(pair[0]), log.text(pair[1])) for pair in set(pairs)}
    return [read[pair][0] for pair in pairs], [read[pair][1] for pair in pairs]


def choices(log: Log, timed: TacticTimings, passes: Passes) -> Sequence[tuple[Choice, ...]]:
    """Return the choices of each build; ``final`` is not decided here.

    They are made some thousand at once: columns for all of them, and copies of all timings, would fill the memory.
    """
    line, runner, tactic = log.columns(CHOSEN, "runner", "tactic")
    (block_begins,) = log.columns(BLOCK_BEGINS)
    build = log.build_of(line)
    begin = _since_other_layer(log, np.maximum(build, latest(block_begins, block_begins, line - 1)), line)
    shared = (np.diff(line, prepend=-1) == 0) | (np.diff(line, append=-1) == 0)
    blocks = _Blocks(build, begin, line, runner, tactic, shared)
    pieces = (_Blocks._make(column[at : at + _AT_ONCE] for column in blocks) for at in range(0, len(line), _AT_ONCE))
    return log.divide(blocks.line, chain.from_iterable(_choices(log, timed, passes, piece) for piece in pieces))


def _choices(log: Log, timed: TacticTimings, passes: Passes, blocks: _Blocks) -> Iterator[Choice]:
    layer, runner_id = _layers(log, blocks)
    time, other, candidates, kernel, splits = _raced(timed, blocks)
    return map(
        Choice,
        log.texts(layer),
        log.texts(blocks.runner),
        runner_id,
        map(tactic_or_none, blocks.tactic.tolist()),
        map(_finite, time.tolist()),
        map(_finite, other.tolist()),
        candidates.tolist(),
        *formats_of(log, *_formats(log, blocks.begin, _COMBINATION, _OF_REFORMAT)),
        blocks.begin.tolist(),
        log.spans.of_each(blocks.line),
        passes.indexes(blocks.line),
        repeat(None),
        log.texts(kernel),
        map(integer_or_none, splits.tolist()),
    )


class _Blocks(NamedTuple):
    """The blocks in columns: first line of the build, first and last line, chosen runner (a text's index), tactic.

    ``shared`` says of each whether another one ends in its line.
    Blocks that end in one line, of a log whose line ends were lost, have no rows: nothing tells whose a timing there
    is. In an excerpt, and in TensorRT 4 to 6, no line may stand before the first block: it
    begins with the build.
    """

    build: Positions
    begin: Positions
    line: Positions
    runner: Numbers
    tactic: Words
    shared: Bools

    def rows(self, lines: Positions) -> _BlockRows:
        """Return which of some sorted lines are in which block."""
        first = lines.searchsorted(self.begin)
        count = np.where(self.shared, 0, lines.searchsorted(self.line, side="right") - first)
        block = np.repeat(np.arange(len(count)), count)
        row = np.arange(len(block)) + np.repeat(first - (np.cumsum(count) - count), count)
        return _BlockRows(first, count, block, row)


class _BlockRows(NamedTuple):
    """The rows of a table that lie in blocks: ``first`` and ``size`` by block, ``block`` and ``row`` by row."""

    first: Positions
    size: Positions
    block: Positions
    row: Positions


def _since_other_layer(log: Log, begin: Positions, line: Positions) -> Positions:
    """Return where blocks begin that hold a runner of another layer: behind it, because the log was cut in between."""
    runner_line, layer = log.columns(RUNNERS, "layer")
    if not len(runner_line):
        return begin
    changes = np.flatnonzero(np.diff(layer, prepend=-1))
    last = runner_line.searchsorted(line, side="right") - 1
    change = changes[np.maximum(changes.searchsorted(last, side="right") - 1, 0)]
    is_cut = (last >= 0) & (runner_line.searchsorted(begin) < change) & (runner_line[last] >= begin)
    return np.where(is_cut, runner_line[change], begin)


def _raced(timed: TacticTimings, blocks: _Blocks) -> tuple[Floats, Floats, Positions, Numbers, Positions]:
    """Return by block the chosen tactic's time and the best other one's in ms, and the number of timed tactics.

    Then the chosen tactic's kernel, a text's index, and the split of K that its line prints.
    A time that the log does not print is infinite.
    A tactic may have been timed under several runners; its time is that under the chosen one, if there is one.
    """
    rows = blocks.rows(timed.line)
    ms = timed.ms[rows.row]
    ms[np.isnan(ms)] = np.inf
    same = np.flatnonzero(timed.tactic[rows.row] == np.repeat(blocks.tactic, rows.size))
    runner = latest(timed.runner_line, timed.runner_name, timed.line[rows.row[same]], blocks.build[rows.block[same]])
    of_runner = same[runner == blocks.runner[rows.block[same]]]
    winner = _fastest(rows, ms, same)
    named = _fastest(rows, ms, of_runner)
    winner[named >= 0] = named[named >= 0]
    won = np.flatnonzero(winner >= 0)
    times, others = np.full((2, len(winner)), np.inf)
    times[won] = ms[winner[won]]
    kernels = np.full(len(winner), NO_TEXT, np.int32)
    kernels[won] = timed.kernel[rows.row[winner[won]]]
    splits = np.full(len(winner), NO_INTEGER)
    if timed.splits is not None:
        splits[won] = timed.splits[rows.row[winner[won]]]
    ms[winner[won]] = np.inf
    some = np.flatnonzero(rows.size)
    if len(some):
        others[some] = np.minimum.reduceat(ms, (np.cumsum(rows.size) - rows.size)[some])
    return times, others, rows.size, kernels, splits


def _fastest(rows: _BlockRows, ms: Floats, among: Positions) -> Positions:
    """Return by block the fastest of the rows ``among``, the first of equal ones; -1 where a block has none."""
    result = np.full(len(rows.first), -1)
    order = among[np.lexsort((among, ms[among], rows.block[among]))]
    first = order[np.flatnonzero(np.diff(rows.block[order], prepend=-1))]
    result[rows.block[first]] = first
    return result


def _finite(value: float) -> float | None:
    return value if value < np.inf else None


def _layers(log: Log, blocks: _Blocks) -> tuple[Numbers, list[int | None]]:
    """Return by block its layer, as a text's index, and the id of its runner if the runner was timed in the block."""
    line, layer, runner, printed = log.columns(RUNNERS, "layer", "runner", "runner_id")
    rows = blocks.rows(line)
    timed = np.flatnonzero(rows.size)
    costs_line, costs_layer = log.columns(("costs_begin",), "layer")
    layers = latest(costs_line, costs_layer, blocks.line, blocks.build)
    layers[timed] = layer[(rows.first + rows.size - 1)[timed]]
    layers[blocks.shared] = NO_TEXT
    same = np.flatnonzero((runner[rows.row] == blocks.runner[rows.block]) & (printed[rows.row] != NO_TEXT))[::-1]
    identifiers = np.full(len(rows.first), NO_TEXT)
    identifiers[rows.block[same]] = printed[rows.row[same]]  # rows are in reverse, so the first row's id stays
    ids = {index: int(log.text(index), 16) for index in set(identifiers.tolist()) - {NO_TEXT}}
    return layers, list(map(ids.get, identifiers.tolist()))


_COMBINATION = ("format_combination", "inputs", "outputs")
_OF_REFORMAT = ("reformat_combination", "source", "target")


def _formats(log: Log, begin: Positions, *combinations: tuple[str, str, str]) -> Numbers:
    """Return the inputs' and the outputs' formats of the combination that each block begins with, as texts' indexes."""
    sides = np.full((2, len(begin)), NO_TEXT, np.int32)
    for kind, *names in combinations:
        line, *columns = log.columns((kind,), *names)
        of_kind = latest(line, line, begin) == begin
        sides[:, of_kind] = [latest(line, column, begin[of_kind]) for column in columns]
    return sides


OF_BLOCKS = (*BLOCK_BEGINS, *RUNNERS, "set_tactic_name")
"""The kinds that :func:`open_blocks` reads, beside the timings."""


def open_blocks(log: Log, timed: TacticTimings) -> Sequence[tuple[OpenBlock, ...]]:
    """Return each build's blocks in which a runner was begun and no tactic was chosen."""
    line, first, last = _limits(log, timed)
    layers = latest(timed.runner_line, timed.runner_layer, line)
    formats = formats_of(log, *_formats(log, first, _COMBINATION))
    announced = _announced(log, timed, first, last)
    runner = timed.runner_line[timed.runner_line.searchsorted(first)]
    columns = (log.texts(layers), *formats, *announced, first.tolist(), last.tolist(), log.spans.of_each(runner))
    return log.divide(line, map(OpenBlock, *columns))


def _limits(log: Log, timed: TacticTimings) -> tuple[Positions, Positions, Positions]:
    """Return of each open block its last runner's line, its first line and its last one."""
    (begins,) = log.columns(BLOCK_BEGINS)
    (chosen,) = log.columns(CHOSEN)
    runners = timed.runner_line
    behind = log.edges[np.searchsorted(log.edges, runners, side="right")]
    following = np.minimum(np.append(begins, log.edges[-1])[begins.searchsorted(runners, side="right")], behind)
    is_last = np.append(runners[1:], log.edges[-1]) >= following
    is_open = is_last & ((following == behind) | ~np.isin(following, chosen))
    line = runners[is_open]
    return line, np.maximum(log.build_of(line), latest(begins, begins, line)), following[is_open] - 1


def _announced(log: Log, timed: TacticTimings, first: Positions, last: Positions) -> tuple[list[int | None], list[str]]:
    """Return by block the tactic and the kernel that were announced first behind the last tactic with a time."""
    line, tactic, kernel = log.columns(("set_tactic_name",), "tactic", "kernel")
    place = line.searchsorted(np.maximum(latest(timed.line, timed.line, last), first), side="right")
    inside = np.append(line, log.edges[-1])[place] <= last
    tactics = np.where(inside, np.append(tactic, np.uint64(NO_TACTIC))[place], np.uint64(NO_TACTIC))
    kernels = np.where(inside, np.append(kernel, np.int32(NO_TEXT))[place], np.int32(NO_TEXT))
    return list(map(tactic_or_none, tactics.tolist())), log.texts(kernels)
