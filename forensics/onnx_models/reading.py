"""Prepares a model file: the result is the model that every probe starts from.

What does not fit into one message is streamed: its large constants stay in their files.

Preparation inlines local functions, puts nodes in order, makes the names of nodes and of tensors inside subgraphs
unique, takes initializers out of the inputs, and infers types and shapes. The operator set stays, and the results stay,
bit for bit.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import onnx
import onnx.inliner
from onnx import external_data_helper, numpy_helper

from trtforensics.errors import SourceError
from trtforensics.onnx_models import streaming
from trtforensics.onnx_models.graphs import (
    STANDARD,
    copied,
    defined,
    graphs,
    initializers,
    load,
    operator_set,
    refill,
    rename,
)
from trtforensics.onnx_models.rewriting import sort_nodes

_FIRST_IR_WITHOUT_INITIALIZER_INPUTS = 4
_LARGEST = 1_900_000_000
"""Bytes of external data in the message of a model, which has at most 2 GiB; from there on it is streamed."""

_CONSTANT_FIELDS = {"value_float", "value_floats", "value_int", "value_ints"}
_SPLIT = "Cut the model in parts"

_OLDEST = 7
"""Before this operator set, arithmetic did not broadcast; ONNX Runtime runs it no more."""

_EXPORT_AGAIN = "Export it again, or check it with `onnx.checker.check_model(path, full_check=True)`"


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model ready for casting; ``notes`` say what had to be changed.

    ``external`` names the constants with values in separate files; models that are written keep them separate too.
    ``renamed`` says that nodes of the file have no name, or another's.
    """

    path: str
    proto: onnx.ModelProto
    external: frozenset[str]
    notes: tuple[str, ...]
    streamed: streaming.Streamed = field(default_factory=dict)
    """The values of streamed constants, by name."""
    renamed: bool = False
    apart: tuple[onnx.ModelProto, streaming.Streamed] | None = None
    """The model with references in place of its large constants, and their values; None while it is not inferred."""


def prepare(path: str) -> PreparedModel:
    """Read a model."""
    unchecked = read_unchecked(path)
    return valid(unchecked, unchecked.proto)


def read_unchecked(path: str, *, inline: bool = True) -> PreparedModel:
    """Read a model that may be invalid; nothing is inferred. Without ``inline`` local functions stay."""
    read = read_as_it_is(path)
    model = read.proto
    notes = []
    if model.functions and inline:
        model = inlined(path, model)
        notes.append("local functions are inlined")
    if sort_nodes(model.graph):
        notes.append("nodes stood before nodes that they read, and are in order now, as ONNX wants them")
    if _separate_inputs(model):
        notes.append("initializers are no inputs, as TensorRT reads them")
    renamed = unique_node_names(model.graph)
    if renamed:
        notes.append(f"{renamed} nodes had an empty name or another's and got one of their own")
    unique_body_tensors(model.graph)
    return replace(read, proto=model, notes=tuple(notes), renamed=bool(renamed))


