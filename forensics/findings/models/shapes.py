"""Dynamic inputs without shapes, profiles that do not fit, shapes that cannot be computed with each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.models.seen import head, of_nodes, places
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.target import BOUNDS, profile_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.onnx_models.checked import CheckedNode
    from trtforensics.onnx_models.fitting import ShapeFault


@explained("TF179")
def impossible_shapes(case: Case) -> Iterator[Observation]:
    """Report what is refused at the model's own sizes, else at the profile's bounds, each fault once."""
    model, profile = case.checked, profile_of(case.build)
    faults = [("the sizes that the model states", model.fault)]
    if model.fault is None and profile:
        at = {bound: {name: shapes[bound] for name, shapes in profile.items()} for bound in BOUNDS}
        faults = [(f"{bound} shapes", model.sizes_at(shapes)[1]) for bound, shapes in at.items()]
    seen: set[str] = set()
    for where, fault in faults:
        if fault is not None and fault.node not in seen:
            seen.add(fault.node)
            yield _refused(case, where, fault)


def _refused(case: Case, where: str, fault: ShapeFault) -> Observation:
    nodes = [node for node in case.checked.nodes if fault.node and fault.node in (node.label, node.proto.name)][:1]
    reason = fault.message.rpartition("Error] ")[2]
    what = f"{nodes[0].op} {nodes[0].label}" if nodes else "A node"
    spans = places(case, nodes) if nodes else [head(case)]
    title = f"{what} does not work at {where}: {reason}"
    return Observation(title, spans, onnx_nodes=[node.label for node in nodes], same_as=fault.node)


@explained("TF180")
def without_profile(case: Case) -> Iterator[Observation]:
    """Name the dynamic inputs without shapes, only where a target is checked: a log says itself what was guessed."""
    given = profile_of(case.build)
    dynamic = [value for value in case.checked.inputs if value.is_dynamic and value.name not in given]
    if dynamic and case.log.source.path == case.checked.path:
        names = listed([f"{value.name} ({value.text})" for value in dynamic])
        title = f"No shapes are given for {names}: each dynamic dimension would be 1"
        yield Observation(title, [head(case)], same_as="no profile")


@explained("TF181")
def misfit_profile(case: Case) -> Iterator[Observation]:
    """Name the input and the shapes."""
    inputs = {value.name: value for value in case.checked.inputs}
    for name, shapes in profile_of(case.build).items():
        bounds = [shapes[bound] for bound in BOUNDS]
        words = " <= ".join("x".join(map(str, shape)) for shape in bounds)
        if name not in inputs:
            title = f"The profile names {name}, the model has {listed([*inputs])}"
        elif not all(map(inputs[name].takes, bounds)):
            title = f"The shapes {words} do not fit {name}, which is {inputs[name].text or 'a scalar'}"
        elif not all(low <= opt <= high for low, opt, high in zip(*bounds, strict=True)):
            title = f"The profile of {name} is not min <= opt <= max: {words}"
        else:
            continue
        yield Observation(title, [head(case)], same_as=name)


@explained("TF194")
def unequal_branches(case: Case) -> Iterator[Observation]:
    """Name the node with the sizes of both."""
    model = case.checked
    for node in model.nodes:
        if node.op != "If" or model.is_static(node.proto.input[0], any_sizes=True):
            continue  # sizes pick the branch while the engine is built
        bodies = [node.attribute(name) for name in ("then_branch", "else_branch")]
        outputs = [[value.name for value in body.output] for body in bodies if body is not None]
        for pair in zip(*outputs, strict=False):
            first, other = (model.sizes.get(name) for name in (pair[0], pair[-1]))
            types = {model.elements[name] for name in pair if name in model.elements}
            if len(types) > 1 or (first is not None and other is not None and len(first) != len(other)):
                what = " and ".join(sorted(types)) if len(types) > 1 else f"{_dims(first)} and {_dims(other)}"
                yield of_nodes(case, [node], f"The branches of {{nodes}} give {what}", same_as=node.label)


def _dims(sizes: Sequence[int | None] | None) -> str:
    return "x".join("?" if size is None else str(size) for size in sizes or ()) or "a scalar"


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
    loops = [node for node in case.checked.nodes if node.op in {"Loop", "Scan", "If"}]
    if loops:
        yield of_nodes(case, loops, "Nothing is fused across loops and branches: {nodes}", same_as="loops")


def _gives_rows_until(node: CheckedNode) -> bool:
    """Whether a loop collects a value of each iteration, and computes in them whether there is a next one."""
    body = node.attribute("body")
    collects = len(body.output) > len(body.input) - 1
    makers = {name: maker for maker in body.node for name in maker.output}
    ends = body.output[0].name
    while (maker := makers.get(ends)) is not None and maker.op_type == "Identity":
        ends = maker.input[0]
    return collects and maker is not None and maker.op_type != "Constant"
