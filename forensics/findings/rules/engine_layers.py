"""What in an engine's layers costs time for nothing: channels, Q/DQ, conversions, copies, launches, lone types."""

from collections.abc import Iterator, Sequence

from trtforensics.console.counting import counted, listed
from trtforensics.engines.facts import LayerFacts
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation
from trtforensics.findings.layers import (
    FULL,
    LAUNCH_MS,
    cost_of,
    input_types,
    is_quantize_node,
    is_reformat,
    output_types,
    severity_of,
    spans_of,
)
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import profile
from trtforensics.model.data_types import HALVES, QUANTISED
from trtforensics.model.layer_types import DATA_MOVEMENT, GENERATED, REFORMATS
from trtforensics.model.timings import TimeSource

_IMAGE_CHANNELS = 4
"""Most channels that an input has as an image: its first convolution cannot have more."""
_WORTH = 0.01
"""Share of the engine's time below which a finding here is not worth reading."""
_Q_OR_DQ = ("QuantizeLinear", "DequantizeLinear")
_QUANTISERS = {*REFORMATS, *GENERATED, "Scale", "ElementWise", "PointWise"}
"""Operations that can be a Quantize or Dequantize and nothing else: they have no weights, whatever their names hold."""
_MANY_SMALL, _SMALL_SHARE = 20, 0.2
"""From how many small layers on, and which share of the time, they are worth a finding."""
_NARROW = HALVES | QUANTISED


def _observed(
    case: Case, title: str, group: Sequence[LayerFacts], same_as: str, *, cite: Sequence[LayerFacts] = ()
) -> Iterator[Observation]:
    """Give one observation about layers, the costliest first; ``cite`` are lines of other layers besides."""
    ordered = sorted(group, key=lambda facts: -(facts.time_ms or 0.0))
    layers = [facts.layer for facts in ordered]
    cost = cost_of(case, layers)
    share = None if cost is None or cost.left_out else cost.share
    small = share is not None and share < _WORTH and cost is not None and not cost.inside
    if group and not small:
        yield Observation(
            title,
            spans_of([*layers, *(facts.layer for facts in cite)]),
            severity=severity_of(cost),
            layers=[layer.name for layer in layers],
            onnx_nodes=list(dict.fromkeys(node for facts in ordered for node in facts.onnx_nodes)),
            steps=profile(case, "See what each costs"),
            same_as=same_as,
            cost=cost,
        )


@explained("TF617")
def misaligned(case: Case) -> Iterator[Observation]:
    """Name convolutions with such channels, but not the first of an image; grouped ones use no tensor cores anyway."""
    known = ((facts, channels) for facts in case.facts.running if (channels := facts.alignment) is not None)
    odd = [(facts, its) for facts, its in known if not its.aligned and its.input_channels > _IMAGE_CHANNELS]
    shown = [f"{its.input_channels} to {its.output_channels} (multiples of {its.multiple} suit)" for _, its in odd]
    title = f"{counted(len(odd), 'convolution')} with channels {listed(shown)}"
    yield from _observed(case, title, [facts for facts, _ in odd], "channels")


@explained("TF618")
def unfused_quantization(case: Case) -> Iterator[Observation]:
    """Name layers that do nothing but quantise or dequantise: Scale, Reformat, or kernels of Myelin."""
    group = [facts for facts in case.facts.running if _only_quantizes(facts)]
    yield from _observed(case, f"{_that(group)} nothing but quantise or dequantise", group, "q/dq")


def _only_quantizes(facts: LayerFacts) -> bool:
    layer = facts.layer
    if layer.fields.get("Origin") == "QDQ":
        return True
    if not layer.inputs or not layer.outputs or facts.kind not in _QUANTISERS:
        return False
    quantised = [tensors[0].dtype in QUANTISED for tensors in (layer.inputs, layer.outputs)]
    changes = quantised[0] != quantised[1]
    if layer.type == "Scale":
        return changes
    words = facts.operators or facts.onnx_nodes
    if not words:
        return changes and is_quantize_node(layer)
    return changes and all(any(operator in word for operator in _Q_OR_DQ) for word in words)


@explained("TF628")
def unfused_normalization(case: Case) -> Iterator[Observation]:
    """Name Scale layers that hold a BatchNormalization of the model, without those that only quantise."""
    group = [
        facts
        for facts in case.facts.running
        if facts.layer.type == "Scale" and "BatchNormalization" in facts.operators and not _only_quantizes(facts)
    ]
    yield from _observed(case, f"{counted(len(group), 'batch normalisation')} run as Scale layers", group, "scales")


