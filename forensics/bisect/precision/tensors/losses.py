"""The tensors that a typed model loses inside: they overflow, become NaN, or become zero as a whole.

An output may hide that. A normalisation whose variance overflows divides by infinity, and a residual connection adds
the zeros that come of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper

from trtforensics.bisect.precision.casting.eligibility import holders_of
from trtforensics.bisect.precision.casting.preparation import bodies, graphs
from trtforensics.bisect.precision.emulation.twin import emulate
from trtforensics.bisect.precision.tensors.inner_losses import inner_losses, worse

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.casting.eligibility import Survey
    from trtforensics.bisect.precision.emulation.oracle import Oracle
    from trtforensics.bisect.precision.tensors.inner_losses import Loss

    Pair = tuple[npt.NDArray[Any], npt.NDArray[Any]]

_TENSORS_A_RUN = 128
"""How many tensors a pair of runs returns, so that their memory stays bounded."""

_TAP = "__seen"


@dataclass(frozen=True, slots=True)
class TensorLoss:
    """A tensor in 16 bits: in the worst sample, how many of its values are lost though finite in FP32.

    ``flushed`` says that all became zero in a sample, inside a body in one execution. ``first`` is False if another
    loss comes before it, in what its producer reads or has inside. ``node`` makes the tensor, "" for an input; it is in
    a body of the first of ``bodies_of``, that in one of the next.
    """

    tensor: str
    node: str
    bodies_of: tuple[str, ...]
    lost: int
    values: int
    flushed: bool
    first: bool


@dataclass(frozen=True, slots=True)
class Losses:
    """The losses of a typed model, in its order; ``unseen`` names nodes whose bodies ONNX Runtime does not show."""

    tensors: tuple[TensorLoss, ...] = ()
    unseen: tuple[str, ...] = ()


def losses(oracle: Oracle, keep: Collection[str], masked: Collection[str]) -> Losses:
    """Return the losses of 16-bit tensors if some nodes stay FP32.

    Of the tensors ``masked``, values below the type's range only mask positions: minus infinity is no loss there.

    Raises:
        RunError: ONNX Runtime cannot run the twin.
    """
    caster = oracle.caster
    typed = caster.cast(keep)
    names = _narrow_tensors(caster, typed)
    found: dict[str, Loss] = {}
    for start in range(0, len(names), _TENSORS_A_RUN):
        part = names[start : start + _TENSORS_A_RUN]
        exact = oracle.outputs_of(_with_outputs(emulate(caster.prepared.proto), {name: name for name in part}))
        seen = oracle.outputs_of(_with_outputs(oracle.twin_of(typed), {name: name + caster.suffix for name in part}))
        for name in part:
            lowest = -caster.storage.largest if name in masked else -np.inf
            pairs = [_without_masks(w[name + _TAP], g[name + _TAP], lowest) for w, g in zip(exact, seen, strict=True)]
            found[name] = _loss(pairs)
    inner, unseen = inner_losses(oracle, typed)
    for name, more in inner.items():
        found[name] = worse(found.get(name, more), more)
    lossy = {name: found[name] for name in caster.survey.scopes if name in found and (found[name][0] or found[name][2])}
    origins = _Origins(caster.survey, lossy)
    made = []
    for name, loss in lossy.items():
        node = caster.survey.producers.get(name, "")
        made.append(TensorLoss(name, node, holders_of(caster.survey, node), *loss, first=origins.begins(name)))
    return Losses(tuple(made), tuple(unseen))


def _narrow_tensors(caster: Caster, typed: onnx.ModelProto) -> list[str]:
    """Return the tensors of the main graph that nodes write in 16 bits or that are cast to them."""
    written = {name for node in typed.graph.node for name in node.output}
    return [name for name in caster.survey.scopes if name + caster.suffix in written]


def _with_outputs(model: onnx.ModelProto, tensors: Mapping[str, str]) -> onnx.ModelProto:
    """Return the model with FP32 copies of some tensors as its outputs, named after the mapping's keys."""
    model.graph.ClearField("output")
    for name, source in tensors.items():
        tap = name + _TAP
        model.graph.node.append(helper.make_node("Cast", [source], [tap], name=tap, to=TensorProto.FLOAT))
        model.graph.output.append(helper.make_tensor_value_info(tap, TensorProto.FLOAT, None))
    return model


def _loss(pairs: Sequence[Pair]) -> Loss:
    flushed = any(bool(wanted.any()) and not got.any() for wanted, got in pairs)
    return max(_lost(*pair) for pair in pairs), pairs[0][0].size, flushed


@dataclass(slots=True)
class _Origins:
    """Which lost tensors are lost by their own producers."""

    survey: Survey
    lost: Collection[str]

    def begins(self, name: str) -> bool:
        """Whether no tensor that a tensor is made of is lost."""
        producer = self.survey.nodes.get(self.survey.producers.get(name, ""))
        if producer is None:
            return not any(each in self.lost for each in self.survey.carried.get(name, ()))
        made_of = {*producer.input, *(each for node in _inside(producer) for each in node.output)}
        return not any(each in self.lost and not self._is_handed_on(each) for each in made_of)

    def _is_handed_on(self, name: str) -> bool:
        """Whether a state of a body is lost because the execution before lost it, which says nothing of the first."""
        before, after = self.survey.carried.get(name, ("", ""))
        return after in self.lost and before not in self.lost


def _inside(node: onnx.NodeProto) -> list[onnx.NodeProto]:
    return [inner for body in bodies(node) for graph in graphs(body) for inner in graph.node]


def _without_masks(wanted: npt.NDArray[Any], got: npt.NDArray[Any], lowest: float) -> Pair:
    """Return the FP32 values and the others, in which infinity below ``lowest`` is as low as FP32's value."""
    return wanted, np.where((wanted < lowest) & (got == -np.inf), wanted, got)


def _lost(wanted: npt.NDArray[Any], got: npt.NDArray[Any]) -> int:
    return int(np.count_nonzero(np.isfinite(wanted) & ~np.isfinite(got)))
