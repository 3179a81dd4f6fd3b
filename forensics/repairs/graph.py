"""A model that is being repaired: what is known of its tensors, new names, and the list of what was changed.

Only the main graph is repaired; subgraphs of ``If``, ``Loop`` and ``Scan``, and functions, stay as they are. An
initializer that is an input too is a default, which a caller may replace: it is no constant.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import numpy_helper

from trtforensics.onnx_models.graphs import STANDARD, bodies, copied, defined, graphs, operator_set, read_in, refill
from trtforensics.onnx_models.reading import constant_of, free_name
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import Sizes, dims_of, element_types, is_static, sizes_by_tensor


@dataclass(frozen=True, slots=True)
class Change:
    """One change: which repair made it, at which node, and what it did. ``makes`` names the tensors that differ."""

    repair: str
    node: str
    what: str
    makes: frozenset[str] = frozenset()


SHAPES = "types and shapes of tensors"
"""What a change makes that states them; the name of no tensor."""
DEFAULTS_SINCE = 4
"""Before this version of ONNX's IR every initializer is an input, and none a default."""


@dataclass(slots=True)
class RepairedGraph:
    """The main graph of a model, changed in place; :meth:`look` infers types anew after changes."""

    model: onnx.ModelProto
    changes: list[Change] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(init=False)
    kinds: dict[str, int] = field(init=False)
    shapes: dict[str, Sizes] = field(init=False)
    fixed: frozenset[str] = field(init=False)
    """Initializers that stay as they are: defaults of inputs, and what training starts from."""
    _given: frozenset[str] = field(init=False)
    _taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        every = list(graphs(self.model.graph))
        self._taken = {name for graph in every for name in (*defined(graph), *(node.name for node in graph.node))}
        self._given = frozenset(tensor.name for tensor in self.model.graph.initializer)
        defaults = defaults_of(self.model)
        trained = (e for info in self.model.training_info for e in (*info.initialization_binding, *info.update_binding))
        self.fixed = frozenset((*defaults, *(name for entry in trained for name in (entry.key, entry.value))))
        self.look()

    @property
    def nodes(self) -> list[onnx.NodeProto]:
        """The nodes of the main graph."""
        return list(self.model.graph.node)

    @property
    def opset(self) -> int:
        """The version of the standard operators."""
        return operator_set(self.model)

    def look(self) -> None:
        """Infer the types and shapes of all tensors of the main graph."""
        free = [tensor for tensor in self.model.graph.initializer if tensor.name not in self.fixed]
        self.constants = {tensor.name: tensor for tensor in free}
        if self.model.ir_version < DEFAULTS_SINCE:
            self.constants |= {each.name: each for each in map(constant_of, self.nodes) if each is not None}
        inferred = self.inferred()
        refill(inferred.graph, "node", ())
        self.kinds = element_types(inferred)
        self.shapes = sizes_by_tensor(inferred)

    def inferred(self) -> onnx.ModelProto:
        """Return the model with inferred types, as they are whatever a caller gives in place of defaults."""
        if not self.fixed:
            return onnx.shape_inference.infer_shapes(self.model, data_prop=True)
        model = copied(self.model)
        model.graph.ClearField("value_info")  # what is stated may hold for the defaults only
        for output in model.graph.output:
            output.type.tensor_type.ClearField("shape")
        refill(model.graph, "initializer", (each for each in model.graph.initializer if each.name not in self.fixed))
        return onnx.shape_inference.infer_shapes(model, data_prop=True)

    def operator(self, node: onnx.NodeProto) -> str:
        """Return which of ONNX's own operators a node is, or ""; a function of the model may have the same name."""
        functions = {(each.domain, each.name) for each in self.model.functions}
        is_of_onnx = node.domain in STANDARD and (node.domain, node.op_type) not in functions
        return str(node.op_type) if is_of_onnx else ""

    def static(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a tensor; None where a size is not known."""
        shape = self.shapes.get(name)
        return shape if is_static(shape) else None

    def value(self, name: str) -> Values | None:
        """Return the value of a constant; None for any other tensor."""
        tensor = self.constants.get(name)
        return None if tensor is None else np.asarray(numpy_helper.to_array(tensor))

    def readers(self, name: str) -> list[onnx.NodeProto]:
        """Return the nodes that read a tensor, in subgraphs too."""
        return [reader for node in self.nodes for reader in _readers(node, name)]

    def holders(self, name: str) -> list[onnx.NodeProto]:
        """Return the nodes of the main graph that read a tensor, or hold a node that does."""
        return [node for node in self.nodes if next(_readers(node, name), None) is not None]

    def is_output(self, name: str) -> bool:
        """Whether a tensor is an output of the model, or of a subgraph."""
        return any(value.name == name for graph in graphs(self.model.graph) for value in graph.output)

    def note(self, repair: str, node: onnx.NodeProto, what: str, *makes: str) -> None:
        """Add to the list of changes; a node's own results are made otherwise, and those named besides."""
        self.changes.append(Change(repair, node.name or node.op_type, what, frozenset((*part_of(node), *makes))))

    def free(self, stem: str) -> str:
        """Return a name that nothing has."""
        name = free_name(stem, self._taken) if stem in self._taken else stem
        self._taken.add(name)
        return name

    def add_constant(self, stem: str, value: Values) -> str:
        """Add an initializer, and return its name."""
        name = self.free(stem)
        self.model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        self.constants[name] = self.model.graph.initializer[-1]
        return name

    def replace_nodes(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Make these the nodes of the main graph."""
        refill(self.model.graph, "node", nodes)

    def sweep(self, repair: str) -> None:
        """Remove nodes and initializers that nothing reads; the nodes are noted as changes of a repair."""
        graph = self.model.graph
        while True:
            reads = read_in(graph) - {""}
            unread = [node for node in graph.node if reads.isdisjoint(node.output)]
            if not unread:
                break
            for node in unread:
                self.note(repair, node, f"{node.op_type} is dropped: nothing reads it")
            refill(graph, "node", (node for node in graph.node if not reads.isdisjoint(node.output)))
        kept = reads | self.fixed | {value.name for value in graph.input}
        dropped = {tensor.name for tensor in graph.initializer} - kept
        for name in sorted(dropped & self._given):
            self.changes.append(Change(repair, name, "the constant is dropped: nothing reads it", frozenset({name})))
        refill(graph, "initializer", (tensor for tensor in graph.initializer if tensor.name not in dropped))
        made = {name for node in graph.node for name in node.output}
        refill(graph, "value_info", (value for value in graph.value_info if value.name in made))

    def write_shapes(self, repair: str) -> None:
        """Write inferred types and shapes into the model."""
        stated = {value.name: value for value in self.model.graph.value_info}
        known = {name for name, value in stated.items() if is_static(dims_of(value))}
        more = [value for value in self.inferred().graph.value_info if value.name not in known]
        more = [value for value in more if value.name not in stated or value != stated[value.name]]
        refill(self.model.graph, "value_info", {**stated, **{value.name: value for value in more}}.values())
        if more:
            what = f"type and shape of {len(more):,} {'tensor is' if len(more) == 1 else 'tensors are'} written down"
            self.changes.append(Change(repair, self.model.graph.name or "the graph", what, frozenset({SHAPES})))


def defaults_of(model: onnx.ModelProto) -> list[str]:
    """Return the inputs that have a default."""
    inputs = {value.name for value in model.graph.input} if model.ir_version >= DEFAULTS_SINCE else set()
    return [tensor.name for tensor in model.graph.initializer if tensor.name in inputs]


def part_of(node: onnx.NodeProto) -> tuple[str, ...]:
    """Return what tells a node from others: the tensors that it makes."""
    return tuple(name for name in node.output if name) or (node.name,)


def _readers(node: onnx.NodeProto, name: str) -> Iterator[onnx.NodeProto]:
    """Yield a node if it reads a tensor, and the nodes in its subgraphs that do."""
    if name in node.input:
        yield node
    for body in bodies(node):
        for inner in body.node if name not in defined(body) else ():
            yield from _readers(inner, name)
