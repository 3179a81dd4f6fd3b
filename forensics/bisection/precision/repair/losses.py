"""What a typed model loses inside, and the safe repair: nodes that stay FP32 so that nothing is.

A tensor overflows, becomes NaN, or becomes zero in a part that counts. An output may hide that. A normalisation whose
variance overflows divides by infinity, and a residual connection adds the zeros that come of it. Nodes that stay FP32
count too: a logarithm of what became zero in 16 bits is infinite.

A value that overflows is lost at its tensor. A value that becomes infinite or NaN in range is lost by what its node
reads: a logarithm or a quotient of values that have become zero, a root of what rounding has made negative. The search
for the cause goes back from there, tensor by tensor, and ends at the first one that is not FP32 yet. The least
values, of two bits or fewer, that an FP32 node makes zero of rounded operands are a matter of rounding, and no reason.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import inf

import numpy as np
import onnx
from onnx import TensorProto, helper

from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisection.precision.emulation.ranges import is_reached, mask_paths, measured_inside
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.items import Beyond, PrecisionItem
from trtforensics.bisection.precision.repair.smallest import Nodes
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import copied, graphs, inside
from trtforensics.onnx_models.rewriting import NodeWriter
from trtforensics.onnx_models.samples import Values

Loss = tuple[int, int, bool]
"""In the worst sample: values lost, values in all, whether all became zero; inside bodies, in one execution."""
Seen = tuple[Loss, float, tuple[int, ...], float]
"""What a tensor of the main graph loses over all samples, how far that and what becomes zero reach, the samples."""

_COUNTS = 3

_SHARE = 1e-2
"""Values that become zero are a loss if they are more than this share of the tensor's length, by relative L2."""

_LEAST = 4.0
"""Up to so many times the type's smallest value, a value has two bits or fewer."""
_TAP = "__seen"


@dataclass(frozen=True, slots=True)
class TensorLoss:
    """A tensor: in the worst sample, how many of its values are not finite though they are in FP32.

    ``flushed`` says that a part that counts became zero in a sample, inside a body all in one execution. ``node`` makes
    the tensor, None for an input; it is in a body of the first of ``bodies_of``, that in one of the next. ``reaches``
    is the largest magnitude in FP32 of what is lost, None inside bodies. ``samples`` that lose some count from 0.
    """

    tensor: str
    node: str | None
    bodies_of: tuple[str, ...]
    lost: int
    values: int
    flushed: bool
    reaches: float | None = None
    samples: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of a typed model, in its order; ``unseen`` names nodes whose bodies ONNX Runtime does not show.

    ``first`` names the tensors before which none is lost, in what their producers read or have inside. ``zeroed`` has
    tensors with values that are zero though they are not in FP32, each with the largest magnitude of these.
    """

    tensors: tuple[TensorLoss, ...] = ()
    first: frozenset[str] = frozenset()
    unseen: tuple[str, ...] = ()
    zeroed: Mapping[str, float] = field(default_factory=dict)


def losses(oracle: Oracle, keep: Collection[str], masked: Collection[str]) -> Losses:
    """Return the losses if some nodes stay FP32; in tensors ``masked``, minus infinity below the range is none."""
    caster = oracle.caster
    typed = caster.cast(keep)
    sources = _sources(oracle, typed)
    exact = oracle.values_of(list(sources))  # inputs come first in both
    narrow = oracle.values_of(*_tapped(oracle.twin_of(typed), sources))
    seen: dict[str, Seen] = {}
    for name, (_, wanted), (_, got) in zip(sources, exact, narrow, strict=True):
        lowest = -caster.storage.largest if name in masked else -np.inf
        seen[name] = _compared_values(list(zip(wanted, got, strict=True)), lowest, caster.storage.smallest)
    zeroed: dict[str, float] = {}
    by_tensor = {}
    for name, (loss, *_, largest) in seen.items():  # an FP32 node makes zero of the least values by rounding alone
        least = 0.0 < largest <= _LEAST * caster.storage.smallest
        maker = caster.survey.maker(name)
        of_zeros = maker is not None and not zeroed.keys().isdisjoint(maker.input)
        flushed = sources[name] != name or not least or of_zeros
        if largest and flushed:
            zeroed[name] = largest
        if loss[0] or flushed:
            by_tensor[name] = loss
    inner, unseen = inner_losses(oracle, typed)
    for name, more in inner.items():
        by_tensor[name] = worse(by_tensor.get(name, more), more)
    lossy = {
        name: by_tensor[name]
        for name in caster.survey.scopes
        if name in by_tensor and (by_tensor[name][0] or by_tensor[name][2])
    }
    tensors = []
    for name, (lost, values, flushed) in lossy.items():
        node, (_, reaches, samples, _) = caster.survey.producers.get(name, ""), seen.get(name, (None, None, (), 0.0))
        bodies = caster.survey.holders_of(node)
        tensors.append(TensorLoss(name, node or None, bodies, lost, values, flushed, reaches, samples))
    return Losses(tuple(tensors), _beginning(caster.survey, lossy), tuple(unseen), zeroed)


def _sources(oracle: Oracle, typed: onnx.ModelProto) -> dict[str, str]:
    """Return the FP32 tensors of the main graph, each with what it is in the typed model, in 16 bits if it is both."""
    written = {name for node in typed.graph.node for name in node.output}
    suffix = oracle.caster.suffix
    places = {n: next((e for e in (n + suffix, n) if e in written), "") for n in oracle.tensors}
    return {name: place for name, place in places.items() if place}


def _tapped(model: onnx.ModelProto, tensors: Mapping[str, str]) -> tuple[list[str], onnx.ModelProto]:
    """Add FP32 copies of some tensors, named after the mapping's keys; return their names, and the model."""
    taps = [name + _TAP for name in tensors]
    for tap, source in zip(taps, tensors.values(), strict=True):
        model.graph.node.append(helper.make_node("Cast", [source], [tap], name=tap, to=TensorProto.FLOAT))
    return taps, model


