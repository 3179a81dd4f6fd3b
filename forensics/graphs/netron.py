"""An engine as an ONNX file for viewers such as Netron, a node for each layer with its facts. No runtime can run it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

import onnx
from onnx import TensorProto, helper

from trtforensics.console.secrets import masked
from trtforensics.engines.facts import LayerFacts
from trtforensics.graphs.build import BuildGraph
from trtforensics.graphs.export import escape
from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.log import EngineLayer, EngineTensor
from trtforensics.model.timings import tactic_text

DOMAIN = "ai.tensorrt.engine"
"""The domain of the nodes' operators: they are those of an engine, not of ONNX."""

_IR_VERSION = 10
_MOST_FIELD = 4000
"""Characters of a field that are kept."""


def to_onnx(graph: BuildGraph) -> bytes:
    """Return an engine's layers as an ONNX model, as the bytes of the file."""
    layers = graph.engine.layers
    names = _TensorNames([facts.layer for facts in layers])
    nodes = [_node(facts, names) for facts in layers]
    written = {name for node in nodes for name in node.output}
    read = {name for node in nodes for name in node.input}
    inputs = dict.fromkeys(name for node in nodes for name in node.input if name not in written)
    outputs = dict.fromkeys(name for node in nodes for name in node.output if name not in read)
    inner = [names.value(name) for name in dict.fromkeys(n for node in nodes for n in node.output) if name in read]
    made = helper.make_graph(
        nodes, "engine", [*map(names.value, inputs)], [*map(names.value, outputs)], value_info=inner
    )
    model = helper.make_model(made, producer_name="trtforensics", opset_imports=[helper.make_opsetid(DOMAIN, 1)])
    model.ir_version = _IR_VERSION
    version = graph.engine.build.tensorrt_version
    if version:
        helper.set_model_props(model, {"TensorRT": version})
    return bytes(model.SerializeToString(deterministic=True))


class _TensorNames:
    """The names of tensors, each written once: ONNX wants that, but TensorRT uses a name again."""

    def __init__(self, layers: Iterable[EngineLayer]) -> None:
        self._described: dict[str, EngineTensor] = {}
        self.inputs: list[list[str]] = []
        self.outputs: list[list[str]] = []
        written: dict[str, int] = defaultdict(int)
        versions: dict[str, list[str]] = {}
        fresh: dict[str, bool] = {}
        for layer in layers:
            self.inputs.append([])
            self.outputs.append([])
            for tensor in layer.inputs:
                names = versions.get(tensor.name) or [_plain(tensor.name)]
                fresh[tensor.name] = False
                self.inputs[-1] += names
                for name in names:
                    self._described.setdefault(name, tensor)
            for tensor in layer.outputs:
                written[tensor.name] += 1
                count = written[tensor.name]
                name = _plain(tensor.name) if count == 1 else f"{_plain(tensor.name)} #{count}"
                # A write after a read begins anew; several writes before a read are parts of one tensor.
                parts = versions.get(tensor.name, []) if fresh.get(tensor.name, True) else []
                versions[tensor.name] = [*parts, name]
                fresh[tensor.name] = True
                self.outputs[-1].append(name)
                self._described[name] = tensor

    def value(self, name: str) -> onnx.ValueInfoProto:
        """Return what is known of a tensor."""
        tensor = self._described[name]
        of_onnx = ELEMENT_TYPES[tensor.dtype].onnx if tensor.dtype in ELEMENT_TYPES else ""
        known = getattr(TensorProto, of_onnx or "UNDEFINED")
        dims = [dim if not isinstance(dim, int) or dim >= 0 else None for dim in tensor.dims]
        return helper.make_tensor_value_info(
            name, known, dims, doc_string=_plain(f"{tensor.dtype} {tensor.format}".strip())
        )


def _node(facts: LayerFacts, names: _TensorNames) -> onnx.NodeProto:
    layer = facts.layer
    node = helper.make_node(
        _plain(layer.fields.get("ParameterType") or layer.type or "Layer"),
        names.inputs[facts.index],
        names.outputs[facts.index],
        _plain(layer.name),
        domain=DOMAIN,
    )
    node.attribute.extend(helper.make_attribute(name, value) for name, value in _attributes(facts) if value)
    formats = {f"output {at} format": tensor.format for at, tensor in enumerate(layer.outputs) if tensor.format}
    listed = {"ONNX nodes": ", ".join(layer.onnx_nodes)} if layer.onnx_nodes else {}
    helper.set_model_props(node, {key: _plain(value) for key, value in {**formats, **listed}.items()})
    return node


def _attributes(facts: LayerFacts) -> Iterator[tuple[str, str | float]]:
    layer = facts.layer
    yield "type", _plain(layer.type)
    if layer.compute_precision is not None:
        yield "compute_precision", layer.compute_precision.type
    if facts.time_ms is not None:
        yield "time_ms", facts.time_ms
        yield "time_is", str(facts.time_is)
    yield "tactic", tactic_text(layer.tactic) or ""
    yield "tactic_name", _plain(layer.tactic_name)
    yield "file", _plain(layer.span.file)
    yield "line", str(layer.span.line_in_file)
    for name, value in layer.fields.items():
        yield f"field_{name}", _plain(value)[:_MOST_FIELD]


def _plain(text: str) -> str:
    """Return a text without secrets and without characters that do not print."""
    return escape(masked(text))
