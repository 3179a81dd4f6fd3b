"""Makes ONNX graphs for tests, node by node, as an exporter writes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy.typing as npt

_AXES_ARE_INPUTS = {"ReduceSum": 13, "Unsqueeze": 13, "ReduceMean": 18}
"""The operator set from which on an operator has its axes as an input."""


@dataclass
class Net:
    """An ONNX graph in the making. Weights are seeded, so that a graph repeats exactly."""

    seed: int = 1
    opset: int = 17
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = np.random.default_rng(self.seed)

    def node(self, op: str, name: str, inputs: Sequence[str], **attributes: Any) -> str:
        """Add a node of one output, which is named after it."""
        output = f"{name}_output_0"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=name, **attributes))
        return output

    def _other_domains(self) -> list[onnx.OperatorSetIdProto]:
        domains = dict.fromkeys(node.domain for node in self.nodes if node.domain)
        return [helper.make_opsetid(domain, 1) for domain in domains]

    def over_axes(self, op: str, name: str, tensor: str, axes: Sequence[int], **attributes: Any) -> str:
        """Add a node with axes, which are an attribute or an input as the operator set says."""
        if self.opset < _AXES_ARE_INPUTS[op]:
            return self.node(op, name, [tensor], axes=list(axes), **attributes)
        return self.node(op, name, [tensor, self.tensor(f"{name}.axes", axes, np.int64)], **attributes)

    def constant(self, name: str, value: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        """Add a ``Constant`` node, as exporters write them."""
        return self.node("Constant", name, [], value=numpy_helper.from_array(np.asarray(value, dtype), "value"))

    def tensor(self, name: str, values: npt.ArrayLike, dtype: npt.DTypeLike = np.float32) -> str:
        """Add an initializer."""
        self.initializers.append(numpy_helper.from_array(np.asarray(values, dtype), name))
        return name

    def weight(self, name: str, *dims: int, scale: float = 0.1) -> str:
        """Add random weights."""
        return self.tensor(name, self._random.standard_normal(dims) * scale)

    def linear(self, scope: str, tensor: str, rows: int, columns: int) -> str:
        """Add a product with random weights of unit gain."""
        return self.node(
            "MatMul", f"{scope}/MatMul", [tensor, self.weight(f"{scope}.w", rows, columns, scale=rows**-0.5)]
        )

    def model(
        self,
        output: str,
        inputs: Mapping[str, Sequence[int | str]],
        dims: Sequence[int | str],
        *,
        types: Mapping[str, int] | None = None,
    ) -> onnx.ModelProto:
        """Return the model; ``output`` becomes ``y``. Inputs and ``y`` are FP32 unless ``types`` says otherwise."""
        kinds = {"y": TensorProto.FLOAT, **dict.fromkeys(inputs, TensorProto.FLOAT), **(types or {})}
        self.nodes.append(helper.make_node("Identity", [output], ["y"], name="/output/Identity"))
        ins = [helper.make_tensor_value_info(name, kinds[name], list(size)) for name, size in inputs.items()]
        outs = [helper.make_tensor_value_info("y", kinds["y"], list(dims))]
        graph = helper.make_graph(self.nodes, "net", ins, outs, self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", self.opset), *self._other_domains()], producer_name="nets"
        )
        model.ir_version = 9 if self.opset < 21 else 10
        onnx.checker.check_model(model, full_check=True)
        return model


def feeds(count: int, *dims: int, scale: float = 1.0, name: str = "x") -> list[dict[str, npt.NDArray[Any]]]:
    """Return samples of normally distributed values for one input."""
    random = np.random.default_rng(count)
    return [{name: (random.standard_normal(dims) * scale).astype(np.float32)} for _ in range(count)]
