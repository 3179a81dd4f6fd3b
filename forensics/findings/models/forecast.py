"""What a build will make of a model, said as a forecast: memory, DLA, and what fuses, in which types.

Beside a log that lists the engine's layers no fusion is forecast but squares in FP16, which layers do not show.
"""

from __future__ import annotations

from functools import partial
from math import prod
from typing import TYPE_CHECKING

from trtforensics.console.counting import MEBIBYTE, counted, grouped
from trtforensics.engines.requests import allows
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.models.operators import LARGE, release_of, too_many
from trtforensics.findings.models.quantization import NORMALISATIONS, placements
from trtforensics.findings.models.ranges import may_be
from trtforensics.findings.models.restrictions import refusal
from trtforensics.findings.models.seen import by_reason, head, of_nodes
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.machine import memory_mib
from trtforensics.findings.target import profile_of
from trtforensics.knowledge.operators import Restriction, dla_operators, operator_support
from trtforensics.knowledge.periods import told_of
from trtforensics.knowledge.platforms import memory_of
from trtforensics.knowledge.table import Release, minor, records, release

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode
    from trtforensics.onnx_models.shapes import Sizes


_WORTH_SAYING = 256 * MEBIBYTE
"""Bytes of one tensor, or of all weights, from which on memory may be the question."""
_PRODUCTS = {"Gemm", "MatMul"}


@explained("TF190")
def memory(case: Case) -> Iterator[Observation]:
    """Name the bytes of the weights and of the node with the largest tensors, where they are large."""
    model, profile = case.checked, profile_of(case.build)
    weights = sum(model.bytes_of(*weight) for weight in model.weights.values())
    parts, largest, peak = [f"{weights / MEBIBYTE:,.0f} MiB of weights as stored"], None, 0
    for bound in ("max", "opt") if profile else ("",):
        sizes = model.sizes_at({name: bounds[bound] for name, bounds in profile.items()})[0] if bound else model.sizes
        at = f" at {bound} shapes" if bound else ""
        yield from _beyond_memory(case, weights, sizes, at) if bound != "opt" else ()
        for measure, what in ((_of_node, "of tensors around"), (_workspace, "of workspace at the most for")):
            nodes = (node for node in model.nodes if node.op != "Constant")
            per_node = [(measure(model, node, sizes), -node.number, node) for node in nodes]
            most, _, node = max(per_node, default=(0, 0, None))
            peak, largest = max(peak, most), largest or (node if most else None)
            parts += [f"{most / MEBIBYTE:,.0f} MiB {what} {node.label}{at}"] if node and most else []
    if max(peak, weights) >= _WORTH_SAYING:
        yield of_nodes(case, [largest] if largest else [], f"Forecast: {'; '.join(parts)}", same_as="memory")


def _beyond_memory(case: Case, weights: int, sizes: Mapping[str, Sizes], at: str) -> Iterator[Observation]:
    """Name what the GPU, one of its architecture, or any does not hold, and tensors of too many elements."""
    model = case.checked
    room, share = memory_mib(case) or memory_of(), 2 if allows(case.build, "FP16", "BF16") else 1
    has = f"more than the {room / 1024:,.0f} GiB of {'this GPU' if memory_mib(case) else 'any GPU'}"
    if weights / share > room * MEBIBYTE:
        title = f"{weights / MEBIBYTE / 1024:,.1f} GiB of weights as stored, {has}"
        yield Observation(title, [head(case)], severity=Severity.WARNING, same_as="weights")
    around = {node: _of_node(model, node, sizes) for node in model.nodes}
    full = [node for node in sorted(around, key=around.__getitem__)[::-1] if around[node] / share > room * MEBIBYTE]
    if full:
        title = f"{around[full[0]] / MEBIBYTE / 1024:,.1f} GiB of tensors around {{nodes}}{at}, {has}"
        yield of_nodes(case, full, title, severity=Severity.WARNING, same_as="tensors")
    rtx = case.version is not None and case.version.rtx
    wide = [node for node in model.nodes if not rtx and (release_of(case) >= LARGE) and too_many(node, sizes)]
    if wide:
        title = f"{{nodes}} makes {too_many(wide[0], sizes)}{at} by TensorRT's documents"
        yield of_nodes(case, wide, title, severity=Severity.WARNING, settle="A build", same_as="elements")


def _workspace(_: CheckedModel, node: CheckedNode, sizes: Mapping[str, Sizes]) -> int:
    """Return the bytes of a convolution's input unrolled for a product, or of a product's result in FP32."""
    result = sizes.get(node.proto.output[0], (None,)) if node.op in {"Conv", *_PRODUCTS} else (None,)
    window = sizes.get(node.proto.input[1], ())[1:] if node.op == "Conv" else ()
    if None in {*result, *window}:
        return 0
    return 4 * prod(size or 0 for size in ((result[0], *result[2:], *window) if window else result))