@explained("TF619")
def back_and_forth(case: Case) -> Iterator[Observation]:
    """Name the converters behind layers that compute in a quantised type, and cite both.

    A copy from INT8 to INT8 only changes the format.
    """
    computing = _Neighbours(case.facts.running)
    pairs = [
        (facts, maker)
        for facts in case.facts.running
        if _converts(facts) and output_types(facts.layer) & QUANTISED and not input_types(facts.layer) & QUANTISED
        for maker in computing.around(facts, back=True)
        if maker.precision in QUANTISED and not output_types(maker.layer) & QUANTISED
    ]
    converters = list({converter.index: converter for converter, _ in pairs}.values())
    makers = list({maker.index: maker for _, maker in pairs}.values())
    title = f"{counted(len(converters), 'converter')} to INT8 behind layers that compute in INT8 and write wider types"
    yield from _observed(case, title, converters, "back and forth", cite=makers)


def _converts(facts: LayerFacts) -> bool:
    return is_reformat(facts.layer) or _only_quantizes(facts)


@explained("TF637")
def copies(case: Case) -> Iterator[Observation]:
    """Name the layers, with their share of the time."""
    group = [
        facts
        for facts in case.facts.running
        if not {facts.kind, facts.layer.type}.isdisjoint(DATA_MOVEMENT)
        or (is_reformat(facts.layer) and facts.name.endswith(" copy"))
    ]
    kinds = [facts.layer.type for facts in group]
    counts = listed([f"{kinds.count(kind)} {kind}" for kind in dict.fromkeys(kinds)])
    yield from _observed(case, f"{_that(group)} nothing but copy, {counts}", group, "copies")


def _that(group: Sequence[LayerFacts]) -> str:
    return "1 layer does" if len(group) == 1 else f"{len(group)} layers do"


@explained("TF638")
def small_layers(case: Case) -> Iterator[Observation]:
    """Count the measured layers that take no longer than a launch, where they are many or weigh much."""
    timed = [facts for facts in case.facts.running if facts.time_is is TimeSource.MEASURED and facts.time_ms]
    small = [facts for facts in timed if (facts.time_ms or 0.0) < LAUNCH_MS]
    cost = cost_of(case, [facts.layer for facts in small]) if len(small) >= _MANY_SMALL else None
    if cost is not None and cost.share is not None and cost.share >= _SMALL_SHARE:
        title = f"{len(small)} of {counted(len(timed), 'layer')} take less than 5 us each"
        yield from _observed(case, title, small, "small layers")


@explained("TF639")
def lone_types(case: Case) -> Iterator[Observation]:
    """Name layers all of whose neighbours that compute, across reformats, compute in narrower types.

    A layer that writes a narrower type converts by itself, as a fused normalisation or activation does.
    """
    computing = _Neighbours(case.facts.running)
    group = []
    for facts in case.facts.running:
        neighbours = (computing.around(facts, back=back) for back in (True, False))
        narrow = all(side and {neighbour.precision for neighbour in side} <= _NARROW for side in neighbours)
        if facts.precision == FULL and narrow and not _converts(facts) and not output_types(facts.layer) & _NARROW:
            group.append(facts)
    yield from _observed(case, f"{counted(len(group), 'layer')} in FP32 among layers of narrower types", group, "lone")


class _Neighbours:
    """The layers that compute around a layer, across layers that only convert or copy."""

    def __init__(self, layers: Sequence[LayerFacts]) -> None:
        self._makers: dict[str, list[LayerFacts]] = {}
        self._readers: dict[str, list[LayerFacts]] = {}
        for facts in layers:
            for tensor in facts.layer.outputs:
                self._makers.setdefault(tensor.name, []).append(facts)
            for tensor in facts.layer.inputs:
                self._readers.setdefault(tensor.name, []).append(facts)

    def around(self, start: LayerFacts, *, back: bool) -> list[LayerFacts]:
        """Return the layers that compute what a layer reads, or not ``back`` those that compute with what it writes."""
        neighbours: dict[int, LayerFacts] = {}
        visited, waiting = {start.index}, [start]
        while waiting:
            layer = waiting.pop().layer
            for tensor in layer.inputs if back else layer.outputs:
                for other in (self._makers if back else self._readers).get(tensor.name, ()):
                    if other.index not in visited:
                        visited.add(other.index)
                        (waiting.append(other) if _converts(other) else neighbours.setdefault(other.index, other))
        return list(neighbours.values())
