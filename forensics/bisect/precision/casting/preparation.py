"""Prepares a model file: the result is the model that every probe starts from.

What does not fit into one message is streamed: its large constants stay in their files.

Preparation inlines local functions, makes the names of nodes and of tensors inside subgraphs unique, takes initializers
out of the inputs, and infers types and shapes. The operator set stays, and the results stay, bit for bit.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

import onnx
import onnx.inliner
from google.protobuf.message import DecodeError
from onnx import AttributeProto, external_data_helper

from trtforensics.bisect.precision.casting.streaming import (
    is_worth_streaming,
    key_of,
    mapped,
    reference,
    references_as_inputs,
)
from trtforensics.errors import NotAnOnnxModelError, SourceError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.bisect.precision.casting.streaming import Streamed

_FIRST_IR_WITHOUT_INITIALIZER_INPUTS = 4
_LARGEST = 1_900_000_000
"""Bytes of external data in the message of a model, which has at most 2 GiB; from there on it is streamed."""

_SPLIT = "Cut the model in parts"

_OLDEST = 7
"""Before this operator set, arithmetic did not broadcast; ONNX Runtime runs it no more."""

_EXPORT_AGAIN = "Export it again, or check it with `onnx.checker.check_model(path, full_check=True)`"


@dataclass(frozen=True, slots=True)
class PreparedModel:
    """A model ready for casting; ``notes`` say what had to be changed.

    ``external`` names the constants with values in separate files; models that are written keep them separate too.
    """

    path: str
    proto: onnx.ModelProto
    external: frozenset[str]
    notes: tuple[str, ...]
    streamed: Streamed = field(default_factory=dict)
    """The values of streamed constants, by name."""


def prepare(path: str) -> PreparedModel:
    """Read a model.

    Raises:
        SourceError: It cannot be read, is not a valid ONNX model, or has none of the standard operators.
    """
    unchecked = read_unchecked(path)
    return replace(unchecked, proto=_inferred(path, unchecked.proto))


def read_unchecked(path: str) -> PreparedModel:
    """Read a model that may be invalid; nothing is inferred.

    Raises:
        SourceError: It cannot be read, or has none of the standard operators.
    """
    model = _read(path)
    external, streamed = _load_data(path, model)
    notes = []
    if model.functions:
        model = onnx.inliner.inline_local_functions(model)
        notes.append("local functions are inlined")
    if _separate_inputs(model):
        notes.append("initializers are no inputs, as TensorRT reads them")
    renamed = _unique_node_names(model.graph)
    if renamed:
        notes.append(f"{renamed} nodes had an empty name or another's and got one of their own")
    _unique_body_tensors(model.graph)
    return PreparedModel(path, model, external, tuple(notes), streamed)


def rewritten(prepared: PreparedModel, proto: onnx.ModelProto, note: str) -> PreparedModel:
    """Return another form of a prepared model, with unique node names and inferred types.

    Raises:
        SourceError: it is no valid ONNX model.
    """
    _unique_node_names(proto.graph)
    inferred = _inferred(prepared.path, proto)
    return PreparedModel(prepared.path, inferred, prepared.external, (*prepared.notes, note), prepared.streamed)


def bodies(node: onnx.NodeProto) -> Iterator[onnx.GraphProto]:
    """Yield the subgraphs of a node (``If``, ``Loop``, ``Scan``)."""
    for attribute in node.attribute:
        if attribute.type == AttributeProto.GRAPH:
            yield attribute.g
        elif attribute.type == AttributeProto.GRAPHS:
            yield from attribute.graphs


def graphs(graph: onnx.GraphProto) -> Iterator[onnx.GraphProto]:
    """Yield a graph and every subgraph in it, in the order of the file."""
    yield graph
    for node in graph.node:
        for body in bodies(node):
            yield from graphs(body)


def _read(path: str) -> onnx.ModelProto:
    try:
        model = onnx.load(path, load_external_data=False)
    except OSError as error:
        raise SourceError(path, f"cannot be read: {(error.strerror or str(error)).lower()}") from error
    except (DecodeError, ValueError) as error:
        raise NotAnOnnxModelError(path, "is not an ONNX model", "Give the .onnx file that TensorRT reads") from error
    if not model.graph.node or not any(entry.domain in {"", "ai.onnx"} for entry in model.opset_import):
        raise SourceError(path, "is not an ONNX model with nodes of the standard operators", _EXPORT_AGAIN)
    version = max(entry.version for entry in model.opset_import if entry.domain in {"", "ai.onnx"})
    if not _OLDEST <= version <= onnx.defs.onnx_opset_version():
        known = f"the installed onnx {onnx.__version__} knows up to {onnx.defs.onnx_opset_version()}"
        what = f"uses operator set {version}; {known}, and ONNX Runtime runs {_OLDEST} and later"
        raise SourceError(path, what, "Export it with another, or convert it by onnx.version_converter")
    return model


def _inferred(path: str, model: onnx.ModelProto) -> onnx.ModelProto:
    try:
        inferred = onnx.shape_inference.infer_shapes(model, check_type=True, data_prop=True)
        onnx.checker.check_model(references_as_inputs(inferred))
    except (onnx.shape_inference.InferenceError, onnx.checker.ValidationError) as error:
        reason = " ".join(str(error).split())
        raise SourceError(path, f"is not a valid ONNX model: {reason[:300].rstrip('.')}", _EXPORT_AGAIN) from error
    return inferred


def _load_data(path: str, model: onnx.ModelProto) -> tuple[frozenset[str], Streamed]:
    """Read the external data into the model; return the names of its constants, and the values of streamed ones.

    Raises:
        SourceError: A data file is missing, cannot be read or lies outside of the model's folder.
    """
    folder = Path(path).resolve().parent
    tensors = [tensor for graph in graphs(model.graph) for tensor in graph.initializer]
    external = [tensor for tensor in tensors if external_data_helper.uses_external_data(tensor)]
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


def _mapped(model: onnx.ModelProto, folder: Path) -> Streamed:
    """Map the large constants of the main graph, and leave references in the message."""
    streamed = {}
    for tensor in model.graph.initializer:
        if key_of(tensor) is not None and is_worth_streaming(tensor):
            streamed[tensor.name] = mapped(tensor, folder)
            tensor.CopyFrom(reference(tensor.name, tensor.data_type, tuple(tensor.dims)))
    return streamed


def _hold(path: str, external: Sequence[onnx.TensorProto], folder: Path) -> None:
    """Read the values of external constants into the message."""
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
    model.graph.ClearField("input")
    model.graph.input.extend(kept)
    model.ir_version = max(model.ir_version, _FIRST_IR_WITHOUT_INITIALIZER_INPUTS)
    return True


def _unique_node_names(graph: onnx.GraphProto) -> int:
    """Give every node a unique name, which ONNX Runtime and the items need. Return how many names changed."""
    nodes = [node for scope in graphs(graph) for node in scope.node]
    taken = {node.name for node in nodes} | {""}
    seen = {""}
    changed = 0
    for node in nodes:
        if node.name in seen:
            node.name = _free(node.name or node.op_type, taken)
            taken.add(node.name)
            changed += 1
        seen.add(node.name)
    return changed


def _unique_body_tensors(graph: onnx.GraphProto) -> None:
    """Give every tensor a unique name: the two branches of an ``If`` may use the same names."""
    taken = {name for scope in graphs(graph) for name in _defined(scope)}
    seen = set(_defined(graph))
    for scope in graphs(graph):
        if scope is graph:
            continue
        renames = {}
        for name in _defined(scope):
            if name in seen:
                renames[name] = _free(name, taken)
                taken.add(renames[name])
            seen.add(renames.get(name, name))
        if renames:
            _rename(scope, renames)


def _defined(graph: onnx.GraphProto) -> list[str]:
    names = [value.name for value in graph.input]
    names += [tensor.name for tensor in graph.initializer]
    names += [tensor.values.name for tensor in graph.sparse_initializer]
    names += [name for node in graph.node for name in node.output if name]
    return list(dict.fromkeys(names))


def _rename(graph: onnx.GraphProto, renames: dict[str, str]) -> None:
    for values in (graph.input, graph.output, graph.initializer, graph.value_info):
        for value in values:
            value.name = renames.get(value.name, value.name)
    for scope in graphs(graph):
        for node in scope.node:
            for names in (node.input, node.output):
                names[:] = [renames.get(name, name) for name in names]


def _free(stem: str, taken: set[str]) -> str:
    number = 1
    while f"{stem}_{number}" in taken:
        number += 1
    return f"{stem}_{number}"
