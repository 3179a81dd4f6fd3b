"""What Myelin timed itself: a table of tactics an operation, in a ForeignNode or in a network compiled whole."""

import math
import re
from collections.abc import Iterator, Sequence
from functools import partial

import numpy as np

from trtforensics.model.arrays import Floats, Numbers, Positions, Words
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import ForeignNode, MyelinOperation
from trtforensics.model.timings import NO_TACTIC, TacticTimings, TimedTactics
from trtforensics.parsers.builds.passes import Passes
from trtforensics.parsers.builds.views import Log, latest
from trtforensics.parsers.lines.events import NO_TEXT, duration_or_none, tactic_or_none
from trtforensics.parsers.notation.names import onnx_nodes, without_profile

_RUNNER = "Myelin"
_BLOCK_ENDS = ("profiling_completed", "chose", "format_combination", "costs_begin")


def myelin_operations(log: Log, passes: Passes) -> Sequence[tuple[MyelinOperation, ...]]:
    """Read every operation that Myelin timed, with its table and, where the log has one, its timing-cache key."""
    line, op, key, metadata = log.columns(("myelin_op",), "op", "key", "metadata")
    build_ends = log.edges[log.edges.searchsorted(line, side="right")]
    behind = np.minimum(np.append(line[1:], log.last_line + 1)[: len(line)], build_ends)
    no_lines, no_texts = np.empty(0, np.int64), np.empty(0, np.int32)
    of_row, hashes, times, kernels = log.columns(("myelin_row",), "hash", "ms", "kernel")
    timed = TacticTimings(of_row, hashes, times, kernels, no_lines, no_texts, no_texts, log.events.texts.all())
    tactic, ms = _fastest(timed, line, behind)
    tactic[key != NO_TEXT], ms[key != NO_TEXT] = NO_TACTIC, math.nan
    selected_line, selected, selected_ms = log.columns(("myelin_selected",), "hash", "ms")
    first = selected_line.searchsorted(line)
    is_said = first < selected_line.searchsorted(behind)
    tactic[is_said], ms[is_said] = selected[first[is_said]], selected_ms[first[is_said]]
    first_row, behind_row = timed.line.searchsorted(line), timed.line.searchsorted(behind)
    tables = map(range, first_row.tolist(), behind_row.tolist())
    made = map(
        MyelinOperation,
        log.texts(op),
        log.texts(key),
        map(tactic_or_none, tactic.tolist()),
        map(duration_or_none, ms.tolist()),
        map(partial(TimedTactics, timed), tables),
        log.spans.of_each(line),
        log.texts(_foreign_nodes(log, line)),
        map(onnx_nodes, log.metadata(line, metadata)),
        passes.indexes(line),
    )
    return log.divide(line, made)


def _fastest(timed: TacticTimings, begin: Positions, behind: Positions) -> tuple[Words, Floats]:
    """Return tactic and time in ms of the fastest row of each of some runs of lines, the first of equals."""
    tactics, times = np.full(len(begin), NO_TACTIC, np.uint64), np.full(len(begin), math.nan)
    run = begin.searchsorted(timed.line) - 1
    rows = np.flatnonzero((run >= 0) & (timed.line < np.append(behind, 0)[run]))
    if len(rows):
        run, ms = run[rows], timed.ms[rows]
        ms[np.isnan(ms)] = np.inf
        first = np.flatnonzero(np.diff(run, prepend=-1))
        least = np.minimum.reduceat(ms, first)
        hits = np.flatnonzero(ms == np.repeat(least, np.diff(first, append=len(run))))
        tactics[run[first]] = timed.tactic[rows[hits[hits.searchsorted(first)]]]
        times[run[first]] = np.where(least < np.inf, least, math.nan)
    return tactics, times


def _foreign_nodes(log: Log, lines: Positions) -> Numbers:
    """Return which ForeignNode each line is inside, as a text's index: that of the runner block which is open there."""
    begins, layers, runners = log.columns(("timing_runner",), "layer", "runner")
    (ends,) = log.columns(_BLOCK_ENDS if len(lines) else ("chose",))  # a large log has a million of them
    build = log.build_of(lines)
    inside = latest(begins, begins, lines, build) > latest(ends, ends, lines, build)
    runner = latest(begins, runners, lines)
    inside &= runner == next((index for index in set(runner.tolist()) if log.text(index) == _RUNNER), NO_TEXT)
    return np.where(inside, latest(begins, layers, lines), np.int32(NO_TEXT))


_NAMING = ("placement", "timing_runner")
_OPERATION = re.compile(r"[A-Z_0-9]+: (?=\{)")
"""What 8.5 and later print before the name of a layer that they placed."""
_HALF = 32


def foreign_nodes(log: Log, passes: Passes) -> Sequence[tuple[ForeignNode, ...]]:
    """Read each build's ForeignNodes; of one that no metadata line describes, the ONNX nodes are not known."""
    line, layer, metadata = log.columns(("foreign_node",), "layer", "metadata")
    members = map(onnx_nodes, log.metadata(line, metadata))
    spans, indexes = log.spans.of_each(line), passes.indexes(line)
    described = list(map(ForeignNode, log.texts(layer), members, spans, indexes))
    places = zip(log.build_of(line).tolist(), described, strict=True)
    known = {(build, node.pass_index, without_profile(node.name)) for build, node in places}
    return log.divide_records((*described, *_named(log, passes, known)))


def _named(log: Log, passes: Passes, known: set[tuple[int, int | None, str]]) -> Iterator[ForeignNode]:
    """Give the ForeignNodes that are placed on a device, or timed, and not described."""
    line, layer = _first_lines(log)
    names = [_OPERATION.sub("", name, count=1) for name in log.texts(layer)]
    builds = log.build_of(line).tolist()
    for name, build, span, index in zip(names, builds, log.spans.of_each(line), passes.indexes(line), strict=True):
        key = (build, index, without_profile(name))
        if is_foreign_node(name) and key not in known:
            known.add(key)
            yield ForeignNode(name, (), span, index)


def _first_lines(log: Log) -> tuple[Positions, Numbers]:
    """Return the first line of each naming of a layer in each pass, and the layer's text, in the order of lines."""
    line, layer = log.columns(_NAMING, "layer")
    (begun,) = log.columns(("strategy_begin",))
    naming = ((log.build_of(line) + begun.searchsorted(line)) << _HALF) + layer
    changes = np.flatnonzero(np.diff(naming, prepend=-1))
    first = np.sort(changes[np.unique(naming[changes], return_index=True)[1]])
    return line[first], layer[first]
