"""How a run and its layers were timed: a profiler that was on, times that disagree, profiles without an engine."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.requests import command_span
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule, said
from trtforensics.findings.steps.commands import options, trtexec
from trtforensics.parsers.notation.names import is_foreign_node, is_reformat, members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.log import RunResult
    from trtforensics.model.profile import LayerTime

_FEWEST = 3
"""Fewest rows of a profile that are judged: shares of one or two layers say nothing."""
_MORE = 1.25
"""How many times the run's GPU time the layers' sum must be to be worth a word: below, it is noise and gaps."""
_FAR = 2.0
"""How many times its median a layer's average must be: then a few iterations are far from the others."""
_WORTH = 0.01
"""Share of all layers' time that such iterations must add."""
_SHOWN = 3
"""How many kinds of layers a title names."""


@rule(
    "TF696",
    Severity.NOTE,
    "The run was timed with the layers' profiler on",
    cause="The profiler synchronises behind each layer. Latency and throughput of such a run are not those of the "
    "engine: trtexec 8 and later do not report them, trtexec 7 reports them without a word.",
    confirm="--dumpProfile or --exportProfile without --separateProfileRun in the command.",
    fixes=(
        Fix("Profile in a run of its own: --separateProfileRun.", "7.2.1"),
        Fix("Measure without --dumpProfile and --exportProfile, and profile once more.", before="7.2.1"),
    ),
    sources=("trtexec's source, 7.0 to 10.16", "logs of 7.1 and 8.5"),
)
def profiled_run(case: Case) -> Iterator[Observation]:
    """Report trtexec's own line, or a run with results whose command asks for a profile beside it."""
    notes, latency = case.notes("profiler_note"), case.build.result("latency_ms")
    if notes:
        yield from observe(
            notes, "Latency and throughput were not measured: the profiler was on", steps=(_apart(case),)
        )
        return
    span = command_span(case.build) if latency is not None else None
    given = {option.partition("=")[0] for option in options(case)} if span is not None else set()
    if latency is not None and span is not None and given & _PROFILING and "--separateProfileRun" not in given:
        yield Observation(
            f"Latency and throughput were measured with the profiler on ({listed(sorted(given & _PROFILING))})",
            (span, latency.span),
            steps=(_apart(case),),
            same_as="profiled run",
        )


_PROFILING = {"--dumpProfile", "--exportProfile"}


def _apart(case: Case) -> Step:
    """Return the step that takes the profile in a run of its own; without it where the version cannot."""
    command = trtexec(case, "--separateProfileRun")
    if command:
        return Step("Profile in a run of its own", command)
    return Step("Measure without the profile", trtexec(case, without=_PROFILING))


@rule(
    "TF697",
    Severity.NOTE,
    "The layers' times add up to more than the run takes",
    cause="The profiler puts an event behind each layer, so launches and gaps are in the layers' times; in a run "
    "without it, most of all in a CUDA graph, kernels follow each other without gaps. Small layers look slower than "
    "they are, and so do their shares.",
    confirm="The sum of the profile beside GPU Compute Time.",
    fixes=("Weigh small layers by what a change of them brings to GPU Compute Time, not by their share.",),
    sources=("8.5 logs with --separateProfileRun and --useCudaGraph",),
)
def gaps_in_profile(case: Case) -> Iterator[Observation]:
    """Compare the sum of the profile's averages with the run's mean GPU time."""
    run, profile = case.build.result("gpu_compute_ms"), case.build.profile_info
    mean = _mean(run)
    if run is None or profile is None or mean is None or len(profile.layers) < _FEWEST:
        return
    whole = sum(row.average_ms for row in profile.layers)
    if whole >= _MORE * mean:
        yield Observation(
            f"The layers' measured times add up to {whole:.3g} ms, {whole / mean:.2g} times the {mean:.3g} ms of the "
            "run",
            (run.span, profile.span),
            same_as="gaps",
        )


def _mean(run: RunResult | None) -> float | None:
    """Return the mean of a result of several figures; None where it has none, or zero."""
    value = run.value.get("mean") if run is not None and isinstance(run.value, dict) else None
    return value or None


@rule(
    "TF698",
    Severity.NOTE,
    "A few iterations of a layer were far slower than the others",
    cause="The average of a layer is far above its median: some iterations waited for something, such as the loading "
    "of a kernel, other work on the GPU, or a clock that was still low. The average, the total and the share are not "
    "those of the layer.",
    confirm="The median column of the profile; a second run with more iterations.",
    fixes=("Compare medians.", "Warm up longer and run more iterations: --warmUp=1000 --iterations=1000."),
    sources=("profiles of 8.5 logs",),
)
def slow_iterations(case: Case) -> Iterator[Observation]:
    """Name the layers whose slow iterations weigh in the whole profile, the worst first."""
    rows = case.build.profile
    whole = sum(row.average_ms for row in rows)
    far = [
        row
        for row in rows
        if row.median_ms and row.average_ms >= _FAR * row.median_ms and row.average_ms - row.median_ms >= _WORTH * whole
    ]
    far.sort(key=lambda row: row.average_ms - (row.median_ms or 0.0), reverse=True)
    if far and len(rows) >= _FEWEST:
        said = [f"{row.name} {row.average_ms:.3g} ms on average, {row.median_ms:.3g} in the median" for row in far]
        yield Observation(
            f"A few slow iterations: {listed(said, 1)}",
            [row.span for row in far],
            layers=[row.name for row in far],
            same_as="slow iterations",
        )