def inlined(path: str, model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model without local functions; a SourceError where one calls itself, or is called with too much."""
    try:
        return onnx.inliner.inline_local_functions(model) if model.functions else model
    except (onnx.checker.ValidationError, RuntimeError) as error:
        reason = str(error).rpartition(" failed: ")[2].partition(". ")[0].rstrip(".")
        raise SourceError(path, f"has functions that cannot be inlined: {reason}", _EXPORT_AGAIN) from error


def read_as_it_is(path: str) -> PreparedModel:
    """Read a model, valid or not; a SourceError where it cannot be read, or has none of the standard operators."""
    model = load(path)
    version = operator_set(model)
    if not model.graph.node or not version:
        raise SourceError(path, "is not an ONNX model with nodes of the standard operators", _EXPORT_AGAIN)
    if not _OLDEST <= version <= onnx.defs.onnx_opset_version():
        known = f"the installed onnx {onnx.__version__} knows up to {onnx.defs.onnx_opset_version()}"
        what = f"uses operator set {version}; {known}, and ONNX Runtime runs {_OLDEST} and later"
        raise SourceError(path, what, "Export it with another, or convert it by onnx.version_converter")
    external, streamed = _load_data(path, model)
    return PreparedModel(path, model, external, (), streamed)


def rewritten(prepared: PreparedModel, proto: onnx.ModelProto, note: str) -> PreparedModel:
    """Return another form of a prepared model, with unique node names and inferred types."""
    unique_node_names(proto.graph)
    return replace(valid(prepared, proto), notes=(*prepared.notes, note))


def valid(prepared: PreparedModel, proto: onnx.ModelProto) -> PreparedModel:
    """Return a prepared model of another message, whose types are inferred in place."""
    source, large = inferred(prepared.path, proto)
    for part in ("node", "output", "value_info"):
        refill(proto.graph, part, getattr(source.graph, part))
    return replace(prepared, proto=proto, apart=(source, large))


def inferred(path: str, model: onnx.ModelProto) -> tuple[onnx.ModelProto, streaming.Streamed]:
    """Return a model with types and references to large constants, and their values; a SourceError if not valid."""
    try:
        light, large = streaming.apart(model)
        typed = onnx.shape_inference.infer_shapes(light, check_type=True, data_prop=True)
        onnx.checker.check_model(streaming.references_as_inputs(typed))
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError) as error:
        reason = " ".join(str(error).split())
        raise SourceError(path, f"is not a valid ONNX model: {reason[:300].rstrip('.')}", _EXPORT_AGAIN) from error
    return typed, large


def _load_data(path: str, model: onnx.ModelProto) -> tuple[frozenset[str], streaming.Streamed]:
    """Read the external data into the model; return the names of its constants, and the values of streamed ones."""
    folder = Path(path).resolve().parent
    external = [tensor for tensor in initializers(model.graph) if external_data_helper.uses_external_data(tensor)]
    size = 0
    for place in sorted(
        {entry.value for tensor in external for entry in tensor.external_data if entry.key == "location"}
    ):
        if Path(place).is_absolute() or ".." in Path(place).parts:
            raise SourceError(path, f"keeps data outside of its folder ({place})", "Save it with its data beside it")
        if not (folder / place).is_file():
            raise SourceError(path, f"needs the file {place} beside it", "Copy that there")
        size += (folder / place).stat().st_size
    try:
        streamed = _mapped(model, folder) if size > _LARGEST else {}
        _hold(path, [tensor for tensor in external if tensor.name not in streamed], folder)
    except (OSError, ValueError, onnx.checker.ValidationError) as error:
        raise SourceError(
            path, f"its external data cannot be read: {' '.join(str(error).split())}", "Save it anew"
        ) from error
    return frozenset(tensor.name for tensor in external), streamed


def _mapped(model: onnx.ModelProto, folder: Path) -> streaming.Streamed:
    """Map the large constants of the main graph, and leave references in the message."""
    streamed = {}
    for tensor in model.graph.initializer:
        if streaming.key_of(tensor) is not None and streaming.is_worth_streaming(tensor):
            streamed[tensor.name] = streaming.mapped(tensor, folder)
            tensor.CopyFrom(streaming.reference(tensor.name, tensor.data_type, tuple(tensor.dims)))
    return streamed


def _hold(path: str, external: Sequence[onnx.TensorProto], folder: Path) -> None:
    held = 0
    for tensor in external:
        external_data_helper.load_external_data_for_tensor(tensor, str(folder))
        tensor.data_location = onnx.TensorProto.DEFAULT
        tensor.ClearField("external_data")
        held += len(tensor.raw_data)
        if held > _LARGEST:
            what = f"has over {_LARGEST / 1e9:.1f} GB of constants that are small, sub-byte or in bodies of nodes"
            raise SourceError(path, f"{what}; only large ones of the main graph can stay in their file", _SPLIT)


def _separate_inputs(model: onnx.ModelProto) -> bool:
    """Take initializers out of the inputs, where models of IR version 3 list them."""
    constants = {tensor.name for tensor in model.graph.initializer}
    kept = [value for value in model.graph.input if value.name not in constants]
    if len(kept) == len(model.graph.input):
        return False
    refill(model.graph, "input", kept)
    model.ir_version = max(model.ir_version, _FIRST_IR_WITHOUT_INITIALIZER_INPUTS)
    return True


def unique_node_names(graph: onnx.GraphProto) -> int:
    """Give every node a unique name, which ONNX Runtime and the items need. Return how many names changed.

    A node without a name gets the one that TensorRT's parser gives its layer: ``node_of_`` and its first output.
    """
    nodes = [node for scope in graphs(graph) for node in scope.node]
    taken = {node.name for node in nodes} | {""}
    names = {""}
    changed = 0
    for node in nodes:
        if node.name in names:
            stem = node.name or f"node_of_{next(iter(node.output), node.op_type)}"
            node.name = free_name(f"{stem}_node", taken) if stem in taken else stem  # TensorRT numbers layers by _N
            taken.add(node.name)
            changed += 1
        names.add(node.name)
    return changed


def unique_body_tensors(graph: onnx.GraphProto) -> None:
    """Give every tensor a unique name: the two branches of an ``If`` may use the same names."""
    taken = {name for scope in graphs(graph) for name in defined(scope)}
    names = set(defined(graph))
    for scope in graphs(graph):
        if scope is graph:
            continue
        renames = {}
        for name in defined(scope):
            if name in names:
                renames[name] = free_name(name, taken)
                taken.add(renames[name])
            names.add(renames.get(name, name))
        if renames:
            rename(scope, renames)


def free_name(stem: str, taken: Collection[str]) -> str:
    """Return the first name of a stem and a number that is not taken."""
    return next(name for number in count(1) if (name := f"{stem}_{number}") not in taken)


@cache
def schema_of(op: str, opset: int, domain: str = "") -> onnx.defs.OpSchema | None:
    """Return an operator as an operator set of its domain has it; None where it has none."""
    try:
        return onnx.defs.get_schema(op, opset, domain)
    except onnx.defs.SchemaError:
        return None


def constant_of(node: onnx.NodeProto) -> onnx.TensorProto | None:
    """Return the value of a Constant node, named after its result; None for other nodes, texts and sparse tensors."""
    if node.op_type != "Constant" or node.domain not in STANDARD or len(node.attribute) != 1:
        return None
    (attribute,) = node.attribute
    if attribute.name == "value":
        tensor: onnx.TensorProto = copied(attribute.t)
        tensor.name = node.output[0]
        return tensor
    if attribute.name in _CONSTANT_FIELDS:
        kind = np.float32 if "float" in attribute.name else np.int64
        return numpy_helper.from_array(np.asarray(onnx.helper.get_attribute_value(attribute), kind), node.output[0])
    return None
