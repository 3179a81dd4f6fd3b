"""Autotuning of each build: timed tactics in columns, the choices and cached results that came out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.model.log import Autotuning, CachedResult, LayerTuning
from trtforensics.model.table import Column, Parts, numbers, same, spanned
from trtforensics.model.timings import TacticTimings
from trtforensics.parsers.lines.events import NO_TEXT, duration_or_none, tactic_or_none
from trtforensics.parsers.notation.formats import both_sides

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from trtforensics.model.span import SourceSpan
    from trtforensics.model.table import Rows
    from trtforensics.parsers.builds.passes import Passes
    from trtforensics.parsers.builds.views import Log

_TIMED = ("tactic_timed", "tactic_named", "tactic_old")
RUNNERS = ("timing_runner", "timing_old")
_HALF = 32
_LOW = (1 << _HALF) - 1


def timings(log: Log) -> TacticTimings:
    """Gather every timed tactic and runner block of a log, sorted by line."""
    line, tactic, ms, kernel = log.columns(_TIMED, "tactic", "ms", "kernel")
    runner_line, layer, runner = log.columns(RUNNERS, "layer", "runner")
    if log.has("set_tactic_name") and len(line):
        kernel = _named_kernels(log, line, tactic, kernel)
    return TacticTimings(line, tactic, ms, kernel, runner_line, layer, runner, log.events.texts.all())


def timings_of_builds(timed: TacticTimings, log: Log) -> list[TacticTimings]:
    """Return each build's part of the timings of its log."""
    nothing = _rows_of(timed, slice(0), slice(0))
    limits = zip(log.ranges(timed.line), log.ranges(timed.runner_line), strict=True)
    return [
        _rows_of(timed, slice(*rows), slice(*blocks)) if rows[0] < rows[1] or blocks[0] < blocks[1] else nothing
        for rows, blocks in limits
    ]


def _rows_of(timed: TacticTimings, tactics: slice, runners: slice) -> TacticTimings:
    return TacticTimings(
        line=timed.line[tactics],
        tactic=timed.tactic[tactics],
        ms=timed.ms[tactics],
        kernel=timed.kernel[tactics],
        runner_line=timed.runner_line[runners],
        runner_layer=timed.runner_layer[runners],
        runner_name=timed.runner_name[runners],
        texts=timed.texts,
    )


def _named_kernels(log: Log, line: np.ndarray, tactic: np.ndarray, kernel: np.ndarray) -> np.ndarray:
    """Give a timed tactic the kernel of the ``Set Tactic Name`` line (8.0 to 8.5) that stands right before it."""
    named_line, named_tactic, named_kernel = log.columns(("set_tactic_name",), "tactic", "kernel")
    before = named_line.searchsorted(line) - 1
    previous = np.maximum(np.concatenate(([0], line[:-1])), log.build_of(line) - 1)
    fits = (before >= 0) & (named_tactic[before] == tactic) & (named_line[before] > previous) & (kernel == NO_TEXT)
    return np.where(fits, named_kernel[before], kernel)


def runner_ids(log: Log) -> Sequence[dict[str, int]]:
    """Return of each build the id of each runner that was timed, as far as the log prints ids, by name."""
    line, runner, identifier = log.columns(("timing_runner",), "runner", "runner_id")
    texts = log.events.texts.all()
    told = identifier != NO_TEXT
    if not told.any():
        return log.same({})
    # as one number: much faster than as a pair
    pairs = (runner.astype(np.int64) << _HALF | identifier)[told]
    return [
        dict(sorted([(texts[p >> _HALF], int(texts[p & _LOW], 16)) for p in set(pairs[low:high].tolist())]))
        if low < high
        else {}
        for low, high in log.ranges(line[told])
    ]


def counts(log: Log) -> Rows[Autotuning]:
    """Count the lines of each build's autotuning."""
    kinds = {
        "runner_blocks": ("timing_runner",),
        "tactics_timed": _TIMED,
        "tactics_skipped": ("tactic_skipped", "tactic_skipped_old"),
        "cache_hits": ("cached_result",),
    }
    return log.counted(Autotuning, {name: log.counts(*own) for name, own in kinds.items()})


def layer_tuning(log: Log, span: Callable[[int], SourceSpan]) -> Parts[LayerTuning]:
    """Add up how long each build's layers were profiled, slowest first."""
    line, layer, duration = log.columns(("profiling_completed",), "layer", "seconds")
    build = log.build_of(line)
    key = (build << _HALF) + layer
    runs = np.flatnonzero(np.diff(key, prepend=-1))  # most layers are profiled in one go
    first_runs: dict[int, int] = {}
    of_runs = [first_runs.setdefault(each, run) for run, each in enumerate(key[runs].tolist())]
    row = np.repeat(np.array(of_runs, np.intp), np.diff(runs, append=len(key)))
    own = np.array([*first_runs.values()], np.intp)
    seconds = np.bincount(row, np.where(np.isnan(duration), 0.0, duration), len(runs))[own]
    first = runs[own]
    order = np.lexsort((line[first], -seconds, build[first]))
    first = first[order]
    columns: dict[str, Column[Any]] = {
        "layer": log.column(layer[first]),
        "seconds": Column(seconds[order], float),
        "span.line": numbers(line[first]),
    }
    return Parts(spanned(LayerTuning, span, columns), log.limits(build[first]))


def cached_results(log: Log, passes: Passes, span: Callable[[int], SourceSpan]) -> Parts[CachedResult]:
    """Read every ``got cached result`` line of each build; ``final`` is not decided here."""
    line, layer, runner, tactic, ms, *sides = log.columns(
        ("cached_result",), "layer", "runner", "tactic", "ms", "inputs", "outputs"
    )
    inputs, outputs = formats_of(log, *sides)
    columns: dict[str, Column[Any]] = {
        "layer": log.column(layer),
        "runner": log.column(runner),
        "tactic": Column(tactic, tactic_or_none),
        "time_ms": Column(ms, duration_or_none),
        "inputs": inputs,
        "outputs": outputs,
        "span.line": numbers(line),
        "pass_index": passes.column(line),
        "final": same(None, len(line)),
    }
    return log.rows(spanned(CachedResult, span, columns))


def formats_of(
    log: Log, inputs: npt.NDArray[np.int32], outputs: npt.NDArray[np.int32]
) -> tuple[Column[tuple[str, ...]], Column[tuple[str, ...]]]:
    """Return the formats of both sides of combinations, by their texts' indexes; the codes are the same for both."""
    codes = inputs.astype(np.int64) << _HALF | outputs.astype(np.int64) & _LOW
    rows = dict(zip(codes.tolist(), range(len(codes)), strict=True))
    read = {code: both_sides(log.text(int(inputs[row])), log.text(int(outputs[row]))) for code, row in rows.items()}
    one, other = ({code: sides[side] for code, sides in read.items()} for side in (0, 1))
    return Column(codes, one.__getitem__), Column(codes, other.__getitem__)
