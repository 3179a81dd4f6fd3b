"""What is wrong with a model as a file: missing data, names twice, tensors that nothing makes, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.models.seen import head, of_nodes
from trtforensics.findings.rule_tables import explained

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case

_MESSAGE = 2**31
_CONSTANT = 16 << 20
"""Bytes of a Constant node that is better an initializer."""
_MEBIBYTE = 1 << 20


@explained("TF183")
def missing_data(case: Case) -> Iterator[Observation]:
    """Name the files."""
    for name, fault in case.checked.data.items():
        yield Observation(f"The data file {name} {fault}", [head(case)], same_as=name)


@explained("TF184")
def invalid_graph(case: Case) -> Iterator[Observation]:
    """Name tensors and nodes; which later node makes a tensor is said where one does."""
    model = case.checked
    for node, tensor in model.undefined():
        maker = model.makers.get(tensor)
        why = f"which {maker.label} makes only later, or in another graph" if maker else "which nothing makes"
        who = "The model gives out" if node is None else f"{node.op} {node.label} reads"
        sorts = (
            maker is not None and node is not None and maker.holder == node.holder and not model.reaches(node, maker)
        )
        severity = Severity.WARNING if sorts else None  # the parser sorts nodes, and ends at circles alone
        yield of_nodes(case, [node] if node else [], f"{who} {tensor}, {why}", severity=severity, same_as=tensor)
    if not model.outputs:
        yield Observation("The model has no output", [head(case)], same_as="no output")
    for value in model.inputs:
        if value.element == "UNDEFINED":
            yield Observation(f"The input {value.name} has no element type", [head(case)], same_as=value.name)
    for tensor in model.made_twice:
        makers = [node for node in model.nodes if tensor in node.proto.output]
        yield of_nodes(case, makers, f"{tensor} is made twice", same_as=tensor)


@explained("TF185")
def names_twice(case: Case) -> Iterator[Observation]:
    """Name them."""
    names = case.checked.shared_names
    if names:
        nodes = [node for node in case.checked.nodes if node.proto.name in names]
        yield of_nodes(case, nodes, f"Several nodes share a name: {listed(names)}", same_as="names")


@explained("TF186")
def too_large(case: Case) -> Iterator[Observation]:
    """Report a file of 2 GiB and more, and large constants inside nodes as a note."""
    size = case.checked.proto.ByteSize()
    if size >= _MESSAGE:
        yield Observation(f"The model's message has {size / 2**30:.2f} GiB", [head(case)], same_as="size")
    nodes = [node for node in case.checked.nodes if node.op == "Constant" and node.proto.ByteSize() > _CONSTANT]
    if nodes:
        most = max(node.proto.ByteSize() for node in nodes) / _MEBIBYTE
        title = f"Constant nodes hold up to {most:,.0f} MiB, which initializers should: {{nodes}}"
        yield of_nodes(case, nodes, title, severity=Severity.NOTE, same_as="constants")


@explained("TF193")
def unused(case: Case) -> Iterator[Observation]:
    """Name the nodes of the main graph that no output depends on."""
    model = case.checked
    wanted = [value.name for value in model.outputs]
    for node in model.nodes:
        wanted += node.proto.input if node.holder else []
    needed = set(wanted)
    while wanted:
        maker = model.makers.get(wanted.pop())
        fresh = [name for name in maker.proto.input if name not in needed] if maker else []
        needed |= {*fresh}
        wanted += fresh
    nodes = [node for node in model.nodes if not node.holder and needed.isdisjoint(node.proto.output)]
    if nodes and model.outputs:
        yield of_nodes(case, nodes, "No output depends on {nodes}", same_as="unused")
