"""Operators that a release does not import, operators that need a plugin, operator sets that it does not know."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.models.restrictions import refusal
from trtforensics.findings.models.seen import by_operator, by_reason, head, how_many, of_nodes, repair
from trtforensics.findings.rule import explained
from trtforensics.findings.target import profile_of
from trtforensics.knowledge.operators import (
    import_of,
    is_operator,
    operator_support,
    restrictions_of,
    shipped_plugins,
    taken_as,
)
from trtforensics.knowledge.periods import dotted
from trtforensics.knowledge.platforms import stack_of, stacks
from trtforensics.knowledge.table import NEWEST

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode
    from trtforensics.onnx_models.shapes import Sizes


_AS_RTX = (11, 3)
"""TensorRT-RTX 1.7 takes what restrictions that end with 11.1 refuse, and refuses what the others do."""

_NOT_IN_RTX = frozenset({"DeformConv", "NonZero"})
"""What TensorRT imports, and TensorRT-RTX 1.7.1 takes for a plugin that it does not find."""
_FUNCTIONS = (9, 0)
"""The first release whose parser reads a model's local functions (Changelog.md of onnx-tensorrt)."""
_MOST_DIMENSIONS = 8
"""Dims::MAX_DIMS in NvInferRuntimeBase.h of all releases."""
_MOST_ELEMENTS, LARGE = 2**31 - 1, (10, 0)
"""Elements of a tensor before a release (NVIDIA/TensorRT#1948, #3815)."""

_SCALED = (10, 0)
"""Releases from it on are known to end on quantised constants without scales (NVIDIA/TensorRT#3919)."""
_QUANTISED = {"INT8", "FP8", "INT4", "FP4"}
_WITH_SCALES = {"DequantizeLinear", "QuantizeLinear"}
_TAKE_QUANTISED = {*_WITH_SCALES, "Clip", "Flatten", "If", "Loop", "Scan", "Shape", "Size"}
"""Operators that TensorRT-RTX 1.7.1 builds with constants of these types, or that hand them on."""


def release_of(case: Case) -> tuple[int, ...]:
    """Return the release to judge for; the newest that is described where none is named, or for TensorRT-RTX."""
    return NEWEST if case.version is None or case.version.rtx else case.version.numbers


def _are(nodes: Sequence[CheckedNode]) -> str:
    return "are" if len(nodes) > 1 else "is"


def standing(case: Case, op: str, nodes: Sequence[CheckedNode]) -> str:
    """Return how the release takes an operator's nodes, in a word.

    ``yes``, ``partly`` (experimental in its documents), ``refused`` (imported, but not as it is used), ``no``,
    ``plugin`` (no release imports it by name), or ``?`` (not described).
    """
    support = operator_support(op, release_of(case))
    if support is None:
        return "?" if is_operator(op) else "plugin"
    if not support.imported or _lacks(case, op):
        return "no"
    if any(refusal(case.checked, node, row) for node in nodes for row in restrictions_of(op, _for_uses(case))):
        return "refused"
    return "partly" if support.state == "experimental" else "yes"


def _lacks(case: Case, op: str) -> bool:
    """Whether the release is TensorRT-RTX, and that has no importer where TensorRT has one."""
    return case.version is not None and case.version.rtx and op in _NOT_IN_RTX


def _for_uses(case: Case) -> tuple[int, ...]:
    """Return the release whose restrictions hold."""
    return _AS_RTX if case.version is not None and case.version.rtx else release_of(case)


@explained("TF170")
def not_imported(case: Case) -> Iterator[Observation]:
    """Name the operators, their nodes, and the first release that imports each."""
    version = release_of(case)
    for op, nodes in by_operator([node for node in case.checked.nodes if is_operator(node.op)]).items():
        support = operator_support(op, version)
        if support is None or (support.imported and not _lacks(case, op)):
            continue
        period = import_of(op)
        since = period.words if period and period.first > version[:2] else f"by no release up to {dotted(NEWEST)}"
        since = "by TensorRT-RTX 1.7.1; TensorRT does" if _lacks(case, op) else since
        title = f"{how_many(nodes, op)} {_are(nodes)} not imported ({since}): {{nodes}}"
        steps = [repair(case, "fold")] if all(_folds(case.checked, node) for node in nodes) else ()
        yield of_nodes(case, nodes, title, steps=steps, same_as=op)


