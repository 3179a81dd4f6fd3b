"""Autotuning of one build: timed tactics in columns, the choices and cached results that came out of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model import (
    Autotuning,
    CachedResult,
    LayerTuning,
    SourceSpan,
    TacticTimings,
)
from trtforensics.parsers.events import NO_TEXT
from trtforensics.parsers.formats import both_sides
from trtforensics.parsers.views import latest

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from trtforensics.parsers.passes import Passes
    from trtforensics.parsers.views import View

_TIMED = ("tactic_timed", "tactic_named", "tactic_old")
RUNNERS = ("timing_runner", "timing_old")
_HALF = 32


def timings(log: View, builds: npt.NDArray[np.int64]) -> TacticTimings:
    """Gather every timed tactic and runner block of a log, sorted by line; ``builds`` are its builds' first lines."""
    line, tactic, ms, kernel = log.columns(_TIMED, "tactic", "ms", "kernel")
    runner_line, layer, runner = log.columns(RUNNERS, "layer", "runner")
    if log.has("set_tactic_name") and len(line):
        kernel = _named_kernels(log, builds, line, tactic, kernel)
    return TacticTimings(line, tactic, ms, kernel, runner_line, layer, runner, log.events.texts.all())


def timings_of(timed: TacticTimings, view: View) -> TacticTimings:
    """Return a build's part of the timings of its log."""
    rows = timed.rows(view.first_line, view.last_line)
    tactics = slice(rows.start, rows.stop)
    runners = slice(*timed.runner_line.searchsorted((view.first_line, view.last_line + 1)).tolist())
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


def _named_kernels(
    log: View, builds: npt.NDArray[np.int64], line: np.ndarray, tactic: np.ndarray, kernel: np.ndarray
) -> np.ndarray:
    """Give a timed tactic the kernel of the ``Set Tactic Name`` line (8.0 to 8.5) that stands right before it."""
    named_line, named_tactic, named_kernel = log.columns(("set_tactic_name",), "tactic", "kernel")
    before = named_line.searchsorted(line) - 1
    previous = np.maximum(np.concatenate(([0], line[:-1])), latest(builds, builds, line) - 1)
    fits = (before >= 0) & (named_tactic[before] == tactic) & (named_line[before] > previous) & (kernel == NO_TEXT)
    return np.where(fits, named_kernel[before], kernel)


def runner_ids(view: View) -> dict[str, int]:
    """Return the id of each runner that was timed, as far as the log prints ids, by name."""
    if not view.has("timing_runner"):
        return {}
    _, runner, identifier = view.columns(("timing_runner",), "runner", "runner_id")
    texts = view.events.texts.all()
    # as one number: much faster than as a pair
    pairs = set((runner.astype(np.int64) << _HALF | identifier)[identifier != NO_TEXT].tolist())
    named = ((texts[pair >> _HALF], int(texts[pair & ((1 << _HALF) - 1)], 16)) for pair in pairs)
    return dict(sorted(named))


def counts(view: View) -> Autotuning:
    """Count the lines of a build's autotuning."""
    return Autotuning(
        runner_blocks=view.count("timing_runner"),
        tactics_timed=view.count(*_TIMED),
        tactics_skipped=view.count("tactic_skipped", "tactic_skipped_old"),
        cache_hits=view.count("cached_result"),
    )


def layer_tuning(view: View, span: Callable[[int], SourceSpan]) -> tuple[LayerTuning, ...]:
    """Add up how long each layer was profiled, slowest first."""
    if not view.has("profiling_completed"):
        return ()
    line, layer, duration = view.columns(("profiling_completed",), "layer", "seconds")
    runs = np.concatenate(([0], np.flatnonzero(layer[1:] != layer[:-1]) + 1))  # most layers are profiled in one go
    first: dict[int, int] = {}
    for index, at in zip(layer[runs].tolist(), line[runs].tolist(), strict=True):
        first.setdefault(index, at)
    place = {index: place for place, index in enumerate(first)}
    row = np.repeat([place[index] for index in layer[runs].tolist()], np.diff(runs, append=len(layer)))
    totals = np.bincount(row, np.where(np.isnan(duration), 0.0, duration)).tolist()
    slowest = sorted(zip(totals, first.items(), strict=True), key=lambda one: (-one[0], one[1][1]))
    return tuple([LayerTuning(view.text(index), seconds, span(at)) for seconds, (index, at) in slowest])


def cached_results(view: View, passes: Passes, span: Callable[[int], SourceSpan]) -> tuple[CachedResult, ...]:
    """Read every ``got cached result`` line of a build."""
    rows = view.each("cached_result", "layer", "runner", "tactic", "ms", "inputs", "outputs")
    return tuple(
        [
            CachedResult(layer, runner, tactic, ms, *both_sides(inputs, outputs), span(line), passes.index(line))
            for line, layer, runner, tactic, ms, inputs, outputs in rows
        ]
    )