def _compared_values(pairs: Sequence[tuple[Values, Values]], lowest: float, smallest: float) -> Seen:
    """Compare the FP32 values of samples with the others; infinity where FP32 is below ``lowest`` is no loss."""
    lost, flushed, reaches, zeroed, samples = 0, False, 0.0, 0.0, []
    for number, (exact, got) in enumerate(pairs):
        gone, zero = ~np.isfinite(got), got == 0.0
        if gone.any():
            gone &= np.isfinite(exact) & ~((exact < lowest) & (got == -np.inf))
        if zero.any():
            zero &= (exact != 0.0) & np.isfinite(exact)
        away = np.abs(exact[zero])
        if not (away.size or gone.any()):
            continue
        tiny = away[away <= smallest].astype(np.float64)
        flushes = not got.any() or bool(tiny.size and np.linalg.norm(tiny) > _SHARE * _length(exact))
        lost, flushed = max(lost, int(np.count_nonzero(gone))), flushed or flushes
        zeroed = max(zeroed, float(away.max(initial=0.0)))
        if flushes or gone.any():
            samples.append(number)
            counting = np.abs(exact[gone]) if gone.any() else away
            reaches = max(reaches, float(counting.max(initial=0.0)))
    return (lost, pairs[0][0].size, flushed), reaches, tuple(samples), zeroed


def _length(values: Values) -> float:
    """Return the length of the finite values; infinite beyond FP32, zero below."""
    flat = values.ravel()
    finite = np.isfinite(flat)
    flat = flat if finite.all() else flat[finite]
    with np.errstate(over="ignore"):
        return float(np.sqrt(np.dot(flat, flat)))


def _beginning(survey: Survey, lost: Collection[str]) -> frozenset[str]:
    """Return the lost tensors that are lost by their own producers: no tensor that they are made of is."""
    # a state of a body that is lost because the execution before lost it says nothing of the first
    handed_on = {name for name, (before, after) in survey.carried.items() if after in lost and before not in lost}
    first = set()
    for name in lost:
        producer = survey.maker(name)
        if producer is None:
            made_of = set(survey.carried.get(name, ()))
        else:
            made_of = {*producer.input, *(each for node in inside(producer) for each in node.output)} - handed_on
        if made_of.isdisjoint(lost):
            first.add(name)
    return frozenset(first)


def inner_losses(oracle: Oracle, typed: onnx.ModelProto) -> tuple[dict[str, Loss], list[str]]:
    """Return what 16-bit tensors in bodies lose, Softmax masks aside, and the nodes that do not show theirs."""
    caster = oracle.caster
    narrow = _narrow_in_bodies(caster, typed)
    written = {name for names in narrow.values() for name in names}
    holders = [n for n in typed.graph.node if any(not written.isdisjoint(inner.output) for inner in inside(n))]
    if not holders:
        return {}, []
    measure = partial(_counted, frozenset(mask_paths(caster.survey))), _COUNTS, "ReduceSum"
    exact, measured = copied(caster.source), copied(typed)
    taps = measured_inside(exact, {n: {each: each for each in names.values()} for n, names in narrow.items()}, *measure)
    inverse = {n: {about: name for name, about in names.items()} for n, names in narrow.items()}
    measured_inside(measured, inverse, *measure)
    try:
        wanted, got = oracle.outputs_of(emulate(exact)), oracle.outputs_of(oracle.twin_of(measured))
    except RunError:  # this ONNX Runtime has no such outputs of the model
        return {}, [node.name for node in holders]
    by_tensor: dict[str, Loss] = {}
    for tap, about in taps.items():
        for known, counts in zip(wanted, got, strict=True):
            by_tensor[about] = worse(by_tensor.get(about, (0, 0, False)), _compared(known[tap], counts[tap]))
    lossy = {about: loss for about, loss in by_tensor.items() if loss[0] or loss[2]}
    return lossy, [node.name for node in holders if not is_reached(node)]


