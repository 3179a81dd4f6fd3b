"""What is wrong with a model as a file and as a graph: data, names, sizes, profiles, what is not folded."""

from __future__ import annotations

from dataclasses import replace
from itertools import zip_longest
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.console.counting import MEBIBYTE, listed
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.models.operators import are_one_type, refusals, release_of
from trtforensics.findings.models.seen import by_reason, head, of_nodes, places
from trtforensics.findings.rule import explained
from trtforensics.findings.target import BOUNDS, profile_of
from trtforensics.knowledge.operators import taken_as
from trtforensics.onnx_models.graphs import reachable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode
    from trtforensics.onnx_models.shapes import ShapeFault, Sizes


_MESSAGE = 2**31
_OF_ONE_SHAPE, _OF_ANY_SHAPES = (10, 4), (10, 13)
"""Before the first, branches need one shape (NVIDIA/TensorRT#4558); from the second on, one rank alone."""
_ANY_OUTPUT = (10, 2)
"""Importers before it end on an output of INT32 that the model states as of another type."""
_CONSTANT = 8 << 20
"""Bytes of a Constant node that is better an initializer."""


@explained("TF183")
def missing_data(case: Case) -> Iterator[Observation]:
    """Name the files."""
    for name, fault in case.checked.data.items():
        yield Observation(f"The {name} {fault}", [head(case)], same_as=name)


@explained("TF184")
def invalid_graph(case: Case) -> Iterator[Observation]:
    """Name tensors and nodes; which later node makes a tensor is said where one does."""
    model = case.checked
    yield from _unmade(case)
    yield from _misread(case)
    if not model.knows_set:
        title = f"Operator set {model.opset} is none that onnx knows" if model.opset else "No operator set is stated"
        yield Observation(title, [head(case)], severity=Severity.WARNING, same_as="operator set")
    if model.circle:
        yield Observation(f"The functions cannot be inlined: {model.circle}", [head(case)], same_as="circle")
    if not model.outputs:
        yield Observation("The model has no output", [head(case)], same_as="no output")
    for value in model.inputs:
        if value.element == "UNDEFINED":
            yield Observation(f"The input {value.name} has no element type", [head(case)], same_as=value.name)
    yield from _outputs(case)
    for name in model.sparse:
        yield Observation(f"The constant {name} is sparse, which the parser does not read", [head(case)], same_as=name)
    for tensor in model.made_twice:
        makers = [node for node in model.all_nodes if tensor in node.proto.output]
        yield of_nodes(case, makers, f"{tensor} is made twice", same_as=tensor)


def _unmade(case: Case) -> Iterator[Observation]:
    """Name nodes that read what nothing before them makes, and tensors of bodies that hide another one."""
    model = case.checked
    for node, tensor in model.undefined():
        maker, severity = model.makers.get(tensor), None
        who = "The model gives out" if node is None else f"{node.op} {node.label} reads"
        if maker is None:
            why = "which nothing makes"
        elif node is None or maker.holder != node.holder:
            why = f"which {maker.label} makes in another graph"
        elif model.reaches(node, maker):
            why = f"which {maker.label} makes from it, in a circle"
        else:
            why = f"which {maker.label} makes only later: the nodes are out of order, and the parser sorts them"
            severity = Severity.WARNING
        yield of_nodes(case, [node] if node else [], f"{who} {tensor}, {why}", severity=severity, same_as=tensor)
    for label, tensor in model.shadowing:
        nodes = [node for node in model.all_nodes if node.label == label][:1]
        title = f"{label} makes {tensor} twice: it shadows that of the graph around it"
        yield of_nodes(case, nodes, title, severity=Severity.WARNING, same_as=f"shadow {tensor}")


