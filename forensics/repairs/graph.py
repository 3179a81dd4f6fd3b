"""A model that is being repaired: what is known of its tensors, new names, and the list of what was changed.

Only the main graph is repaired; subgraphs of ``If``, ``Loop`` and ``Scan`` stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import numpy_helper

from trtforensics.bisect.precision.casting.preparation import bodies, graphs

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy.typing as npt


@dataclass(frozen=True, slots=True)
class Change:
    """One change: which repair made it, at which node, and what it did."""

    repair: str
    node: str
    what: str


@dataclass(slots=True)
class RepairedGraph:
    """The main graph of a model, changed in place; :meth:`look` infers types anew after changes."""

    model: onnx.ModelProto
    changes: list[Change] = field(default_factory=list)
    constants: dict[str, onnx.TensorProto] = field(init=False)
    kinds: dict[str, int] = field(init=False)
    shapes: dict[str, tuple[int | None, ...]] = field(init=False)
    _taken: set[str] = field(init=False)

    def __post_init__(self) -> None:
        self._taken = {name for graph in graphs(self.model.graph) for name in _names(graph)}
        self.look()

    @property
    def nodes(self) -> list[onnx.NodeProto]:
        """The nodes of the main graph."""
        return list(self.model.graph.node)

    @property
    def opset(self) -> int:
        """The version of the standard operators."""
        return max(int(entry.version) for entry in self.model.opset_import if entry.domain in {"", "ai.onnx"})

    def look(self) -> None:
        """Infer the types and shapes of all tensors."""
        self.constants = {tensor.name: tensor for tensor in self.model.graph.initializer}
        self.kinds = {name: tensor.data_type for name, tensor in self.constants.items()}
        self.shapes = {name: tuple(tensor.dims) for name, tensor in self.constants.items()}
        inferred = onnx.shape_inference.infer_shapes(self.model, data_prop=True).graph
        for value in (*inferred.input, *inferred.value_info, *inferred.output):
            tensor = value.type.tensor_type
            if tensor.elem_type:
                self.kinds[value.name] = tensor.elem_type
            if tensor.HasField("shape"):
                self.shapes[value.name] = tuple(
                    d.dim_value if d.HasField("dim_value") else None for d in tensor.shape.dim
                )

    def static(self, name: str) -> tuple[int, ...] | None:
        """Return the shape of a tensor; None where a size is not known."""
        shape = self.shapes.get(name)
        sizes = tuple(size for size in shape if size is not None) if shape is not None else ()
        return sizes if shape is not None and len(sizes) == len(shape) else None

    def value(self, name: str) -> npt.NDArray[Any] | None:
        """Return the value of a constant; None for any other tensor."""
        tensor = self.constants.get(name)
        return None if tensor is None else np.asarray(numpy_helper.to_array(tensor))

    def readers(self, name: str) -> list[onnx.NodeProto]:
        """Return the nodes that read a tensor, in subgraphs too."""
        return [node for graph in graphs(self.model.graph) for node in graph.node if name in node.input]

    def is_output(self, name: str) -> bool:
        """Whether a tensor is an output of the model, or of a subgraph."""
        return any(value.name == name for graph in graphs(self.model.graph) for value in graph.output)

    def note(self, repair: str, node: onnx.NodeProto, what: str) -> None:
        """Add to the list of changes."""
        self.changes.append(Change(repair, node.name or node.op_type, what))

    def free(self, stem: str) -> str:
        """Return a name that nothing has."""
        name, number = stem, 1
        while name in self._taken:
            name, number = f"{stem}_{number}", number + 1
        self._taken.add(name)
        return name

    def add_constant(self, stem: str, value: npt.NDArray[Any]) -> str:
        """Add an initializer, and return its name."""
        name = self.free(stem)
        self.model.graph.initializer.append(numpy_helper.from_array(np.asarray(value), name))
        self.constants[name] = self.model.graph.initializer[-1]
        return name

    def replace_nodes(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Make these the nodes of the main graph."""
        copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
        self.model.graph.ClearField("node")
        self.model.graph.node.extend(copies)

    def sweep(self, repair: str) -> None:
        """Remove nodes and initializers that nothing reads; the nodes are noted as changes of a repair."""
        while True:
            read = set(self._read())
            kept = [node for node in self.model.graph.node if read.intersection(node.output)]
            if len(kept) == len(self.model.graph.node):
                break
            for node in self.model.graph.node:
                if not read.intersection(node.output):
                    self.note(repair, node, f"{node.op_type} is dropped: nothing reads it")
            self.replace_nodes(kept)
        constants = [tensor for tensor in self.model.graph.initializer if tensor.name in read]
        copies = [onnx.TensorProto.FromString(tensor.SerializeToString()) for tensor in constants]
        self.model.graph.ClearField("initializer")
        self.model.graph.initializer.extend(copies)

        made = {name for node in self.model.graph.node for name in node.output}
        known = [value for value in self.model.graph.value_info if value.name in made]
        infos = [onnx.ValueInfoProto.FromString(value.SerializeToString()) for value in known]
        self.model.graph.ClearField("value_info")
        self.model.graph.value_info.extend(infos)

    def _read(self) -> Iterator[str]:
        for graph in graphs(self.model.graph):
            yield from (name for node in graph.node for name in node.input if name)
            yield from (value.name for value in graph.output)


def has_body(node: onnx.NodeProto) -> bool:
    """Whether a node holds a subgraph."""
    return any(True for _ in bodies(node))


def _names(graph: onnx.GraphProto) -> Iterator[str]:
    yield from (value.name for value in (*graph.input, *graph.output, *graph.initializer))
    for node in graph.node:
        yield node.name
        yield from node.output
