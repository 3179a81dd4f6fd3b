"""Where the time of a build and of its engine goes, in a few lines, each number with the log line that states it.

Times of layers are the ledger's: what it leaves out is said, and shares are of its one basis.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.console.counting import counted, grouped
from trtforensics.model.layer_types import REFORMATS, is_foreign_node, operation_of_type
from trtforensics.model.ledger import ledger_of
from trtforensics.model.profile import TimeSource
from trtforensics.model.run import PhaseName
from trtforensics.parsers.notation import names
from trtforensics.render.headline import MEBIBYTE, UNKNOWN_TYPE, computed_type, figure, is_mostly_timed
from trtforensics.render.names import shortened
from trtforensics.render.spread import SpreadForm, spread_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.model.ledger import TimedUnit, TimeLedger
    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.run import RunResult
    from trtforensics.model.span import SourceSpan

_LONGER = 1.5
"""A profile's sum is called longer from this many times the GPU time on."""
_SHOWN = 3
_KINDS = 4
_NAME = 36
_PLACE = re.compile(r"(?:_v)?[_.]?\d+$")
_FUSED_INTO = {"QuantizeLinear", "DequantizeLinear"}
"""Operators whose names stand before that of the one that they are fused into, which takes the time."""
_PARTS = {"h2d_ms": "H2D", "gpu_compute_ms": "GPU", "d2h_ms": "D2H"}
_WORTH = 0.25
"""The part of the GPU's time from which that of the host is worth a word."""
_BOUND = 0.8
"""The part of the GPU's time from which the host or the transfers hold it up: trtexec's own limit for the host."""
_ROUNDED = 0.02
"""The largest part of a latency that may lack in the sum of its parts."""


class TimeRow(NamedTuple):
    """A label, what the log says of it, and the lines that state it."""

    label: str
    text: str
    spans: tuple[SourceSpan, ...]

    @property
    def cited(self) -> str:
        """The text with its lines, where it does not name them itself."""
        lines = sorted({span.line for span in self.spans})
        return self.text if not lines or "(line" in self.text else f"{self.text} ({_ranges(lines)})"