def _misread(case: Case) -> Iterator[Observation]:
    """Name nodes whose attributes or inputs are not those of their operator."""
    model, opset = case.checked, case.checked.opset
    faults: Sequence[tuple[str, Callable[[CheckedNode], list[str]], Severity | None]] = (
        ("operator set {set} has no attribute {names}", lambda node: node.unknown_attributes(opset), Severity.WARNING),
        ("{names}, which the parser reads as 0 or none", lambda node: node.mistyped(opset), Severity.WARNING),
        ("{names} is not given", lambda node: node.lacks(opset), None),
        ("{names}", lambda node: node.misfit_body(), None),
    )
    for words, parts, severity in faults:
        named = ((node, ", ".join(parts(node))) for node in model.all_nodes if node.is_standard)
        reasons = ((node, names and words.format(set=opset, names=names)) for node, names in named)
        yield from by_reason(case, reasons, severity=severity)


@explained("TF169")
def not_run(case: Case) -> Iterator[Observation]:
    """Name nodes that ONNX forbids or ONNX Runtime does not run, unless another rule speaks of them."""
    if case.log.source.path != case.checked.path:
        return
    from trtforensics.onnx_models.trying import refused_alone  # noqa: PLC0415 - a report of a log imports no onnx

    model, profile, settle = case.checked, profile_of(case.build), "Whether TensorRT takes it all the same"
    named = {model.fault.node} if model.fault else set()
    trials = {"": {fault.node: f"ONNX forbids it: {fault.message}"} if (fault := model.forbidden) else {}}
    for bound in BOUNDS if profile else ("opt",):
        sizes, misfit = model.sizes_at({name: shapes[bound] for name, shapes in profile.items()})
        named |= {misfit.node} if misfit else set()
        trials[bound] = {
            label: f"ONNX Runtime does not run it{_at(bound, model, label, sizes) if profile else ''}: {why}"
            for label, why in refused_alone(model, sizes).items()
        }
    for reasons in trials.values():
        pairs = [(node, reasons[node.label]) for node in model.nodes if node.label in reasons.keys() - named]
        seen = (
            (node, why) for node, why in pairs if not _is_told(case, node, why) and not are_one_type(case, node, why)
        )
        yield from by_reason(case, seen, settle=settle)
        named |= reasons.keys()


def _at(bound: str, model: CheckedModel, label: str, sizes: Mapping[str, Sizes]) -> str:
    return f" at {bound} shapes{_operands(model, [node for node in model.nodes if node.label == label][:1], sizes)}"


def _is_told(case: Case, node: CheckedNode, why: str) -> bool:
    """Whether another rule tells of a node: what the release refuses, branches, an index."""
    told = "_branch" in why or bool(_beyond(case.checked, node))
    return told or any(refusals(case, node))


def _outputs(case: Case) -> Iterator[Observation]:
    """Name outputs that are given out twice, or are of other sizes or another type than the model states."""
    sizes = case.checked.sizes_at({})[0]
    names = [value.name for value in case.checked.outputs]
    for value in case.checked.outputs:
        known = sizes.get(value.name)
        pairs = [*zip_longest(value.sizes or (), known or (), fillvalue=-1)] if known and value.sizes else []
        why = "is given out twice" if names.count(value.name) > 1 else ""
        if any(None not in pair and pair[0] != pair[1] for pair in pairs):
            why = f"is stated as {value.text or 'a scalar'}, and is {_dims(known)}"
        types = [case.checked.made.get(value.name, value.element), value.element]
        made, stated = (taken_as(element, release_of(case)) for element in types)
        if made and stated and made != stated:
            why = f"is stated as {stated}, and is {made}"
        if why:
            title, ends = f"The output {value.name} {why}", made == "INT32" != stated and release_of(case) < _ANY_OUTPUT
            severity = Severity.ERROR if ends else Severity.WARNING
            yield Observation(title, [head(case)], severity=severity, same_as=title)


@explained("TF185")
def names_twice(case: Case) -> Iterator[Observation]:
    """Name them."""
    names = case.checked.shared_names
    if names:
        nodes = [node for node in case.checked.all_nodes if node.proto.name in names]
        yield of_nodes(case, nodes, f"Several nodes share a name: {listed(names)}", same_as="names")


