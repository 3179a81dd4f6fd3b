"""The file of a model that was taken apart: what taking it apart changes, and what of that a probe may keep."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx
from onnx import external_data_helper

from trtforensics.console.counting import counted
from trtforensics.onnx_models.cutting import Original, constants_to_nodes
from trtforensics.onnx_models.graphs import all_nodes, graphs, initializers, load, nodes_of, read_in
from trtforensics.onnx_models.reading import constant_of
from trtforensics.reduce.simplifying import Aspect, Simplification

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping


_INLINED = "inlined (`--keep-functions` leaves them)"


@dataclass(frozen=True, slots=True)
class ModelFile:
    """What a file has besides the model that was made of it.

    ``operators`` has its nodes, those of functions too, ``tensors`` all other names. ``constants`` are the results of
    Constant nodes, ``inputs`` those that no node reads or that have an initializer, ``head`` is the message without its
    graph. ``changes`` say in words what our rewriting makes of it.
    """

    operators: Mapping[str, str]
    tensors: frozenset[str]
    constants: frozenset[str]
    inputs: Mapping[str, onnx.ValueInfoProto]
    head: onnx.ModelProto
    is_single: bool
    changes: str

    @property
    def simplifications(self) -> tuple[Simplification, ...]:
        """Return what the rewriting may leave as it is: first the whole file, then its parts."""
        parts = {Aspect.FILE: True, Aspect.CONSTANTS: self.constants, Aspect.INPUTS: self.inputs, Aspect.METADATA: True}
        return tuple(Simplification(aspect) for aspect, part in parts.items() if part)

    def restore(self, model: onnx.ModelProto, kept: Collection[Aspect], sources: Collection[str]) -> None:
        """Put back into a cut model what is not to be rewritten, but for Constant nodes; those come last."""
        if Aspect.INPUTS in kept:
            known = {tensor.name for tensor in model.graph.initializer}.union(sources)
            model.graph.input.extend(value for name, value in self.inputs.items() if name in known)
        if Aspect.METADATA in kept:
            model.MergeFrom(self.head)

    def restore_constants(self, model: onnx.ModelProto, renames: Mapping[str, str]) -> None:
        """Make initializers Constant nodes again; they may have other names by now."""
        names = self.constants | {renames[name] for name in self.constants if name in renames}
        for graph in graphs(model.graph):
            constants_to_nodes(graph, names)


def file_of(original: Original) -> ModelFile:
    """Return the file of a model that was taken apart."""
    file = load(original.path)
    graph = file.graph
    nodes = list(all_nodes(file))
    read, constants = read_in(graph), {tensor.name for tensor in initializers(graph)}
    tensors = {name for node in nodes for name in (*node.input, *node.output)} | constants
    copies = onnx.GraphProto(input=graph.input).input
    inputs = {value.name: value for value in copies if value.name in constants or value.name not in read}
    results = frozenset(node.output[0] for node in nodes_of(graph) if constant_of(node) is not None)
    names = Counter(node.name for node in nodes_of(graph))
    counts = {
        "local function": (_INLINED, len(file.functions) - len(original.model.functions)),
        "Constant node": ("made initializers", len(results)),
        "unread input": ("left out", len(inputs.keys() - constants)),
        "input default": ("made constants", len(inputs.keys() & constants)),
        "unread initializer": ("left out", len(constants - read)),
        "unread result": ("made outputs", sum(read.isdisjoint(node.output) for node in graph.node)),
        "missing or repeated node name": ("replaced", names.total() - len(names.keys() - {""})),
        "metadata field": ("left out", len(file.metadata_props)),
        "declared type": ("left out", len(graph.value_info)),
    }
    changes = [f"{counted(count, noun)} {done}" for noun, (done, count) in counts.items() if count]
    is_single = not any(map(external_data_helper.uses_external_data, initializers(graph)))
    changes += [] if is_single else ["external data taken into the model"]
    operators = {node.name: node.op_type for node in nodes if node.name}
    tensors |= {value.name for value in (*graph.input, *graph.output)}
    for part in ("graph", "functions", "opset_import", "ir_version"):
        file.ClearField(part)
    words = ", ".join(changes) or "names of producer and graph replaced"
    return ModelFile(operators, frozenset(tensors - {""}), results, inputs, file, is_single, words)
