"""What slows an engine down, and how a run and its layers were timed."""

import re
from collections.abc import Iterator
from itertools import pairwise

from trtforensics.console.counting import counted, grouped, listed
from trtforensics.engines.requests import command_span
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Cost, Observation, Severity, Step
from trtforensics.findings.layers import LAUNCH_MS, cost_of, is_quantize_node, is_reformat, severity_of, spans_of
from trtforensics.findings.observations import observe
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import PROFILING, given_flags, profile, trtexec, typed_step
from trtforensics.model.ledger import TimedUnit, UnitKind
from trtforensics.model.log import EngineLayer
from trtforensics.model.notes import Note
from trtforensics.model.timings import TimeSource
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.notation.clocks import clock_in, seconds_of
from trtforensics.render.stated_rows import figure
from trtforensics.render.time_rows import TOTALS, busy_part, enqueue_bound, kind_of, mean_of, shares, transfers_bound

_MANY = 0.2
"""Share of the layers from which reformats are reported even where they change no type."""
_SMALL = 5
"""Number of layers below which only two reformats that are half of them count: in tiny engines one weighs much."""
_HALF, _SEVERAL = 0.49, 2
_COPIED = 0.25
"""Share of the latency from which copies of inputs and outputs are worth a word."""
_BESIDE = 0.15
"""The share that is worth a word where the log is cut before it tells the copies apart."""


@explained("TF606")
def held_up(case: Case) -> Iterator[Observation]:
    """Report the warnings by their reason, or the times where there is no warning; without a reason, that it idles."""
    notes, build, busy = case.notes("throughput_bound"), case.build, busy_part(case.build) or 1.0
    if _is_profiled(case):
        return  # the times are the profiler's (TF696)
    by_host = [note for note in notes if "Enqueue" in note.text("text")]
    by_copies = [note for note in notes if note not in by_host]
    means = {key: mean for key in _TIMES if (mean := mean_of(build.result(key))) is not None}
    hosted = means.get("enqueue_ms", 0.0) >= means.get("gpu_compute_ms", 0.0) > 0.0
    gpu_ms, idle = means.get("gpu_compute_ms", 0.0), busy < _BUSY and not _WAITS & {*given_flags(case)}
    copies = "by transfers" if idle or by_copies or busy_part(build) is None else ""
    reasons: list[tuple[str, str, list[Note], tuple[str, ...]]] = [
        (what, flag, warned, keys)
        for what, flag, warned, bound, keys in (
            ("by the host (enqueue)", "--useCudaGraph", by_host, enqueue_bound(build), ("enqueue_ms",)),
            (copies, "--noDataTransfers", by_copies, transfers_bound(build), ("h2d_ms", "d2h_ms")),
        )
        if warned or (bound and (not idle or sum(means[key] for key in keys) >= _REASON * gpu_ms * (1 / busy - 1)))
    ] or ([("between queries", "--infStreams=2", [], (*_TIMES,))] if idle else [])
    parts, latency = ("h2d_ms", "d2h_ms", "gpu_compute_ms"), mean_of(build.result("latency_ms")) or 0.0
    copies_ms = [means[key] for key in parts[:2] if key in means]  # a log that is cut tells only their sum
    copied = sum(copies_ms) if copies_ms else latency - (gpu_ms or latency)
    if not reasons and copied >= (_COPIED if copies_ms else _BESIDE) * latency > 0.0:
        cited = (build.result(key) for key in (*parts, "latency_ms"))
        yield Observation(
            f"Copies are {copied / latency:.0%} of the latency{'' if copies_ms else f', {figure(copied)} ms a query'}: "
            + ", ".join(f"{_TIMES[key]} {figure(means[key])} ms" for key in parts if key in means),
            [result.span for result in cited if result is not None],
            cause=held_up.variants["copies"][0],
            fix=held_up.variants["copies"][1],
            same_as="copies",
        )
    for what, flag, warned, keys in reasons:
        named = {key: means[key] for key in _TIMES if key in means and key in {*keys, "gpu_compute_ms"}}
        numbers = ", ".join(f"{_TIMES[key]} {figure(mean)} ms" for key, mean in named.items())
        title = f"The GPU is held up {what}" if what else "Transfers take as long as computing, beside it"
        if idle and gpu_ms:
            numbers += f"; it computes {busy:.0%} of the time, a query comes every {figure(gpu_ms / busy)} ms"
        cited = (build.result(key) for key in (*named, *(TOTALS if idle else ())))
        command = "" if flag.partition("=")[0] in given_flags(case) else trtexec(case, flag)
        yield Observation(
            f"{title}: {numbers}" if len(named) > 1 else title,
            [*(note.span for note in warned), *(result.span for result in cited if result is not None)],
            steps=typed_step(f"Measure again with {flag}", command),
            same_as=title,
            severity=Severity.WARNING if what.endswith("(enqueue)") and (warned or hosted) else None,
        )