@explained("TF186")
def too_large(case: Case) -> Iterator[Observation]:
    """Report a file of 2 GiB and more, and large constants inside nodes as a note."""
    size = case.checked.proto.ByteSize()
    if size >= _MESSAGE:
        yield Observation(f"The model's message has {size / 2**30:.2f} GiB", [head(case)], same_as="size")
    nodes = [node for node in case.checked.nodes if node.op == "Constant" and node.proto.ByteSize() > _CONSTANT]
    if nodes:
        most = max(node.proto.ByteSize() for node in nodes) / MEBIBYTE
        title = f"Constant nodes hold up to {most:,.0f} MiB, which initializers should: {{nodes}}"
        yield of_nodes(case, nodes, title, severity=Severity.WARNING, same_as="constants")


@explained("TF193")
def unused(case: Case) -> Iterator[Observation]:
    """Name the nodes of the main graph that no output depends on."""
    model = case.checked
    wanted = [value.name for value in model.outputs]
    for node in model.all_nodes:
        wanted += node.proto.input if node.holder else []
    needed = {*reachable(wanted, lambda name: model.makers[name].proto.input if name in model.makers else ())}
    nodes = [node for node in model.nodes if not node.holder and needed.isdisjoint(node.proto.output)]
    if nodes and model.outputs:
        yield of_nodes(case, nodes, "No output depends on {nodes}", same_as="unused")


@explained("TF179")
def impossible_shapes(case: Case) -> Iterator[Observation]:
    """Report what is refused at the model's own sizes, else at the profile's bounds, each fault once."""
    model, profile = case.checked, profile_of(case.build)
    faults = [("the sizes that the model states", *model.sizes_at({}))]
    if model.fault is None and profile:
        at = {bound: {name: shapes[bound] for name, shapes in profile.items()} for bound in BOUNDS}
        faults = [(f"{bound} shapes", *model.sizes_at(shapes)) for bound, shapes in at.items()]
    elif model.fault is None and _at_batch(model, 1) is None and (fault := _at_batch(model, 2)):
        yield replace(_refused(case, "a batch of 2, only at 1", {}, fault), severity=Severity.WARNING)
    yield from by_reason(case, ((node, _beyond(model, node)) for node in model.nodes), severity=Severity.WARNING)
    seen: set[str] = set()
    for where, sizes, fault in faults:
        if fault is not None and fault.node not in seen:
            seen.add(fault.node)
            refusal = _refused(case, where, sizes, fault)
            yield replace(refusal, severity=Severity.WARNING) if _is_taken(model, fault) else refusal


_FEW_VALUES = 8
_SINCE_AXES = 13
"""From this operator set on a Softmax goes along an axis; before, it flattened its input to two dimensions."""
_WIDE = (4, 3)
"""Dimensions of an input and weights that the importer takes as of one."""


def _is_taken(model: CheckedModel, fault: ShapeFault) -> bool:
    """Whether TensorRT-RTX 1.7.1 builds what ONNX forbids, and the importers 8.6 and 10.1 do not look at it."""
    node = model.by_name.get(fault.node)
    if node is None or not node.proto.input:
        return False
    first, *others = (model.sizes.get(name, ()) for name in node.proto.input[:2])
    if node.op.endswith(("oftmax", "ardmax")):
        axis = node.attribute("axis")
        return "axis" in fault.message and model.opset < _SINCE_AXES and len(first) == (1 if axis is None else axis)
    if node.op == "Gather":
        return "index" in fault.message
    if node.op == "Transpose":
        return len({*(node.attribute("perm") or ())[: len(first)]}) == len(first)
    if node.op == "Loop":
        return "differ in rank" in fault.message and all(prod(size or 0 for size in each) == 1 for each in others)
    long = any((len(first), len(each)) == _WIDE or (len(first), *each[3:]) == (3, 1) for each in others)
    return "patial" in fault.message and node.op.startswith("Conv") and long


