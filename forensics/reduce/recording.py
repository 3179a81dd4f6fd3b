"""The values of the model's tensors on one sample, recorded by ONNX Runtime: what a cut model gets in their place.

A model that ONNX Runtime does not run as a whole runs node by node, as far as its nodes run. Both branches of an
``If`` run, and the first iteration of a ``Loop`` or ``Scan``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx

from trtforensics.onnx_models.cutting import GraphNode, Original, UnknownValueError, declaration, free_reads, with_graph
from trtforensics.onnx_models.running import failures, first_line, session_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.onnx_models.samples import Sample, Values

_TENSORS_A_RUN = 256
"""How many tensors one run returns, so that ONNX Runtime need not hold all of them at once."""


@dataclass(slots=True)
class Recording:
    """Values of a model by tensor; ``why`` says what ONNX Runtime stopped at, "" if it runs the whole model."""

    original: Original
    values: dict[str, Values]
    why: str = ""

    def run(self, nodes: Sequence[GraphNode]) -> None:
        """Run the nodes of one graph, whose inputs have values, then the subgraphs in it."""
        whole = self._tried(nodes)
        if whole:
            self.why = self.why or whole
            for node in nodes:
                self._tried([node])
        for node in nodes:
            for name, body in node.bodies():
                self._enter(node, body)
                inner = [each for each in self.original.nodes if each.parent == node.index and each.body == name]
                self.run(inner)

    def _enter(self, node: GraphNode, body: onnx.GraphProto) -> None:
        """Give the inputs of a Loop's or Scan's body the values of the first iteration."""
        given = [self._value(name) for name in node.proto.input]
        if node.proto.op_type == "Loop":
            first: list[Values | None] = [np.asarray(0, np.int64), np.asarray(True), *given[2:]]  # noqa: FBT003 - a value
        elif node.proto.op_type == "Scan":
            scanned = onnx.helper.get_node_attr_value(node.proto, "num_scan_inputs")
            states = len(given) - scanned
            first = [*given[:states], *(None if each is None else each[0] for each in given[states:])]
        else:
            return
        for value, array in zip(body.input, first, strict=False):
            if array is not None:
                self.values[value.name] = np.asarray(array)

    def _value(self, name: str) -> Values | None:
        if name in self.original.streamed:
            return self.original.streamed[name]
        tensor = self.original.constants.get(name)
        if tensor is not None:
            return np.asarray(onnx.numpy_helper.to_array(tensor))
        return self.values.get(name)

    def _tried(self, nodes: Sequence[GraphNode]) -> str:
        """Run nodes as one model; return why that fails, or ""."""
        try:
            model, missing = self._model(nodes)
        except UnknownValueError as error:
            return str(error)
        if missing:
            return f"the value of {missing} is not known"
        try:
            session = session_of(model, self.original.streamed)
            names = [each.name for each in session.runtime.get_outputs() if each.type.startswith("tensor(")]
            fed = (each.name for each in session.runtime.get_inputs() if each.name not in session.weights)
            feed = {name: self.values[name] for name in fed}
            for start in range(0, len(names), _TENSORS_A_RUN):
                outputs = session.run(feed, names[start : start + _TENSORS_A_RUN])
                self.values.update((name, np.asarray(value)) for name, value in outputs.items())
        except failures() as error:
            return first_line(error)
        return ""

    def _model(self, nodes: Sequence[GraphNode]) -> tuple[onnx.ModelProto, str]:
        """Return a model of nodes with all their results as outputs, and a tensor that has no value."""
        made = {name for node in nodes for name in node.makes}
        needed = list(dict.fromkeys(name for node in nodes for name in free_reads(node.proto) if name not in made))
        constants = [name for name in needed if name in self.original.constants]
        fed = [name for name in needed if name not in self.original.constants]
        missing = next((name for name in fed if name not in self.values), "")
        graph = onnx.helper.make_graph(
            [node.proto for node in nodes],
            "recorded",
            [] if missing else [declaration(name, None, self.values[name]) for name in fed],
            [onnx.ValueInfoProto(name=name) for name in made],
            [self.original.constants[name] for name in constants],
        )
        return with_graph(self.original.model, graph), missing


def record(original: Original, sample: Sample) -> Recording:
    """Run a model on a sample, and keep the value of each tensor that ONNX Runtime gets to."""
    recording = Recording(original, dict(sample))
    recording.run([node for node in original.nodes if node.parent is None])
    return recording
