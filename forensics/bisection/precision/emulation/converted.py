"""Other forms of a model against the FP32 original: in a newer operator set, or converted to 16 bits elsewhere."""

from collections.abc import Mapping
from dataclasses import dataclass

import onnx
from onnx import TensorProto, helper, version_converter

from trtforensics.bisection.precision.emulation.judging import METRICS, OutputJudge
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.sentences import lines_about
from trtforensics.errors import SourceError, UsageError
from trtforensics.onnx_models.graphs import operator_set, refill, rename
from trtforensics.onnx_models.reading import PreparedModel, rewritten

EQUAL = 1e-4
"""By so much of the largest magnitude two forms of a model may differ in FP32: another order of the same sums."""

FIRST_WITH: Mapping[str, int] = {"bf16": 13, "int8": 13, "fp8": 19}
"""The ONNX operator set from which on operators compute in a type, or quantize to it with a scale for each channel."""
_WIDTHS = frozenset({TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.BFLOAT16})
"""The types of an interface that may differ between both models."""
_OWN = "__own_type"


def difference(oracle: Oracle, other: onnx.ModelProto) -> float | None:
    """Return the largest difference as a share of the largest magnitude; None where only one of both is finite."""
    scores = oracle.score(emulate(other))
    worst = [scores.worst(name, METRICS["max-rel"]) for name in scores.outputs]
    known = [score for score in worst if score is not None]
    return max(known) if len(known) == len(worst) else None


def raised_for(prepared: PreparedModel, kind: str) -> PreparedModel:
    """Return the model in an operator set that knows a ``--precision``; a SourceError where it cannot be converted."""
    version, first = operator_set(prepared.proto), FIRST_WITH.get(kind, 0)
    if version >= first:
        return prepared
    if prepared.streamed:
        raise _refusal(prepared, kind, "onnx.version_converter does not convert models of more than 2 GB")
    try:
        proto = version_converter.convert_version(prepared.proto, first)
        return rewritten(prepared, proto, *lines_about("raised", version=version, kind=kind.upper(), first=first))
    except (RuntimeError, SourceError, ValueError) as error:
        reason = error.what if isinstance(error, SourceError) else " ".join(str(error).split())[:200].rstrip(".")
        raise _refusal(prepared, kind, f"onnx.version_converter does not convert it: {reason}") from error


def require_equal(oracle: Oracle, original: PreparedModel, kind: str) -> None:
    """Require that a converted model computes what the original does, on its oracle's samples, else a SourceError."""
    apart = difference(oracle, original.proto)
    if apart is None or apart > EQUAL:
        by = "in what is finite" if apart is None else f"by {apart:.1g} of the largest magnitude"
        raise _refusal(original, kind, f"what onnx.version_converter makes of it differs {by} in FP32")


def _refusal(prepared: PreparedModel, kind: str, why: str) -> SourceError:
    version, first = operator_set(prepared.proto), FIRST_WITH[kind]
    what = f"uses operator set {version}, in which no operator knows {kind.upper()} (from {first} on); {why}"
    next_step = f"Export it with operator set {first} or later, or ask for `--precision fp16`"
    return SourceError(prepared.path, what, next_step)


@dataclass(frozen=True, slots=True)
class ConvertedModel:
    """How a model does that was converted to 16 bits elsewhere: whether its twin passes on the original's samples."""

    model: str
    passes: bool
    scores: Mapping[str, float | None]
    why: str


def judged(converted: PreparedModel, oracle: Oracle, judge: OutputJudge) -> ConvertedModel:
    """Judge a converted model; ``oracle`` and ``judge`` are the original's.

    Raises:
        RunError: ONNX Runtime cannot run the twin, or an output has another shape.
        UsageError: the inputs or outputs are others than the original's.
    """
    original = oracle.caster.prepared.proto.graph
    for side in ("input", "output"):
        theirs, ours = _kinds(converted.proto.graph, side), _kinds(original, side)
        differ = [name for name in ours | theirs if theirs.get(name) != ours.get(name)]
        if differ:
            what = f"has another {side} {differ[0]} than {converted.path}: names and types must be the same"
            raise UsageError("--against", what, "Give the model that it was made of; FP32 may be 16 bits wide in one")
    twin = _with_wide_interface(oracle.twin_of(converted.proto))
    judgement = judge.judge(oracle.score(twin))
    return ConvertedModel(converted.path, judgement.passes, judgement.scores, judgement.why)


def _kinds(graph: onnx.GraphProto, side: str) -> dict[str, int]:
    """Return the types of inputs or outputs; those that may differ in width are all FP32."""
    kinds = {value.name: _kind(value) for value in getattr(graph, side)}
    return {name: TensorProto.FLOAT if kind in _WIDTHS else kind for name, kind in kinds.items()}


def _with_wide_interface(twin: onnx.ModelProto) -> onnx.ModelProto:
    """Return the twin with FP32 inputs and outputs of the same names, cast to and from its own."""
    graph = twin.graph
    interface = [value for value in (*graph.input, *graph.output) if _kind(value) in _WIDTHS - {TensorProto.FLOAT}]
    kinds = {value.name: _kind(value) for value in interface}
    inner = {name: name + _OWN for name in kinds}
    ends = {value.name for value in graph.output}
    rename(graph, inner)
    for value in interface:
        value.name, value.type.tensor_type.elem_type = value.name.removesuffix(_OWN), TensorProto.FLOAT
    first = [_cast(name, inner[name], kind) for name, kind in kinds.items() if name not in ends]
    last = [_cast(inner[name], name, TensorProto.FLOAT) for name in kinds if name in ends]
    refill(graph, "node", [*first, *graph.node, *last])
    return twin


def _cast(source: str, target: str, kind: int) -> onnx.NodeProto:
    return helper.make_node("Cast", [source], [target], name=f"{target}__interface", to=kind)


def _kind(value: onnx.ValueInfoProto) -> int:
    return value.type.tensor_type.elem_type