@explained("TF514")
def queued(case: Case) -> Iterator[Observation]:
    """Report an end-to-end time that is far above what the query itself takes."""
    times = {key: case.build.result(f"{key}_ms") for key in ("end_to_end", "latency", "gpu_compute")}
    whole, query, gpu = (mean_of(result) or 0.0 for result in times.values())
    if whole >= _QUEUED * (query or gpu) > 0.0:
        title = f"The end-to-end time, {figure(whole)} ms, counts the wait in the queue"
        title += f"; a query takes {figure(gpu or query)} ms"
        yield Observation(title, [result.span for result in times.values() if result is not None], same_as="queued")


@explained("TF515")
def served(case: Case) -> Iterator[Observation]:
    """Report the part of a request to Triton that takes more of it than the engine, and more than all others."""
    run = case.log.run_of(case.build)
    of_request = (each for each in (run.results if run else ()) if each.stated and each.number is not None)
    parts = {each.stated.name.partition("Avg request latency: ")[2]: each for each in of_request if each.stated}
    times = {name: each.number or 0.0 for name, each in parts.items() if name}
    whole, most = sum(times.values()), max(times, key=lambda name: times[name], default="")
    if "compute infer" in times and times[most] >= _MOST * whole:
        is_engine = most == "compute infer"
        cause, fix = served.variants[most.rpartition(" ")[2]]
        yield Observation(
            f"Of a request's {figure(whole)} us the {most} takes {figure(times[most])} us ({times[most] / whole:.0%})"
            + ("" if is_engine else f", the engine {figure(times['compute infer'])} us"),
            [parts[most].span],
            severity=Severity.NOTE if is_engine else None,
            cause=cause,
            fix=fix,
            same_as=f"served {most}",
        )


_QUEUED = 1.4
"""How many times the host latency the end-to-end time is from which it holds a wait."""
_REASON = 0.5
"""The part of the GPU's waits that what holds it up must take."""
_BUSY = 0.8
"""The part of a run's time that the GPU computes below which it idles between queries."""
_WAITS = {"--sleepTime", "--idleTime"}
"""trtexec's options that make it wait."""
_TIMES = {"enqueue_ms": "enqueue", "h2d_ms": "H2D", "d2h_ms": "D2H", "gpu_compute_ms": "GPU compute"}


@explained("TF607")
def reformats(case: Case) -> Iterator[Observation]:
    """Count the reformats, with their share of the engine's time where all of them are timed."""
    layers = case.engine
    copies = [layer for layer in layers if is_reformat(layer) and not is_quantize_node(layer)]
    changing = [layer for layer in copies if _changes_type(layer)]
    least = _MANY if len(layers) >= _SMALL else _HALF
    if not changing and (len(copies) <= least * len(layers) or len(copies) < _SEVERAL):
        return
    cost = cost_of(case, copies)
    cause, fix = ("", "") if changing else reformats.variants["layout"]
    yield Observation(
        f"{counted(len(copies), 'reformat')} among {counted(len(layers), 'engine layer')}, {len(changing)} of which "
        f"change{'s' if len(changing) == 1 else ''} the type",
        spans_of(copies),
        severity=severity_of(cost) if len(layers) >= _SMALL else Severity.NOTE,
        layers=[layer.name for layer in copies],
        steps=profile(case, "See what each costs"),
        cause=cause,
        fix=fix,
        same_as="reformats",
        cost=cost,
    )


def _changes_type(layer: EngineLayer) -> bool:
    """Whether inputs and outputs differ in type; False where the dump prints no type on one side."""
    before, behind = ({tensor.dtype for tensor in side} for side in (layer.inputs, layer.outputs))
    return bool(before and behind and before != behind)


_FEWEST_TIMED = 2
"""Fewest timed layers, which must also be half of all: a share of fewer says nothing."""
_MOST = 0.5
"""Share of the time from which one ForeignNode is reported."""


