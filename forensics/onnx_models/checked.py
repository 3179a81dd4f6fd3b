"""A model as rules read it before any build: types and sizes as far as they are inferred, and what is wrong with it.

Nothing here requires the model to be valid.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod
from pathlib import Path

import numpy as np
import onnx
from onnx import external_data_helper, helper

from trtforensics.console.counting import listed
from trtforensics.errors import SourceError
from trtforensics.onnx_models.checked_graph import PLACE, CheckedGraph, CheckedNode, element_name
from trtforensics.onnx_models.deciding import computed, dropped, emptied, impossible, shape_inputs
from trtforensics.onnx_models.graphs import bodies, graphs, initializers, load, nodes_of, reachable
from trtforensics.onnx_models.reading import inlined, unique_body_tensors
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import (
    ShapeFault,
    Sizes,
    element_types,
    forbidden,
    inferred,
    made_types,
    sizes_by_tensor,
)

_PASSES = 4
"""Inferences of shapes in turn, each with the numbers that follow from the one before."""
_COPIED = 1 << 20
"""Bytes of a constant that are copied to be counted."""
_PACKED = {"INT4", "UINT4", "FLOAT4E2M1"}
"""Types of four bits: a byte holds two values."""
_SPELLED = 900


@dataclass(frozen=True)
class CheckedModel(CheckedGraph):
    """A model whose local functions are inlined and whose bodies' tensors have names of their own.

    ``reached`` is, where samples were run, the largest magnitude of each FP32 tensor and the number of its sample.
    """

    reached: Mapping[str, tuple[float, int]] = field(default_factory=dict)

    @cached_property
    def _inferred(self) -> onnx.ModelProto:
        return inferred(self.proto, {}, strict=False)[0]

    @cached_property
    def fault(self) -> ShapeFault | None:
        """What inference refuses at the sizes that the inputs state."""
        return self.sizes_at({})[1]

    @cached_property
    def forbidden(self) -> ShapeFault | None:
        """What else ONNX's rules forbid."""
        return forbidden(self.proto)

    @cached_property
    def made(self) -> Mapping[str, str]:
        """The element type of each tensor by what makes it, where that is inferred."""
        return {name: element_name(element) for name, element in made_types(self.proto).items()}

    @cached_property
    def elements(self) -> Mapping[str, str]:
        """The element type of each tensor by ONNX's name (``FLOAT16``), as far as it is stated or inferred."""
        known = element_types(self._inferred) | element_types(self.proto)
        return {name: element_name(element) for name, element in known.items()}

    @cached_property
    def sizes(self) -> Mapping[str, Sizes]:
        """The sizes of each tensor whose rank is known, None where one is dynamic."""
        return sizes_by_tensor(self.proto) | sizes_by_tensor(self._inferred)

    def sizes_at(self, shapes: Mapping[str, Sequence[int | None]]) -> tuple[Mapping[str, Sizes], ShapeFault | None]:
        """Return the sizes of tensors where inputs have these shapes, and what inference refuses then.

        What ``shapes`` has for an input that is a shape are its values, as trtexec takes them.
        """
        given = {name: np.array(shapes[name]) for name in self.shape_inputs if name in shapes}
        bound = {name: shape for name, shape in shapes.items() if name not in given}
        known = given
        empty: dict[str, Sizes] = {}
        for _ in range(_PASSES):
            model, fault = inferred(self.proto, bound, strict=True, known=known, empty=empty)
            sizes, before = sizes_by_tensor(model), len(known) + len(empty)
            empty |= emptied(self, sizes)
            known = computed(self, sizes, given)
            if fault or len(known) + len(empty) == before:
                break
        return sizes, fault or impossible(self, sizes, known) or dropped(self, sizes, self.sizes, known)

    @cached_property
    def computed(self) -> Mapping[str, Values]:
        """The integers that follow from constants and from the sizes that the model states."""
        return computed(self, self.sizes)

    @cached_property
    def shape_inputs(self) -> Sequence[str]:
        """The inputs whose values decide sizes."""
        return shape_inputs(self)

    def type_of(self, name: str) -> str:
        """Return the element type of a tensor by ONNX's name; ``UNDEFINED`` where that is not known."""
        return self.elements.get(name, "UNDEFINED")

    def rank(self, name: str) -> int | None:
        """Return how many dimensions a tensor has; None where that is not known."""
        sizes = self.sizes.get(name)
        return None if sizes is None else len(sizes)

    def is_static(self, name: str, *, any_sizes: bool = False) -> bool:
        """Whether constants and sizes decide a tensor, as far as its makers tell: known sizes, or ``any_sizes``."""

        def undecided(tensor: str) -> Iterator[str]:
            node = self.makers.get(tensor)
            if node is None or tensor in self.constants:
                return
            measures = node.op in {"Shape", "Size"}
            if not measures or not (any_sizes or None not in self.sizes.get("".join(node.proto.input), (None,))):
                yield from filter(None, node.proto.input)

        return all(each in self.constants or each in self.makers for each in reachable([name], undecided))

    @cached_property
    def shared_names(self) -> list[str]:
        """The names that several nodes have."""
        counts = Counter(node.proto.name for node in self.all_nodes if node.proto.name)
        return [name for name, count in counts.items() if count > 1]

    @cached_property
    def made_twice(self) -> list[str]:
        """The tensors that two nodes of one graph make, or two constants, two inputs, a node and one of these."""
        twice: list[str] = []
        for graph in graphs(self.proto.graph):
            made = [name for node in graph.node for name in node.output if name]
            given = {each.name for each in (*graph.input, *graph.initializer)}
            alike = ([each.name for each in group] for group in (graph.input, graph.initializer))
            for names in ([*made, *given], *alike):
                twice += [name for name, count in Counter(names).items() if count > 1]
        return twice

    @cached_property
    def sparse(self) -> list[str]:
        """The constants that are stored as sparse ones."""
        return [each.values.name for graph in graphs(self.proto.graph) for each in graph.sparse_initializer]

    def undefined(self) -> list[tuple[CheckedNode | None, str]]:
        """Return nodes that read what nothing before them makes, with the tensor; None for an output of the model."""
        numbered = {id(node.proto): node for node in self.all_nodes}
        return [(numbered.get(id(node)), name) for node, name in _undefined(self.proto.graph, frozenset())]

    def reaches(self, start: CheckedNode, end: CheckedNode) -> bool:
        """Whether a node depends on another one, or is the same, as far as tensors of their names tell."""
        return start in reachable([end], lambda node: filter(None, map(self.makers.get, node.proto.input)))

    def quote(self, lines: Collection[int]) -> Mapping[int, str]:
        """Return nodes by their numbers as a line each, as logs return their lines; 0 is the model's head."""
        numbered = {node.number: node for node in self.all_nodes}
        return {line: _spelled(numbered[line]) if line in numbered else self._head() for line in lines}

    def _head(self) -> str:
        producer = " ".join(filter(None, (self.proto.producer_name, self.proto.producer_version)))
        sets = ", ".join(f"{entry.domain or 'ai.onnx'} {entry.version}" for entry in self.proto.opset_import)
        return f"graph {self.proto.graph.name}: operator sets {sets}" + (f", by {producer}" if producer else "")


