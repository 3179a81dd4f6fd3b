"""What TensorRT's kernels do otherwise than the twin, or as badly: fused attention, sums in FP16, GELU by Tanh.

The twin rounds a sum once, as a kernel does that accumulates in FP32. Which accumulator a kernel has depends on its
tactic. A partial sum stays within the sum of the products' magnitudes, so that a smaller one cannot overflow.
"""

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass

import networkx as nx
import numpy as np
import onnx
from onnx import helper, numpy_helper

from trtforensics.bisection.precision.casting.caster import operators_that
from trtforensics.bisection.precision.casting.storage import Storage
from trtforensics.bisection.precision.emulation.accumulation import partial_sums, product_of
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.nodes import PrecisionLever
from trtforensics.bisection.precision.sentences import lines_about
from trtforensics.console.counting import listed
from trtforensics.model.data_types import Accumulator
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import copied, integer
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import sizes_by_tensor

PRODUCTS = frozenset({"Conv", "ConvTranspose", "Gemm", "MatMul"})
_SHOWN = 8
_MORE = "more in result.json"
_MARK = "__magnitudes"
_PARTIAL = "__partial_sum"
_OPERANDS = 2

_TENSORS = 12
"""About how many tensors before a Tanh are looked at: GELU has eight, in any order."""

_BETWEEN = operators_that("in-attention")
"""What exporters write between the two products of an attention."""


@dataclass(frozen=True, slots=True)
class ProductSum:
    """A product in 16 bits whose sum of magnitudes, ``largest``, is beyond the type."""

    node: str
    largest: float
    emulated: bool


@dataclass(frozen=True, slots=True)
class WideSum:
    """A kept product: its largest sum of magnitudes and its largest running sum, None where not measured."""

    node: str
    largest: float | None
    partial: float | None


@dataclass(frozen=True, slots=True)
class WideSums:
    """Kept products, whether the model passes if kernels sum them in FP32, and the ``others`` that are kept."""

    nodes: tuple[WideSum, ...]
    others: tuple[str, ...]
    passes: bool
    scores: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class CubedTensor:
    """A tensor whose cube overflows in a GELU by Tanh: the Tanh, the tensor, its largest magnitude."""

    node: str
    tensor: str
    largest: float


@dataclass(frozen=True, slots=True)
class KernelNotes:
    """What kernels may do otherwise: absorb kept nodes, overflow in 16-bit sums, need FP32 for sums alone, cube."""

    attention: tuple[str, ...] = ()
    sums: tuple[ProductSum, ...] = ()
    wide_sums: WideSums | None = None
    gelu: tuple[CubedTensor, ...] = ()


def attention_nodes(survey: Survey, chosen: Collection[str]) -> list[str]:
    """Return those of some nodes that lie between a product and the Softmax of an attention, the Softmax included."""
    flow = nx.DiGraph()
    flow.add_nodes_from(survey.nodes)
    for name, uses in survey.uses.items():
        if name in survey.producers:
            flow.add_edges_from((survey.producers[name], use.node) for use in uses)
    between = [name for name, node in survey.nodes.items() if node.op_type in _BETWEEN]
    ways = {each: each.subgraph(between) for each in (flow, flow.reverse())}

    def leads_to(way: nx.DiGraph, name: str, op: str) -> bool:
        """Whether a path of operators of attention leads from a node to another operator."""
        path = (name, *nx.descendants(ways[way], name))
        return any(survey.nodes[other].op_type == op for each in path for other in way.successors(each))

    return [
        name
        for name in between
        if name in chosen
        and all(leads_to(way, name, "MatMul") for way in ways)
        and (survey.nodes[name].op_type == "Softmax" or leads_to(flow, name, "Softmax"))
    ]


def _largest_of(arrays: Iterable[Values]) -> float:
    """Return the largest magnitude of some arrays; 0 if there is none."""
    return max((float(np.abs(each).max(initial=0.0)) for each in arrays), default=0.0)


