"""What an exporter left in a model: fixed shapes, constants that are not folded, decomposed LayerNorms, islands."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, listed
from trtforensics.engines.requests import allows, strongly_typed
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.models.seen import of_nodes, repair
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode


_BROADCAST = {"Add", "Sub", "Mul", "Div", "Where", "Equal", "And", "Or", "Max", "Min", "MatMul", "Pow"}
_LAYERNORM_OPSET = 17


def _seen(case: Case, nodes: Sequence[CheckedNode], title: str, **more: object) -> Iterator[Observation]:
    """Report nodes on the lines on which the log parses them, else at its line about the model, else in the model."""
    names = [node.label for node in nodes]
    parsed = {node.name for node in case.build.onnx_nodes}.isdisjoint(names)
    if nodes:
        spans = [note.span for note in case.notes("onnx_header")[:1]] if parsed else []
        seen = of_nodes(case, nodes, title, confidence=Confidence.POSSIBLE if "settle" in more else None, **more)
        yield replace(seen, spans=spans or seen.spans)


@explained("TF110")
def allowzero(case: Case) -> Iterator[Observation]:
    """Report nodes with the attribute, unless their shape is constant and holds no zero."""
    model = case.checked
    nodes = [node for node in model.nodes if node.op == "Reshape" and node.attribute("allowzero")]
    nodes = [node for node in nodes if (shape := model.values(node.proto.input[1])) is None or 0 in shape]
    title = f"{counted(len(nodes), 'Reshape')} with allowzero and a zero, or an unknown shape: {{nodes}}"
    mended = all(_has_plain_target(model, node) for node in nodes)
    yield from _seen(
        case, nodes, title, steps=(repair(case, "reshape") if mended else sanitize(case),), same_as="allowzero"
    )


def _has_plain_target(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether sizes that are known and not zero decide the target of a Reshape in the main graph."""
    sizes = model.sizes.get(node.proto.output[0], (None,))
    return not node.holder and None not in sizes and 0 not in sizes


@explained("TF111")
def fixed_batch(case: Case) -> Iterator[Observation]:
    """Report Reshapes to a constant first dimension where every input has a dynamic first dimension."""
    model = case.checked
    dynamic = bool(model.inputs) and all(value.sizes and value.sizes[0] is None for value in model.inputs)
    nodes = [node for node in model.nodes if dynamic and node.op == "Reshape" and _positive_first(model, node)]
    yield from _seen(
        case,
        nodes,
        f"{counted(len(nodes), 'Reshape')} to a fixed first dimension, though the batch is dynamic: {{nodes}}",
        settle="Whether the first dimension of these tensors is the batch; ONNX Runtime with another batch shows it",
        steps=(sanitize(case),),
        same_as="fixed batch",
    )
    first = {value.name: value.sizes[0] for value in model.inputs if value.sizes and len(value.sizes) > 1}
    ones = [name for name, size in first.items() if size == 1 and None in first.values()]
    alone = {*ones}
    for node in model.nodes if ones else ():
        read = {*node.proto.input} - {*model.constants}
        alone |= {*node.proto.output} if read and read <= alone else set()
    meeting = [node for node in model.nodes if ones and node.op in _BROADCAST and _is_shared(model, node, alone)]
    if meeting:
        title = f"Forecast: {listed(ones)} keeps a batch of 1, which is broadcast, where others are dynamic: {{nodes}}"
        yield of_nodes(case, meeting, title, severity=Severity.NOTE, same_as="batch of 1")


def _is_shared(model: CheckedModel, node: CheckedNode, alone: set[str]) -> bool:
    """Whether one of the inputs that come of a batch of 1 ``alone`` meets another of a dynamic batch and its rank."""
    sizes = {name: model.sizes.get(name, ()) for name in node.proto.input}
    ones = [each for name, each in sizes.items() if name in alone and each[:1] == (1,)]
    return any(each[:1] == (None,) and len(each) == len(shared) for each in sizes.values() for shared in ones)


def _positive_first(model: CheckedModel, node: CheckedNode) -> bool:
    shape = model.values(node.proto.input[1]) if len(node.proto.input) > 1 else None
    return shape is not None and shape.size > 1 and shape[0] > 0 and -1 not in shape


@explained("TF112")
def decomposed(case: Case) -> Iterator[Observation]:
    """Report ReduceMean of Pow in a model below opset 17."""
    model = case.checked
    nodes = [
        node
        for node in model.nodes
        if model.opset < _LAYERNORM_OPSET
        and node.op == "ReduceMean"
        and (maker := model.makers.get(node.proto.input[0])) is not None
        and maker.op == "Pow"
    ]
    title = f"{counted(len(nodes), 'LayerNorm')} taken apart (opset {model.opset}): {{nodes}}"
    yield from _seen(case, nodes, title, same_as="decomposed")


@explained("TF113")
def unfolded(case: Case) -> Iterator[Observation]:
    """Report Shape nodes of a model whose inputs are all static: each of them is a constant."""
    model = case.checked
    static = not any(value.is_dynamic for value in model.inputs)
    nodes = [node for node in model.nodes if static and node.op == "Shape"]
    title = f"{counted(len(nodes), 'Shape node')} in a model whose inputs are all static: nothing is left to compute"
    known = all(None not in model.sizes.get(node.proto.input[0], (None,)) and not node.holder for node in nodes)
    yield from _seen(case, nodes, title, steps=(repair(case, "fold") if known else sanitize(case),), same_as="unfolded")


@explained("TF114")
def islands(case: Case) -> Iterator[Observation]:
    """Report nodes behind a Cast to FLOAT in a model whose weights are mostly FLOAT16."""
    model = case.checked
    floating = Counter(element for element, _ in model.weights.values() if "FLOAT" in element or element == "DOUBLE")
    half = [element for element, _ in floating.most_common(1)] == ["FLOAT16"]
    if half and allows(case.build, "FP16") and not strongly_typed(case.build):
        nodes = [node for node in model.nodes if node.op != "Cast" and _is_behind_float(model, node)]
        yield from _seen(
            case,
            nodes,
            f"{counted(len(nodes), 'node')} in FP32 between Casts of an FP16 model, built weakly typed: {{nodes}}",
            settle="A strongly typed build compared with this one",
            same_as="islands",
        )


def _is_behind_float(model: CheckedModel, node: CheckedNode) -> bool:
    makers = (model.makers.get(tensor) for tensor in node.proto.input)
    return any(maker is not None and maker.op == "Cast" and maker.casts_to == "FLOAT" for maker in makers)