def worse(left: Loss, right: Loss) -> Loss:
    """Return what is worst of both."""
    return max(left[0], right[0]), max(left[1], right[1]), left[2] or right[2]


def _narrow_in_bodies(caster: Caster, typed: onnx.ModelProto) -> dict[int, dict[str, str]]:
    """Return by body the 16-bit tensors that its nodes write, each with the FP32 tensor that it is."""
    narrow: dict[int, dict[str, str]] = {}
    for number, graph in enumerate(graphs(typed.graph)):
        for name in [name for node in graph.node for name in node.output] if number else ():
            about = next((name.removesuffix(end) for end in caster.narrow_ends(number) if name.endswith(end)), "")
            if about in caster.survey.scopes:
                narrow.setdefault(number, {})[name] = about
    return narrow


def _counted(masks: Collection[str], writer: NodeWriter, about: str, source: str) -> str:
    """Write how many values a tensor has, how many are lost, and whether all are zero."""
    values = writer.add("Cast", source, to=TensorProto.FLOAT)
    magnitude = writer.add("Abs", values)
    end = writer.constant(np.inf, np.float32)
    finite = writer.add("Less", values if about in masks else magnitude, end)
    present = writer.add("Less", writer.constant(0.0, np.float32), magnitude)
    size = writer.add("Cast", writer.add("Size", values), to=TensorProto.DOUBLE)
    numbers = (writer.add("Cast", each, to=TensorProto.DOUBLE) for each in (finite, present))
    count = [writer.add("ReduceSum", each, keepdims=0) for each in numbers]
    lost = writer.add("Sub", size, count[0])
    half = writer.constant(0.5, np.float64)
    nothing = writer.add("Less", writer.add("Add", lost, count[1]), half)
    zero = writer.add("Cast", writer.add("And", nothing, writer.add("Less", half, size)), to=TensorProto.DOUBLE)
    vector = writer.constant([1])
    return writer.add("Concat", *(writer.add("Reshape", each, vector) for each in (size, lost, zero)), axis=0)


def _compared(wanted: Values, got: Values) -> Loss:
    """Compare the counts of a sample. Where other branches ran, or as many values more, only what FP32 never has."""
    (values, known_lost, known_zero), (number, lost, zero) = wanted, got
    if values != number and known_lost:
        lost = known_lost
    if values != number and known_zero:
        zero = known_zero
    return max(int(lost - known_lost), 0), int(number), bool(zero > known_zero)


_ROUNDS = 64
"""Each round shows what earlier losses hid. A model as deep as to need more is reported as not yet safe."""


@dataclass(frozen=True, slots=True)
class RangeReason:
    """Why ``nodes`` stay FP32: the first tensor that loses values, the node that makes it, and the samples, from 0."""

    tensor: str
    node: str | None
    why: str
    nodes: tuple[str, ...]
    samples: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SafeRepair:
    """The nodes that stay FP32, what a minimal repair loses inside, what is lost even so, or unseen, and why."""

    nodes: Nodes
    inside: tuple[TensorLoss, ...]
    left: tuple[TensorLoss, ...]
    unseen: tuple[str, ...] = ()
    reasons: tuple[RangeReason, ...] = ()


def safe_repair(oracle: Oracle, items: Sequence[PrecisionItem], masked: Collection[str], minimal: Nodes) -> SafeRepair:
    """Add to a repair what it takes that nothing is lost; in tensors ``masked``, what is below the range is not."""
    repair = _closed(oracle, items, masked, minimal)
    if minimal <= {node for item in items if item.beyond is not None for node in item.nodes}:
        return repair
    first = [each for each in _closed(oracle, items, masked, frozenset()).reasons if minimal.intersection(each.nodes)]
    return replace(repair, reasons=(*first, *repair.reasons))