def sums_beyond(oracle: Oracle, keep: Collection[str]) -> dict[str, float]:
    """Return the products outside ``keep`` whose sum of magnitudes in FP32 exceeds the type, with the largest sum."""
    caster = oracle.caster
    names = [
        name
        for name, node in caster.candidates.items()
        if node.op in PRODUCTS and node.scope == 0 and name not in keep and not _stays_below(oracle, name)
    ]
    sums = oracle.values_of([name + _MARK for name in names], _with_sums(oracle, names)) if names else ()
    largest = {tap.removesuffix(_MARK): _largest_of(arrays) for tap, arrays in sums}
    return {name: value for name, value in largest.items() if value > caster.storage.largest}


def _stays_below(oracle: Oracle, name: str) -> bool:
    """Whether the largest operand times the largest sum of constant weights is in range, so that no sum leaves it."""
    caster, node = oracle.caster, oracle.caster.survey.nodes[name]
    weights = caster.survey.constants.get(node.input[1])
    if weights is None or node.input[1] in caster.prepared.streamed:
        return False
    values = np.abs(numpy_helper.to_array(weights))
    axes = {"Conv": tuple(range(1, values.ndim)), "Gemm": 1 if integer(node, "transB") else 0, "MatMul": -2}
    if node.op_type not in axes or values.ndim < _OPERANDS:
        return False
    (arrays,) = (arrays for _, arrays in oracle.values_of([node.input[0]]))
    return _largest_of(arrays) * float(values.sum(axis=axes[node.op_type]).max()) <= caster.storage.largest


def _with_sums(oracle: Oracle, names: Collection[str]) -> onnx.ModelProto:
    """Return the twin with the products of the magnitudes of operands besides, without what is added."""
    model = emulate(oracle.caster.source)
    nodes = [oracle.caster.survey.nodes[name] for name in names]
    for tensor in dict.fromkeys(tensor for node in nodes for tensor in node.input[:_OPERANDS]):
        model.graph.node.append(helper.make_node("Abs", [tensor], [tensor + _MARK], name=f"{tensor}{_MARK}_Abs"))
    for node in nodes:
        product = copied(node)
        product.name = product.output[0] = node.name + _MARK
        del product.input[_OPERANDS:], product.output[1:]
        product.input[:] = [tensor + _MARK for tensor in product.input]
        model.graph.node.append(product)
    return model


def largest_partial_sums(oracle: Oracle, names: Collection[str]) -> dict[str, float]:
    """Return the largest magnitude of the running sum of products of the main graph, where it can be emulated."""
    proto, survey = oracle.caster.source, oracle.caster.survey
    shapes = sizes_by_tensor(proto)
    model = emulate(proto)
    taps = []
    for name in names:
        node = survey.nodes[name]
        product = product_of(node, shapes)
        if product is not None and survey.scopes[node.output[0]] == 0:
            taps.append(name + _PARTIAL)
            model.graph.node.extend(partial_sums(node, product, taps[-1]))
    return {tap.removesuffix(_PARTIAL): _largest_of(arrays) for tap, arrays in oracle.values_of(taps, model)}


def cubes_beyond(oracle: Oracle, keep: Collection[str]) -> tuple[CubedTensor, ...]:
    """Return the tensors outside ``keep`` that a GELU by Tanh cubes beyond the type: FP16's where ``|x| > 40.3``."""
    survey, storage = oracle.caster.survey, oracle.caster.storage
    tensors = {}
    for name, node in survey.nodes.items():
        cubed = _cubed(survey, node.input[0]) if node.op_type == "Tanh" and survey.scopes[node.output[0]] == 0 else None
        if cubed is not None and cubed[1] not in keep and cubed[0] not in survey.constants:
            tensors[name] = cubed[0]
    largest = {name: _largest_of(arrays) for name, arrays in oracle.values_of(dict.fromkeys(tensors.values()))}
    cubed_tensors = (CubedTensor(name, tensor, largest[tensor]) for name, tensor in tensors.items())
    return tuple(each for each in cubed_tensors if each.largest**3 > storage.largest)


