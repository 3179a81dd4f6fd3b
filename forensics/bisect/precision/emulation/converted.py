"""A model that was converted to 16 bits elsewhere, judged against the FP32 original that it was made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto, helper

from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisect.precision.casting.preparation import PreparedModel
    from trtforensics.bisect.precision.emulation.judging import Judgement, OutputJudge
    from trtforensics.bisect.precision.emulation.oracle import Oracle

    Document = dict[str, object]

_WIDTHS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16})
"""The types of an interface that may differ between both models."""


@dataclass(frozen=True, slots=True)
class ConvertedModel:
    """A converted model by its path, and how its twin does on the original's samples."""

    path: str
    judgement: Judgement

    def document(self) -> Document:
        """Return the part of ``result.json``."""
        worst = dict(self.judgement.worst)
        return {"model": self.path, "passes": self.judgement.passed, "scores": worst, "why": self.judgement.why}


def judged(converted: PreparedModel, oracle: Oracle, judge: OutputJudge) -> ConvertedModel:
    """Judge a converted model; ``oracle`` and ``judge`` are the original's.

    Raises:
        RunError: ONNX Runtime cannot run the twin, or an output has another shape.
        UsageError: the inputs or outputs are others than the original's.
    """
    original = oracle.caster.prepared.proto.graph
    for side in ("input", "output"):
        theirs, ours = _kinds(converted.proto.graph, side), _kinds(original, side)
        differ = [name for name in ours | theirs if _comparable(theirs.get(name)) != _comparable(ours.get(name))]
        if differ:
            what = f"has another {side} {differ[0]} than {converted.path}: names and types must be the same"
            raise UsageError("--against", what, "Give the model that it was made of; FP32 may be 16 bits wide in one")
    twin = _with_wide_interface(oracle.twin_of(converted.proto))
    return ConvertedModel(converted.path, judge.judge(oracle.score(twin)))


def converted_text(document: Mapping[str, object]) -> list[str]:
    """Return how a converted model does, as text."""
    found = document.get("converted")
    if not isinstance(found, dict):
        return []
    shown = ", ".join(f"{name} {score:.3g}" for name, score in found["scores"].items() if score is not None)
    verdict = f"passes against the original ({shown})" if found["passes"] else f"fails against it: {found['why']}"
    return [f"{found['model']}, as it was converted, {verdict}.", "The search is in the original:"]


def _kinds(graph: onnx.GraphProto, side: str) -> dict[str, int]:
    return {value.name: _kind(value) for value in getattr(graph, side)}


def _comparable(kind: int | None) -> int | None:
    return TensorProto.FLOAT if kind in _WIDTHS else kind


def _with_wide_interface(twin: onnx.ModelProto) -> onnx.ModelProto:
    """Return the twin with FP32 inputs and outputs of the same names, cast to and from its own."""
    graph = twin.graph
    inner = {value.name: f"{value.name}__own_type" for value in (*graph.input, *graph.output) if _is_half(value)}
    first = [_cast(value.name, inner[value.name], _kind(value)) for value in graph.input if value.name in inner]
    last = [_cast(inner[value.name], value.name, TensorProto.FLOAT) for value in graph.output if value.name in inner]
    nodes = list(graph.node)
    graph.ClearField("node")
    graph.node.extend([*first, *(_renamed(node, inner) for node in nodes), *last])
    for value in (*graph.input, *graph.output):
        if value.name in inner:
            value.type.tensor_type.elem_type = TensorProto.FLOAT
    return twin


def _cast(source: str, target: str, kind: int) -> onnx.NodeProto:
    return helper.make_node("Cast", [source], [target], name=f"{target}__interface", to=kind)


def _kind(value: onnx.ValueInfoProto) -> int:
    return value.type.tensor_type.elem_type


def _is_half(value: onnx.ValueInfoProto) -> bool:
    return _kind(value) in _WIDTHS - {TensorProto.FLOAT}


def _renamed(node: onnx.NodeProto, names: Mapping[str, str]) -> onnx.NodeProto:
    node.input[:] = [names.get(name, name) for name in node.input]
    node.output[:] = [names.get(name, name) for name in node.output]
    for attribute in node.attribute:
        for body in (attribute.g, *attribute.graphs):
            for inner in body.node:
                _renamed(inner, names)
            for value in body.output:
                value.name = names.get(value.name, value.name)
    return node
