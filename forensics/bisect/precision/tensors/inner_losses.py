"""What a typed model loses inside the bodies of If, Loop and Scan: counts by execution, in FP32 and in 16 bits."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto

from trtforensics.bisect.precision.casting.preparation import bodies, graphs
from trtforensics.bisect.precision.emulation.masks import mask_paths
from trtforensics.bisect.precision.emulation.oracle import RunError
from trtforensics.bisect.precision.emulation.twin import emulate
from trtforensics.bisect.precision.tensors.bodies import Measure, is_reached, measured_inside

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from trtforensics.bisect.precision.casting.caster import Caster
    from trtforensics.bisect.precision.emulation.node_writer import NodeWriter
    from trtforensics.bisect.precision.emulation.oracle import Oracle

    Counts = npt.NDArray[Any]
    Loss = tuple[int, int, bool]
    """In the worst sample: values lost, values in all, whether all became zero; inside bodies, in one execution."""

_COUNTS = 3


def inner_losses(oracle: Oracle, typed: onnx.ModelProto) -> tuple[dict[str, Loss], list[str]]:
    """Return what the 16-bit tensors inside bodies lose, by their FP32 names, and the nodes that do not show theirs.

    Minus infinity in a tensor that only leads to Softmax nodes masks a position and is no loss.
    """
    caster = oracle.caster
    narrow = _narrow_tensors(caster, typed)
    holders = [node for node in typed.graph.node if _holds(node, {name for each in narrow.values() for name in each})]
    if not holders:
        return {}, []
    exact = onnx.ModelProto()
    exact.CopyFrom(caster.prepared.proto)
    measure = Measure(partial(_counted, frozenset(mask_paths(caster.survey))), _COUNTS, "ReduceSum")
    wide = {number: {about: about for about in names.values()} for number, names in narrow.items()}
    taps = measured_inside(exact, wide, measure)
    other = onnx.ModelProto()
    other.CopyFrom(typed)
    measured_inside(other, {n: {about: name for name, about in names.items()} for n, names in narrow.items()}, measure)
    try:
        wanted, got = oracle.outputs_of(emulate(exact)), oracle.outputs_of(oracle.twin_of(other))
    except RunError:  # this ONNX Runtime has no such outputs of the model
        return {}, [node.name for node in holders]
    found: dict[str, Loss] = {}
    for tap, about in taps.items():
        for known, seen in zip(wanted, got, strict=True):
            found[about] = worse(found.get(about, (0, 0, False)), _compared(known[tap], seen[tap]))
    lossy = {about: loss for about, loss in found.items() if loss[0] or loss[2]}
    return lossy, [node.name for node in holders if not is_reached(node)]


def worse(one: Loss, other: Loss) -> Loss:
    """Return what is worst of both."""
    return max(one[0], other[0]), max(one[1], other[1]), one[2] or other[2]


def _narrow_tensors(caster: Caster, typed: onnx.ModelProto) -> dict[int, dict[str, str]]:
    """Return by body the 16-bit tensors that its nodes write, each with the FP32 tensor that it is."""
    found: dict[int, dict[str, str]] = {}
    for number, graph in enumerate(graphs(typed.graph)):
        for name in [name for node in graph.node for name in node.output] if number else ():
            about = next((name.removesuffix(end) for end in caster.narrow_ends(number) if name.endswith(end)), "")
            if about in caster.survey.scopes:
                found.setdefault(number, {})[name] = about
    return found


def _holds(node: onnx.NodeProto, tensors: Collection[str]) -> bool:
    return any(
        name in tensors
        for body in bodies(node)
        for graph in graphs(body)
        for inner in graph.node
        for name in inner.output
    )


def _counted(masks: Collection[str], writer: NodeWriter, about: str, source: str) -> str:
    """Write how many values a tensor has, how many are lost, and whether all are zero."""
    values = writer.add("Cast", source, to=TensorProto.FLOAT)
    magnitude = writer.add("Abs", values)
    end = writer.constant(np.inf, np.float32)
    finite = writer.add("Less", values if about in masks else magnitude, end)
    present = writer.add("Less", writer.constant(0.0, np.float32), magnitude)
    size = writer.add("Cast", writer.add("Size", values), to=TensorProto.DOUBLE)
    count = [
        writer.add("ReduceSum", writer.add("Cast", each, to=TensorProto.DOUBLE), keepdims=0)
        for each in (finite, present)
    ]
    lost = writer.add("Sub", size, count[0])
    half = writer.constant(0.5, np.float64)
    nothing = writer.add("Less", writer.add("Add", lost, count[1]), half)
    zero = writer.add("Cast", writer.add("And", nothing, writer.add("Less", half, size)), to=TensorProto.DOUBLE)
    one = writer.constant([1])
    return writer.add("Concat", *(writer.add("Reshape", each, one) for each in (size, lost, zero)), axis=0)


def _compared(wanted: Counts, got: Counts) -> Loss:
    """Compare the counts of a sample. Where other branches ran, or as many values more, only what FP32 never has."""
    (values, known_lost, known_zero), (seen, lost, zero) = wanted, got
    if values != seen and known_lost:
        lost = known_lost
    if values != seen and known_zero:
        zero = known_zero
    return max(int(lost - known_lost), 0), int(seen), bool(zero > known_zero)
