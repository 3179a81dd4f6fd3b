"""What may become simpler about a cut model: sizes halved, weights random, attributes at their defaults, other names.

A simplification is an item of the search: active, the model is as it was. Sizes go by their number: every dimension of
768 becomes 384 together with the constants that spell 768, since they mostly are one size of the network.
"""

import zlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import AttributeProto, numpy_helper

from trtforensics.model.older_python import StrEnum
from trtforensics.onnx_models.cutting import Original
from trtforensics.onnx_models.graphs import declarations, graphs, initializers, nodes_of, refill, rename
from trtforensics.onnx_models.reading import schema_of
from trtforensics.onnx_models.samples import Values
from trtforensics.onnx_models.shapes import dimension_names
from trtforensics.onnx_models.streaming import key_of
from trtforensics.redaction.pseudonyms import Pseudonyms
from trtforensics.redaction.vocabulary import vocabulary

_SMALL = 64
"""Elements of an integer constant that may spell sizes."""
PASSED = "_passed"
"""What follows the name of a tensor that passes through a subgraph."""
_PART = 1 << 20
"""Elements of a large constant that become random at once."""
_SIZED = {"kernel_shape"}
"""Attributes that repeat a size of a weight."""


class Aspect(StrEnum):
    """What is simplified, by what a :class:`Simplification` of it leaves as it was."""

    DYNAMIC = "the dynamic dimension {0.key}"
    SIZE = "the size {0.key}, halving {0.step}"
    ATTRIBUTE = "the attribute {0.attribute} of {0.key}"
    WEIGHTS = "the values of {0.key}"
    NAMES = "the names"
    FILE = "the file as it is"
    CONSTANTS = "the Constant nodes"
    INPUTS = "the inputs that no node reads or that have default values"
    METADATA = "metadata and documentation"


REWRITINGS = frozenset({Aspect.FILE, Aspect.CONSTANTS, Aspect.INPUTS, Aspect.METADATA})
"""Aspects of the file that go before anything is cut, see :class:`trtforensics.reduce.deriving.ModelFile`."""


@dataclass(frozen=True, slots=True)
class Simplification:
    """One thing that may be simpler. ``key`` is a dimension, a size, a tensor, or a node and an attribute."""

    aspect: Aspect
    key: str = ""
    attribute: str = ""
    step: int = 0

    @property
    def text(self) -> str:
        """What stays as it was while this is active."""
        return self.aspect.value.format(self)


def kept_texts(kept: Iterable[Simplification]) -> list[str]:
    """Return what stays as it was, one text a size: what is left of it after the halvings that were possible."""
    simplifications = list(kept)
    steps = Counter(each.key for each in simplifications if each.aspect is Aspect.SIZE)
    return list(dict.fromkeys(_kept_text(each, steps) for each in simplifications))


def _kept_text(each: Simplification, steps: Mapping[str, int]) -> str:
    if each.aspect is not Aspect.SIZE:
        return each.text
    size = int(each.key)
    now = size >> (size.bit_length() - 1 - steps[each.key])
    return f"the size {size}" if now == size else f"the size {size}, as far as {now}"


def simplifications_of(
    original: Original, *, anonymous: bool, sample: Mapping[str, Values] | None = None
) -> tuple[Simplification, ...]:
    """Return everything about a model that may become simpler, in a fixed order; ``sample`` has its inputs' sizes."""
    inferred = (dim for known in original.types.values() for dim in known.dims or () if isinstance(dim, str))
    names = dict.fromkeys((*dimension_names(original.model), *inferred))
    simpler = [Simplification(Aspect.DYNAMIC, name) for name in names]
    simpler += [
        Simplification(Aspect.SIZE, str(size), step=step)
        for size in sorted(_all_sizes(original, sample or {}), reverse=True)
        for step in range(1, size.bit_length())
    ]
    versions = {entry.domain: entry.version for entry in original.model.opset_import}
    for node in original.nodes:
        simpler += [Simplification(Aspect.ATTRIBUTE, node.name, name) for name in _beyond_default(node.proto, versions)]
    simpler += [
        Simplification(Aspect.WEIGHTS, name) for name, tensor in original.constants.items() if _is_random(tensor)
    ]
    return (*simpler, Simplification(Aspect.NAMES)) if anonymous else tuple(simpler)


def simplify(
    model: onnx.ModelProto,
    inputs: Mapping[str, Values],
    simpler: Collection[Simplification],
    streamed: dict[str, Values],
    renames: Mapping[str, str],
) -> dict[str, Values]:
    """Simplify a model and its streamed constants in place; return the values of its inputs, simplified too.

    ``renames`` has the made-up name of each name of the original.
    """
    values = dict(inputs)
    if not simpler:
        return values
    random = {each.key for each in simpler if each.aspect is Aspect.WEIGHTS}
    present = _present_sizes(model, values)
    sizes = {size: smaller for size, smaller in _sizes(simpler).items() if size in present}
    _drop_attributes(model, {(each.key, each.attribute) for each in simpler if each.aspect is Aspect.ATTRIBUTE})
    _fix_dimensions(model, values, {each.key for each in simpler if each.aspect is Aspect.DYNAMIC})
    if sizes:
        _shrink_streamed(model, streamed, sizes)
        values = _shrink(model, values, sizes)
    for tensor in (each for each in initializers(model.graph) if each.name in random):
        if tensor.name in streamed:
            streamed[tensor.name] = _random_values(tensor.name, streamed[tensor.name])
        else:
            array = _random_values(tensor.name, numpy_helper.to_array(tensor))
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    if any(each.aspect is Aspect.NAMES for each in simpler):
        passed = {f"{name}{PASSED}": f"{other}{PASSED}" for name, other in renames.items()}
        values = _renamed(model, values, {**passed, **renames})
    return values


