"""The safe repair: the minimal one, and every node that touches a tensor which is lost inside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.items import Beyond
from trtforensics.bisect.precision.tensors.losses import losses

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trtforensics.bisect.precision.emulation.oracle import Oracle
    from trtforensics.bisect.precision.items import PrecisionItem
    from trtforensics.bisect.precision.repair.model import Nodes
    from trtforensics.bisect.precision.tensors.losses import TensorLoss

_ROUNDS = 16
"""Each round shows what earlier losses hid. A model as deep as to need more is reported as not yet safe."""


@dataclass(frozen=True, slots=True)
class SafeRepair:
    """The nodes that stay FP32, what a minimal repair loses inside, and what is lost even so.

    ``unseen`` names nodes whose bodies may lose more: ONNX Runtime does not show it.
    """

    nodes: Nodes
    inside: tuple[TensorLoss, ...]
    left: tuple[TensorLoss, ...]
    unseen: tuple[str, ...] = ()


def safe_repair(oracle: Oracle, items: Sequence[PrecisionItem], masked: Collection[str], minimal: Nodes) -> SafeRepair:
    """Add to a repair what it takes that nothing is lost, on the samples of the oracle.

    In the tensors ``masked``, what is below the type's range only masks positions and is not lost.

    Raises:
        RunError: ONNX Runtime cannot run a twin.
    """
    caster = oracle.caster
    touching = {tensor: item.nodes for item in items for tensor in item.tensors}
    report = losses(oracle, caster.kept(minimal), masked)
    inside = report.tensors
    out_of_range = (item.nodes for item in items if item.beyond in {Beyond.OVERFLOW, Beyond.FLUSH})
    nodes: Nodes = minimal.union(*out_of_range) if inside else minimal
    if inside:
        report = losses(oracle, caster.kept(nodes), masked)
    for _ in range(_ROUNDS):
        more = nodes.union(*(touching.get(loss.tensor, nodes) for loss in report.tensors if loss.first))
        if more == nodes:
            break
        nodes = more
        report = losses(oracle, caster.kept(nodes), masked)
    return SafeRepair(nodes, inside, report.tensors, report.unseen)
