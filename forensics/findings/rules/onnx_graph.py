"""What the ONNX graph itself shows: fixed shapes, constants that are not folded, decomposed LayerNorms."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, listed
from trtforensics.engines.requests import allows, strongly_typed
from trtforensics.findings.finding import Confidence, Observation, Step
from trtforensics.findings.models.seen import places, repair
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.steps.commands import sanitize

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.span import SourceSpan
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.outline import ModelNode, OnnxModel

_LAYERNORM_OPSET = 17


def _spans(case: Case, nodes: Sequence[ModelNode]) -> list[SourceSpan]:
    """Return the lines on which the log parses these nodes, else its line about the model, else the model's nodes."""
    names = {node.name for node in nodes}
    spans = [node.span for node in case.build.onnx_nodes if node.name in names]
    spans = spans or [note.span for note in case.notes("onnx_header")[:1]]
    return spans or places(case, [node for node in case.checked.nodes if node.proto.name in names])


def _seen(  # noqa: PLR0913 - the fields of an observation
    case: Case, nodes: Sequence[ModelNode], title: str, *, settle: str = "", steps: Sequence[Step] = (), same: str = ""
) -> Iterator[Observation]:
    spans = _spans(case, nodes)
    if nodes and spans:
        names = [node.name for node in nodes]
        yield Observation(
            title.replace("{nodes}", listed(names)),
            spans,
            confidence=Confidence.POSSIBLE if settle else None,
            settle=settle,
            steps=steps,
            onnx_nodes=names,
            same_as=same,
        )


@explained("TF110")
def allowzero(case: Case) -> Iterator[Observation]:
    """Report nodes with the attribute, unless their shape is constant and holds no zero."""
    constants = case.the_model.constants
    nodes = [
        node
        for node in case.the_model.nodes
        if node.op == "Reshape" and node.attributes.get("allowzero") and 0 in constants.get(node.inputs[1], (0,))
    ]
    title = f"{counted(len(nodes), 'Reshape')} with allowzero and a zero, or an unknown shape: {{nodes}}"
    mended = all(_has_plain_target(case.checked, node) for node in nodes)
    yield from _seen(
        case, nodes, title, steps=(repair(case, "reshape") if mended else sanitize(case),), same="allowzero"
    )


def _has_plain_target(model: CheckedModel, node: ModelNode) -> bool:
    """Whether sizes that are known and not zero decide the target of a Reshape in the main graph."""
    sizes, maker = model.sizes.get(node.outputs[0], (None,)), model.makers.get(node.outputs[0])
    return maker is not None and not maker.holder and None not in sizes and 0 not in sizes


@explained("TF111")
def fixed_batch(case: Case) -> Iterator[Observation]:
    """Report Reshapes to a constant first dimension where every input has a dynamic first dimension."""
    model = case.the_model
    dynamic = bool(model.inputs) and all(dims and isinstance(dims[0], str) for dims in model.inputs.values())
    nodes = [node for node in model.nodes if dynamic and node.op == "Reshape" and _positive_first(model, node)]
    yield from _seen(
        case,
        nodes,
        f"{counted(len(nodes), 'Reshape')} to a fixed first dimension, though the batch is dynamic: {{nodes}}",
        settle="Whether the first dimension of these tensors is the batch; ONNX Runtime with another batch shows it",
        steps=(sanitize(case),),
        same="fixed batch",
    )


def _positive_first(model: OnnxModel, node: ModelNode) -> bool:
    shape = model.constants.get(node.inputs[1], ()) if len(node.inputs) > 1 else ()
    return len(shape) > 1 and shape[0] > 0 and -1 not in shape


@explained("TF112")
def decomposed(case: Case) -> Iterator[Observation]:
    """Report ReduceMean of Pow in a model below opset 17."""
    makers = case.the_model.makers
    nodes = [
        node
        for node in case.the_model.nodes
        if case.the_model.opset < _LAYERNORM_OPSET
        and node.op == "ReduceMean"
        and node.inputs
        and (maker := makers.get(node.inputs[0])) is not None
        and maker.op == "Pow"
    ]
    title = f"{counted(len(nodes), 'LayerNorm')} taken apart (opset {case.the_model.opset}): {{nodes}}"
    yield from _seen(case, nodes, title, same="decomposed")


@explained("TF113")
def unfolded(case: Case) -> Iterator[Observation]:
    """Report Shape nodes of a model whose inputs are all static: each of them is a constant."""
    static = all(isinstance(dim, int) for dims in case.the_model.inputs.values() for dim in dims)
    nodes = [node for node in case.the_model.nodes if static and node.op == "Shape"]
    title = f"{counted(len(nodes), 'Shape node')} in a model whose inputs are all static: nothing is left to compute"
    model = case.checked
    known = all(None not in model.sizes.get(node.inputs[0], (None,)) for node in nodes)
    inner = any(model.makers[node.outputs[0]].holder for node in nodes if node.outputs[0] in model.makers)
    step = repair(case, "fold") if known and not inner else sanitize(case)
    yield from _seen(case, nodes, title, steps=(step,), same="unfolded")


@explained("TF114")
def islands(case: Case) -> Iterator[Observation]:
    """Report nodes behind a Cast to FLOAT in a model whose weights are mostly FLOAT16."""
    model = case.the_model
    half = model.float_types[:1] == ("FLOAT16",)
    if half and allows(case.build, "FP16") and not strongly_typed(case.build):
        nodes = [node for node in model.nodes if _is_island(model, node)]
        yield from _seen(
            case,
            nodes,
            f"{counted(len(nodes), 'node')} in FP32 between Casts of an FP16 model, built weakly typed: {{nodes}}",
            settle="A strongly typed build compared with this one",
            same="islands",
        )


_FLOAT = 1
"""FLOAT in the enumeration of ONNX types."""


def _is_island(model: OnnxModel, node: ModelNode) -> bool:
    makers = (model.makers.get(tensor) for tensor in node.inputs)
    return node.op != "Cast" and any(
        m is not None and m.op == "Cast" and m.attributes.get("to") == _FLOAT for m in makers
    )
