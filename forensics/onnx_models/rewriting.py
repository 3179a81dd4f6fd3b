"""Other forms of a model: the nodes of every graph written anew, and nodes that compute something beside them."""

from contextlib import suppress
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from onnx import helper, numpy_helper

from trtforensics.onnx_models.graphs import bodies, read_in, refill


@dataclass(slots=True)
class Scope:
    """A graph whose nodes are written anew, by its number in the order of the file; ``copies`` names new tensors."""

    graph: onnx.GraphProto
    number: int
    copies: set[str] = field(default_factory=set)


class GraphRewriter:
    """Writes the nodes of a graph anew, in place; those of its subgraphs first."""

    def __init__(self) -> None:
        self._numbers = count()

    def rewrite(self, graph: onnx.GraphProto) -> None:
        """Rewrite a graph and all in it."""
        scope = Scope(graph, next(self._numbers))
        nodes = list(graph.node)
        graph.ClearField("node")
        self.begin(scope)
        for node in nodes:
            for body in bodies(node):
                self.rewrite(body)
            self.node(node, scope)
        self.end(scope)

    def begin(self, scope: Scope) -> None:
        """Write what comes before the nodes of a graph: nothing."""

    def node(self, node: onnx.NodeProto, scope: Scope) -> None:
        """Write what stands for a node; its subgraphs are rewritten already."""
        raise NotImplementedError

    def end(self, scope: Scope) -> None:
        """Write what follows the nodes of a graph: nothing."""


@dataclass(slots=True)
class NodeWriter:
    """Nodes in the making; names begin with the name of what is computed."""

    prefix: str
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as make_node takes them
        """Add a node of one output, and return that."""
        name = f"{self.prefix}__{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values: npt.ArrayLike, dtype: npt.DTypeLike = np.int64) -> str:
        """Add a constant."""
        return self.add("Constant", value=numpy_helper.from_array(np.asarray(values, dtype), "value"))

    def named(self, source: str, target: str) -> None:
        """Give a tensor a name."""
        self.nodes.append(helper.make_node("Identity", [source], [target], name=target))


def sort_nodes(graph: onnx.GraphProto) -> bool:
    """Put each node behind those that it reads; ONNX Runtime and TensorRT take any order. A circle stays as it is."""
    nodes = list(graph.node)
    makers = {name: place for place, node in enumerate(nodes) for name in node.output if name}
    reads = {
        place: {makers[name] for name in {*node.input}.union(*map(read_in, bodies(node))) & makers.keys()}
        for place, node in enumerate(nodes)
    }
    if all(place > max(before, default=-1) for place, before in reads.items()):
        return False
    with suppress(CycleError):
        refill(graph, "node", [nodes[place] for place in TopologicalSorter(reads).static_order()])
        return True
    return False
