"""What in an engine's layers costs time for nothing: channels, Q/DQ, conversions, copies, launches, lone types."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.findings.engine_facts import (
    FULL,
    input_types,
    is_quantize_node,
    is_reformat,
    output_types,
    spans_of,
    time_share,
)
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity
from trtforensics.findings.line_observations import listed
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import profile
from trtforensics.model.profile import TimeSource

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.engines.facts import LayerFacts
    from trtforensics.findings.case import Case
    from trtforensics.model.log import EngineLayer

_IMAGE_CHANNELS = 4
"""Most channels that an input has as an image: its first convolution cannot have more."""
_WORTH = 0.01
"""Share of the engine's time below which a finding here is not worth reading."""
_COSTLY = 0.1
"""Share of the engine's time from which a finding here is a warning."""
_QUANTISED = frozenset({"Int8", "FP8", "FP4", "Int4"})
_Q_OR_DQ = ("QuantizeLinear", "DequantizeLinear")
_COPIES = frozenset({"Slice", "Padding", "Concat", "Concatenation", "Copy", "CopyPackedKernel", "Gather"})
_SMALL_MS = 0.005
"""Five microseconds: about what it takes to launch a kernel."""
_MANY_SMALL, _SMALL_SHARE = 20, 0.2
"""From how many small layers on, and which share of the time, they are worth a finding."""
_NARROW = frozenset({"Half", "BFloat16", "BF16", "Int8", "FP8", "FP4", "Int4"})


def _costs(case: Case, layers: Sequence[EngineLayer]) -> tuple[str, Severity] | None:
    """Say what layers cost, and how bad that is; None where it is known to be too little to be worth a word."""
    share = time_share(case.build, layers)
    if share is None:
        return "", Severity.NOTE
    if share.share < _WORTH:
        return None
    return f": {share.ms:.3g} ms, {share}", Severity.WARNING if share.share >= _COSTLY else Severity.NOTE


def _observed(
    case: Case, title: str, found: Sequence[LayerFacts], same_as: str, *, cite: Sequence[LayerFacts] = ()
) -> Iterator[Observation]:
    """Give one observation about layers, the costliest first; ``cite`` are lines of other layers besides."""
    ordered = sorted(found, key=lambda facts: -(facts.time_ms or 0.0))
    layers = [facts.layer for facts in ordered]
    costs = _costs(case, layers) if found else None
    if costs is not None:
        yield Observation(
            f"{title}{costs[0]}",
            spans_of([*layers, *(facts.layer for facts in cite)]),
            confidence=Confidence.CERTAIN,
            severity=costs[1],
            layers=[layer.name for layer in layers],
            onnx_nodes=list(dict.fromkeys(node for facts in ordered for node in facts.onnx_nodes)),
            steps=profile(case, "See what each costs"),
            same_as=same_as,
        )


@rule(
    "TF617",
    Severity.NOTE,
    "Channels do not suit tensor cores",
    cause="Tensor cores multiply 16 bytes of channels at a time: 8 of FP16 or BF16, 16 of INT8 or FP8. Other numbers "
    "of channels are padded, and the padding is computed too, or the kernel uses no tensor cores.",
    confirm="trtforensics table --filter aligned:no --columns layer,input_dims,output_dims,kernel,time_ms.",
    fixes=("Change the model's numbers of channels to multiples of 8 (FP16) or 16 (INT8), where accuracy allows.",),
    sources=("NVIDIA's guide to the performance of deep learning", "engine layers of 8.4 to 10.16"),
)
def misaligned(case: Case) -> Iterator[Observation]:
    """Name convolutions with such channels, but not the first of an image; grouped ones use no tensor cores anyway."""
    found = [
        facts
        for facts in case.facts.running
        if facts.alignment is not None
        and not facts.alignment.aligned
        and facts.alignment.input_channels > _IMAGE_CHANNELS
    ]
    shown = listed([_channels(facts) for facts in found])
    yield from _observed(case, f"{counted(len(found), 'convolution')} with channels {shown}", found, "channels")


def _channels(facts: LayerFacts) -> str:
    aligned = facts.alignment
    if aligned is None:
        return ""
    return f"{aligned.input_channels} to {aligned.output_channels} (multiples of {aligned.multiple} suit)"