def read_checked(path: str) -> CheckedModel:
    """Read a model; of external data only whether its files are there."""
    model = load(path)
    data, circle, functions = _missing_data(path, model), "", [function.name for function in model.functions]
    for function in model.functions:
        for node in nodes_of(function):
            place = f"{function.name}/{node.name or next(iter(node.output), node.op_type)}"
            node.metadata_props.add(key=PLACE, value=place)
    try:
        model = inlined(path, model)
    except SourceError as error:
        circle = error.what.partition(": ")[2]
        model.ClearField("functions")
    shadowing = [*_shadowing(model.graph, frozenset())]
    unique_body_tensors(model.graph)
    return CheckedModel(path, model, data, circle, functions, shadowing)


def _shadowing(graph: onnx.GraphProto, outside: frozenset[str]) -> Iterator[tuple[str, str]]:
    """Yield nodes of bodies that make a tensor which the graph around has before."""
    known = {*outside, *(each.name for each in (*graph.input, *graph.initializer))}
    for node in graph.node:
        yield from ((node.name or name, name) for name in node.output if name and name in outside)
        for body in bodies(node):
            yield from _shadowing(body, frozenset(known))
        known |= {*node.output}


def _missing_data(path: str, model: onnx.ModelProto) -> dict[str, str]:
    folder = Path(path).resolve().parent
    wanted: dict[str, dict[str, int]] = {}
    for tensor in initializers(model.graph):
        if external_data_helper.uses_external_data(tensor):
            place = external_data_helper.ExternalDataInfo(tensor)
            wanted.setdefault(place.location, {})[tensor.name] = (place.offset or 0) + (place.length or 0)
    faults = {f"constant {tensor.name}": fault for tensor in initializers(model.graph) if (fault := _cut_short(tensor))}
    for location, ends in wanted.items():
        name = f"data file {location} of {listed([*ends])}"
        if Path(location).is_absolute() or ".." in Path(location).parts:
            faults[name] = "lies outside of the model's folder"
        elif not (folder / location).is_file():
            faults[name] = "is missing"
        elif beyond := {tensor: end for tensor, end in ends.items() if end > (folder / location).stat().st_size}:
            size = (folder / location).stat().st_size
            faults[f"data file {location} of {listed([*beyond])}"] = (
                f"has {size:,} bytes where {max(beyond.values()):,} are wanted"
            )
    return faults


def _cut_short(tensor: onnx.TensorProto) -> str:
    """Return that fewer bytes are stored than the dimensions take, in words; empty where not, or where it is text."""
    element = element_name(tensor.data_type)
    if element in {*_PACKED, "UNDEFINED", "COMPLEX64", "COMPLEX128"}:
        return ""
    if not tensor.HasField("raw_data") and not tensor.external_data:
        given = len(getattr(tensor, helper.tensor_dtype_to_field(tensor.data_type)))
        return f"has {given:,} values where {prod(tensor.dims):,} are wanted" if given < prod(tensor.dims) else ""
    wanted = CheckedModel.bytes_of(element, tensor.dims)
    if external_data_helper.uses_external_data(tensor):
        size = external_data_helper.ExternalDataInfo(tensor).length or wanted
    else:
        size = len(tensor.raw_data) if wanted < _COPIED else tensor.ByteSize()
    return f"has {size:,} bytes where {wanted:,} are wanted" if size < wanted else ""


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
