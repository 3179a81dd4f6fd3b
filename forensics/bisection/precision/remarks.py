"""What a user must know of a model before its answer: why it has no candidates, and which nodes stay FP32 anyway."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from onnx import TensorProto

from trtforensics.onnx_models.graphs import STANDARD, holds_graphs, operator_set

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.bisection.precision.casting.caster import Caster
    from trtforensics.onnx_models.graphs import Survey


_HALVES: Mapping[int, str] = {TensorProto.FLOAT16: "FP16", TensorProto.BFLOAT16: "BF16"}
_NO_ARITHMETIC = frozenset(
    {
        *("Cast", "CastLike", "Constant", "ConstantOfShape", "DequantizeLinear", "EyeLike", "Identity", "OneHot"),
        *("QuantizeLinear", "Range", "Shape", "Size"),
    }
)
_SHOWN = 5


def no_candidates(caster: Caster) -> tuple[str, str]:
    """Return why no node may change its type, and the next step."""
    narrow = caster.storage.name.upper()
    halves = computing_in_halves(caster.survey)
    if halves:
        word, count = halves.most_common(1)[0]
        return (
            f"is {'an' if word == 'FP16' else 'a'} {word} model already: {count} nodes compute in {word}, none in FP32",
            "Give the FP32 model that it was made of too, by --against ORIGINAL.onnx",
        )
    return f"has no node that computes in FP32 and could in {narrow}", "Give a model with nodes that compute in FP32"


def model_notes(caster: Caster) -> list[str]:
    """Return notes on the nodes that stay as they are, whatever the answer is."""
    notes = []
    for word, count in computing_in_halves(caster.survey).items():
        notes.append(f"{count} nodes compute in {word} in the model itself; they stay so in every mixture")
    foreign, untyped = _without_narrow_form(caster)
    if foreign:
        notes.append(
            f"operators that are not ONNX's own stay FP32: {_counted(foreign)}. TensorRT needs a plugin for each"
        )
    if untyped:
        version = operator_set(caster.prepared.proto)
        notes.append(
            f"operators without a {caster.storage.name} form in operator set {version} stay FP32: {_counted(untyped)}"
        )
    return notes


def few_candidates(caster: Caster) -> str:
    """Say how many nodes take part, in brackets, where they are fewer than half of those that compute in FP32."""
    foreign, untyped = _without_narrow_form(caster)
    able = sum(node.moves is None for node in caster.candidates.values())
    every = able + foreign.total() + untyped.total()
    return f" (only {able} of {every} nodes can be in {caster.storage.name})" if able < every / 2 else ""


def computing_in_halves(survey: Survey) -> Counter[str]:
    """Count the nodes of a model that compute in 16 bits, by ``FP16`` and ``BF16``."""
    types = survey.types
    counts: Counter[str] = Counter()
    for node in survey.nodes.values():
        words = {_HALVES[kind] for name in node.output if (kind := types.get(name, 0)) in _HALVES}
        if node.op_type not in _NO_ARITHMETIC:
            counts.update(sorted(words)[:1])
    return counts


def _without_narrow_form(caster: Caster) -> tuple[Counter[str], Counter[str]]:
    foreign: Counter[str] = Counter()
    untyped: Counter[str] = Counter()
    for name, node in caster.survey.nodes.items():
        wide = any(caster.survey.types.get(tensor) == TensorProto.FLOAT for tensor in node.output)
        if node.domain not in STANDARD:
            foreign[f"{node.domain}.{node.op_type}"] += 1
        elif (
            wide
            and name not in caster.candidates
            and node.op_type not in _NO_ARITHMETIC
            and not holds_graphs(node)
            and not caster.survey.small.issuperset(node.output)
        ):
            untyped[node.op_type] += 1
    return foreign, untyped


def _counted(counts: Counter[str]) -> str:
    shown = ", ".join(f"{name} ({count})" for name, count in counts.most_common(_SHOWN))
    return shown + (f" and {len(counts) - _SHOWN} more kinds" if len(counts) > _SHOWN else "")
