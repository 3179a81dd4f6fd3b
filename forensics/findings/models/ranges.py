"""Values that a type of 16 bits does not hold: constants, and what a model computes from them."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.console.counting import counted
from trtforensics.engines.requests import allows, strongly_typed
from trtforensics.findings.finding import Confidence, Observation, Severity, Step
from trtforensics.findings.models.quantization import NORMALISATIONS
from trtforensics.findings.models.seen import of_nodes
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import trtforensics

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode

_HALF = 65504
_ZERO_IN_HALF = 2.0**-25
"""The largest magnitude that FP16 rounds to 0."""
_WEIGHTED = {"Conv", "ConvTranspose", "Gather", "Gemm", "MatMul"}
_SCALED = _WEIGHTED - {"Gather"} | {"BatchNormalization", "Div", "GRU", "LSTM", "Mul", "PRelu", "RNN", *NORMALISATIONS}
"""Operators that multiply by their constants, so that an infinite one spoils results."""
_BOUNDING = {"Clip", "Max", "Min", "Where", "Less", "Greater", "Equal"}
_NORMAL_IN_HALF = 2.0**-14
_MANY = 0.5
_BRAIN = 3.3961775e38
"""From here on BF16 rounds to infinity."""
_OF_A_MASK = 2
_COUNTS = {"BF16": 256, "FP16": 2048}
"""Up to where a type holds every whole number."""
_CAST = {"FLOAT", "INT32", "INT64"}
_RAMP, _INEXACT = 16, 0.1
"""Elements from which on whole numbers count something, and the share of them that a type may round."""
_FROM_ZERO = {"Div", "Log", "Pow", "Reciprocal", "Sqrt"}
_PRODUCTS = {"Conv", "Gemm", "MatMul"}
_LARGEST_SUMMED = 1 << 24
"""Elements of weights that are added up for a forecast."""
_SQUARED, _CUBED = 2, 3
_WITH_OPERATOR = 17


def may_be(case: Case, tensor: str, *words: str) -> bool:
    """Whether a tensor is of a reduced type, or the build may choose one for it."""
    names = {"FP16": "FLOAT16", "BF16": "BFLOAT16"}
    weak, element = not strongly_typed(case.build) and allows(case.build, *words), case.checked.type_of(tensor)
    return element in {names[word] for word in words} or (weak and element in {"FLOAT", "DOUBLE", "UNDEFINED"})


@explained("TF176")
def beyond_half(case: Case) -> Iterator[Observation]:
    """Name constants of FP32 that a type in use makes infinite, 0 or other numbers, and zeros before a root."""
    model, weak = case.checked, not strongly_typed(case.build)
    allowed = [word for word in _COUNTS if weak and allows(case.build, word)]
    step = Step("See what FP16 does to results", trtforensics("bisect", "precision", model.path, "--dry-run"))
    for name, element in model.stored.items():
        readers = [node for node in model.readers.get(name, ()) if allowed or _makes_halves(node)]
        readers = readers if element == "FLOAT" else [node for node in readers if _makes_halves(node)]
        types = {*allowed, *(["FP16"] if any(map(_makes_halves, readers)) else [])}
        what = _unfit(model, name, types, readers) if element in _CAST and readers else ""
        if what:
            settle = "Whether its layers run in that type in the engine"
            yield of_nodes(case, readers, f"{name} {what}: {{nodes}}", settle=settle, steps=(step,))
        zeros = [node for node in model.readers.get(name, ()) if "FLOAT" in element and _adds_zero(model, node, name)]
        if zeros:
            title = f"{name} is 0, and keeps nothing from 0 where {{nodes}} adds it"
            yield of_nodes(case, zeros, title, settle="Whether the sum may be 0", same_as=name)


def _unfit(model: CheckedModel, name: str, types: set[str], readers: Sequence[CheckedNode]) -> str:
    """Return what becomes of a constant's values in types of 16 bits, in words; empty where they keep."""
    most, share, rounded = 0.0, 0.0, dict.fromkeys(types, False)
    weighted = not {node.op for node in readers}.isdisjoint(_WEIGHTED)
    for block in model.blocks(name):
        most = max(most, _largest(block))
        small = (np.abs(block) < _NORMAL_IN_HALF) & (block != 0) if weighted else np.zeros(1)
        share = max(share, float(small.mean()))
        rounded = {word: rounded[word] or _is_rounded(block, word) for word in types}
    if "BF16" in types and most > _BRAIN:
        return f"holds values up to {most:.3g}, infinite in BF16"
    if "FP16" in types and 0 < most <= _ZERO_IN_HALF:
        return f"holds values of at most {most:.3g}, which are 0 in FP16"
    if "FP16" in types and 0 < most < _NORMAL_IN_HALF and weighted:
        return f"holds values of at most {most:.3g}, which lose digits in FP16 (subnormal)"
    if "FP16" in types and share > _MANY:
        return f"holds {share:.0%} of its values below 6.1e-05, which lose digits in FP16 (subnormal)"
    if "FP16" in types and most > _HALF:
        return f"holds values up to {most:.3g}, beyond FP16's 65504"
    words = (f"counts to {most:.0f}, {word} counts to {_COUNTS[word]}" for word, lost in rounded.items() if lost)
    return next(words, "")


