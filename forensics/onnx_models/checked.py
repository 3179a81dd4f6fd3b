"""A model as rules read it before any build: the nodes of all graphs by number, types, sizes, constants, data files.

Weights stay in their file until somebody asks for their values, and nothing here requires the model to be valid.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import onnx.inliner
from onnx import external_data_helper, helper, numpy_helper

from trtforensics.onnx_models.graphs import STANDARD, bodies, graphs, held_nodes, initializers, load, operator_set
from trtforensics.onnx_models.reading import constant_of, unique_body_tensors
from trtforensics.onnx_models.shapes import (
    ShapeFault,
    element_types,
    fits,
    inferred,
    sizes_by_tensor,
    sizes_of,
    spelled,
)
from trtforensics.onnx_models.streaming import mapped

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.onnx_models.shapes import Sizes

    Values = npt.NDArray[Any]

_BLOCK = 1 << 22
"""Elements of a constant in a file of its own that are read in one go."""
_SMALL = 1 << 20
"""Elements of a constant whose values are read whole."""
_SPELLED = 900
_WINDOWS = {"Conv", "MaxPool", "AveragePool", "LpPool"}
_MOST = 1 << 10
"""Inputs of a variadic slot that are looked at."""


@dataclass(frozen=True, slots=True, eq=False)
class CheckedNode:
    """A node with its ``number`` (from 1, those of a body behind the node that holds it) and its ``holder``'s label."""

    number: int
    proto: onnx.NodeProto
    holder: str

    @property
    def op(self) -> str:
        """The operator's name."""
        return str(self.proto.op_type)

    @property
    def label(self) -> str:
        """Its name; without one, what it makes."""
        return str(self.proto.name) or next((str(name) for name in self.proto.output if name), self.op)

    @property
    def is_standard(self) -> bool:
        """Whether the operator is one of ONNX's own domain."""
        return self.proto.domain in STANDARD

    @property
    def is_of_onnx(self) -> bool:
        """Whether ONNX has an operator of this name, whatever the node's domain."""
        return bool(onnx.defs.has(self.op))

    def since(self, opset: int) -> int:
        """Return the operator set, up to one, in which the operator last changed; 0 for one that is not ONNX's."""
        schema = _schema(self.op, opset) if self.is_standard else None
        return 0 if schema is None else int(schema.since_version)

    @property
    def casts_to(self) -> str:
        """The element type that a Cast makes, by ONNX's name."""
        return element_name(self.attribute("to") or 0)

    def default(self, name: str) -> Any:  # noqa: ANN401 - of any of ONNX's types
        """Return the default of an attribute; None where there is none."""
        schema = _schema(self.op, onnx.defs.onnx_opset_version())
        declared = None if schema is None else schema.attributes.get(name)
        return _python(declared.default_value) if declared is not None and declared.default_value.name else None

    def attribute(self, name: str) -> Any:  # noqa: ANN401 - of any of ONNX's types
        """Return the value of an attribute, texts as str; None where it is not given."""
        return next((_python(attribute) for attribute in self.proto.attribute if attribute.name == name), None)


@dataclass(frozen=True, slots=True)
class CheckedInput:
    """An input that is no constant, or an output: ``element`` is ONNX's name of its type.

    A size that is not known is None; ``sizes`` is None where the rank is not known either. ``text`` are the sizes as
    trtexec spells them.
    """

    name: str
    element: str
    sizes: Sizes | None
    text: str

    @property
    def is_dynamic(self) -> bool:
        """Whether a size is not known."""
        return self.sizes is None or None in self.sizes

    def takes(self, shape: Sequence[int]) -> bool:
        """Whether it takes a tensor of a shape."""
        return fits(shape, self.sizes)