def _at_batch(model: CheckedModel, size: int) -> ShapeFault | None:
    """Return what is refused where each dynamic first dimension is of a size; of a Reshape TF111 tells."""
    dynamic = {value.name: value.sizes for value in model.inputs if value.sizes and len(value.sizes) > 1}
    fault = model.sizes_at({name: (size, *rest) for name, (first, *rest) in dynamic.items() if first is None})[1]
    node = model.by_name.get(fault.node) if fault else None
    return None if node is not None and node.op == "Reshape" else fault


def _beyond(model: CheckedModel, node: CheckedNode) -> str:
    """Return which constant index of a Gather or Scatter lies outside of its axis; the builder does not look."""
    places = model.values(node.proto.input[1]) if node.op.startswith(("Gather", "Scatter")) else None
    if places is None or not places.size:
        return ""
    sizes, several = model.sizes.get(node.proto.input[0], ()), node.op.endswith("ND")
    axes = sizes[node.attribute("batch_dims") or 0 :] if several else sizes[node.attribute("axis") or 0 :][:1]
    columns = np.moveaxis(np.atleast_1d(places), -1, 0) if several else [places]
    for size, column in zip(axes, columns, strict=False):
        least, most = int(column.min()), int(column.max())
        if size is not None and not -size <= least <= most < size:
            return f"names index {most if most >= size else least} of an axis of {size}"
    return ""


def _refused(case: Case, where: str, sizes: Mapping[str, Sizes], fault: ShapeFault) -> Observation:
    nodes = [node for node in case.checked.nodes if fault.node and fault.node in (node.label, node.proto.name)][:1]
    reason = fault.message.rpartition("Error] ")[2]
    what = f"{nodes[0].op} {nodes[0].label}" if nodes else "A node"
    spans = places(case, nodes) if nodes else [head(case)]
    title = f"{what} does not work at {where}{_operands(case.checked, nodes, sizes)}: {reason}"
    return Observation(title, spans, onnx_nodes=[node.label for node in nodes], same_as=fault.node)


def _operands(model: CheckedModel, nodes: Sequence[CheckedNode], sizes: Mapping[str, Sizes]) -> str:
    """Return what nodes read, in words: sizes, and of a few known integers, such as a shape or an axis, the values."""
    words = []
    for name in (name for node in nodes for name in node.proto.input):
        values = model.values(name)
        if values is not None and values.dtype.kind == "i" and values.size <= _FEW_VALUES:
            words.append(f"{name} = {values.tolist()}")
        elif sizes.get(name):
            words.append(_dims(sizes[name]))
    return f" ({listed(words)})" if words else ""


@explained("TF180")
def without_profile(case: Case) -> Iterator[Observation]:
    """Name the dynamic inputs without shapes, only where a target is checked: a log says itself what was guessed."""
    given = profile_of(case.build)
    dynamic = [value for value in case.checked.inputs if value.is_dynamic and value.name not in given]
    if case.log.source.path != case.checked.path:
        return
    for name in case.checked.shape_inputs:
        if name not in given:
            title = f"{name} decides sizes by its values: the profile needs values for it, not a shape"
            yield Observation(title, [head(case)], same_as=title)
    if dynamic:
        names = listed([f"{value.name} ({value.text})" for value in dynamic])
        title, ones = f"No shapes are given for {names}: each dynamic dimension would be 1", dict[str, list[int]]()
        for value in dynamic if not given else ():
            ones[value.name] = [size or 1 for size in value.sizes or ()]
        fault = case.checked.sizes_at(ones)[1] if ones and case.checked.fault is None else None
        node = case.checked.by_name.get(fault.node) if fault else None
        who = node.label if node else fault.node if fault else ""
        title += f", which {who} does not take: {fault.message.rpartition('Error] ')[2]}" if fault else ""
        yield Observation(title, [head(case)], severity=Severity.ERROR if fault else None, same_as="no profile")


