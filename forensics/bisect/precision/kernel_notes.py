"""What TensorRT's kernels may do otherwise than the twin: fused attention, and sums in FP16."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.emulation.accumulation import product_of, shapes_of
from trtforensics.bisect.precision.emulation.oracle import RunError
from trtforensics.bisect.precision.emulation.sums import PRODUCTS, sums_beyond
from trtforensics.model.accumulator import Accumulator

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
    """Return the kept nodes that a fused attention may absorb, and what sums in FP16 do to products.

    ``sums`` names the 16-bit products that may overflow, ``wide_sums`` the kept ones that need FP32 for their sums.
    """
    if minimal is None:
        return {"attention": [], "sums": [], "wide_sums": None}
    caster, oracle = lever.caster, lever.oracle
    try:
        sums = sums_beyond(oracle, ())
    except RunError:  # the answer does without them: ONNX Runtime returns no such tensors of this model
        sums = {}
    shapes = shapes_of(caster.prepared.proto) if oracle.accumulator is Accumulator.FP16 else {}
    keep = caster.kept(minimal)
    return {
        "attention": attention_nodes(caster.survey, minimal),
        "sums": [
            {
                "node": name,
                "largest": value,
                "emulated": product_of(caster.survey.nodes[name], shapes) is not None,
            }
            for name, value in sums.items()
            if name not in keep
        ],
        "wide_sums": _wide_sums(lever, minimal, sums) if oracle.accumulator is Accumulator.FP16 else None,
    }


def _wide_sums(lever: PrecisionLever, minimal: frozenset[str], sums: Mapping[str, float]) -> Document | None:
    """Return the kept products, and whether they may be in 16 bits if a kernel sums them in FP32; None without any."""
    caster, oracle = lever.caster, lever.oracle
    products = [name for name in lever.nodes if name in minimal and caster.candidates[name].op in PRODUCTS]
    if not products:
        return None
    others = [name for name in lever.nodes if name in minimal and name not in products]
    try:
        scores = oracle.score(oracle.twin_of(caster.cast(caster.kept(others)), products))
    except RunError:
        return None
    judgement = lever.judgement(scores)
    return {
        "nodes": [{"node": name, "largest": sums.get(name)} for name in products],
        "others": others,
        "passes": judgement.passed,
        "scores": dict(judgement.worst),
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
    lines += _wide_text(kernels["wide_sums"], str(document["precision"]))
    sums = [each["node"] for each in kernels["sums"] if not each["emulated"]]
    if sums and document["accumulate"] == Accumulator.FP32:
        lines += [
            f"May be infinite where a kernel accumulates in FP16, by the sum of magnitudes: {_named(sums)}.",
            "  The twin accumulates in FP32; `--accumulate fp16` emulates the other.",
        ]
    elif sums:
        lines.append(
            f"Not emulated, the twin sums them in FP32: {_named(sums)}. By the sum of magnitudes they may be infinite."
        )
    return lines


def _wide_text(wide: object, narrow: str) -> list[str]:
    if not isinstance(wide, dict):
        return []
    names = [each["node"] for each in wide["nodes"]]
    if not wide["passes"]:
        return [f"Accumulation in FP32 is not enough for {_named(names)}: in {narrow} the model fails even so."]
    rest = f"with the other {len(wide['others'])} nodes in FP32" if wide["others"] else f"with every node in {narrow}"
    beyond = [each for each in wide["nodes"] if each["largest"] is not None]
    reasons = [f"  because the magnitudes that {e['node']} sums reach {e['largest']:.3g}" for e in beyond[:_SHOWN]]
    layers = shlex.quote("|".join(re.escape(name) for name in names)) if len(names) <= _SHOWN else "EXPR"
    return [
        f"A tactic that accumulates in FP32 does as well as FP32 nodes do for {_named(names)},",
        *reasons,
        f"  and so summed, the model passes {rest}. Pin such tactics by a verbose log of that build:",
        f"  trtforensics pin build.log --accumulate fp32 --layers {layers} -o pinned.json",
    ]


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more in result.json" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