def _folds(model: CheckedModel, node: CheckedNode) -> bool:
    """Whether a node of the main graph computes what is no output from small constants alone."""
    outputs = {value.name for value in model.outputs}
    constant = all(model.values(name) is not None for name in node.proto.input if name)
    return constant and not node.holder and bool(node.proto.input) and outputs.isdisjoint(node.proto.output)


@explained("TF171")
def refused_use(case: Case) -> Iterator[Observation]:
    """Name what each node would have to be, and what it is."""
    yield from by_reason(case, ((node, why) for node in case.checked.nodes for why in refusals(case, node)))
    profile = profile_of(case.build)
    if profile and release_of(case) < LARGE:
        sizes = case.checked.sizes_at({name: shapes["max"] for name, shapes in profile.items()})[0]
        yield from by_reason(case, ((node, too_many(node, sizes)) for node in case.checked.nodes))


def refusals(case: Case, node: CheckedNode) -> Iterator[str]:
    """Give what is wrong with a node by each restriction that holds; empty where it keeps it."""
    support = operator_support(node.op, release_of(case))
    for row in restrictions_of(node.op, _for_uses(case)) if support is None or support.imported else ():
        yield refusal(case.checked, node, row)
    yield _mixed(case.checked, node, release_of(case))
    yield _unscaled(case.checked, node) if release_of(case) >= _SCALED and (support is None or support.imported) else ""
    most = max((case.checked.rank(name) or 0 for name in (*node.proto.input, *node.proto.output)), default=0)
    yield f"a tensor of {most} dimensions, {_MOST_DIMENSIONS} are the most" if most > _MOST_DIMENSIONS else ""
    yield too_many(node, case.checked.sizes) if release_of(case) < LARGE else ""


def too_many(node: CheckedNode, sizes: Mapping[str, Sizes]) -> str:
    """Return that a node makes more elements than a tensor may have, in words; empty where not."""
    volume = max((prod(size or 1 for size in sizes.get(name, ())) for name in node.proto.output), default=0)
    return f"a tensor of {volume:,} elements, {_MOST_ELEMENTS:,} are the most" if volume > _MOST_ELEMENTS else ""


def _unscaled(model: CheckedModel, node: CheckedNode) -> str:
    """Return that a constant of a quantised type is no values of Q/DQ, in words; empty where not."""
    hands_on = node.op == "Identity" and all(
        reader.op in _WITH_SCALES for name in node.proto.output for reader in model.readers.get(name, ())
    )
    names = node.proto.input if node.is_standard and node.op not in _TAKE_QUANTISED and not hands_on else ()
    bare = [name for name in names if name in model.constants and taken_as(model.type_of(name), NEWEST) in _QUANTISED]
    return f"{bare[0]} is a quantised constant, which only a DequantizeLinear may read" if bare else ""


def _mixed(model: CheckedModel, node: CheckedNode, version: tuple[int, ...]) -> str:
    """Return that inputs which ONNX wants of one type are of several in TensorRT, in words; empty where not."""
    inputs = node.proto.input if node.is_standard and node.op in _OF_ONE_TYPE else ()
    words = sorted({taken_as(model.type_of(name), version) for name in inputs if name} - {""})
    return f"inputs are {' and '.join(words)}, they must be of one type" if len(words) > 1 else ""


def are_one_type(case: Case, node: CheckedNode, message: str) -> bool:
    """Whether a message of ONNX tells two types apart that the release takes as one."""
    told, version = message.partition("inconsistent type tensor(")[2].rstrip(")").upper(), release_of(case)
    others = {case.checked.type_of(name) for name in node.proto.input} - {told}
    return bool(told) and taken_as(told, version) in {taken_as(other, version) for other in others}