def _renamed(model: onnx.ModelProto, values: Mapping[str, Values], names: Mapping[str, str]) -> dict[str, Values]:
    rename(model.graph, names)
    for graph in graphs(model.graph):
        graph.name = "reduced"
        for part in (graph, *graph.node, *graph.input, *graph.output, *graph.initializer, *graph.value_info):
            part.ClearField("doc_string")
            del part.metadata_props[:]
        for node in graph.node:
            node.name = names.get(node.name, node.name)
            for attribute in node.attribute:
                attribute.ClearField("doc_string")
    for value in declarations(model.graph):
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param:
                dim.dim_param = names.get(dim.dim_param, dim.dim_param)
    return {names.get(name, name): value for name, value in values.items()}


def made_up_names(original: Original) -> dict[str, str]:
    """Return a made-up name for each node and tensor, as ``redact`` makes them."""
    pseudonyms = Pseudonyms(vocabulary())
    names = [node.name for node in original.nodes] + list(original.makers)
    names += [*original.constants, *original.sources]
    names += [
        value.name for node in original.nodes for _, body in node.bodies() for value in (*body.input, *body.output)
    ]
    names += [dim for known in original.types.values() for dim in known.dims or () if isinstance(dim, str)]
    return {name: pseudonyms.rewrite(name) for name in dict.fromkeys(names)}


def relevant_to(model: onnx.ModelProto, values: Mapping[str, Values], simplification: Simplification) -> bool:
    """Whether a simplification, by itself or with others, changes a model whose inputs have some values."""
    key, aspect = simplification.key, simplification.aspect
    if aspect is Aspect.DYNAMIC:
        return key in dimension_names(model)
    if aspect is Aspect.SIZE:
        return int(key) in _present_sizes(model, values)
    if aspect is Aspect.ATTRIBUTE:
        nodes = (node for node in nodes_of(model.graph) if node.name == key)
        return any(attribute.name == simplification.attribute for node in nodes for attribute in node.attribute)
    if aspect is Aspect.WEIGHTS:
        return any(tensor.name == key for tensor in initializers(model.graph))
    return aspect not in REWRITINGS


def _present_sizes(model: onnx.ModelProto, values: Mapping[str, Values]) -> set[int]:
    """Return the sizes of inputs and constants, and those that small constants and attributes may spell."""
    inner = list(graphs(model.graph))
    constants = list(initializers(model.graph))
    spelling = [numpy_helper.to_array(t) for t in constants if int(np.prod(t.dims)) <= _SMALL]
    repeating = [a for node in nodes_of(model.graph) for a in node.attribute if a.name in _SIZED]
    sizes = {size for array in values.values() for size in array.shape} | {d for t in constants for d in t.dims}
    sizes |= {d.dim_value for graph in inner for value in graph.input for d in value.type.tensor_type.shape.dim}
    sizes |= {int(size) for array in spelling if _is_spelled(array) for size in array.reshape(-1)}
    return sizes | {size for attribute in repeating for size in attribute.ints}


def _all_sizes(original: Original, sample: Mapping[str, Values]) -> set[int]:
    given = {size for name in original.sources.keys() & sample.keys() for size in sample[name].shape}
    inputs = original.model.graph.input
    sizes = {dim.dim_value for value in inputs for dim in value.type.tensor_type.shape.dim}
    sizes |= {size for tensor in original.constants.values() for size in tensor.dims}
    sizes |= {dim for known in original.types.values() for dim in known.dims or () if isinstance(dim, int)}
    return {size for size in sizes | given if size > 1}


def _is_random(tensor: onnx.TensorProto) -> bool:
    floats = {onnx.TensorProto.FLOAT, onnx.TensorProto.FLOAT16, onnx.TensorProto.DOUBLE}
    return tensor.data_type in floats and bool(np.prod(tensor.dims) > 1)


def _beyond_default(proto: onnx.NodeProto, versions: Mapping[str, int]) -> Iterator[str]:
    """Yield the attributes that have a default, or may be left out, and are set to something else."""
    schema = schema_of(proto.op_type, versions.get(proto.domain, 1), proto.domain)
    for attribute in proto.attribute:
        known = None if schema is None else schema.attributes.get(attribute.name)
        is_graph = attribute.type in {AttributeProto.GRAPH, AttributeProto.GRAPHS}
        if known is None or known.required or is_graph or _same(known.default_value, attribute):
            continue
        yield attribute.name


