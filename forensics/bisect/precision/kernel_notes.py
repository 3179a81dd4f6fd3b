"""What TensorRT's kernels may do otherwise than the twin: fused attention, and sums in FP16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.precision.emulation.oracle import RunError
from trtforensics.bisect.precision.emulation.sums import sums_beyond

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from trtforensics.bisect.precision.casting.eligibility import Survey
    from trtforensics.bisect.precision.lever import PrecisionLever

    Document = dict[str, object]

_SHOWN = 8
_BETWEEN = frozenset({"Add", "Cast", "Div", "Dropout", "Identity", "Mul", "Reshape", "Softmax", "Sub", "Where"})
"""What exporters write between the two products of an attention."""


def attention_nodes(survey: Survey, chosen: Collection[str]) -> list[str]:
    """Return those of some nodes that lie between a product and the Softmax of an attention, the Softmax included."""
    return [
        name
        for name, node in survey.nodes.items()
        if name in chosen
        and node.op_type in _BETWEEN
        and _reaches(survey, name, forwards=False)
        and _reaches(survey, name, forwards=True)
        and (node.op_type == "Softmax" or _reaches(survey, name, forwards=True, until="Softmax"))
    ]


def _reaches(survey: Survey, name: str, *, forwards: bool, until: str = "MatMul") -> bool:
    """Whether a path of operators of attention leads from a node to another operator."""
    ahead, seen = [name], {name}
    while ahead:
        node = survey.nodes[ahead.pop()]
        if forwards:
            others = [use.node for tensor in node.output for use in survey.uses.get(tensor, [])]
        else:
            others = [survey.producers[tensor] for tensor in node.input if tensor in survey.producers]
        for other in others:
            if survey.nodes[other].op_type == until:
                return True
            if survey.nodes[other].op_type in _BETWEEN and other not in seen:
                seen.add(other)
                ahead.append(other)
    return False


def kernels_document(lever: PrecisionLever, minimal: frozenset[str] | None) -> Document:
    """Return the kept nodes that a fused attention may absorb, and the products that overflow in FP16 sums."""
    if minimal is None:
        return {"attention": [], "sums": []}
    caster = lever.caster
    try:
        sums = sums_beyond(lever.oracle, caster.kept(minimal))
    except RunError:  # the answer does without them: ONNX Runtime returns no such tensors of this model
        sums = {}
    return {
        "attention": attention_nodes(caster.survey, minimal),
        "sums": [{"node": name, "largest": value} for name, value in sums.items()],
    }


def kernels_text(document: Mapping[str, object]) -> list[str]:
    """Return what the kernels may do otherwise, as text."""
    kernels = document.get("kernels")
    if not isinstance(kernels, dict):
        return []
    lines = []
    if kernels["attention"]:
        lines += [
            f"In an attention: {_named(kernels['attention'])}. TensorRT may fuse it to one kernel (_gemm_mha_v2) that",
            "  absorbs the Casts around Softmax, so that these nodes are FP32 on paper only. A cheap test: mark the",
            "  scores as an output, which breaks the fusion, and build again (`bisect outputs`).",
        ]
    if kernels["sums"]:
        names = [each["node"] for each in kernels["sums"]]
        lines.append(
            f"Infinite where a kernel accumulates in FP16, by the sum of magnitudes: {_named(names)}. "
            "The twin accumulates in FP32."
        )
    return lines


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more in result.json" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