@rule(
    "TF618",
    Severity.NOTE,
    "Q/DQ are layers of their own",
    cause="TensorRT fuses a Quantize or Dequantize into its neighbour where it can. One that stays reads and writes "
    "the whole tensor again.",
    confirm="Look at what stands before and behind the node: the operator there has no INT8 kernel, or the Q/DQ is "
    "misplaced.",
    fixes=(
        "Put Q/DQ before the inputs of operators that compute in INT8, on residual branches too.",
        "Remove the Q/DQ pair where its consumer does not compute in INT8.",
    ),
    sources=("NVIDIA's guide to explicit quantisation", "engine layers of 8.4 to 10.16"),
)
def unfused_quantization(case: Case) -> Iterator[Observation]:
    """Name layers that do nothing but quantise or dequantise: Scale, Reformat, or kernels of Myelin."""
    found = [facts for facts in case.facts.running if _only_quantizes(facts)]
    yield from _observed(case, f"{_that(found)} nothing but quantise or dequantise", found, "q/dq")


def _only_quantizes(facts: LayerFacts) -> bool:
    layer = facts.layer
    if layer.fields.get("Origin") == "QDQ":
        return True
    if not layer.inputs or not layer.outputs:
        return False
    quantised = [tensors[0].dtype in _QUANTISED for tensors in (layer.inputs, layer.outputs)]
    changes = quantised[0] != quantised[1]
    if layer.type == "Scale":
        return changes
    words = facts.operators or facts.onnx_nodes
    if not words:
        return changes and is_quantize_node(layer)
    return changes and all(any(one in word for one in _Q_OR_DQ) for word in words)


@rule(
    "TF628",
    Severity.NOTE,
    "Batch normalisations are layers of their own",
    cause="TensorRT folds a BatchNormalization into the weights of the convolution before it. Where it cannot, because "
    "those weights are quantised, or another layer reads the convolution's output too, a Scale layer reads and writes "
    "the whole tensor again.",
    confirm="The Scale layers of the engine's dump, and what the model has before each BatchNormalization.",
    fixes=(
        "Fold batch normalisations into the weights before the model is quantised or exported.",
        "Put Q/DQ on the inputs of the convolution and of the addition behind it, so that TensorRT can fuse all three.",
    ),
    sources=("an 8.5 log of a model quantised in training", "NVIDIA's guide to explicit quantisation"),
)
def unfused_normalization(case: Case) -> Iterator[Observation]:
    """Name Scale layers that hold a BatchNormalization of the model, without those that only quantise."""
    found = [
        facts
        for facts in case.facts.running
        if facts.layer.type == "Scale" and "BatchNormalization" in facts.operators and not _only_quantizes(facts)
    ]
    yield from _observed(case, f"{counted(len(found), 'batch normalisation')} run as Scale layers", found, "scales")


@rule(
    "TF619",
    Severity.NOTE,
    "Outputs of INT8 layers are widened and narrowed again",
    cause="A layer computes in INT8 and writes FP32 or FP16, and a layer behind it does nothing but make INT8 of that. "
    "Each value is written and read at two to four times its width.",
    confirm="The types of the tensor between the two layers, in the engine's dump.",
    fixes=("Put Q/DQ behind the first layer (and its activation), so that it writes INT8 itself.",),
    sources=("NVIDIA's guide to explicit quantisation", "engine layers of 8.4 to 10.16"),
)
def back_and_forth(case: Case) -> Iterator[Observation]:
    """Name the converters behind layers that compute in a quantised type, and cite both."""
    around = _Around(case.facts.running)
    pairs = [
        (facts, maker)
        for facts in case.facts.running
        if _converts(facts) and _narrows(facts.layer)
        for maker in around.producers(facts)
        if maker.precision in _QUANTISED and not output_types(maker.layer) & _QUANTISED
    ]
    converters = list({one.index: one for one, _ in pairs}.values())
    makers = list({maker.index: maker for _, maker in pairs}.values())
    title = f"{counted(len(converters), 'converter')} to INT8 behind layers that compute in INT8 and write wider types"
    yield from _observed(case, title, converters, "back and forth", cite=makers)


def _narrows(layer: EngineLayer) -> bool:
    """Whether a layer writes a quantised type and reads none: a copy from INT8 to INT8 only changes the format."""
    return bool(output_types(layer) & _QUANTISED) and not input_types(layer) & _QUANTISED


def _converts(facts: LayerFacts) -> bool:
    return is_reformat(facts.layer) or _only_quantizes(facts)


@rule(
    "TF637",
    Severity.NOTE,
    "Slices, paddings and concatenations copy",
    cause="These operators only move data. TensorRT does without a copy where the neighbours can read or write parts "
    "of a tensor; where it cannot, a kernel copies.",
    confirm="The layers' types and their tensors' formats in the engine's dump.",
    fixes=(
        "Fold a padding into the convolution or pooling behind it.",
        "Give the inputs of a concatenation one type and one scale of quantisation.",
    ),
    sources=("engine layers of 8.4 to 10.16",),
)
def copies(case: Case) -> Iterator[Observation]:
    """Name the layers, with their share of the time."""
    found = [facts for facts in case.facts.running if _copies(facts)]
    yield from _observed(case, f"{_that(found)} nothing but copy, {_kinds(found)}", found, "copies")


