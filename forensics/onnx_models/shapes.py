"""Types and shapes of tensors: as a model states them, as they are inferred, and as trtexec spells those of inputs."""

import importlib.util
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any, TypeGuard

import numpy.typing as npt
import onnx
from onnx import external_data_helper, helper, numpy_helper

from trtforensics.console.processes import completed
from trtforensics.errors import UsageError
from trtforensics.onnx_models.graphs import declarations, graphs, initializers, refill
from trtforensics.onnx_models.streaming import references_as_inputs

Dims = tuple[int | str | None, ...]
Sizes = tuple[int | None, ...]


_LARGEST_INFERRED = 256 << 20
"""Bytes of a model that is worth another process for the names of its dimensions."""
_PATIENCE_S = 600
_MADE_UP = "unk__"
"""How onnx's inference begins the names that it makes up for sizes that it cannot tell."""


def parse_shapes(texts: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Read shapes as trtexec spells them, ``x:2x16x64,mask:2x16``; a UsageError where a text is no shape."""
    shapes = {}
    for text in ",".join(texts).split(",") if texts else ():
        name, _, dims = text.rpartition(":")
        words = dims.split("x") if dims else []
        if not name or not all(word.isdecimal() for word in words):
            raise UsageError("--shapes", f"{text!r} is not a shape", "Write them as in x:2x16x64,mask:2x16")
        shapes[name] = tuple(int(word) for word in words)
    return shapes


def input_shapes(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every input; dynamic dimensions are 1, as in trtexec, where ``shapes`` has no other.

    Raises:
        UsageError: An input of no known rank has no shape, or a shape does not fit.
    """
    unknown = shapes.keys() - {value.name for value in model.graph.input}
    if unknown:
        names = ", ".join(value.name for value in model.graph.input)
        raise UsageError("--shapes", f"the model has no input {min(unknown)!r}", f"Its inputs are {names}")
    unranked = [v.name for v in model.graph.input if sizes_of(v) is None and v.name not in shapes]
    if unranked:
        form = ",".join(f"{name}:N" for name in unranked)
        what = f"{' and '.join(unranked)} may have any number of dimensions"
        raise UsageError("--shapes", what, f"Add `--shapes {form}` with sizes such as 2x16 for each N, as for trtexec")
    return {value.name: _filled(value, shapes.get(value.name)) for value in model.graph.input}


def defaulted(model: onnx.ModelProto, shapes: Mapping[str, Sequence[int]]) -> list[str]:
    """Return the dynamic inputs that have no shape in ``shapes``, spelled with the sizes that they then have."""
    dynamic = [value for value in model.graph.input if not is_static(dims_of(value)) and value.name not in shapes]
    return [f"{value.name}:{spelled(value, '1')}" for value in dynamic]


def _filled(value: onnx.ValueInfoProto, given: Sequence[int] | None) -> tuple[int, ...]:
    if given is None:
        return tuple(1 if size is None else size for size in sizes_of(value) or ())
    if not fits(given, sizes_of(value)):
        what = f"{'x'.join(map(str, given)) or 'a scalar'} does not fit the input {value.name}"
        raise UsageError("--shapes", what, f"The model takes {spelled(value) or 'a scalar'}")
    return tuple(given)


def fits(shape: Sequence[int], dims: Dims | None) -> bool:
    """Whether a shape may be that of a tensor of these dimensions."""
    if dims is None:
        return True
    known = ((size, dim) for size, dim in zip(shape, dims, strict=False) if isinstance(dim, int))
    return len(shape) == len(dims) and all(size == dim for size, dim in known)


def spelled(value: onnx.ValueInfoProto, unknown: str = "?") -> str:
    """Return the sizes of a tensor as trtexec spells them; "" for a scalar."""
    sizes = sizes_of(value)
    return unknown if sizes is None else "x".join(unknown if size is None else str(size) for size in sizes)


def is_dynamic(model: onnx.ModelProto) -> bool:
    """Whether an input has a dimension without a fixed size."""
    return not all(is_static(dims_of(value)) for value in model.graph.input)


def dimension_names(model: onnx.ModelProto) -> list[str]:
    """Return the names of the dynamic dimensions of inputs."""
    names = (dim.dim_param for value in model.graph.input for dim in value.type.tensor_type.shape.dim)
    return list(dict.fromkeys(name for name in names if name))


@dataclass(frozen=True, slots=True)
class TensorType:
    """ONNX's element type, and the dimensions: sizes, names, None where nothing is known; None without a rank.

    ``other`` is the serialized type of a value that is no tensor: a sequence, an optional value, a map.
    """

    element: int
    dims: Dims | None
    other: bytes = b""


def type_of(value: onnx.ValueInfoProto) -> TensorType | None:
    """Return the type of a value; None where nothing is said."""
    kind = value.type.WhichOneof("value")
    if kind not in {None, "tensor_type"}:
        return TensorType(0, None, value.type.SerializeToString(deterministic=True))
    element = value.type.tensor_type.elem_type
    return TensorType(element, dims_of(value)) if element else None


def is_static(dims: Dims | None) -> TypeGuard[tuple[int, ...]]:
    """Whether dimensions are sizes, all of them."""
    return dims is not None and all(isinstance(dim, int) for dim in dims)


def dims_of(value: onnx.ValueInfoProto) -> Dims | None:
    """Return the dimensions of a tensor: sizes, names, None where nothing is known; None without a rank."""
    tensor = value.type.tensor_type
    return tuple(map(_dim, tensor.shape.dim)) if tensor.HasField("shape") else None


def sizes_of(value: onnx.ValueInfoProto) -> Sizes | None:
    """Return the sizes of a tensor, None where one is not known; None without a rank."""
    dims = dims_of(value)
    return None if dims is None else tuple(dim if isinstance(dim, int) else None for dim in dims)


def _dim(dim: onnx.TensorShapeProto.Dimension) -> int | str | None:
    if dim.HasField("dim_value") and dim.dim_value >= 0:
        return int(dim.dim_value)
    return str(dim.dim_param) or None


def element_types(model: onnx.ModelProto) -> dict[str, int]:
    """Return ONNX's element type of each tensor whose type a model states, in its subgraphs too."""
    constants = {tensor.name: tensor.data_type for tensor in initializers(model.graph)}
    types = ((value.name, value.type.tensor_type.elem_type) for value in declarations(model.graph))
    return constants | {name: element for name, element in types if element}


def sizes_by_tensor(model: onnx.ModelProto) -> dict[str, Sizes]:
    """Return the sizes of each tensor whose rank a model states, in its subgraphs too; None where one is not known."""
    constants = {tensor.name: tuple(tensor.dims) for tensor in initializers(model.graph)}
    known = ((value.name, sizes_of(value)) for value in declarations(model.graph))
    return {name: sizes for name, sizes in known if sizes is not None} | constants


def types_of(model: onnx.ModelProto) -> dict[str, TensorType]:
    """Return the types of a model's tensors: as it states them, as onnx infers them, as ONNX Runtime does."""
    types: dict[str, TensorType] = {}
    for each in (model, _inferred(model), _symbolic(model)):
        for value in declarations(each.graph) if each is not None else ():
            new, old = type_of(value), types.get(value.name)
            if new is not None and (old is None or _unknown(new) < _unknown(old)):  # the one that says most
                types[value.name] = new
    return types


def _unknown(known: TensorType) -> int:
    """Return how little a type says; a name that onnx made up says that a size is dynamic, not which one it is."""
    if known.dims is None:
        return 0 if known.other else 1 << 10
    made_up = sum(isinstance(dim, str) and dim.startswith(_MADE_UP) for dim in known.dims)
    return 2 * sum(dim is None for dim in known.dims) + made_up


def _inferred(model: onnx.ModelProto) -> onnx.ModelProto | None:
    try:
        return onnx.shape_inference.infer_shapes(model, data_prop=True)
    except (onnx.shape_inference.InferenceError, RuntimeError, ValueError):  # the model may be what is wrong
        return None


def _symbolic(model: onnx.ModelProto) -> onnx.ModelProto | None:
    """Return what ONNX Runtime's symbolic inference makes of a model; None where it is not there, fails, or is slow."""
    # a child process, since it fails on what it does not know in many ways
    if not dimension_names(model) or importlib.util.find_spec("sympy") is None or model.ByteSize() > _LARGEST_INFERRED:
        return None
    with tempfile.TemporaryDirectory() as scratch:
        before, after = Path(scratch, "before.onnx"), Path(scratch, "after.onnx")
        before.write_bytes(references_as_inputs(model).SerializeToString())
        words = ["--input", str(before), "--output", str(after), "--auto_merge"]
        line = [sys.executable, "-m", "onnxruntime.tools.symbolic_shape_infer", *words]
        with suppress(subprocess.TimeoutExpired):
            completed(line, timeout=_PATIENCE_S, folder=scratch)  # where it fails it leaves a file
        return onnx.load(after) if after.exists() else None


_KNOWN = ":known"
_WIDEST = 8
_INFERRED = 1 << 12
"""Bytes of a constant that inference of shapes may want to read; larger ones are no shapes."""
_FIRST_MAY_LACK = {"Loop", "Scan", "Optional"}
"""Operators whose first input may be left out; without it others end onnx's inference, and the process with it."""
_QUOTED = 300
_OF_SHAPES = re.compile(
    r"^(?!.*(?:K input must|sum of|ParseData|op_type:(?:Expand|Tile)\b)).*ShapeInferenceError.*(?:ncompatible|ismatch"
    r"|dimension|[Ss]hape of|rank|evenly|(?:Pads|axes) has incorrect|requested k|repeated|exactly|number of axes"
    r"|xpected axis|'axis' must|must be 1 instead of)"
)
"""What inference refuses and the builder of TensorRT-RTX 1.7.1 refuses too."""
_INNERMOST = re.compile(r"node name: (?P<node>[^()]*)\): (?P<why>(?!\[\w+\] Inference error).*?)(?: \(op_type:|$)")
"""The first node, in a body where a body is refused, and why."""
_OF_NODE = re.compile(r"node name: (?P<node>.*?)\): (?:\[\w+\] )?(?P<why>(?!.*\(op_type:Constant\)).+)")


@dataclass(frozen=True, slots=True)
class ShapeFault:
    """What inference of shapes refuses: its message, and the name of the node where it has one."""

    node: str
    message: str


def inferred(
    model: onnx.ModelProto,
    shapes: Mapping[str, Sequence[int | None]],
    *,
    strict: bool,
    known: Mapping[str, npt.NDArray[Any]] | None = None,
    empty: Mapping[str, Sizes] | None = None,
) -> tuple[onnx.ModelProto, ShapeFault | None]:
    """Infer types and sizes of a copy without weights; where inference refuses a node, what it can, with the reason.

    Nodes read the values of ``known`` tensors as constants: inference propagates few values itself. Nodes of ``empty``
    results are left out: inference gives such a pooling one element.
    """
    light = without_weights(model, empty or {})
    _give(light.graph, known or {})
    for value in light.graph.input:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_value < 0:  # exporters write -1 for a size that is not known; inference computes with it
                dim.ClearField("dim_value")
        if value.name in shapes:
            element = value.type.tensor_type.elem_type
            value.CopyFrom(helper.make_tensor_value_info(value.name, element, list(shapes[value.name])))
    if strict:  # what is stated may be of other shapes, or wrong, and TensorRT does not look at it
        del light.graph.value_info[:]
        for output in (each for each in light.graph.output if each.type.HasField("tensor_type")):
            output.type.tensor_type.ClearField("shape")
    refused = None
    for data_prop in (True, False):  # what only the propagation of values refuses, it cannot broadcast
        try:
            return onnx.shape_inference.infer_shapes(light, strict_mode=strict, data_prop=data_prop), None
        except onnx.shape_inference.InferenceError as error:
            refused = _fault(str(error)) if strict else None
        except (RuntimeError, ValueError, TypeError):  # what it fails on is no fault of shapes
            refused = None
    with suppress(onnx.shape_inference.InferenceError, RuntimeError, ValueError, TypeError):
        light = onnx.shape_inference.infer_shapes(light, data_prop=True)
    return light, refused


def _as_made(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a copy without weights that states nothing of what nodes make."""
    light = without_weights(model)
    del light.graph.value_info[:]
    for output in light.graph.output:
        output.ClearField("type")
    return light


def made_types(model: onnx.ModelProto) -> dict[str, int]:
    """Return the element types of tensors by what makes them, whatever the model states."""
    with suppress(onnx.shape_inference.InferenceError, RuntimeError, ValueError, TypeError):
        return element_types(onnx.shape_inference.infer_shapes(_as_made(model)))
    return {}


def forbidden(model: onnx.ModelProto) -> ShapeFault | None:
    """Return the first thing that ONNX's rules forbid and ``inferred`` lets pass: types, mostly; TensorRT may not."""
    light = _as_made(model)
    for node in light.graph.node:
        node.name = node.name or next(filter(None, node.output), "")
    try:
        onnx.shape_inference.infer_shapes(light, check_type=True, strict_mode=True)
    except onnx.shape_inference.InferenceError as error:
        text = " ".join(str(error).split())
        if (told := _OF_NODE.search(text)) and not _OF_SHAPES.search(text):
            return ShapeFault(told["node"], told["why"].rstrip("."))
    except (RuntimeError, ValueError, TypeError):  # what it fails on is no fault of the model
        return None
    return None


def _give(graph: onnx.GraphProto, known: Mapping[str, npt.NDArray[Any]]) -> None:
    for number, scope in enumerate(graphs(graph) if known else ()):  # a body's inference reads its own constants alone
        read = {name: f"{name}{_KNOWN}{number}" for node in scope.node for name in node.input if name in known}
        for node in scope.node:
            node.input[:] = [read.get(name, name) for name in node.input]
        scope.initializer.extend(numpy_helper.from_array(known[name], new) for name, new in read.items())


def _fault(message: str) -> ShapeFault | None:
    """Return what a message says of shapes; None where it is about anything else."""
    text = " ".join(message.split())
    if _OF_SHAPES.search(text) is None:
        return None
    inner = _INNERMOST.search(text)
    return ShapeFault(inner["node"], inner["why"][:_QUOTED]) if inner else ShapeFault("", text[:_QUOTED])


def _is_survived(node: onnx.NodeProto) -> bool:
    """Whether onnx's inference of a node does not end the process: without its first input, or with too few parts."""
    parts = [each.i for each in node.attribute if each.name == "num_outputs" and node.op_type == "Split"]
    return ("" not in node.input[:1] or node.op_type in _FIRST_MAY_LACK) and all(
        count >= len(node.output) for count in parts
    )


def without_weights(model: onnx.ModelProto, given: Mapping[str, Sizes] | None = None) -> onnx.ModelProto:
    """Return a copy whose constants that are too large for shapes are inputs, and the ``given`` results of nodes."""
    results, whole = given or {}, model.graph
    kept = (node for node in whole.node if results.keys().isdisjoint(node.output))
    stated = {"input": whole.input, "output": whole.output, "value_info": whole.value_info}
    graph = onnx.GraphProto(name=whole.name, node=kept, **stated)
    for scope in graphs(graph):
        if not all(map(_is_survived, scope.node)):
            refill(scope, "node", filter(_is_survived, scope.node))
    for node in (each for scope in graphs(graph) for each in scope.node if each.op_type == "STFT"):
        if all(attribute.name != "onesided" for attribute in node.attribute):  # inference takes 0 for the default
            node.attribute.append(helper.make_attribute("onesided", 1))
    graph.input.extend(helper.make_tensor_value_info(name, 1, sizes) for name, sizes in results.items())
    listed = {value.name for value in whole.input}
    for tensor in whole.initializer:
        if _WIDEST * prod(tensor.dims) <= _INFERRED and not external_data_helper.uses_external_data(tensor):
            graph.initializer.append(tensor)
        elif tensor.name not in listed:
            graph.input.append(helper.make_tensor_value_info(tensor.name, tensor.data_type, list(tensor.dims)))
    more = {"functions": model.functions, "opset_import": model.opset_import}
    return onnx.ModelProto(ir_version=model.ir_version, graph=graph, **more)