@explained("TF172")
def plugin_wanted(case: Case) -> Iterator[Observation]:
    """Name the operators that no table of imported operators has, with their domains."""
    for op, nodes in by_operator([node for node in case.checked.nodes if not is_operator(node.op)]).items():
        domain = f" of the domain {nodes[0].proto.domain}" if not nodes[0].is_standard else ""
        title = f"{how_many(nodes, op)}{domain} {'need' if len(nodes) > 1 else 'needs'} a plugin of that name"
        plugin = shipped_plugins().get(op)
        title += f", which TensorRT's own library has {plugin.words}".rstrip() if plugin else ""
        title, shipped = f"{title}: {{nodes}}", plugin is not None and plugin.holds(release_of(case))
        settle = "Whether a library that the build loads registers that plugin"
        yield of_nodes(case, nodes, title, severity=Severity.NOTE if shipped else None, settle=settle, same_as=op)
    if case.checked.functions and release_of(case) < _FUNCTIONS:
        title = f"Before 9.0 the parser takes functions of a model for plugins: {listed(case.checked.functions)}"
        yield Observation(title, [head(case)], same_as="functions")
    foreign = [node for node in case.checked.nodes if not node.is_standard and is_operator(node.op)]
    for op, nodes in by_operator(foreign).items():
        other = sorted({name for node in nodes for name in node.unknown_attributes()})
        title = f"{how_many(nodes, op)} of the domain {nodes[0].proto.domain} {_are(nodes)} read as ONNX's {op}"
        title += f", which has no {' or '.join(other)}: {{nodes}}"
        if other:
            yield of_nodes(case, nodes, title, settle="Whether both compute the same", same_as=op)


def _lost(case: Case, node: CheckedNode) -> str:
    """Return which attribute, or which value of one, the parser does not read though results depend on it, in words."""
    rows = [
        row for row in restrictions_of(node.op, _for_uses(case)) if row.must == "ignored" and "seed" not in row.names
    ]
    names = [
        (name, row) for row in rows for name in row.names if not (name[:4] == "noop" and case.checked.names_axes(node))
    ]
    given = ((name, node.attribute(name), row.value.split()) for name, row in names)
    lost = (
        f"{name} {value} is ignored"
        for name, value, unread in given
        if value is not None and (value in unread if unread else value != node.default(name, case.checked.opset))
    )
    return next(lost, "")


_BROADCASTING = 7
"""The operator set from which on arithmetic broadcasts as numpy does."""
_ARITHMETIC = {"Add", "Sub", "Mul", "Div", "Equal", "Greater", "Less", "Max", "Min", "Gemm"}
_OF_ONE_TYPE = {*_ARITHMETIC, "MatMul", "Concat", "Conv"}
_ELEMENTWISE = {*_ARITHMETIC, "Pow", "And", "Or", "Xor"}


def _known_set(case: Case, node: CheckedNode, stated: int) -> int:
    """Return the operator set by whose rules a release's parser reads an operator: the stated one, or a later one."""
    later = (int(row.value) for row in restrictions_of(node.op, _for_uses(case)) if row.must == "of-set")
    return max((stated, *later))


@explained("TF173")
def newer_operator_set(case: Case) -> Iterator[Observation]:
    """Name operators that broadcast as before set 7, that changed after the last set known, or lose an attribute."""
    if case.version is None:
        return
    lost = ((node, _lost(case, node)) for node in case.checked.nodes)
    yield from by_reason(case, lost, settle="Whether results depend on it")
    if case.checked.opset < _BROADCASTING and case.ran("7"):
        old = [node for node in case.checked.nodes if node.is_standard and node.op in _ELEMENTWISE]
        if old:
            title = f"Operator set {case.checked.opset} broadcasts as the parser does not: {{nodes}}"
            yield of_nodes(case, old, title, severity=Severity.ERROR, same_as="broadcasting")
    if case.version.rtx:
        return
    known = next((stack.opset[-1] for stack in stack_of(release_of(case)) if stack.opset), case.checked.opset)
    opset, documents = case.checked.opset, [stack for stack in stacks() if stack.opset]
    least = max((stack.opset[0] for stack in documents if stack.release <= release_of(case)), default=0)
    if opset < least:
        title = f"Operator set {opset} is older than {least}, the oldest that TensorRT's documents name"
        yield of_nodes(case, [], title, severity=Severity.NOTE, same_as="least")
    changed = [node for node in case.checked.nodes if node.differs(opset, _known_set(case, node, known))]
    for op, nodes in by_operator(changed).items():
        support = operator_support(op, case.version.numbers)
        if support is None or support.imported:
            since = nodes[0].since(case.checked.opset)
            title = f"{how_many(nodes, op)} {_are(nodes)} of operator set {since}, the release knows {known}: {{nodes}}"
            settle = "Whether it uses what was added since"
            yield of_nodes(case, nodes, title, confidence=Confidence.POSSIBLE, settle=settle, same_as=op)