@explained("TF181")
def misfit_profile(case: Case) -> Iterator[Observation]:
    """Name the input and the shapes."""
    inputs = {value.name: value for value in case.checked.inputs}
    for name, shapes in profile_of(case.build).items():
        bounds = [shapes[bound] for bound in BOUNDS]
        words = " <= ".join("x".join(map(str, shape)) for shape in bounds)
        if name not in inputs:
            title = f"The profile names {name}, the model has {listed([*inputs])}"
        elif name in case.checked.shape_inputs:  # values, as many as it has elements
            count = prod(size or 0 for size in inputs[name].sizes or (0,))
            if not count or {*map(len, bounds)} == {count}:
                continue
            title = f"The profile gives {words} as the values of {name}, which has {count} elements"
        elif not all(map(inputs[name].takes, bounds)):
            title = f"The shapes {words} do not fit {name}, which is {inputs[name].text or 'a scalar'}"
        elif not all(low <= opt <= high for low, opt, high in zip(*bounds, strict=True)):
            title = f"The profile of {name} is not min <= opt <= max: {words}"
        else:
            continue
        yield Observation(title, [head(case)], same_as=name)
    yield from _contradictions(case)


def _contradictions(case: Case) -> Iterator[Observation]:
    """Name dimensions of one name whose ranges have no size in common."""
    from trtforensics.onnx_models.shapes import dims_of  # noqa: PLC0415 - a report of a log imports no onnx

    profile, ranges = profile_of(case.build), dict[str, list[tuple[int, int]]]()
    for value in case.checked.proto.graph.input:
        bounds = profile.get(value.name, {"min": (), "max": ()})
        for dim, low, high in zip(dims_of(value) or (), bounds["min"], bounds["max"], strict=False):
            if isinstance(dim, str):
                ranges.setdefault(dim, []).append((low, high))
    for name, pairs in ranges.items():
        if max(low for low, _ in pairs) > min(high for _, high in pairs):
            words = " and ".join(f"{low} to {high}" for low, high in pairs)
            yield Observation(f"The dimension {name} is {words}, which have nothing in common", [head(case)])


@explained("TF194")
def unequal_branches(case: Case) -> Iterator[Observation]:
    """Name the node with the sizes of both."""
    model = case.checked
    for node in model.nodes:
        if node.op != "If" or model.is_static(node.proto.input[0], any_sizes=True):
            continue  # sizes pick the branch while the engine is built
        bodies = [node.attribute(name) for name in ("then_branch", "else_branch")]
        outputs = [[value.name for value in body.output] for body in bodies if body is not None]
        if len({*map(len, outputs)}) > 1:
            what = " and ".join(str(len(names)) for names in outputs)
            yield of_nodes(case, [node], f"The branches of {{nodes}} give {what} outputs", same_as=node.label)
        for pair in zip(*outputs, strict=False):
            first, other = (model.sizes.get(name) for name in (pair[0], pair[-1]))
            types = {model.elements[name] for name in pair if name in model.elements}
            refused = len(types) > 1 or (first is not None and other is not None and len(first) != len(other))
            apart = any(None not in pair and pair[0] != pair[1] for pair in zip(first or (), other or (), strict=False))
            if refused or (release_of(case) < _OF_ANY_SHAPES and apart):
                what = " and ".join(sorted(types)) if len(types) > 1 else f"{_dims(first)} and {_dims(other)}"
                severity = None if refused or release_of(case) < _OF_ONE_SHAPE else Severity.WARNING
                title = f"The branches of {{nodes}} give {what}"
                yield of_nodes(case, [node], title, severity=severity, same_as=node.label)


def _dims(sizes: Sequence[int | None] | None) -> str:
    return "x".join("?" if size is None else str(size) for size in sizes or ()) or "a scalar"