@explained("TF608")
def dominant(case: Case) -> Iterator[Observation]:
    """Report a ForeignNode with at least half of the time of all timed layers, and where the times are from."""
    ledger = case.facts.ledger
    timed = sum(len(unit.layers) for unit in ledger.slowest)
    enough = timed >= max(_FEWEST_TIMED, ledger.unknown_layers)
    for unit in ledger.slowest[:1] if enough else ():
        if unit.kind is UnitKind.FOREIGN_NODE and (unit.share or 0.0) >= _MOST:
            unknown = f" ({ledger.unknown_layers} have no time)" if ledger.unknown_layers else ""
            layers = [case.build.engine_layers[place] for place in unit.layers]
            yield Observation(
                f"{unit.name} takes most of the time of {counted(timed, 'layer')}{unknown}",
                spans_of(layers) or (unit.span,),
                layers=(unit.name,),
                onnx_nodes=list(dict.fromkeys(node for layer in layers for node in layer.onnx_nodes)),
                steps=profile(case, "See what each layer costs"),
                same_as="dominant",
                cost=Cost((unit,), (), unit.time_is or TimeSource.TUNED, unit.share, ""),
            )


@explained("TF610")
def untimed_in_graph(case: Case) -> Iterator[Observation]:
    """Report the warnings; only where the log has no profile after all."""
    notes = case.notes("graph_profile", "graph_profile_failed")
    if not case.build.profiles:
        step = Step("Profile without the graph", trtexec(case, "--dumpProfile", without=("--useCudaGraph",)))
        yield from observe(notes, "Layers were not timed, because the run used a CUDA graph", steps=(step,))


_FEWEST = 3
"""Fewest rows of a profile that are judged: shares of one or two layers say nothing."""
_MORE = 1.25
"""How many times the run's GPU time the layers' sum must be to be worth a word: below, it is noise and gaps."""
_WORTH = 0.01
"""Share of all layers' time that such iterations must add."""
_SHOWN = 3
"""How many kinds of layers a title names."""


@explained("TF696")
def profiled_run(case: Case) -> Iterator[Observation]:
    """Report trtexec's own line, or a run with results whose command asks for a profile beside it."""
    notes, latency = case.notes("profiler_note"), case.build.result("latency_ms")
    if notes:
        yield from observe(
            notes, "Latency and throughput were not measured: the profiler was on", steps=(_apart(case),)
        )
        return
    span = command_span(case.build)
    if latency is not None and span is not None and _is_profiled(case):
        yield Observation(
            "Latency and throughput were measured with the profiler on "
            f"({listed(sorted(PROFILING.intersection(given_flags(case))))})",
            (span, latency.span, *(note.span for note in case.notes("throughput_bound"))),
            severity=Severity.WARNING,
            steps=(_apart(case),),
            same_as="profiled run",
        )


def _is_profiled(case: Case) -> bool:
    return not PROFILING.isdisjoint(given_flags(case)) and "--separateProfileRun" not in given_flags(case)


def _apart(case: Case) -> Step:
    """Return the step that profiles in a separate run, or that measures without a profile where the version cannot."""
    command = trtexec(case, "--separateProfileRun")
    if command:
        return Step("Profile in a run of its own", command)
    return Step("Measure without the profile", trtexec(case, without=PROFILING))


@explained("TF697")
def gaps_in_profile(case: Case) -> Iterator[Observation]:
    """Compare the sum of the profile's averages with the run's mean GPU time."""
    run, profile = case.build.result("gpu_compute_ms"), case.build.profile_info
    mean = mean_of(run)
    if run is None or profile is None or mean is None or len(profile.layers) < _FEWEST:
        return
    whole = case.facts.ledger.booked_ms or 0.0
    if whole >= _MORE * mean:
        yield Observation(
            f"The layers' measured times add up to {whole:.3g} ms, {whole / mean:.2g} times the {mean:.3g} ms of the "
            "run",
            (run.span, profile.span),
            same_as="gaps",
        )


