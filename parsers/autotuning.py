"""Autotuning of one build: timed tactics in columns, the choices and cached results that came out of them."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model import (
    Autotuning,
    CachedResult,
    Choice,
    LayerTuning,
    SourceSpan,
    TacticTimings,
    TimingCacheCandidate,
    TimingCacheKey,
)
from trtforensics.parsers.events import NO_TEXT
from trtforensics.parsers.formats import format_texts

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model import Candidate
    from trtforensics.parsers.events import View
    from trtforensics.parsers.passes import Passes

_TIMED = ("tactic_timed", "tactic_named", "tactic_old")
_BLOCK_BEGINS = (
    "format_combination",
    "costs_begin",
    "chose",
    "chose_old",
    "reformat_costs_begin",
    "reformat_combination",
)


def timings(view: View) -> TacticTimings:
    """Gather every timed tactic and runner block of a build, sorted by line."""
    parts = [_timed_columns(view, kind) for kind in _TIMED]
    line, tactic, ms, kernel = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    line, tactic, ms, kernel = line[order], tactic[order], ms[order], kernel[order]
    _name_kernels(view, line, tactic, kernel)
    runner_line, layer, runner = _runner_columns(view)
    return TacticTimings(line, tactic, ms, kernel, runner_line, layer, runner, view.events.texts.all())


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
    for kind in ("timing_runner", "timing_old"):
        rows = view.events[kind]
        span = rows.between(view.first_line, view.last_line)
        cut = slice(span.start, span.stop)
        columns = (rows.columns["layer"][cut], rows.columns["runner"][cut])
        parts.append((np.array(rows.lines[cut], np.int64), *(np.array(c, np.int32) for c in columns)))
    line, layer, runner = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    order = np.argsort(line, kind="stable")
    return line[order], layer[order], runner[order]


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


class _Blocks:
    """What stands around a line: the begin of its block, the layer it is about, the formats tried."""

    def __init__(self, view: View) -> None:
        self._begins = view.lines(*_BLOCK_BEGINS)
        self._costs = list(view.each("costs_begin", "layer"))
        self._runners = sorted(
            [
                *view.each("timing_runner", "layer", "runner", "runner_id"),
                *((*r, None) for r in view.each("timing_old", "layer", "runner")),
            ]
        )
        self._runner_lines = [r[0] for r in self._runners]
        self._combinations = list(view.each("format_combination", "inputs", "outputs"))
        self._combination_lines = [c[0] for c in self._combinations]

    def begin(self, line: int) -> int:
        found = bisect_right(self._begins, line - 1) - 1
        return self._begins[found] if found >= 0 else line

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
        found = bisect_right([c[0] for c in self._costs], line) - 1
        return (self._costs[found][1] or "") if found >= 0 else "", None


def choices(view: View, timed: TacticTimings, passes: Passes, span: Callable[[int], SourceSpan]) -> tuple[Choice, ...]:
    """Read every ``Chose`` line of a build, with its block; ``final`` is not decided here."""
    blocks = _Blocks(view)
    chosen = sorted([*view.each("chose", "runner", "tactic"), *view.each("chose_old", "runner", "tactic")])
    result = []
    for line, runner, tactic in chosen:
        begin = blocks.begin(line)
        layer, runner_id = blocks.layer(begin, line, runner)
        inputs, outputs = blocks.formats(begin)
        candidates = timed.between(begin, line)
        time_ms, runner_up_ms = _best_two(candidates, runner, tactic)
        index = passes.index(line)
        result.append(
            Choice(
                layer,
                runner,
                runner_id,
                tactic,
                time_ms,
                runner_up_ms,
                len(candidates),
                inputs,
                outputs,
                begin,
                span(line),
                index,
            )
        )
    return tuple(result)


def _best_two(candidates: tuple[Candidate, ...], runner: str, tactic: int | None) -> tuple[float | None, float | None]:
    """Return the time of the chosen tactic and that of the best other one."""
    own = next((c for c in candidates if c.tactic == tactic and c.runner == runner), None)
    own = own or next((c for c in candidates if c.tactic == tactic), None)
    others = (c.time_ms for c in candidates if c is not own and c.time_ms is not None)
    return (own.time_ms if own else None), next(others, None)


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


def timing_cache_keys(view: View, span: Callable[[int], SourceSpan]) -> tuple[TimingCacheKey, ...]:
    """Read the operations that carry a key of the editable timing cache, with their tables."""
    operations = list(view.each("myelin_op", "op", "key"))
    rows = list(view.each("myelin_row", "hash", "ms", "kernel"))
    row_lines = [row[0] for row in rows]
    selected = list(view.each("myelin_selected", "hash", "ms"))
    keys = []
    for (line, op, key), behind in zip(operations, [*(o[0] for o in operations[1:]), view.last_line + 1], strict=False):
        if key is None:
            continue
        table = rows[bisect_right(row_lines, line) : bisect_right(row_lines, behind - 1)]
        tactic, ms = next(((t, m) for at, t, m in selected if line < at < behind), (None, None))
        candidates = tuple(TimingCacheCandidate(t, m, kernel) for _, t, m, kernel in table)
        keys.append(TimingCacheKey(op, key, tactic, ms, candidates, span(line)))
    return tuple(keys)
