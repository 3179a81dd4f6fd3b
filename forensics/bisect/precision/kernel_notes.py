"""What TensorRT's kernels do otherwise than the twin, or as badly: fused attention, sums in FP16, GELU by Tanh."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

import numpy as np
from onnx import numpy_helper

from trtforensics.bisect.precision.casting.storage import STORAGES
from trtforensics.bisect.precision.emulation.accumulation import product_of, shapes_of
from trtforensics.bisect.precision.emulation.oracle import RunError, with_outputs
from trtforensics.bisect.precision.emulation.sums import PRODUCTS, largest_partial_sums, sums_beyond
from trtforensics.bisect.precision.emulation.twin import emulate
from trtforensics.model.accumulator import Accumulator

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from trtforensics.bisect.precision.casting.eligibility import Survey
    from trtforensics.bisect.precision.emulation.oracle import Oracle
    from trtforensics.bisect.precision.lever import PrecisionLever

    Document = dict[str, object]

_SHOWN = 8

_TENSORS = 12
"""About how many tensors before a Tanh are looked at: GELU has eight, in any order."""

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


def cubes_beyond(oracle: Oracle, keep: Collection[str]) -> dict[str, tuple[str, float]]:
    """Return GELUs by Tanh in 16 bits whose cube overflows: by the Tanh, the cubed tensor and its largest magnitude.

    ``x ** 3`` overflows FP16 where ``|x| > 40.3``. Of the main graph; nodes in ``keep`` stay FP32.

    Raises:
        RunError: ONNX Runtime cannot run the model with these tensors as outputs.
    """
    survey, storage = oracle.caster.survey, oracle.caster.storage
    found = {}
    for name, node in survey.nodes.items():
        cubed = _cubed(survey, node.input[0]) if node.op_type == "Tanh" and survey.scopes[node.output[0]] == 0 else None
        if cubed is not None and cubed[1] not in keep and cubed[0] not in survey.constants:
            found[name] = cubed[0]
    if not found:
        return {}
    runs = oracle.outputs_of(emulate(with_outputs(oracle.caster.prepared.proto, list(dict.fromkeys(found.values())))))
    largest = {tensor: max(float(np.max(np.abs(run[tensor]), initial=0.0)) for run in runs) for tensor in runs[0]}
    return {name: (tensor, largest[tensor]) for name, tensor in found.items() if largest[tensor] ** 3 > storage.largest}


def _cubed(survey: Survey, tensor: str) -> tuple[str, str] | None:
    """Return what is cubed in ``c * (x + 0.044715 * x ** 3)``, in any order of factors, and the node of the cube."""
    ahead = [tensor]
    for tensor_before in ahead:
        node = survey.nodes.get(survey.producers.get(tensor_before, ""))
        if node is None:
            continue
        if node.op_type == "Pow" and _is_number(survey, node.input[1], 3.0):
            return node.input[0], node.name
        for one, other in (node.input, reversed(node.input)) if node.op_type == "Mul" else ():
            square = survey.nodes.get(survey.producers.get(one, ""))
            if square is not None and square.op_type == "Mul" and list(square.input) == [other, other]:
                return other, node.name
        if node.op_type in {"Add", "Mul"} and len(ahead) < _TENSORS:
            ahead += node.input
    return None


def _is_number(survey: Survey, tensor: str, wanted: float) -> bool:
    constant = survey.constants.get(tensor)
    if constant is None or any(size != 1 for size in constant.dims):
        return False
    return bool(numpy_helper.to_array(constant).item() == wanted)


def kernels_document(lever: PrecisionLever, minimal: frozenset[str] | None) -> Document:
    """Return the kept nodes that a fused attention may absorb, what sums in FP16 do to products, and cubes of GELUs.

    ``sums`` names the 16-bit products that may overflow, ``wide_sums`` the kept ones that need FP32 for their sums.
    """
    if minimal is None:
        return {"attention": [], "sums": [], "wide_sums": None, "gelu": []}
    caster, oracle = lever.caster, lever.oracle
    keep = caster.kept(minimal)
    try:
        sums, cubes = sums_beyond(oracle, ()), cubes_beyond(oracle, keep)
    except RunError:  # the answer does without them: ONNX Runtime returns no such tensors of this model
        sums, cubes = {}, {}
    shapes = shapes_of(caster.prepared.proto) if oracle.accumulator is Accumulator.FP16 else {}
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
        "gelu": [{"node": name, "tensor": tensor, "largest": value} for name, (tensor, value) in cubes.items()],
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
        partial = largest_partial_sums(oracle, products)
    except RunError:
        return None
    judgement = lever.judgement(scores)
    return {
        "nodes": [{"node": n, "largest": sums.get(n), "partial": partial.get(n)} for n in products],
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
    if kernels["gelu"]:
        reached = [f"{each['node']} ({each['tensor']} reaches {each['largest']:.3g})" for each in kernels["gelu"]]
        narrow = STORAGES[str(document["precision"])]
        limit = f"{np.cbrt(narrow.largest):.3g}"
        lines += [
            f"GELU by Tanh: x ** 3 is infinite in {narrow.name} where |x| > {limit}: {_named(reached)}.",
            "  The Tanh of infinity is 1, so that this alone need not show in the output. A Clip to -10..10 of what is",
            "  cubed, not of the factor behind the Tanh, changes no value in FP32 and keeps the cube in range.",
        ]
    return lines


def _wide_text(wide: object, narrow: str) -> list[str]:
    if not isinstance(wide, dict):
        return []
    names = [each["node"] for each in wide["nodes"]]
    if not wide["passes"]:
        return [f"Accumulation in FP32 is not enough for {_named(names)}: in {narrow} the model fails even so."]
    rest = f"with the other {len(wide['others'])} nodes in FP32" if wide["others"] else f"with every node in {narrow}"
    reasons = [_wide_reason(each) for each in wide["nodes"][:_SHOWN] if each["largest"] is not None]
    layers = shlex.quote("|".join(re.escape(name) for name in names)) if len(names) <= _SHOWN else "EXPR"
    return [
        f"A tactic that accumulates in FP32 does as well as FP32 nodes do for {_named(names)}.",
        *reasons,
        f"  With such sums the model passes {rest}. Pin such tactics by a verbose log of that build:",
        f"  trtforensics pin build.log --accumulate fp32 --layers {layers} -o pinned.json",
    ]


def _wide_reason(product: Mapping[str, object]) -> str:
    running = "" if product["partial"] is None else f", and its running sum reaches {product['partial']:.3g}"
    return f"  The magnitudes of what {product['node']} adds come to {product['largest']:.3g}{running}."


def _named(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more in result.json" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
