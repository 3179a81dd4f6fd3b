"""What slows an engine down: the default stream, the host, transfers, reformats."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.engine_facts import is_reformat, spans_of, timing_of, tuned_ms
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import count, observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import profile, trtexec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.log import EngineLayer

_MANY = 0.2
"""Share of the layers from which reformats are reported even where they change no type."""
_SMALL = 5
"""Number of layers below which reformats are not judged: in tiny engines they always weigh much."""
_COSTLY = 0.1
"""Share of the tuned time from which reformats are a warning."""


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
    """Count the reformats, with their share of the tuned time where all of them are timed."""
    layers = case.engine
    found = [layer for layer in layers if is_reformat(layer)]
    changing = [layer for layer in found if _changes_type(layer)]
    if not changing and (len(found) <= _MANY * len(layers) or len(layers) < _SMALL):
        return
    timed = [layer for layer in found if timing_of(case.build, layer) is not None]
    whole, cost = tuned_ms(case.build, layers), tuned_ms(case.build, found)
    share = cost / whole if whole and len(timed) == len(found) else None
    costly = share is not None and share >= _COSTLY and len(layers) >= _SMALL
    costs = f"; together {cost:.3g} ms, {share:.0%} of the tuned time" if share is not None else ""
    yield Observation(
        f"{count(len(found), 'reformat')} among {count(len(layers), 'engine layer')}, {len(changing)} of which "
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