def _same(default: AttributeProto, attribute: AttributeProto) -> bool:
    if not default.name:
        return False
    return bool(onnx.helper.get_attribute_value(default) == onnx.helper.get_attribute_value(attribute))


def _drop_attributes(model: onnx.ModelProto, drop: Collection[tuple[str, str]]) -> None:
    for node in nodes_of(model.graph) if drop else ():
        kept = [each for each in node.attribute if (node.name, each.name) not in drop]
        if len(kept) < len(node.attribute):
            refill(node, "attribute", kept)


def _fix_dimensions(model: onnx.ModelProto, values: Mapping[str, Values], fixed: AbstractSet[str]) -> None:
    if fixed.isdisjoint(dimension_names(model)):
        return
    for value in model.graph.input:
        shape = values[value.name].shape if value.name in values else ()
        for dim, size in zip(value.type.tensor_type.shape.dim, shape, strict=False):
            if dim.dim_param in fixed:
                dim.dim_value = size
    for output in model.graph.output:
        _forget_sizes(output)


def _sizes(simpler: Collection[Simplification]) -> dict[int, int]:
    """Return what each size becomes: halved once for each step."""
    sizes: dict[int, int] = {}
    for each in simpler:
        if each.aspect is Aspect.SIZE:
            sizes[int(each.key)] = max(1, sizes.get(int(each.key), int(each.key)) // 2)
    return sizes


def _shrink(model: onnx.ModelProto, values: Mapping[str, Values], sizes: Mapping[int, int]) -> dict[str, Values]:
    """Make dimensions smaller; of larger values, the beginning stays."""
    for graph in graphs(model.graph):
        for tensor in graph.initializer:
            _shrink_constant(tensor, sizes)
        for attribute in (each for node in graph.node for each in node.attribute if each.name in _SIZED):
            attribute.ints[:] = [sizes.get(size, size) for size in attribute.ints]
        for dim in (dim for value in graph.input for dim in value.type.tensor_type.shape.dim):
            if dim.HasField("dim_value"):
                dim.dim_value = sizes.get(dim.dim_value, dim.dim_value)
        for output in graph.output:
            _forget_sizes(output)
    return {name: _cut(array, sizes) for name, array in values.items()}


def _shrink_streamed(model: onnx.ModelProto, streamed: dict[str, Values], sizes: Mapping[int, int]) -> None:
    """Make streamed constants smaller: views of their beginnings, which are read when they are written."""
    for tensor in model.graph.initializer:
        if tensor.name in streamed:
            streamed[tensor.name] = _cut(streamed[tensor.name], sizes)
            tensor.dims[:] = streamed[tensor.name].shape


def _shrink_constant(tensor: onnx.TensorProto, sizes: Mapping[int, int]) -> None:
    if key_of(tensor) is not None:
        return
    array = numpy_helper.to_array(tensor)
    smaller = _spelled(array, sizes) if _is_spelled(array) else _cut(array, sizes)
    if smaller.shape != array.shape or smaller.tobytes() != array.tobytes():
        tensor.CopyFrom(numpy_helper.from_array(smaller, tensor.name))


def _forget_sizes(value: onnx.ValueInfoProto) -> None:
    """Leave the sizes of a declared tensor open, or of the tensors in a sequence or an optional; the rank stays."""
    declared = value.type
    while (holder := declared.WhichOneof("value")) in {"sequence_type", "optional_type"}:
        declared = getattr(declared, holder).elem_type
    for dim in declared.tensor_type.shape.dim:
        dim.Clear()


def _cut(array: Values, sizes: Mapping[int, int]) -> Values:
    cut: Any = array[tuple(slice(sizes.get(size, size)) for size in array.shape)] if array.ndim else array
    return np.asarray(cut)


def _is_spelled(array: Values) -> bool:
    """Whether a constant may be a list of sizes: it keeps its length, which is a rank."""
    return array.dtype.kind == "i" and array.size <= _SMALL and array.ndim <= 1


def _spelled(array: Values, sizes: Mapping[int, int]) -> Values:
    return np.asarray([sizes.get(int(each), int(each)) for each in array.reshape(-1)], array.dtype).reshape(array.shape)


def _random_values(name: str, array: Values) -> Values:
    """Return random values of an array's range, the same each time; a part at a time: it may be a mapped file."""
    low, high = _range(array)
    random = np.random.default_rng(zlib.crc32(name.encode()))
    made = np.empty(array.shape, array.dtype)
    flat = made.reshape(-1)
    for start in range(0, flat.size, _PART):
        some = flat[start : start + _PART]
        some[...] = random.uniform(low, high, some.size)
    return made


def _range(array: Values) -> tuple[float, float]:
    """Return the least and the largest finite value, row by row of a large array; 0 and 1 where none is finite."""
    rows = array if array.ndim > 1 and array.size > _PART else array[np.newaxis]
    lows, highs = [], []
    for row in rows:
        finite = np.asarray(row)[np.isfinite(row)]
        if finite.size:
            lows.append(float(finite.min()))
            highs.append(float(finite.max()))
    return (min(lows), max(highs)) if lows else (0.0, 1.0)
