"""What a build will make of a model, said as a forecast: memory, attention, DLA."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.requests import allows
from trtforensics.findings.case import Need
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.models.seen import head, of_nodes
from trtforensics.findings.rule import rule
from trtforensics.findings.target import profile_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel, CheckedNode
    from trtforensics.onnx_models.shapes import Sizes

_MEBIBYTE = 1 << 20
_WORTH_SAYING = 256 * _MEBIBYTE
"""Bytes of one tensor, or of all weights, from which on memory may be the question."""
_LARGEST_HEAD = 256
_STEP = 8


@rule(
    "TF190",
    Severity.NOTE,
    "How much memory the model takes",
    cause="Forecast: an engine holds the weights, and its context the tensors that live at the same time; these are at "
    "least the inputs and outputs of the node with the largest ones. Tactics ask for workspace beside that.",
    confirm="Engine size and 'Total Activation Memory' in the log of a build.",
    fixes=("Bound the profile's max shapes to what is needed.", "Allow FP16, which halves both."),
    sources=("sizes by inference of shapes",),
    needs=(Need.ONNX,),
)
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


@rule(
    "TF191",
    Severity.NOTE,
    "Attention whose heads no fused kernel takes",
    cause="Forecast: TensorRT computes product, Softmax and product in one kernel where heads have 16 to 256 elements, "
    "a multiple of 8, in FP16 or BF16. Other attention runs as three kernels with the scores in memory.",
    confirm="A layer _gemm_mha_v2 in the detailed dump of the engine's layers.",
    fixes=("Pad the heads to a multiple of 8, or choose another number of heads.", "Allow FP16 or BF16."),
    sources=("NVIDIA/TensorRT#2981, #4167", "small builds with TensorRT-RTX 1.7.1"),
    needs=(Need.ONNX,),
)
def unfused_attention(case: Case) -> Iterator[Observation]:
    """Name the second products of attention whose heads have another size."""
    model = case.checked
    nodes, heads = [], set()
    for node in model.nodes:
        softmax = model.makers.get(node.proto.input[0]) if node.op == "MatMul" else None
        sizes = model.sizes.get(node.proto.output[0]) if softmax is not None and softmax.op == "Softmax" else None
        head_size = sizes[-1] if sizes else None
        if head_size is not None and (head_size % _STEP or head_size > _LARGEST_HEAD):
            nodes.append(node)
            heads.add(head_size)
    if nodes:
        words = ", ".join(map(str, sorted(heads)))
        title = f"{counted(len(nodes), 'attention')} with heads of {words} elements: {{nodes}}"
        settle = "A build's layers: TensorRT may pad, or decline for speed"
        yield of_nodes(case, nodes, title, confidence=Confidence.LIKELY, settle=settle, same_as="heads")


@rule(
    "TF192",
    Severity.WARNING,
    "DLA takes no dynamic shapes and no FP32",
    cause="DLA needs one fixed shape for each input (min = opt = max), and computes in FP16 or INT8 alone.",
    confirm="The inputs of the model and the precisions allowed.",
    fixes=("Give min = opt = max for every input.", "Allow FP16, or INT8 with scales."),
    sources=("TensorRT 8.x and 10.x, builder warnings on Jetson",),
    needs=(Need.ONNX,),
)
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
