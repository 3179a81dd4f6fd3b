"""Models taken apart."""

import importlib.util
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.support.failing_models import loop, model_with
from trtforensics.onnx_models.cutting import Original, take_apart
from trtforensics.onnx_models.shapes import types_of


def apart(model: onnx.ModelProto, folder: Path) -> Original:
    onnx.save(model, folder / "model.onnx")
    return take_apart(str(folder / "model.onnx"))


def test_a_node_stands_behind_all_that_it_reads(tmp_path: Path) -> None:
    original = apart(model_with(loop, 24), tmp_path)
    reads = original.reads()
    assert all(each < index for index, sources in enumerate(reads) for each in sources)
    holder = next(node.index for node in original.nodes if node.proto.op_type == "Loop")
    assert {original.by_name["/loop/Det"], original.by_name["/loop/Add"]} < reads[holder]


def test_constant_nodes_become_initializers(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Constant", [], ["c"], name="c", value_floats=[1.0, 2.0]),
        helper.make_node("Add", ["x", "c"], ["y"], name="add"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [2])],
    )
    original = apart(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), tmp_path)
    assert [node.name for node in original.nodes] == ["add"]
    assert np.array_equal(onnx.numpy_helper.to_array(original.constants["c"]), np.array([1, 2], np.float32))


def halved_rows() -> onnx.ModelProto:
    """Reshape ``batch`` x 8 to as many as 2 x ``batch`` rows of 4, a size that onnx names but cannot tell."""
    constants = {"zero": 0, "axis": [0], "two": [2], "four": [4]}
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"], name="shape"),
        helper.make_node("Gather", ["shape", "zero"], ["rows"], name="gather"),
        helper.make_node("Unsqueeze", ["rows", "axis"], ["listed"], name="unsqueeze"),
        helper.make_node("Mul", ["listed", "two"], ["twice"], name="mul"),
        helper.make_node("Concat", ["twice", "four"], ["target"], name="concat", axis=0),
        helper.make_node("Reshape", ["x", "target"], ["reshaped"], name="reshape"),
        helper.make_node("Relu", ["reshaped"], ["y"], name="relu"),
    ]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [None, 4])],
        [onnx.numpy_helper.from_array(np.array(value, np.int64), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)


def test_a_size_that_onnx_cannot_tell_is_told_by_symbolic_inference(monkeypatch: pytest.MonkeyPatch) -> None:
    told = halved_rows()
    told.graph.value_info.append(helper.make_tensor_value_info("reshaped", TensorProto.FLOAT, ["2*batch", 4]))
    monkeypatch.setattr(f"{types_of.__module__}._symbolic", lambda _: told)
    assert types_of(halved_rows())["reshaped"].dims == ("2*batch", 4)


@pytest.mark.slow
@pytest.mark.skipif(importlib.util.find_spec("sympy") is None, reason="symbolic inference needs sympy")
def test_onnx_runtime_s_symbolic_inference_tells_it() -> None:
    assert types_of(halved_rows())["reshaped"].dims == ("2*batch", 4)


def test_without_sympy_a_size_has_the_name_that_onnx_makes_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    (rows, width) = types_of(halved_rows())["reshaped"].dims or ()
    assert isinstance(rows, str)
    assert rows.startswith("unk__")
    assert width == 4
