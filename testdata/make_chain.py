"""Make ``models/norm-chain.onnx``: ``python testdata/make_chain.py``.

A MatMul, an RMSNorm that was exported as Mul, ReduceMean, Sqrt and Div, and a Tanh. The squares leave FP16's range.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper

WIDTH = 64
TARGET = Path(__file__).resolve().parent / "models" / "norm-chain.onnx"


def chain() -> onnx.ModelProto:
    """Return the model; its weights are the same each time."""
    weights = np.random.default_rng(0).normal(0, 40, (WIDTH, WIDTH)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "weights"], ["hidden"], "project"),
        helper.make_node("Mul", ["hidden", "hidden"], ["square"], "norm/square"),
        helper.make_node("ReduceMean", ["square"], ["mean"], "norm/mean", axes=[-1], keepdims=1),
        helper.make_node("Sqrt", ["mean"], ["root"], "norm/sqrt"),
        helper.make_node("Div", ["hidden", "root"], ["normed"], "norm/div"),
        helper.make_node("Tanh", ["normed"], ["y"], "tanh"),
    ]
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [4, WIDTH]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "norm-chain", ends[:1], ends[1:], [numpy_helper.from_array(weights, "weights")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


if __name__ == "__main__":
    onnx.save(chain(), TARGET)
    print(f"wrote {TARGET.name}")