@dataclass(frozen=True)
class CheckedModel:
    """A model whose local functions are inlined and whose bodies' tensors have names of their own."""

    path: str
    proto: onnx.ModelProto
    functions: int
    """How many local functions were inlined."""
    data: Mapping[str, str] = field(default_factory=dict)
    """What is wrong with the files of external data, by the name of the file."""

    @cached_property
    def nodes(self) -> tuple[CheckedNode, ...]:
        """The nodes of all graphs, in the order of the file."""
        return tuple(
            CheckedNode(number, node, "" if holder is None else holder.name or holder.op_type)
            for number, (node, holder) in enumerate(held_nodes(self.proto.graph), 1)
        )

    @cached_property
    def by_name(self) -> Mapping[str, CheckedNode]:
        """The nodes by their names in the file; of two with one name, the first."""
        return {str(node.proto.name): node for node in reversed(self.nodes)}

    @cached_property
    def makers(self) -> Mapping[str, CheckedNode]:
        """The node that makes each tensor."""
        return {name: node for node in self.nodes for name in node.proto.output if name}

    @cached_property
    def readers(self) -> Mapping[str, Sequence[CheckedNode]]:
        """The nodes that read each tensor."""
        readers: dict[str, list[CheckedNode]] = {}
        for node in self.nodes:
            for name in dict.fromkeys(node.proto.input):
                readers.setdefault(name, []).append(node)
        return readers

    @property
    def opset(self) -> int:
        """The operator set of ONNX's own domain."""
        return operator_set(self.proto)

    @cached_property
    def inputs(self) -> tuple[CheckedInput, ...]:
        """The inputs that are no constants."""
        return tuple(_stated(value) for value in self.proto.graph.input if value.name not in self._constants)

    @cached_property
    def outputs(self) -> tuple[CheckedInput, ...]:
        """The outputs."""
        return tuple(map(_stated, self.proto.graph.output))

    @cached_property
    def _inferred(self) -> onnx.ModelProto:
        return inferred(self.proto, {}, strict=False)[0]

    @cached_property
    def fault(self) -> ShapeFault | None:
        """What inference refuses at the sizes that the inputs state."""
        return self.sizes_at({})[1]

    @cached_property
    def elements(self) -> Mapping[str, str]:
        """The element type of each tensor by ONNX's name (``FLOAT16``), as far as it is stated or inferred."""
        known = element_types(self._inferred) | element_types(self.proto)
        return {name: element_name(element) for name, element in known.items()}

    @cached_property
    def sizes(self) -> Mapping[str, Sizes]:
        """The sizes of each tensor whose rank is known, None where one is dynamic."""
        return sizes_by_tensor(self.proto) | sizes_by_tensor(self._inferred)

    def sizes_at(self, shapes: Mapping[str, Sequence[int]]) -> tuple[Mapping[str, Sizes], ShapeFault | None]:
        """Return the sizes of tensors where inputs have these shapes, and what inference refuses then."""
        model, fault = inferred(self.proto, shapes, strict=True)
        sizes = sizes_by_tensor(model)
        return sizes, fault or _impossible_reshape(self, sizes) or _impossible_window(self, sizes)

    @cached_property
    def _constants(self) -> Mapping[str, onnx.TensorProto]:
        made = ((node.proto.output[0], constant_of(node.proto)) for node in self.nodes if node.op == "Constant")
        named = {tensor.name: tensor for tensor in initializers(self.proto.graph)}
        return named | {name: tensor for name, tensor in made if tensor is not None}

    @property
    def constants(self) -> Collection[str]:
        """The names of constants: initializers, and what Constant nodes make."""
        return self._constants.keys()

    def values(self, name: str, *, whole: bool = False) -> Values | None:
        """Return the values of a constant; None for what is none, cannot be read, or is large and not ``whole``.

        Values in a file of their own are mapped.
        """
        tensor = self._constants.get(name)
        if tensor is None or (not whole and _count(tensor) > _SMALL):
            return None
        try:
            if not external_data_helper.uses_external_data(tensor):
                return numpy_helper.to_array(tensor)
            return None if self.data else mapped(tensor, Path(self.path).resolve().parent)
        except (OSError, ValueError, TypeError):  # of no type of numpy, cut short, or gone
            return None

    def blocks(self, name: str) -> Iterator[Values]:
        """Yield the values of a constant, flat; those in a file of their own some at a time, so that few are held.

        Nothing comes of what is no constant, has no type of numpy, or cannot be read.
        """
        tensor = self._constants.get(name)
        if tensor is None or not external_data_helper.uses_external_data(tensor):
            values = self.values(name, whole=True)
            yield from () if values is None else (values.reshape(-1),)
            return
        kind, left = helper.tensor_dtype_to_np_dtype(tensor.data_type), 0 if self.data else _count(tensor)
        place = external_data_helper.ExternalDataInfo(tensor)
        begin = place.offset or 0
        while left and kind.kind in "fiub":
            block = np.fromfile(Path(self.path).resolve().parent / place.location, kind, min(left, _BLOCK), "", begin)
            yield block
            left, begin = left - max(block.size, 1), begin + block.nbytes

    @cached_property
    def weights(self) -> Mapping[str, tuple[str, tuple[int, ...]]]:
        """The element type, by ONNX's name, and the dimensions of each constant."""
        return {name: (element_name(tensor.data_type), tuple(tensor.dims)) for name, tensor in self._constants.items()}

    def slots(self, node: CheckedNode, names: Collection[str], *, of: str = "input") -> list[str]:
        """Return the tensors in the slots of these names, by ONNX's names in the model's operator set; given ones."""
        tensors = getattr(node.proto, of)
        places = sorted({place for name in names for place in _places(node.op, self.opset, of).get(name, ())})
        return [tensors[place] for place in places if place < len(tensors) and tensors[place]]

    @staticmethod
    def bytes_of(element: str, shape: Sequence[int]) -> int:
        """Return the bytes of a tensor; 0 for texts and unknown types."""
        if element in {"UNDEFINED", "STRING"}:
            return 0
        kind = helper.tensor_dtype_to_np_dtype(onnx.TensorProto.DataType.Value(element))
        return int(kind.itemsize) * prod(shape)

    def type_of(self, name: str) -> str:
        """Return the element type of a tensor by ONNX's name; ``UNDEFINED`` where that is not known."""
        return self.elements.get(name, "UNDEFINED")

    def rank(self, name: str) -> int | None:
        """Return how many dimensions a tensor has; None where that is not known."""
        sizes = self.sizes.get(name)
        return None if sizes is None else len(sizes)

    def is_static(self, name: str, *, any_sizes: bool = False) -> bool:
        """Whether constants and sizes decide a tensor, as far as its makers tell: known sizes, or ``any_sizes``."""
        reached, open_ones = {name}, [name]
        while open_ones:
            tensor = open_ones.pop()
            if tensor in self._constants:
                continue
            node = self.makers.get(tensor)
            if node is None:
                return False
            sizes = self.sizes.get(node.proto.input[0], (None,)) if node.op in {"Shape", "Size"} else (None,)
            if None not in sizes or (any_sizes and node.op in {"Shape", "Size"}):
                continue
            open_ones += [each for each in node.proto.input if each and each not in reached]
            reached |= {*node.proto.input}
        return True

    @cached_property
    def shared_names(self) -> list[str]:
        """The names that several nodes have."""
        counts = Counter(node.proto.name for node in self.nodes if node.proto.name)
        return [name for name, count in counts.items() if count > 1]

    @cached_property
    def made_twice(self) -> list[str]:
        """The tensors that two nodes of one graph make, or a node and a constant or input."""
        twice: list[str] = []
        for graph in graphs(self.proto.graph):
            made = [name for node in graph.node for name in node.output if name]
            counts = Counter(made)
            counts.update({each.name for each in (*graph.input, *graph.initializer)} & counts.keys())
            twice += [name for name, count in counts.items() if count > 1]
        return twice

    def undefined(self) -> list[tuple[CheckedNode | None, str]]:
        """Return nodes that read what nothing before them makes, with the tensor; None for an output of the model."""
        numbered = {id(node.proto): node for node in self.nodes}
        return [(numbered.get(id(node)), name) for node, name in _undefined(self.proto.graph, frozenset())]

    def reaches(self, start: CheckedNode, end: CheckedNode) -> bool:
        """Whether a node depends on another one, or is the same, as far as tensors of their names tell."""
        wanted, seen = [end], {id(end)}
        while wanted:
            node = wanted.pop()
            if node is start:
                return True
            before = [maker for name in node.proto.input if (maker := self.makers.get(name)) and id(maker) not in seen]
            seen |= {id(maker) for maker in before}
            wanted += before
        return False

    def quote(self, lines: Collection[int]) -> Mapping[int, str]:
        """Return nodes by their numbers as a line each, as logs return their lines; 0 is the model's head."""
        numbered = {node.number: node for node in self.nodes}
        return {line: _spelled(numbered[line]) if line in numbered else self._head() for line in lines}

    def _head(self) -> str:
        producer = " ".join(filter(None, (self.proto.producer_name, self.proto.producer_version)))
        sets = ", ".join(f"{entry.domain or 'ai.onnx'} {entry.version}" for entry in self.proto.opset_import)
        return f"graph {self.proto.graph.name}: operator sets {sets}" + (f", by {producer}" if producer else "")