def _copies(facts: LayerFacts) -> bool:
    if facts.kind in _COPIES or facts.layer.type in _COPIES:
        return True
    return is_reformat(facts.layer) and facts.name.endswith(" copy")


def _that(found: Sequence[LayerFacts]) -> str:
    return "1 layer does" if len(found) == 1 else f"{len(found)} layers do"


def _kinds(found: Sequence[LayerFacts]) -> str:
    kinds = [facts.layer.type for facts in found]
    return listed([f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)])


@rule(
    "TF638",
    Severity.NOTE,
    "Many small layers",
    cause="A kernel takes some microseconds to launch, however little it computes. Layers that take no longer than "
    "that are bound by the host and by gaps between kernels, which a profile of layers does not show.",
    confirm="Compare the sum of the layers' times with the latency; trtexec --useCudaGraph.",
    fixes=("Use CUDA graphs or a larger batch.", Fix("Raise the builder's optimisation level.", "8.6")),
    sources=("profiles of 8.4 to 10.16",),
)
def small_layers(case: Case) -> Iterator[Observation]:
    """Count the measured layers that take no longer than a launch, where they are many or weigh much."""
    timed = [facts for facts in case.facts.running if facts.time_is is TimeSource.MEASURED and facts.time_ms]
    small = [facts for facts in timed if (facts.time_ms or 0.0) < _SMALL_MS]
    cost = time_share(case.build, [facts.layer for facts in small]) if len(small) >= _MANY_SMALL else None
    if cost is not None and cost.share >= _SMALL_SHARE:
        title = f"{len(small)} of {counted(len(timed), 'layer')} take less than 5 us each"
        yield from _observed(case, title, small, "small layers")


@rule(
    "TF639",
    Severity.NOTE,
    "A layer computes in FP32 among layers of narrower types",
    cause="Before and behind such a layer its tensors are converted. Often it has no kernel in the narrow type, a "
    "constraint keeps it wide, or a missing Q/DQ ends the INT8 region too early.",
    confirm="trtforensics table --columns layer,compute_precision,reformats,why.",
    fixes=(
        "Where a constraint is the reason, widen or drop it.",
        "Quantise the layer's inputs too, or end the INT8 region before it.",
    ),
    sources=("engine layers of 8.4 to 10.16",),
)
def lone_types(case: Case) -> Iterator[Observation]:
    """Name layers all of whose neighbours that compute, across reformats, compute in narrower types."""
    around = _Around(case.facts.running)
    found = []
    for facts in case.facts.running:
        neighbours = around.producers(facts), around.consumers(facts)
        narrow = all(side and {one.precision for one in side} <= _NARROW for side in neighbours)
        if facts.precision == FULL and narrow and not _converts(facts):
            found.append(facts)
    yield from _observed(case, f"{counted(len(found), 'layer')} in FP32 among layers of narrower types", found, "lone")


class _Around:
    """The layers that compute around a layer, across layers that only convert or copy."""

    def __init__(self, layers: Sequence[LayerFacts]) -> None:
        self._makers: dict[str, list[LayerFacts]] = {}
        self._readers: dict[str, list[LayerFacts]] = {}
        for facts in layers:
            for tensor in facts.layer.outputs:
                self._makers.setdefault(tensor.name, []).append(facts)
            for tensor in facts.layer.inputs:
                self._readers.setdefault(tensor.name, []).append(facts)

    def producers(self, facts: LayerFacts) -> list[LayerFacts]:
        """Return the layers that compute what a layer reads."""
        return self._walk(facts, back=True)

    def consumers(self, facts: LayerFacts) -> list[LayerFacts]:
        """Return the layers that compute with what a layer writes."""
        return self._walk(facts, back=False)

    def _walk(self, start: LayerFacts, *, back: bool) -> list[LayerFacts]:
        found: dict[int, LayerFacts] = {}
        seen, waiting = {start.index}, [start]
        while waiting:
            layer = waiting.pop().layer
            for tensor in layer.inputs if back else layer.outputs:
                for other in (self._makers if back else self._readers).get(tensor.name, ()):
                    if other.index not in seen:
                        seen.add(other.index)
                        (waiting.append(other) if _converts(other) else found.setdefault(other.index, other))
        return list(found.values())