def _ranges(lines: Sequence[int]) -> str:
    """Spell line numbers, those in a row as one range: ``lines 7, 211-215``."""
    runs: list[list[int]] = []
    for line in lines:
        if runs and line == runs[-1][-1] + 1:
            runs[-1].append(line)
        else:
            runs.append([line])
    words = (str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
    return f"line{'s' if len(lines) > 1 else ''} {', '.join(words)}"


def time_rows(log: BuildLog, build: Build) -> list[TimeRow]:
    """Return where the time goes: by kinds of layers, the slowest, by types, in a run's latency, in the build."""
    ledger = ledger_of(build)
    rows = [*_layers(log, build, ledger), *_latency(build), *_making(log, build), *_memory(build)]
    return [row for row in rows if row.text]


def kind_of(unit: TimedUnit) -> str:
    """Return the kind of a unit: ForeignNodes, reformats, its operation, else the first operator's name in its own."""
    if is_foreign_node(unit.name):
        return "ForeignNodes"
    if unit.what in REFORMATS or names.is_reformat(unit.name) or unit.name.startswith("Reformatting"):
        return "reformats"
    if unit.what:
        return operation_of_type(unit.what)
    words = [_PLACE.sub("", member.rpartition("/")[2]) for member in names.members(unit.name) or (unit.name,)]
    operators = [word for word in words if word.isalpha()] or words[:1]  # constants stand first: 717_5, conv.weight
    return next((word for word in operators if word not in _FUSED_INTO), operators[0]) or unit.name


def shares(groups: Mapping[str, Sequence[TimedUnit]], most: int) -> str:
    """Spell the groups with the largest shares, and how many units each has: ``Convolution 61% (28), …``."""
    sums = sorted(((sum(u.share or 0.0 for u in group), kind) for kind, group in groups.items()), reverse=True)
    words = [f"{kind} {share:.0%} ({len(groups[kind])})" for share, kind in sums[:most]]
    if len(sums) > most:
        rest = sum(len(groups[kind]) for _, kind in sums[most:])
        words.append(f"others {sum(share for share, _ in sums[most:]):.0%} ({rest})")
    return ", ".join(words)


def _layers(log: BuildLog, build: Build, ledger: TimeLedger) -> Iterator[TimeRow]:
    units = ledger.slowest
    if not units or ledger.total_ms is None:
        if build.choices or build.cached or build.engine_layers:
            yield TimeRow("time", f"unknown by layer: {no_times(build)}", ())
        return
    note = ledger.note if build.engine_layers else counted(len(units), "row") + " of the profile"
    left = f", {ledger.unknown_layers} have no time" if ledger.unknown_layers else ""
    how = "measured" if ledger.time_is is TimeSource.MEASURED else "as tuned, layer by layer"
    how += " without slow calls" if any(unit.average_ms is not None for unit in units) else ""
    is_most, gpu_ms = is_mostly_timed(ledger), mean_of(build.result("gpu_compute_ms"))
    if gpu_ms and ledger.time_is is TimeSource.MEASURED and ledger.total_ms >= _LONGER * gpu_ms:
        how += f", {ledger.total_ms / gpu_ms:.1f} times the run's GPU time, as the profiler waits behind each layer"
    parts = f": {shares(grouped(units, kind_of), _KINDS)}" if is_most else "; too few for shares"
    yield TimeRow("time", f"{figure(ledger.total_ms)} ms {how} ({note}{left}){parts}", ())
    if not is_most:
        return
    slowest = units[:_SHOWN]
    slow = [
        f"{shortened(u.name, _NAME)} {figure(u.time_ms or 0.0)} ms {u.share:.0%} ({log.place_of(u.span)})"
        for u in slowest
    ]
    yield TimeRow("slowest", "; ".join(slow), tuple(unit.span for unit in slowest))
    types: dict[str, list[TimedUnit]] = {}
    for unit in units:
        types.setdefault(computed_type(build, unit), []).append(unit)
    if types.keys() - {UNKNOWN_TYPE}:
        yield TimeRow("computes", f"{shares(types, len(types))} of the {ledger.time_is} time", ())


def no_times(build: Build) -> str:
    """Say why no time is known by layer: none was listed, none timed, or what was timed joins no layer."""
    if not build.engine_layers:
        return "the engine's layers are not listed"
    timed = sum(result.time_ms is not None for result in build.tuned_results)
    joined = f"no layer of the engine joins one of {counted(timed, 'tuned time')}"
    return joined if timed else "no layer of the engine has a time"


def _latency(build: Build) -> Iterator[TimeRow]:
    """Say what a query's latency is made of, how long the host enqueues, and what a batch makes of the throughput."""
    results: dict[str, RunResult] = {
        key: result for key in (*_PARTS, "latency_ms", "enqueue_ms") if (result := build.result(key))
    }
    means = {key: mean for key, result in results.items() if (mean := mean_of(result))}
    gpu, whole, words = means.get("gpu_compute_ms"), means.get("latency_ms"), []
    if gpu and whole and means.keys() >= _PARTS.keys():
        moved = means["h2d_ms"] + means["d2h_ms"]
        is_sum = abs(whole - gpu - moved) <= _ROUNDED * whole
        parts = " + ".join(f"{name} {figure(means[key])}" for key, name in _PARTS.items())
        words.append(f"mean {figure(whole)} ms {'=' if is_sum else 'with'} {parts}: {moved / whole:.0%} transfers")
    if gpu and means.get("enqueue_ms", 0.0) >= _WORTH * gpu:
        words.append(f"enqueue {figure(means['enqueue_ms'])} ms, {means['enqueue_ms'] / gpu:.0%} of the GPU's time")
    spans = [results[key].span for key in means] if words else []
    rate, size = (build.result(key) for key in ("throughput_qps", "first_dimension"))
    explicit = (build.option("inference", "Batch") or "").strip() == "Explicit"
    if explicit and rate is not None and size is not None and isinstance(rate.value, float) and size.value != 1.0:
        each = size.value if isinstance(size.value, float) else 1.0
        words.append(
            f"{figure(rate.value)} qps of {each:.0f} each, if that is the batch: {figure(rate.value * each)} a second"
        )
        spans += [rate.span, size.span]
    yield TimeRow("latency", "; ".join(words), tuple(spans))
    spread = spread_of(build)
    if spread is not None and spread.form is not SpreadForm.NARROW:
        yield TimeRow("spread", spread.text, spread.spans)


def enqueue_bound(build: Build) -> bool:
    """Whether the host takes about as long to enqueue as the GPU to compute, as where trtexec warns of it.

    A run with the layers' profiler on tells nothing: enqueueing waits there for the times of the layers.
    """
    if re.search(r"^(?!.*--separateProfileRun).*--(?:dump|export)Profile\b", build.command or ""):
        return False
    host, gpu = (mean_of(build.result(key)) for key in ("enqueue_ms", "gpu_compute_ms"))
    return host is not None and gpu is not None and host >= _BOUND * gpu


TOTALS = ("gpu_compute_total_s", "host_walltime_s")
"""The results that tell what part of the time the GPU computes."""


def busy_part(build: Build) -> float | None:
    """Return the part of a run's time that the GPU computes, of several streams together; None where it is not told."""
    compute, wall = map(build.number, TOTALS)
    return compute / wall if compute and wall else None


def transfers_bound(build: Build) -> bool:
    """Whether copying inputs and outputs takes about as long as computing."""
    there, gpu, back = (mean_of(build.result(key)) for key in _PARTS)
    return there is not None and back is not None and gpu is not None and there + back >= _BOUND * gpu


def mean_of(result: RunResult | None) -> float | None:
    """Return the mean of a result of several figures; None where it has none, or zero."""
    return result.figures.get("mean") or None if result is not None else None


def _making(log: BuildLog, build: Build) -> Iterator[TimeRow]:
    """Say how long the phases of the build took, and what came from the timing cache."""
    run = log.run_of(build)
    phases = run.phases if run is not None and len(run.builds) == 1 else ()
    results = (build.result(key) for key in ("build_s", "generation_s"))
    known = [(result, result.number) for result in results if result is not None and result.number is not None]
    parts = [f"builder {figure(known[1][1])} s"] if len(known) > 1 else []
    parts += [f"import {figure(p.seconds)} s" for p in phases if p.seconds is not None and p.name is PhaseName.IMPORT]
    spans = [result.span for result, _ in known]
    if build.tuning and not build.autotuning.cache_hits:
        slow = build.tuning[0]
        seconds, over = figure(sum(tuned.seconds for tuned in build.tuning)), counted(len(build.tuning), "line")
        parts.append(f"tuning {seconds} s over {over}, longest {shortened(slow.layer, _NAME)} {figure(slow.seconds)} s")
        spans.append(slow.span)
    if build.autotuning.cache_hits:
        timed = counted(build.autotuning.tactics_timed, "tactic")
        source = "shared by equal layers of this build" if build.has_own_cache else "from the timing cache"
        parts.append(f"{build.autotuning.cache_hits:,} results {source} and {timed} timed")
    served = next((note for note in build.notes if note.kind == "cache_deleted"), None)
    if served is not None and not build.autotuning.cache_hits:
        hits, entries = (served.number(name) or 0 for name in ("hits", "count"))
        parts.append(f"the timing cache of {entries:.0f} entries served {counted(int(hits), 'hit')}")
        spans.append(served.span)
    took = f"{figure(known[0][1])} s: " if known else ""
    yield TimeRow("build", took + ", ".join(parts) if parts else "", tuple(spans))


def _memory(build: Build) -> Iterator[TimeRow]:
    """Say what the engine and its context take of the GPU's memory."""
    context, loaded, made = (build.result(key) for key in ("context_mib", "loaded_engine_mib", "engine_bytes"))
    engine = loaded or made
    if context is None or not context.number:
        return
    size = (engine.number if engine is not None else None) or 0.0
    size /= MEBIBYTE if engine is made else 1
    words = f"context {figure(context.number)} MiB" + (f" and engine {figure(size)} MiB" if size else "")
    spans = [context.span, *([engine.span] if engine is not None and size else [])]
    total = build.fact("device", "Device Global Memory")
    number = total.value.split()[0] if total is not None and total.value.strip().endswith("MiB") else ""
    if total is not None and number.isdecimal():
        words += f", {(context.number + size) / int(number):.0%} of the GPU's {number} MiB"
        spans.append(total.span)
    used = next((note for note in build.notes if note.kind == "init_cuda" and note.number("count")), None)
    if used is not None:
        words += f"; {used.number('count'):,.0f} MiB were in use at the start"
        spans.append(used.span)
    yield TimeRow("memory", words, tuple(spans))