def _of_node(model: CheckedModel, node: CheckedNode, sizes: Mapping[str, Sizes]) -> int:
    """Return the bytes of a node's inputs and outputs that are no constants; 0 where one is not known."""
    names = [name for name in (*node.proto.input, *node.proto.output) if name and name not in model.constants]
    known = [(model.elements.get(name, "UNDEFINED"), sizes.get(name)) for name in dict.fromkeys(names)]
    if any(element == "UNDEFINED" or shape is None or None in shape for element, shape in known):
        return 0
    return sum(model.bytes_of(element, [size or 0 for size in shape or ()]) for element, shape in known)


@explained("TF192")
def not_for_dla(case: Case) -> Iterator[Observation]:
    """Report a DLA build of a release without DLA, of dynamic shapes, or without FP16 and INT8."""
    if not case.printed("build", "DLACore"):
        return
    if gone := told_of("DLA", release_of(case)).get("gone"):
        yield Observation(gone.replace(" | ", " "), [head(case)], same_as="gone")
    profile = profile_of(case.build)
    dynamic = [value.name for value in case.checked.inputs if value.is_dynamic]
    moving = [name for name in dynamic if len(set(profile.get(name, {0: (), 1: (1,)}).values())) > 1]
    if moving:
        yield Observation(f"DLA takes no dynamic shapes: {', '.join(moving)}", [head(case)], same_as="dynamic")
    if not allows(case.build, "FP16", "INT8"):
        yield Observation("DLA computes in FP16 or INT8, and neither is allowed", [head(case)], same_as="types")


@explained("TF195")
def not_on_dla(case: Case) -> Iterator[Observation]:
    """Name operators that DLA does not run, and products without a constant; what sizes decide is no layer."""
    if not case.printed("build", "DLACore"):
        return
    reasons = ((node, _off_dla(case.checked, node, minor(release_of(case)))) for node in case.checked.nodes)
    yield from by_reason(case, reasons, settle="Which layers the verbose log lists for DLA")


def _off_dla(model: CheckedModel, node: CheckedNode, version: Release) -> str:
    """Return why a node does not run on DLA, in words; empty where it does, or where constants decide it."""
    if all(model.is_static(name) for name in node.proto.output if name):
        return ""
    row = dla_operators().get(node.op) if node.is_standard else None
    if row is None:
        return "not in NVIDIA's list of operators on DLA"
    if row["runs"] != "native":
        return "on DLA only once other operators stand in its place" if row["runs"] == "rewritten" else "not on DLA"
    if release(row["first"]) > version:
        return f"on DLA from TensorRT {row['first']} on"
    if node.op in _PRODUCTS and not model.is_static(node.proto.input[1]):
        return "on DLA with a constant as its second input alone"
    limits = (row for row in records("dla_limits", Restriction) if row.operator == node.op)
    return next((why for row in limits if (why := refusal(model, node, row))), "")


_LARGEST_HEAD = 256
_STEP = 8
_ABSORBED = {"Cast", "Identity", "Dropout"}
"""Operators that a fused attention takes in between Softmax and product."""
_CONVOLUTIONS = {"Conv", "ConvTranspose"}
_EPILOGUES = {"BatchNormalization", "Relu", "LeakyRelu", "Clip", "Sigmoid", "Tanh", "Elu", "Add"}
"""Operators that a convolution takes in behind it."""
_FOREIGN = {"MatMul", "Gemm", "Softmax", "ArgMax", "Attention", *NORMALISATIONS}
"""Operators that ForeignNodes hold from 10.0 on; convolutions and pooling stay outside."""
_FIRST_FOREIGN, _MOST_FOREIGN = (8, 5), (10, 0)
_FIRST_FUSED = (8, 6)
"""The release from which on logs and threads speak of fused attention."""


def attentions(model: CheckedModel) -> Iterator[CheckedNode]:
    """Yield the second products of attention written as product, Softmax and product."""
    for node in model.nodes:
        maker = model.makers.get(_before(model, node.proto.input[0])) if node.op == "MatMul" else None
        if maker is not None and maker.op == "Softmax" and node.proto.input[1] not in model.constants:
            yield node


def _before(model: CheckedModel, tensor: str) -> str:
    """Return the tensor in front of what a fused attention takes in between Softmax and product."""
    while (maker := model.makers.get(tensor)) is not None and maker.op in _ABSORBED:
        tensor = maker.proto.input[0]
    return tensor


def _unfused(case: Case, node: CheckedNode) -> str:
    """Return why no fused kernel takes an attention, in words; empty where one may."""
    shares = _before(case.checked, node.proto.input[0])
    if len(case.checked.readers.get(shares, ())) > 1 or shares in {value.name for value in case.checked.outputs}:
        return "whose shares something else reads"
    rank, axis = case.checked.rank(shares), case.checked.makers[shares].attribute("axis")
    if rank and axis is not None and axis % rank != rank - 1:
        return f"with a Softmax along axis {axis}"
    sizes = case.checked.sizes.get(node.proto.output[0])
    head = sizes[-1] if sizes else None
    if head is not None and (head % _STEP or head > _LARGEST_HEAD):
        return f"with heads of {head} elements"
    return "" if may_be(case, node.proto.output[0], "FP16", "BF16") else "in FP32, as no type of 16 bits is allowed"