@explained("TF698")
def slow_iterations(case: Case) -> Iterator[Observation]:
    """Name the layers whose slow iterations weigh in the whole profile, the worst first."""
    ledger = case.facts.ledger
    far = [
        unit for unit in ledger.units if unit.average_ms is not None and _held(unit) >= _WORTH * (ledger.total_ms or 0)
    ]
    far.sort(key=_held, reverse=True)
    if far and len(case.build.profile) >= _FEWEST:
        averages = [f"{unit.name} {unit.average_ms:.3g} ms on average, {unit.time_ms:.3g} {_of(unit)}" for unit in far]
        yield Observation(
            f"A few slow iterations: {listed(averages, 1)}",
            [unit.span for unit in far],
            layers=[unit.name for unit in far],
            same_as="slow iterations",
        )


def _of(unit: TimedUnit) -> str:
    return "without them" if unit.row is None or unit.row.median_ms is None else "in the median"


def _held(unit: TimedUnit) -> float:
    """Return how much of a unit's average is of iterations that are far slower than the others."""
    return (unit.average_ms or 0.0) - (unit.time_ms or 0.0)


@explained("TF699")
def profile_alone(case: Case) -> Iterator[Observation]:
    """Name the kinds of layers with the largest shares of a profile that no engine layers explain."""
    ledger = case.facts.ledger
    units, whole = ledger.slowest, ledger.total_ms
    if (ledger.booked_ms or 0.0) < _MOSTLY * (whole or 0.0):
        return  # a few rows of it are shown
    described = any(layer.type for layer in case.engine)
    if described or case.facts.time_is is not TimeSource.MEASURED or len(units) < _FEWEST or not whole:
        return
    small = sum((unit.time_ms or 0.0) < LAUNCH_MS for unit in units)
    kinds = shares(grouped(units, kind_of), _SHOWN)
    yield Observation(
        f"Of {whole:.3g} ms in {counted(len(units), 'layer')}: {kinds}; the slowest is "
        f"{units[0].name}, {units[0].time_ms:.3g} ms" + (f"; below 5 us: {small}" if small else ""),
        [unit.span for unit in units],
        layers=[unit.name for unit in units],
        same_as="profile alone",
    )


_MOSTLY = 0.5
"""Share of the build's time outside of the builder, or of a profile in its rows, from which it is worth a word."""
_LONG_S = 10.0
"""Seconds below which that time is not worth one."""


@explained("TF627")
def slow_start(case: Case) -> Iterator[Observation]:
    """Compare the time of the whole build with the builder's, the sum over its passes."""
    wholes = [result for result in case.build.results if result.key == "build_s"]
    passes = [result for result in case.build.results if result.key == "generation_s"]
    if len(wholes) != 1 or not passes or len(case.build.passes) > len(passes):
        return
    whole, builder_s = (sum(each.number or 0.0 for each in results) for results in (wholes, passes))
    if whole - builder_s >= max(_LONG_S, _MOSTLY * whole):
        yield Observation(
            f"{whole - builder_s:.3g} of the build's {whole:.3g} s are not the builder's, which needed "
            f"{builder_s:.3g} s",
            [result.span for result in (*passes, *wholes)],
            same_as="slow start",
        )


@explained("TF516")
def long_tuning(case: Case) -> Iterator[Observation]:
    """Name the layer whose timing takes most of the build; in an excerpt also by the stamps around its first tactic."""
    built = [each.number or 0.0 for each in case.build.results if each.key in {"build_s", "generation_s"}]
    whole = max(built, default=0.0)
    slow = [(tuned.seconds, tuned.layer, tuned.span) for tuned in case.build.tuning[:1] if not case.excerpt]
    lines = case.excerpt.split("\n") if not case.build.tuning else []
    spans = Spans(case.log.source, case.log.line_starts)
    for line, (text, behind) in enumerate(pairwise(lines), 1):
        timing, begin, end = _TIMING.search(text), clock_in(text), clock_in(behind)
        if timing and begin and end:
            slow.append(((seconds_of(end) - seconds_of(begin)) % _DAY_S, timing[1], spans.of(line)))
    for seconds, layer, span in sorted(slow, key=lambda each: -each[0])[:1]:
        if seconds >= max(_LONG_BUILD_S, _MOSTLY * whole):
            of_build = f" of the build's {whole:.0f}" if whole else ""
            title = f"Timing {layer} takes {seconds:.0f}{of_build} s"
            yield Observation(title, [span], layers=[layer], same_as="long tuning")


_TIMING = re.compile(r"Timing Runner: (.+) \(\w+(?:\[\w+\])?\)")
_LONG_BUILD_S, _DAY_S = 60.0, 24 * 60 * 60
"""Seconds from which one layer's part of a build is worth a word; those of a day."""