def _is_rounded(values: npt.NDArray[np.float32], word: str) -> bool:
    """Whether values are whole numbers as of a count, not the few of a mask, and a type has others for many."""
    if (
        values.size < _RAMP
        or np.unique(values[:_RAMP]).size <= _OF_A_MASK
        or (values[:_RAMP] != np.rint(values[:_RAMP])).any()
        or not np.isfinite(values).all()
    ):
        return False
    steps = np.exp2(np.floor(np.log2(np.maximum(np.abs(values), 1))) + 1) / _COUNTS[word]
    odd = np.abs(values) % np.maximum(steps, 1) != 0
    begins = np.abs(values).min() < _COUNTS[word]  # beyond 16 million FP32 has whole numbers alone
    return bool(begins and (values == np.rint(values)).all() and odd.mean() > _INEXACT)


def _adds_zero(model: CheckedModel, node: CheckedNode, name: str) -> bool:
    """Whether a node adds a constant 0 to what is divided by, or has a root or logarithm taken of it."""
    readers = [reader for made in node.proto.output for reader in model.readers.get(made, ())]
    after = [
        each
        for each in readers
        if each.op in _FROM_ZERO and each.proto.input[-1 * (each.op == "Div")] in node.proto.output
    ]
    values = model.values(name) if node.op == "Add" and after else None
    return values is not None and not values.any()


def _makes_halves(node: CheckedNode) -> bool:
    return node.op == "Cast" and node.casts_to == "FLOAT16"


def _largest(values: npt.NDArray[np.float32]) -> float:
    """Return the largest magnitude among finite values."""
    magnitudes = np.abs(values)
    largest = float(magnitudes.max(initial=0.0))
    return largest if np.isfinite(largest) else float(magnitudes[np.isfinite(magnitudes)].max(initial=0.0))


@explained("TF177")
def not_finite(case: Case) -> Iterator[Observation]:
    """Name constants with NaN as errors, infinite weights as warnings, other infinities as notes."""
    model = case.checked
    for name, (element, _) in model.weights.items():
        if element not in {"FLOAT", "FLOAT16", "DOUBLE"}:
            continue
        readers = model.readers.get(name, ())
        odd = [block[~np.isfinite(block)] for block in (model.blocks(name) if readers else ())]
        nans = sum(int(np.isnan(block).sum()) for block in odd)
        infinities = sum(block.size for block in odd) - nans
        if nans:
            yield of_nodes(case, readers, f"{name} holds {counted(nans, 'NaN')}: {{nodes}}")
        elif infinities:
            title = f"{name} holds {infinities:,} infinite values: {{nodes}}"
            weighted = any(node.op in _SCALED for node in readers)
            above = element == "FLOAT16" and any((block > 0).any() for block in odd)  # which a conversion may leave
            wrong = weighted or (above and not all(node.op in _BOUNDING for node in readers))
            yield of_nodes(case, readers, title, severity=Severity.WARNING if wrong else Severity.NOTE)
    for node in model.nodes:
        variance = model.values(node.proto.input[4]) if node.op == "BatchNormalization" else None
        epsilon = node.attribute("epsilon") or 1e-5
        if variance is not None and (below := int(np.count_nonzero(variance.astype(float) + epsilon <= 0))):
            yield of_nodes(case, [node], f"{{nodes}} takes roots of {counted(below, 'negative variance')}: NaN")


@explained("TF196")
def half_squares(case: Case) -> Iterator[Observation]:
    """Name what overflows on samples; without these what may: squares, exponentials, sums, products by weights."""
    model = case.checked
    if model.reached:
        yield from _overflowing(case)
        return
    step = Step("See what overflows on samples", trtforensics("bisect", "precision", model.path, "--dry-run"))
    for key, (is_one, what) in _OVERFLOWS.items():
        nodes = [node for node in model.nodes if is_one(model, node) and may_be(case, node.proto.output[0], "FP16")]
        if nodes:
            title = f"Forecast: {counted(len(nodes), key)} may {what}: {{nodes}}"
            settle = "The values on samples, and the type that the build gives these layers"
            yield of_nodes(
                case, nodes, title, confidence=Confidence.POSSIBLE, settle=settle, steps=(step,), same_as=key
            )
    for node in model.nodes:
        judged = node.op in {*_PRODUCTS, "Div"} and may_be(case, node.proto.output[0], "FP16")
        reached = _reached(model, node) if judged else 0
        if reached > _HALF:
            title = f"Forecast: {{nodes}} may reach {reached:.3g} where its inputs are at most 1, FP16 ends at 65504"
            settle = "The values on samples"
            yield of_nodes(case, [node], title, confidence=Confidence.POSSIBLE, settle=settle, steps=(step,))