def _python(attribute: onnx.AttributeProto) -> Any:  # noqa: ANN401 - of any of ONNX's types
    value = helper.get_attribute_value(attribute)
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def read_checked(path: str) -> CheckedModel:
    """Read a model; of external data only whether its files are there.

    Raises:
        SourceError: The file cannot be read or is no ONNX model.
    """
    model = load(path)
    functions, data = len(model.functions), _missing_data(path, model)
    model = onnx.inliner.inline_local_functions(model) if functions else model
    unique_body_tensors(model.graph)
    return CheckedModel(path, model, functions, data)


def _missing_data(path: str, model: onnx.ModelProto) -> dict[str, str]:
    folder = Path(path).resolve().parent
    wanted: Counter[str] = Counter()
    for tensor in initializers(model.graph):
        if external_data_helper.uses_external_data(tensor):
            place = external_data_helper.ExternalDataInfo(tensor)
            wanted[place.location] = max(wanted[place.location], (place.offset or 0) + (place.length or 0))
    faults = {}
    for name, end in wanted.items():
        if Path(name).is_absolute() or ".." in Path(name).parts:
            faults[name] = "lies outside of the model's folder"
        elif not (folder / name).is_file():
            faults[name] = "is missing"
        elif (size := (folder / name).stat().st_size) < end:
            faults[name] = f"has {size:,} bytes where {end:,} are wanted"
    return faults


