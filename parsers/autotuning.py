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
from trtforensics.parsers.formats import format_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.parsers.events import View
    from trtforensics.parsers.passes import Passes

_TIMED = ("tactic_timed", "tactic_named", "tactic_old")
_RUNNERS = ("timing_runner", "timing_old")
_HALF = 32


def timings(view: View) -> TacticTimings:
    """Gather every timed tactic and runner block of a build, sorted by line."""
    texts = view.events.texts.all()
    if not view.has(*_TIMED, *_RUNNERS):
        return _nothing_timed(texts)
    parts = [_timed_columns(view, kind) for kind in _TIMED]
    line, tactic, ms, kernel = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    line, tactic, ms, kernel = line[order], tactic[order], ms[order], kernel[order]
    _name_kernels(view, line, tactic, kernel)
    runner_line, layer, runner = _runner_columns(view)
    return TacticTimings(line, tactic, ms, kernel, runner_line, layer, runner, texts)


def _nothing_timed(texts: list[str]) -> TacticTimings:
    lines, ids = np.empty(0, np.int64), np.empty(0, np.int32)
    return TacticTimings(lines, np.empty(0, np.uint64), np.empty(0, np.float64), ids, lines, ids, ids, texts)


def _timed_columns(view: View, kind: str) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    rows = view.events[kind]
    span = rows.between(view.first_line, view.last_line)
    cut = slice(span.start, span.stop)
    kernel = (
        np.array(rows.columns["kernel"][cut], np.int32)
        if "kernel" in rows.columns
        else np.full(len(span), NO_TEXT, np.int32)
    )
    return (
        np.array(rows.lines[cut], np.int64),
        np.array(rows.columns["tactic"][cut], np.uint64),
        np.array(rows.columns["ms"][cut], np.float64),
        kernel,
    )


def _name_kernels(view: View, line: np.ndarray, tactic: np.ndarray, kernel: np.ndarray) -> None:
    """Give a timed tactic the kernel of the ``Set Tactic Name`` line (8.0 to 8.5) that stands right before it."""
    rows = view.events["set_tactic_name"]
    span = rows.between(view.first_line, view.last_line)
    if not len(span) or not len(line):
        return
    cut = slice(span.start, span.stop)
    named_line = np.array(rows.lines[cut], np.int64)
    named_tactic = np.array(rows.columns["tactic"][cut], np.uint64)
    named_kernel = np.array(rows.columns["kernel"][cut], np.int32)
    before = named_line.searchsorted(line) - 1
    previous = np.concatenate(([0], line[:-1]))
    fits = (before >= 0) & (named_tactic[before] == tactic) & (named_line[before] > previous) & (kernel == NO_TEXT)
    kernel[fits] = named_kernel[before[fits]]


def _runner_columns(view: View) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    parts = []
    for kind in _RUNNERS:
        rows = view.events[kind]
        span = rows.between(view.first_line, view.last_line)
        cut = slice(span.start, span.stop)
        columns = (rows.columns["layer"][cut], rows.columns["runner"][cut])
        parts.append((np.array(rows.lines[cut], np.int64), *(np.array(c, np.int32) for c in columns)))
    line, layer, runner = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    return line[order], layer[order], runner[order]


def runner_ids(view: View) -> dict[str, int]:
    """Return the id of each runner that was timed, as far as the log prints ids, by name."""
    rows = view.events["timing_runner"]
    span = rows.between(view.first_line, view.last_line)
    if not span:
        return {}
    cut = slice(span.start, span.stop)
    runner, identifier = (np.array(rows.columns[name][cut], np.int64) for name in ("runner", "runner_id"))
    texts = view.events.texts.all()
    printed = identifier != NO_TEXT
    pairs = np.unique(runner[printed] << _HALF | identifier[printed])  # as one number: much faster than as rows
    named = ((texts[pair >> _HALF], int(texts[pair & ((1 << _HALF) - 1)], 16)) for pair in pairs.tolist())
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
    seconds: dict[str, float] = {}
    first: dict[str, int] = {}
    for line, layer, duration in view.each("profiling_completed", "layer", "seconds"):
        seconds[layer] = seconds.get(layer, 0.0) + (duration or 0.0)
        first.setdefault(layer, line)
    slowest = sorted(seconds, key=lambda layer: (-seconds[layer], first[layer]))
    return tuple(LayerTuning(layer, seconds[layer], span(first[layer])) for layer in slowest)


def cached_results(view: View, passes: Passes, span: Callable[[int], SourceSpan]) -> tuple[CachedResult, ...]:
    """Read every ``got cached result`` line of a build."""
    return tuple(
        CachedResult(
            layer=layer,
            runner=runner,
            tactic=tactic,
            time_ms=ms,
            inputs=format_texts(inputs, outputs),
            outputs=format_texts(outputs, inputs),
            span=span(line),
            pass_index=passes.index(line),
        )
        for line, layer, inputs, outputs, runner, tactic, ms in view.each(
            "cached_result", "layer", "inputs", "outputs", "runner", "tactic", "ms"
        )
    )
