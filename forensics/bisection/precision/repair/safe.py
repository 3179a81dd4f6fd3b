"""The safe repair: nodes that stay FP32 so that nothing is lost inside, each with the tensor that asks for it.

A value that overflows is lost at its tensor. A value that becomes infinite or NaN in range is lost by what its node
reads: a logarithm or a quotient of values that have become zero, a root of what rounding has made negative. The search
for the cause goes back from there, tensor by tensor, and ends at the first one that is not FP32 yet. The least
values, of two bits or fewer, that an FP32 node makes zero of rounded operands are a matter of rounding, and no reason.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf

from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.emulation.losses import LEAST, Losses, TensorLoss, losses
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.bisection.precision.items import Beyond, PrecisionItem
from trtforensics.bisection.precision.repair.smallest import Nodes

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
    """The nodes that stay FP32, what a minimal repair loses inside, what is lost even so, and the reasons.

    ``unseen`` names nodes whose bodies may lose more: ONNX Runtime does not show it.
    """

    nodes: Nodes
    inside: tuple[TensorLoss, ...]
    left: tuple[TensorLoss, ...]
    unseen: tuple[str, ...] = ()
    reasons: tuple[RangeReason, ...] = ()


def safe_repair(oracle: Oracle, items: Sequence[PrecisionItem], masked: Collection[str], minimal: Nodes) -> SafeRepair:
    """Add to a repair what it takes that nothing is lost, on the samples of the oracle.

    In the tensors ``masked``, what is below the type's range only masks positions and is not lost.
    """
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
            if zeroed or self.report.zeroed.get(loss.tensor, inf) > LEAST * storage.smallest:
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
            reasons = [
                reason
                for name in level
                if itself or name != loss.tensor
                for reason in self._reason(name, loss, self._why(name, loss))
            ]
            if reasons:
                return reasons
            made_of = (maker.input for name in level if (maker := self.caster.survey.maker(name)) is not None)
            level = list(
                dict.fromkeys(each for operands in made_of for each in operands if each not in visited and leads(each))
            )
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