@rule(
    "TF699",
    Severity.NOTE,
    "The profile says where the time goes, without the engine's layers",
    cause="The log has the times of the layers and not the layers themselves: which types and kernels they have is "
    "unknown. The names alone tell ForeignNodes, reformats, plugins and operators apart.",
    confirm="The rows of the profile, sorted by their share.",
    fixes=(
        Fix("Have the engine's layers printed: --dumpLayerInfo --profilingVerbosity=detailed when it is built.", "8.2"),
        "Begin with the kind of layers that has the largest share.",
    ),
    sources=("logs of 8.5 and 8.6 with --loadEngine --dumpProfile",),
)
def profile_alone(case: Case) -> Iterator[Observation]:
    """Name the kinds of layers with the largest shares of a profile that no engine layers explain."""
    rows = case.build.profile
    whole = sum(row.average_ms for row in rows)
    if case.engine or len(rows) < _FEWEST or not whole:
        return
    kinds = sorted(_by_kind(rows).items(), key=lambda item: -sum(row.average_ms for row in item[1]))
    said = [f"{kind} {sum(row.average_ms for row in group) / whole:.0%} ({len(group)})" for kind, group in kinds]
    slowest = sorted(rows, key=lambda row: -row.average_ms)
    small = sum(row.average_ms < _LAUNCH_MS for row in rows)
    yield Observation(
        f"Of {whole:.3g} ms in {counted(len(rows), 'layer')}: {listed(said, _SHOWN)}; the slowest is "
        f"{slowest[0].name}, {slowest[0].average_ms:.3g} ms" + (f"; below 5 us: {small}" if small else ""),
        [row.span for row in slowest],
        layers=[row.name for row in slowest],
        same_as="profile alone",
    )


_LAUNCH_MS = 0.005
"""Five microseconds: about what it takes to launch a kernel."""
_PLACE = re.compile(r"(?:_v)?[_.]?\d+$")


def _by_kind(rows: tuple[LayerTime, ...]) -> Mapping[str, list[LayerTime]]:
    """Return the rows by kind: ForeignNodes, reformats, else the first operator's name without its number."""
    kinds: dict[str, list[LayerTime]] = {}
    for row in rows:
        if is_foreign_node(row.name):
            kind = "ForeignNodes"
        elif is_reformat(row.name) or row.name.startswith("Reformatting"):
            kind = "reformats"
        else:
            last = members(row.name)[:1] or (row.name,)
            kind = _PLACE.sub("", last[0].rpartition("/")[2]) or row.name
        kinds.setdefault(kind, []).append(row)
    return kinds


_MOSTLY = 0.5
"""Share of the build's time outside of the builder from which it is worth a word."""
_LONG_S = 10.0
"""Seconds below which that time is not worth one."""


@rule(
    "TF627",
    Severity.NOTE,
    "Much of the build's time is not the builder's",
    cause="trtexec's build time holds the start of CUDA, the loading of libraries and plugins, and parsing, besides "
    "what the builder itself needs. A slow disk, a library that is searched long, or a plugin that does much when it "
    "is made shows there, and a timing cache does not shorten it.",
    confirm="The times of day before the builder's first line.",
    fixes=("Look between which two lines the seconds pass: libraries, plugin, parser.",),
    sources=("8.5 to 10.16 logs, 'Engine built in' beside 'Engine generation completed in'",),
)
def slow_start(case: Case) -> Iterator[Observation]:
    """Compare the time of the whole build with the builder's, the sum over its passes."""
    wholes = [one for one in case.build.results if one.key == "build_s"]
    passes = [one for one in case.build.results if one.key == "generation_s"]
    if len(wholes) != 1 or not passes or len(case.build.passes) > len(passes):
        return
    whole, own = _seconds(wholes), _seconds(passes)
    if whole - own >= max(_LONG_S, _MOSTLY * whole):
        yield Observation(
            f"{whole - own:.3g} of the build's {whole:.3g} s are not the builder's, which needed {own:.3g} s",
            [one.span for one in (*passes, *wholes)],
            same_as="slow start",
        )


def _seconds(results: Sequence[RunResult]) -> float:
    return sum(one.value for one in results if isinstance(one.value, float))


recorded_run = said(
    "TF612",
    Severity.NOTE,
    "Nsight Systems recorded the run",
    kinds=("nsys_report",),
    says="Nsight Systems recorded this run: its times hold what recording costs",
    cause="nsys traces each call of CUDA. Enqueueing takes longer under it, and GPU times vary more than without.",
    confirm="Run the same command without nsys.",
    fixes=("Take latency and throughput from a run without nsys, and from nsys only what happens when.",),
    sources=("a 10.16 log of trtexec under nsys",),
)