def _impossible_reshape(model: CheckedModel, sizes: Mapping[str, Sizes]) -> ShapeFault | None:
    """Return the first Reshape to fixed sizes of another volume than its input's, which inference lets pass."""
    for node in model.nodes:
        target = model.values(node.proto.input[1]) if node.op == "Reshape" and len(node.proto.input) > 1 else None
        before = sizes.get(node.proto.input[0]) if target is not None else None
        if target is None or before is None or None in before or (target == 0).any():
            continue
        volume, known = prod(size or 0 for size in before), abs(prod(int(size) for size in target))
        if (volume % known if -1 in target else volume - known) != 0:
            words = " to ".join("x".join(map(str, each)) for each in (before, target.tolist()))
            return ShapeFault(node.proto.name, f"Error] {words}, of another number of elements")
    return None


def _impossible_window(model: CheckedModel, sizes: Mapping[str, Sizes]) -> ShapeFault | None:
    """Return the first convolution or pooling whose window is larger than its padded input."""
    for node in model.nodes:
        before = sizes.get(node.proto.input[0]) if node.op in _WINDOWS and not node.attribute("ceil_mode") else None
        weights = sizes.get(node.proto.input[1]) if before is not None and node.op == "Conv" else None
        window = node.attribute("kernel_shape") or (weights or ())[2:]
        if not before or len(before) != len(window) + 2 or str(node.attribute("auto_pad")).startswith("SAME"):
            continue
        pads, gaps = node.attribute("pads") or [0] * 2 * len(window), node.attribute("dilations") or [1] * len(window)
        for size, begin, end, width, gap in zip(before[2:], pads, pads[len(window) :], window, gaps, strict=False):
            span = (width or 0) * gap - gap + 1
            if size is not None and size + begin + end < span:
                return ShapeFault(node.proto.name, f"Error] a window of {span} on {size} elements")
    return None


def _count(tensor: onnx.TensorProto) -> int:
    return int(np.prod(tensor.dims, dtype=np.int64))


@cache
def _places(op: str, opset: int, of: str) -> Mapping[str, Sequence[int]]:
    """Return the places of an operator's inputs (or outputs) by name; of variadic ones all."""
    schema = _schema(op, opset)
    formal = () if schema is None else schema.inputs if of == "input" else schema.outputs
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    return {
        each.name: range(place, _MOST) if each.option == variadic else (place,) for place, each in enumerate(formal)
    }


def _schema(op: str, opset: int) -> onnx.defs.OpSchema | None:
    """Return ONNX's own operator of a name as an operator set has it; None where it has none."""
    try:
        return onnx.defs.get_schema(op, opset)
    except onnx.defs.SchemaError:
        return None


def _spelled(node: CheckedNode) -> str:
    inputs = ", ".join(name or "-" for name in node.proto.input)
    domain = "" if node.is_standard else f"{node.proto.domain}."
    inside = f" in {node.holder}" if node.holder else ""
    return f"{node.label} [{domain}{node.op}]{inside}: {inputs} -> {', '.join(node.proto.output)}"[:_SPELLED]


def _undefined(
    graph: onnx.GraphProto, outside: frozenset[str]
) -> Iterator[tuple[onnx.NodeProto | onnx.GraphProto, str]]:
    known = {*outside, *(each.name for each in (*graph.input, *graph.initializer))}
    known |= {each.values.name for each in graph.sparse_initializer}
    for node in graph.node:
        yield from ((node, name) for name in node.input if name and name not in known)
        for body in bodies(node):
            yield from _undefined(body, frozenset(known))
        known |= {*node.output}
    yield from ((graph, value.name) for value in graph.output if value.name not in known)


def element_name(element: int) -> str:
    """Return ONNX's name of an element type (``FLOAT16``); ``UNDEFINED`` for none that is known."""
    known = onnx.TensorProto.DataType.values()
    return str(onnx.TensorProto.DataType.Name(element if element in known else 0))


def _stated(value: onnx.ValueInfoProto) -> CheckedInput:
    return CheckedInput(value.name, element_name(value.type.tensor_type.elem_type), sizes_of(value), spelled(value))