@explained("TF191")
def unfused_attention(case: Case) -> Iterator[Observation]:
    """Name the second products of attention whose heads have another size, or that stay in FP32."""
    groups = grouped(() if case.engine else attentions(case.checked), partial(_unfused, case))
    groups.pop("", None)
    settle = "A build's layers: TensorRT may pad, or decline for speed"
    for why, nodes in groups.items():
        title = f"Forecast: {counted(len(nodes), 'attention')} {why}, in no fused kernel: {{nodes}}"
        severity = None if "FP32" in why else Severity.WARNING  # which is the build's choice
        yield of_nodes(case, nodes, title, severity=severity, settle=settle, same_as=why)


@explained("TF197")
def in_foreign_nodes(case: Case) -> Iterator[Observation]:
    """Name them: every node for TensorRT-RTX, products and normalisations from 10.0 on, attention before."""
    if case.engine or case.version is None or (not case.version.rtx and case.version.numbers < _FIRST_FOREIGN):
        return
    model = case.checked
    if case.version.rtx:
        nodes = [node for node in model.nodes if not all(map(model.is_static, filter(None, node.proto.output)))]
    elif release_of(case) >= _MOST_FOREIGN:
        nodes = [node for node in model.nodes if node.op in _FOREIGN]
    else:
        nodes = list(attentions(model))
    if nodes:
        title = f"Forecast: {counted(len(nodes), 'node')} of {len(model.nodes):,} inside ForeignNodes: {{nodes}}"
        settle = "The layers of a build"
        yield of_nodes(case, nodes, title, settle=settle, same_as=f"foreign {len(nodes)}")


@explained("TF198")
def fusions(case: Case) -> Iterator[Observation]:
    """Name what fuses, and the convolutions that do not because their own result is given out."""
    model, version = case.checked, release_of(case)
    if case.engine:
        return
    yield from placements(case)
    given_out = {value.name for value in model.outputs}
    groups: dict[str, list[CheckedNode]] = {}
    for node in model.nodes:
        support = operator_support(node.op, version) if node.op in NORMALISATIONS else None
        readers = model.readers.get(node.proto.output[0], ()) if node.op in _CONVOLUTIONS else ()
        if support is not None and support.imported:
            groups.setdefault("in one kernel each, statistics in FP32", []).append(node)
        elif any(reader.op in _EPILOGUES for reader in readers):
            if node.proto.output[0] in given_out:
                groups.setdefault("apart from what follows, as the result between is an output", []).append(node)
            elif len(readers) == 1:
                groups.setdefault("in one kernel with what follows", []).append(node)
    fused = [node for node in attentions(model) if version >= _FIRST_FUSED and not _unfused(case, node)]
    for words, nodes in (*groups.items(), ("in one kernel each", fused)):
        if nodes:
            what = (
                "attention" if nodes is fused else "normalisation" if nodes[0].op in NORMALISATIONS else "convolution"
            )
            title = f"Forecast: {counted(len(nodes), what)} {words}: {{nodes}}"
            severity = Severity.WARNING if words.startswith("apart") else None
            yield of_nodes(case, nodes, title, severity=severity, settle="The layers of a build", same_as=words)


@explained("TF182")
def data_dependent(case: Case) -> Iterator[Observation]:
    """Name the nodes whose output sizes are data, and loops and branches."""
    nodes = [node for node in case.checked.nodes if node.op in {"NonZero", "NonMaxSuppression", "Compress", "Unique"}]
    if nodes:
        yield of_nodes(case, nodes, "The size of an output depends on data: {nodes}", same_as="data")
    ended = [node for node in case.checked.nodes if node.op == "Loop" and _gives_rows_until(node)]
    if ended:
        title = "{nodes} may end before the trip count, which its collected outputs are as long as"
        yield of_nodes(case, ended, title, severity=Severity.WARNING, same_as="collected")
    held = {node.holder for node in case.checked.nodes if node.op in _HEAVY}
    loops = [node for node in case.checked.nodes if node.op in {"Loop", "Scan", "If"}]
    loops = [node for node in loops if case.checked.idle_branches.keys().isdisjoint(node.proto.output)]
    for around, nodes in grouped(loops, lambda node: node.label in held).items():
        what = " around products, convolutions or recurrences" if around else ""
        severity = Severity.WARNING if around else None
        title = f"Nothing is fused across loops and branches{what}: {{nodes}}"
        yield of_nodes(case, nodes, title, severity=severity, same_as=f"loops{what}")


_HEAVY = {"Conv", "ConvTranspose", "Einsum", "Gemm", "MatMul", "GRU", "LSTM", "RNN"}
"""Operators whose cost a loop or branch multiplies or keeps apart from what is around it."""


def _gives_rows_until(node: CheckedNode) -> bool:
    """Whether a loop collects a value of each iteration, and computes in them whether there is a next one."""
    body = node.attribute("body")
    collects = len(body.output) > len(body.input) - 1
    makers = {name: maker for maker in body.node for name in maker.output}
    ends = body.output[0].name
    while (maker := makers.get(ends)) is not None and maker.op_type == "Identity":
        ends = maker.input[0]
    return collects and maker is not None and maker.op_type != "Constant"