def _closed(oracle: Oracle, items: Sequence[PrecisionItem], masked: Collection[str], minimal: Nodes) -> SafeRepair:
    """Add nodes to a set until nothing is lost."""
    caster = oracle.caster
    report = losses(oracle, caster.kept(minimal), masked)
    inside, nodes = report.tensors, minimal
    reasons: list[RangeReason] = []
    samples = {loss.tensor: loss.samples for loss in inside}
    for item in items if inside else ():
        more = item.nodes - nodes
        if item.beyond in {Beyond.OVERFLOW, Beyond.FLUSH} and more:
            seen = next((samples[each] for each in item.tensors if each in samples), ())
            node = caster.survey.producers.get(item.name)
            reasons.append(RangeReason(item.name, node, item.why, tuple(sorted(more)), seen))
            nodes |= more
    if reasons:
        report = losses(oracle, caster.kept(nodes), masked)
    touching = {tensor: item.nodes for item in items for tensor in item.tensors}
    for _ in range(_ROUNDS):
        tracing = _Tracing(caster, touching, nodes, report)
        causes = [cause for loss in report.tensors if loss.tensor in report.first for cause in tracing.causes(loss)]
        if not causes:
            break
        reasons += dict.fromkeys(causes)
        nodes = nodes.union(*(cause.nodes for cause in causes))
        report = losses(oracle, caster.kept(nodes), masked)
    return SafeRepair(nodes, inside, report.tensors, report.unseen, tuple(reasons))


@dataclass(frozen=True, slots=True)
class _Tracing:
    """The way back from what is lost first to the nearest tensors whose nodes are not FP32 yet."""

    caster: Caster
    touching: Mapping[str, Nodes]
    kept: Nodes
    report: Losses

    def causes(self, loss: TensorLoss) -> Iterator[RangeReason]:
        """Yield the reasons to keep more nodes; none where all that leads to the loss is FP32."""
        storage = self.caster.storage
        reaches = loss.reaches
        if loss.flushed and not loss.lost:
            zeroed = self._nearest(loss, lambda name: name in self.report.zeroed, itself=True)
            if zeroed or self.report.zeroed.get(loss.tensor, inf) > _LEAST * storage.smallest:
                yield from zeroed or self._nearest(loss, lambda _: True, itself=False)
        elif reaches is None or reaches > storage.largest:
            what = "overflows" if reaches is None else f"reaches {reaches:.3g}, {storage.name} ends at"
            why = what if reaches is None else f"{what} {storage.largest:.5g}"
            yield from self._reason(loss.tensor, loss, why) or self._nearest(loss, lambda _: True, itself=False)
        else:
            zeroed = self._nearest(loss, lambda name: name in self.report.zeroed, itself=False)
            yield from zeroed or self._nearest(loss, lambda _: True, itself=True)

    def _nearest(self, loss: TensorLoss, leads: Callable[[str], bool], *, itself: bool) -> list[RangeReason]:
        """Return the reasons at the nearest tensors behind a loss; ``itself``: at the lost one itself, if it can be."""
        level = [loss.tensor]
        visited = {loss.tensor}
        while level:
            asked = (name for name in level if itself or name != loss.tensor)
            reasons = [reason for name in asked for reason in self._reason(name, loss, self._why(name, loss))]
            if reasons:
                return reasons
            made_of = (maker.input for name in level if (maker := self.caster.survey.maker(name)) is not None)
            behind = (each for operands in made_of for each in operands if each not in visited and leads(each))
            level = list(dict.fromkeys(behind))
            visited.update(level)
        return []

    def _reason(self, tensor: str, loss: TensorLoss, why: str) -> list[RangeReason]:
        more = self.touching.get(tensor, frozenset()) - self.kept
        node = self.caster.survey.producers.get(tensor)
        return [RangeReason(tensor, node, why, tuple(sorted(more)), loss.samples)] if more else []

    def _why(self, tensor: str, loss: TensorLoss) -> str:
        storage, zeroed = self.caster.storage, self.report.zeroed.get(tensor)
        then = "" if tensor == loss.tensor else f", and {loss.node or loss.tensor} makes it "
        if then:
            then += f"not finite ({loss.lost} of {loss.values} values)" if loss.lost else "zero"
        if zeroed is None:
            return f"is rounded to {storage.name}{then}" if then else "is not finite of operands that are rounded"
        if zeroed > storage.smallest:
            return f"has zeros where FP32 has up to {zeroed:.3g}{then}"
        return f"has values up to {zeroed:.3g} that become zero, {storage.name} begins at {storage.smallest:.3g}{then}"