def _cubed(survey: Survey, tensor: str) -> tuple[str, str] | None:
    """Return what is cubed in ``c * (x + 0.044715 * x ** 3)``, in any order of factors, and the node of the cube."""
    ahead = [tensor]
    for tensor_before in ahead:
        node = survey.maker(tensor_before)
        if node is None:
            continue
        if node.op_type == "Pow" and _is_number(survey, node.input[1], 3.0):
            return node.input[0], node.name
        for factor, other in (node.input, reversed(node.input)) if node.op_type == "Mul" else ():
            square = survey.maker(factor)
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


def kernel_notes(lever: PrecisionLever, minimal: frozenset[str] | None) -> KernelNotes:
    """Return what kernels may do otherwise where a minimal repair stays FP32; nothing where there is no repair."""
    if minimal is None:
        return KernelNotes()
    caster, oracle = lever.caster, lever.oracle
    keep = caster.kept(minimal)
    try:
        sums, cubes = sums_beyond(oracle, ()), cubes_beyond(oracle, keep)
    except RunError:  # the answer does without them: ONNX Runtime returns no such tensors of this model
        sums, cubes = {}, ()
    half_sums = oracle.accumulator is Accumulator.FP16
    shapes = sizes_by_tensor(caster.source) if half_sums else {}
    nodes = caster.survey.nodes
    return KernelNotes(
        attention=tuple(attention_nodes(caster.survey, minimal)),
        sums=tuple(
            ProductSum(name, largest, product_of(nodes[name], shapes) is not None)
            for name, largest in sums.items()
            if name not in keep
        ),
        wide_sums=_wide_sums(lever, minimal, sums) if half_sums else None,
        gelu=cubes,
    )


def _wide_sums(lever: PrecisionLever, minimal: frozenset[str], sums: Mapping[str, float]) -> WideSums | None:
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
    judgement = lever.judge.judge(scores)
    nodes = tuple(WideSum(name, sums.get(name), partial.get(name)) for name in products)
    return WideSums(nodes, tuple(others), judgement.passes, judgement.scores)


def kernel_lines(notes: KernelNotes, narrow: Storage, accumulator: Accumulator) -> list[str]:
    """Return the notes as text, on a model in a 16-bit type whose products sum in a type."""
    lines = []
    if notes.attention:
        lines += lines_about("attention", nodes=listed(notes.attention, _SHOWN, _MORE))
    if notes.wide_sums is not None:
        lines += _wide_lines(notes.wide_sums, narrow.name)
    sums = listed([each.node for each in notes.sums if not each.emulated], _SHOWN, _MORE)
    if sums:
        lines += lines_about(f"sums in {accumulator.upper()}", sums=sums)
    if notes.gelu:
        cubed = [f"{each.node} ({each.tensor} reaches {each.largest:.3g})" for each in notes.gelu]
        limit = np.cbrt(narrow.largest)
        lines += lines_about("cubes", narrow=narrow.name, limit=limit, cubed=listed(cubed, _SHOWN, _MORE))
    return lines


def _wide_lines(wide: WideSums, narrow: str) -> list[str]:
    names = [each.node for each in wide.nodes]
    shown = listed(names, _SHOWN, _MORE)
    if not wide.passes:
        return [f"Accumulation in FP32 is not enough for {shown}: in {narrow} the model fails even so."]
    rest = f"with the other {len(wide.others)} nodes in FP32" if wide.others else f"with every node in {narrow}"
    layers = shlex.quote("|".join(re.escape(name) for name in names)) if len(names) <= _SHOWN else "EXPR"
    sums = []
    for each in wide.nodes[:_SHOWN]:
        if each.largest is not None:
            running = "" if each.partial is None else f", and its running sum reaches {each.partial:.3g}"
            sums.append(f"  The magnitudes of what {each.node} adds come to {each.largest:.3g}{running}.")
    return [
        f"A tactic that accumulates in FP32 does as well as FP32 nodes do for {shown}.",
        *sums,
        *lines_about("tactics with wide sums", rest=rest, layers=layers),
    ]
