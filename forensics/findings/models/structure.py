"""What is wrong with a model as a file: missing data, names twice, tensors that nothing makes, sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.case import Need
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.models.seen import head, of_nodes
from trtforensics.findings.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case

_MESSAGE = 2**31
_CONSTANT = 16 << 20
"""Bytes of a Constant node that is better an initializer."""
_MEBIBYTE = 1 << 20


@rule(
    "TF183",
    Severity.ERROR,
    "Files of the model's data are missing or do not fit",
    cause="The model keeps weights in files beside it, which have to be in its folder, under the names that it states.",
    confirm="The files in the model's folder.",
    fixes=("Copy the data files beside the model, under these names.", "Save the model anew with its data."),
    sources=("ONNX's external data", "weightsContext.cpp of onnx-tensorrt 8.6 and later"),
    needs=(Need.ONNX,),
)
def missing_data(case: Case) -> Iterator[Observation]:
    """Name the files."""
    for name, fault in case.checked.data.items():
        yield Observation(f"The data file {name} {fault}", [head(case)], same_as=name)


@rule(
    "TF184",
    Severity.ERROR,
    "The graph is not valid",
    cause="A node reads a tensor that no input, constant or earlier node makes, two nodes make the same, an output or "
    "an element type is missing: nodes are lost, in the wrong order, or in a circle.",
    confirm="onnx.checker.check_model(path, full_check=True)",
    fixes=("Export the model again. Tools that edit graphs sort them by onnx_graphsurgeon's cleanup().toposort().",),
    sources=("the ONNX standard: graphs are in static single assignment form, nodes sorted",),
    needs=(Need.ONNX,),
)
def invalid_graph(case: Case) -> Iterator[Observation]:
    """Name tensors and nodes; which later node makes a tensor is said where one does."""
    model = case.checked
    for node, tensor in model.undefined():
        maker = model.makers.get(tensor)
        why = f"which {maker.label} makes only later, or in another graph" if maker else "which nothing makes"
        who = "The model gives out" if node is None else f"{node.op} {node.label} reads"
        yield of_nodes(case, [node] if node else [], f"{who} {tensor}, {why}", same_as=tensor)
    if not model.outputs:
        yield Observation("The model has no output", [head(case)], same_as="no output")
    for value in model.inputs:
        if value.element == "UNDEFINED":
            yield Observation(f"The input {value.name} has no element type", [head(case)], same_as=value.name)
    for tensor in model.made_twice:
        makers = [node for node in model.nodes if tensor in node.proto.output]
        yield of_nodes(case, makers, f"{tensor} is made twice", same_as=tensor)


@rule(
    "TF185",
    Severity.NOTE,
    "Several nodes have one name",
    cause="TensorRT names layers by nodes and adds numbers to names that it has already. Options that name a layer "
    "(--layerPrecisions, calibration caches, replays) then mean one of them.",
    confirm="The names of the nodes.",
    fixes=("Give each node a name of its own before naming layers in options.",),
    sources=("ImporterContext::registerLayer of onnx-tensorrt 8.x to 10.x",),
    needs=(Need.ONNX,),
)
def names_twice(case: Case) -> Iterator[Observation]:
    """Name them."""
    names = case.checked.shared_names
    if names:
        nodes = [node for node in case.checked.nodes if node.proto.name in names]
        yield of_nodes(case, nodes, f"Several nodes share a name: {listed(names)}", same_as="names")


@rule(
    "TF186",
    Severity.ERROR,
    "The model is too large for one file",
    cause="A message of protobuf ends at 2 GiB; larger models keep their weights in files of their own.",
    confirm="The size of the file.",
    fixes=("Save it with external data: onnx.save(model, path, save_as_external_data=True).",),
    sources=("protobuf", "onnx.save"),
    needs=(Need.ONNX,),
)
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


@rule(
    "TF193",
    Severity.NOTE,
    "Nodes of the model are of no use",
    cause="No output of the model depends on them. TensorRT leaves them out, after the parser has read them: an "
    "operator that it does not import is refused even there.",
    confirm="The readers of their outputs.",
    fixes=("polygraphy surgeon sanitize removes them.",),
    sources=("the parser of onnx-tensorrt reads every node",),
    needs=(Need.ONNX,),
)
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
