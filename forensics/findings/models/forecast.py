"""What a build will make of a model, said as a forecast: memory and DLA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.requests import allows
from trtforensics.findings.finding import Observation
from trtforensics.findings.models.operators import release_of
from trtforensics.findings.models.seen import by_reason, head, of_nodes
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.target import profile_of
from trtforensics.knowledge.operators import dla_operators
from trtforensics.knowledge.table import minor

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.findings.case import Case
    from trtforensics.knowledge.table import Release
    from trtforensics.onnx_models.checked import CheckedModel, CheckedNode
    from trtforensics.onnx_models.shapes import Sizes

_MEBIBYTE = 1 << 20
_WORTH_SAYING = 256 * _MEBIBYTE
"""Bytes of one tensor, or of all weights, from which on memory may be the question."""
_PRODUCTS = {"Gemm", "MatMul"}


@explained("TF190")
def memory(case: Case) -> Iterator[Observation]:
    """Name the bytes of the weights and of the node with the largest tensors, where they are large."""
    model, profile = case.checked, profile_of(case.build)
    shapes = {name: bounds["max"] for name, bounds in profile.items()}
    sizes = model.sizes_at(shapes)[0] if shapes else model.sizes
    weights = sum(model.bytes_of(*weight) for weight in model.weights.values())
    per_node = [(_of_node(model, node, sizes), node.number, node) for node in model.nodes if node.op != "Constant"]
    most, _, largest = max(per_node, default=(0, 0, None))
    if max(most, weights) >= _WORTH_SAYING:
        at = " at max shapes" if shapes else ""
        title = f"Forecast: {weights / _MEBIBYTE:,.0f} MiB of weights as stored"
        title += f", {most / _MEBIBYTE:,.0f} MiB of tensors around {{nodes}}{at}" if most else ""
        yield of_nodes(case, [largest] if largest and most else [], title, same_as="memory")


def _of_node(model: CheckedModel, node: CheckedNode, sizes: Mapping[str, Sizes]) -> int:
    """Return the bytes of a node's inputs and outputs that are no constants; 0 where one is not known."""
    names = [name for name in (*node.proto.input, *node.proto.output) if name and name not in model.constants]
    known = [(model.elements.get(name, "UNDEFINED"), sizes.get(name)) for name in dict.fromkeys(names)]
    if any(element == "UNDEFINED" or shape is None or None in shape for element, shape in known):
        return 0
    return sum(model.bytes_of(element, [size or 0 for size in shape or ()]) for element, shape in known)


@explained("TF192")
def not_for_dla(case: Case) -> Iterator[Observation]:
    """Report a DLA build of dynamic shapes, or without FP16 and INT8."""
    if not case.printed("build", "DLACore"):
        return
    profile = profile_of(case.build)
    dynamic = [value.name for value in case.checked.inputs if value.is_dynamic]
    moving = [name for name in dynamic if len(set(profile.get(name, {0: (), 1: (1,)}).values())) > 1]
    if moving:
        yield Observation(f"DLA takes no dynamic shapes: {', '.join(moving)}", [head(case)], same_as="dynamic")
    if not allows(case.build, "FP16", "INT8"):
        yield Observation("DLA computes in FP16 or INT8, and neither is allowed", [head(case)], same_as="types")


@explained("TF195")
def not_on_dla(case: Case) -> Iterator[Observation]:
    """Name operators that DLA does not run, and products without a constant; what sizes decide is no layer."""
    if not case.printed("build", "DLACore"):
        return
    reasons = ((node, _off_dla(case.checked, node, minor(release_of(case)))) for node in case.checked.nodes)
    yield from by_reason(case, reasons, settle="Which layers the verbose log lists for DLA")


def _off_dla(model: CheckedModel, node: CheckedNode, version: Release) -> str:
    """Return why a node does not run on DLA, in words; empty where it does, or where constants decide it."""
    if all(model.is_static(name) for name in node.proto.output if name):
        return ""
    row = next((row for row in dla_operators() if row.operator == node.op and node.is_standard), None)
    if row is None:
        return "not in NVIDIA's list of operators on DLA"
    if row.runs != "native":
        return "on DLA only once other operators stand in its place" if row.runs == "rewritten" else "not on DLA"
    if row.first > version:
        return f"on DLA from TensorRT {'.'.join(map(str, row.first))} on"
    constant = node.op not in _PRODUCTS or model.is_static(node.proto.input[1])
    return "" if constant else "on DLA with a constant as its second input alone"