def _overflowing(case: Case) -> Iterator[Observation]:
    """Name the nodes whose results first leave FP16's range on samples, and inputs that do."""
    model = case.checked
    beyond = {name: at for name, at in model.reached.items() if at[0] > _HALF and may_be(case, name, "FP16")}
    for name, (magnitude, sample) in beyond.items():
        maker = model.makers.get(name)
        if maker is None or beyond.keys().isdisjoint(maker.proto.input):
            who = "{nodes}" if maker else f"The input {name}"
            title = f"Forecast: {who} reaches {magnitude:.4g} on sample {sample}, FP16 ends at 65504"
            settle = "The type that the build gives this layer"
            yield of_nodes(case, [maker] if maker else [], title, settle=settle, same_as=name)


def _reached(model: CheckedModel, node: CheckedNode) -> float:
    """Return the largest magnitude of a product, convolution or quotient by constants whose inputs are at most 1."""
    shape = model.weights.get(node.proto.input[1], ("", ()))[1]
    if node.op == "Div":
        divisor = model.values(node.proto.input[1])
        return float(1 / np.abs(divisor).min()) if divisor is not None and divisor.size and divisor.all() else 0
    axis = -2 if node.op == "MatMul" or (node.op == "Gemm" and not node.attribute("transB")) else None
    few = 1 < len(shape) <= prod(shape) <= _LARGEST_SUMMED
    weights = model.values(node.proto.input[1], whole=True) if few else None
    if weights is None or weights.dtype.kind != "f":
        return 0
    sums = np.abs(weights.astype(np.float32)).sum(axis or tuple(range(1, weights.ndim)))
    return float(sums.max(initial=0))


def _squares(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether a node squares what a mean or sum is taken of; TF112 names LayerNorms before set 17."""
    told = {"ReduceMean"} if node.op == "Pow" and model.opset < _WITH_OPERATOR else set()
    return _is_power(model, node, _SQUARED) and bool(_read_by(model, node) & ({"ReduceMean", "ReduceSum"} - told))


def _read_by(model: CheckedModel, node: CheckedNode) -> set[str]:
    return {reader.op for reader in model.readers.get(node.proto.output[0], ())}


def _is_power(model: CheckedModel, node: CheckedNode, wanted: int) -> bool:
    """Whether a node is a power of a tensor, as Pow or as products with itself."""
    if node.op == "Mul":
        factors = [*node.proto.input]
        for name in node.proto.input:
            maker = model.makers.get(name)
            factors += maker.proto.input if maker is not None and maker.op == "Mul" and wanted > _SQUARED else ()
        return max(map(factors.count, factors)) == wanted
    exponent = model.values(node.proto.input[1]) if node.op == "Pow" and len(node.proto.input) > 1 else None
    return exponent is not None and bool((exponent == wanted).all())


def _exponential(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether exponentials are summed up from which nothing was taken: a Softmax or Softplus of single nodes."""
    if node.op != "Exp":
        return node.op == "ReduceLogSumExp"
    maker = model.makers.get(node.proto.input[0])
    less = maker is not None and maker.op == "Sub" and maker.proto.input[1] not in model.constants
    behind = [reader for reader in model.readers.get(node.proto.output[0], ()) if reader.op in {"Add", "ReduceSum"}]
    logs = any("Log" in _read_by(model, reader) for reader in behind)
    shares = "Div" in _read_by(model, node) and any(reader.op == "ReduceSum" for reader in behind)
    return (logs or shares) and not less and (maker is None or maker.op not in {"Clip", "Min", "Neg"})


def _norm(_: CheckedModel, node: CheckedNode) -> bool:
    """Whether a node adds up squares."""
    of_squares = node.op in {"LpNormalization", "LpPool", "GlobalLpPool"} and node.attribute("p") in {None, _SQUARED}
    return of_squares or node.op in {"ReduceL2", "ReduceSumSquare"}


def _long_sum(model: CheckedModel, node: CheckedNode) -> bool:
    names = (node.proto.input[0], node.proto.output[0]) if node.op == "ReduceSum" else ()
    counts = [prod(size or 0 for size in model.sizes.get(name, (0,))) for name in names]
    return bool(counts) and counts[0] > _HALF * counts[1] > 0


_OVERFLOWS: Mapping[str, tuple[Callable[[CheckedModel, CheckedNode], bool], str]] = {
    "cube": (lambda model, node: _is_power(model, node, _CUBED), "be FP16, where it overflows beyond 40.3"),
    "normalisation": (_squares, "square in FP16, which ends at 255"),
    "norm": (_norm, "add up squares in FP16, which ends at 255"),
    "exponential": (_exponential, "be FP16, where it overflows beyond 11.09"),
    "long sum": (_long_sum, f"add up over {_HALF:,} elements in FP16, which ends at that"),
}
"""Which nodes overflow in FP16 on usual values, and how."""
