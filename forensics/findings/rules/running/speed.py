"""What slows an engine down: the default stream, the host, transfers, reformats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.findings.engine_facts import is_quantize_node, is_reformat, spans_of, time_share
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import profile, trtexec
from trtforensics.parsers.notation.names import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.log import EngineLayer

_MANY = 0.2
"""Share of the layers from which reformats are reported even where they change no type."""
_SMALL = 5
"""Number of layers below which reformats are not judged: in tiny engines they always weigh much."""
_COSTLY = 0.1
"""Share of the engine's time from which reformats are a warning."""


@rule(
    "TF605",
    Severity.NOTE,
    "Inference runs on the default stream",
    cause="On the default stream every enqueueV3 synchronises with everything else.",
    confirm="The warning is printed by the execution context.",
    fixes=(Fix("Create a stream and pass it to enqueueV3 (execute_async_v3).", "8.5"),),
    sources=("10.x logs",),
)
def default_stream(case: Case) -> Iterator[Observation]:
    """Report the warning once."""
    yield from observe(case.notes("default_stream"), "Inference runs on CUDA's default stream", same_as="stream")


@rule(
    "TF606",
    Severity.NOTE,
    "The host or the transfers hold the GPU up",
    cause="Enqueueing, or copying inputs and outputs, takes as long as computing: the measured throughput is lower "
    "than the GPU's.",
    confirm="Compare Enqueue Time, H2D and D2H Latency with GPU Compute Time.",
    fixes=("Use CUDA graphs, a larger batch, or keep data on the GPU.", Fix("CUDA graphs are on by default.", "11")),
    sources=("trtexec's source and 8.6 to 10.16 logs",),
)
def held_up(case: Case) -> Iterator[Observation]:
    """Report the warnings, by their reason."""
    notes = case.notes("throughput_bound")
    enqueue = any("Enqueue" in note.text("text") for note in notes)
    flag = "--useCudaGraph" if enqueue else "--noDataTransfers"
    what = "by the host (enqueue)" if enqueue else "by transfers"
    yield from observe(
        notes, f"The GPU is held up {what}", steps=(Step(f"Measure again with {flag}", trtexec(case, flag)),)
    )


@rule(
    "TF607",
    Severity.NOTE,
    "Reformats change formats or types between layers",
    cause="Where neighbours want different formats or types TensorRT puts a copy between them. A few are normal; many "
    "around one layer mean that its type or format does not suit its neighbours.",
    confirm="trtexec --dumpProfile lists what each costs.",
    fixes=("Let the neighbours have one type: widen or narrow the region that is kept in FP32.",),
    sources=("8.0 to 10.16 logs",),
)
def reformats(case: Case) -> Iterator[Observation]:
    """Count the reformats, with their share of the engine's time where all of them are timed."""
    layers = case.engine
    found = [layer for layer in layers if is_reformat(layer) and not is_quantize_node(layer)]
    changing = [layer for layer in found if _changes_type(layer)]
    if not changing and (len(found) <= _MANY * len(layers) or len(layers) < _SMALL):
        return
    cost = time_share(case.build, found)
    costly = cost is not None and cost.share >= _COSTLY and len(layers) >= _SMALL
    costs = f"; together {cost.ms:.3g} ms, {cost}" if cost is not None else ""
    yield Observation(
        f"{counted(len(found), 'reformat')} among {counted(len(layers), 'engine layer')}, {len(changing)} of which "
        f"change{'s' if len(changing) == 1 else ''} the type{costs}",
        spans_of(found),
        confidence=Confidence.CERTAIN,
        severity=Severity.WARNING if costly else Severity.NOTE,
        layers=[layer.name for layer in found],
        steps=profile(case, "See what each costs"),
        same_as="reformats",
    )


def _changes_type(layer: EngineLayer) -> bool:
    """Whether inputs and outputs differ in type; False where the dump prints no type on one side."""
    before, behind = ({tensor.dtype for tensor in side} for side in (layer.inputs, layer.outputs))
    return bool(before and behind and before != behind)


_FEWEST = 2
"""Fewest timed layers, which must also be half of all: a share of fewer says nothing."""
_MOST = 0.5
"""Share of the time from which one ForeignNode is reported."""


@rule(
    "TF608",
    Severity.NOTE,
    "One ForeignNode takes most of the time",
    cause="Myelin compiles what is inside a ForeignNode by itself. Where one of them takes most of the time, nothing "
    "that is tuned or pinned outside of it changes the speed much, and only a detailed dump or a profile shows what is "
    "inside.",
    confirm="A profile of the engine (trtexec --dumpProfile) with detailed profiling verbosity.",
    fixes=(
        Fix("See its kernels: --profilingVerbosity=detailed --dumpProfile.", "10.0"),
        "Break it up by marking an output inside, and look which part takes the time.",
    ),
    sources=("profiles of 8.5 to 10.16 logs",),
)
def dominant(case: Case) -> Iterator[Observation]:
    """Report a ForeignNode with at least half of the time of all timed layers, and where the times are from."""
    timed = [layer for layer in case.engine if layer.time_ms is not None]
    whole = sum(layer.time_ms or 0.0 for layer in timed)
    for layer in timed:
        share = (layer.time_ms or 0.0) / whole if whole else 0.0
        if is_foreign_node(layer.name) and share >= _MOST and len(timed) >= max(_FEWEST, len(case.engine) / 2):
            yield Observation(
                f"{layer.name} takes {share:.0%} of the {layer.time_is} time of "
                f"{counted(len(timed), 'layer')}{'' if len(timed) == len(case.engine) else f' of {len(case.engine)}'}",
                (layer.span,),
                layers=(layer.name,),
                onnx_nodes=layer.onnx_nodes,
                steps=profile(case, "See what each layer costs"),
                same_as="dominant",
            )


@rule(
    "TF610",
    Severity.NOTE,
    "Layers were not timed, because the run used a CUDA graph",
    cause="Inside a CUDA graph TensorRT's profiler sees no layers: a profile asked for beside --useCudaGraph is empty.",
    confirm="The profile's table is missing, or its iterations are few.",
    fixes=(
        Fix("Profile without --useCudaGraph, or in a run of its own: --separateProfileRun.", "7.2.1", "11"),
        Fix("Profile with --noCudaGraph.", "11"),
    ),
    sources=("8.5 and 8.6 logs", "trtexec's option parser, 11.0"),
)
def untimed_in_graph(case: Case) -> Iterator[Observation]:
    """Report the warnings; only where the log has no profile after all."""
    notes = case.notes("graph_profile", "graph_profile_failed")
    if not case.build.profiles:
        step = Step("Profile without the graph", trtexec(case, "--dumpProfile", without=("--useCudaGraph",)))
        yield from observe(notes, "Layers were not timed, because the run used a CUDA graph", steps=(step,))
