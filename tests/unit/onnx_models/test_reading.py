"""What a model file is turned into before anything is cast, and which files are refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.support.for_each import for_each
from trtforensics.errors import SourceError
from trtforensics.onnx_models.graphs import graphs
from trtforensics.onnx_models.reading import constant_of, prepare

if TYPE_CHECKING:
    from pathlib import Path


def info(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, [4])


def saved(path: Path, graph: onnx.GraphProto, **options: object) -> str:
    model = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("own", 1)], **options
    )
    model.ir_version = min(model.ir_version, 9)
    onnx.save(model, path)
    return str(path)


@for_each(
    ("field", "value", "kind"),
    [
        ("value_float", 0.5, "float32"),
        ("value_floats", [0.5, 2.0], "float32"),
        ("value_int", 3, "int64"),
        ("value_ints", [3, 4], "int64"),
    ],
)
def test_numbers_of_a_constant_are_read_from_each_field(field: str, value: Any, kind: str) -> None:
    tensor = constant_of(helper.make_node("Constant", [], ["c"], **{field: value}))
    assert tensor is not None
    array = numpy_helper.to_array(tensor)
    assert (tensor.name, array.dtype.name, array.tolist()) == ("c", kind, value)


def test_nodes_get_names_of_their_own(tmp_path: Path) -> None:
    nodes = [helper.make_node("Tanh", ["x"], ["a"], name="same"), helper.make_node("Exp", ["a"], ["b"], name="same")]
    nodes += [helper.make_node("Exp", ["b"], ["c"]), helper.make_node("Exp", ["c"], ["y"], name="Exp_1")]
    prepared = prepare(saved(tmp_path / "m.onnx", helper.make_graph(nodes, "g", [info("x")], [info("y")])))
    assert [node.name for node in prepared.proto.graph.node] == ["same", "same_node_1", "node_of_c", "Exp_1"]
    assert any("2 nodes" in note for note in prepared.notes)


def test_branches_get_tensors_of_their_own(tmp_path: Path) -> None:
    branches = {
        name: helper.make_graph(
            [helper.make_node(op, ["x"], ["t"]), helper.make_node("Tanh", ["t"], ["out"])], name, [], [info("out")]
        )
        for name, op in (("then_branch", "Exp"), ("else_branch", "Neg"))
    }
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
        helper.make_node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
        helper.make_node("If", ["c"], ["y"], **branches),
    ]
    prepared = prepare(saved(tmp_path / "m.onnx", helper.make_graph(nodes, "g", [info("x")], [info("y")])))
    defined = [name for graph in graphs(prepared.proto.graph) for node in graph.node for name in node.output]
    assert len(defined) == len(set(defined)) == 7
    onnx.checker.check_model(prepared.proto, full_check=True)


def test_nodes_come_in_order_and_a_circle_is_refused(tmp_path: Path) -> None:
    body = helper.make_graph([helper.make_node("Neg", ["b"], ["out"])], "body", [], [info("out")])
    chosen = helper.make_node("If", ["c"], ["y"], name="y", then_branch=body, else_branch=body)
    flag = helper.make_node("Constant", [], ["c"], name="c", value=numpy_helper.from_array(np.asarray(True)))  # noqa: FBT003
    nodes = [chosen, helper.make_node("Tanh", ["a"], ["b"], name="b"), helper.make_node("Exp", ["x"], ["a"]), flag]
    prepared = prepare(saved(tmp_path / "m.onnx", helper.make_graph(nodes, "g", [info("x")], [info("y")])))
    names = [node.output[0] for node in prepared.proto.graph.node]
    assert sorted(names) == ["a", "b", "c", "y"]
    assert names.index("a") < names.index("b") < names.index("y") > names.index("c")
    assert any("are in order now" in note for note in prepared.notes)
    circle = [helper.make_node("Add", ["x", "y"], ["a"]), helper.make_node("Exp", ["a"], ["y"])]
    with pytest.raises(SourceError, match="topologically sorted"):
        prepare(saved(tmp_path / "m.onnx", helper.make_graph(circle, "g", [info("x")], [info("y")])))


def test_a_function_that_takes_less_than_it_is_given_is_refused(tmp_path: Path) -> None:
    function = helper.make_function(
        "own", "F", ["a"], ["b"], [helper.make_node("Exp", ["a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    call = helper.make_node("F", ["x", "x"], ["y"], domain="own")
    path = saved(tmp_path / "m.onnx", helper.make_graph([call], "g", [info("x")], [info("y")]), functions=[function])
    with pytest.raises(SourceError, match="cannot be inlined: Number of actual parameters cannot exceed"):
        prepare(path)


def test_functions_are_inlined(tmp_path: Path) -> None:
    body = [helper.make_node("Exp", ["a"], ["b"], name="inner")]
    function = helper.make_function("own", "Twice", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
    graph = helper.make_graph([helper.make_node("Twice", ["x"], ["y"], domain="own")], "g", [info("x")], [info("y")])
    prepared = prepare(saved(tmp_path / "m.onnx", graph, functions=[function]))
    assert [node.op_type for node in prepared.proto.graph.node] == ["Exp"]


def test_initializers_are_no_inputs(tmp_path: Path) -> None:
    constant = numpy_helper.from_array(np.ones(4, np.float32), "k")
    graph = helper.make_graph(
        [helper.make_node("Add", ["x", "k"], ["y"])], "g", [info("x"), info("k")], [info("y")], [constant]
    )
    assert [value.name for value in prepare(saved(tmp_path / "m.onnx", graph)).proto.graph.input] == ["x"]


def external(folder: Path) -> str:
    values = numpy_helper.from_array(np.arange(4, dtype=np.float32), "k")
    graph = helper.make_graph([helper.make_node("Add", ["x", "k"], ["y"])], "g", [info("x")], [info("y")], [values])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, folder / "m.onnx", save_as_external_data=True, location="m.data", size_threshold=0)
    return str(folder / "m.onnx")


def test_external_data_is_read_and_remembered(tmp_path: Path) -> None:
    prepared = prepare(external(tmp_path))
    assert prepared.external == {"k"}
    assert numpy_helper.to_array(prepared.proto.graph.initializer[0]).tolist() == [0, 1, 2, 3]


def test_missing_and_stray_external_data_are_refused(tmp_path: Path) -> None:
    path = external(tmp_path)
    (tmp_path / "m.data").unlink()
    with pytest.raises(SourceError, match=r"needs the file m\.data beside it"):
        prepare(path)
    model = onnx.load(path, load_external_data=False)
    model.graph.initializer[0].external_data[0].value = "../m.data"
    onnx.save(model, path)
    with pytest.raises(SourceError, match="outside of its folder"):
        prepare(path)


@pytest.mark.parametrize("content", [b"", b"not a model\n", b"\x00\xff" * 500], ids=["empty", "text", "binary"])
def test_what_is_no_model_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    with pytest.raises(SourceError, match=r"is n(o|ot an) ONNX model"):
        prepare(str(tmp_path / "m.onnx"))


def test_a_missing_file_a_directory_and_an_invalid_graph_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.onnx", tmp_path):
        with pytest.raises(SourceError, match="cannot be read"):
            prepare(str(path))
    graph = helper.make_graph([helper.make_node("Add", ["x", "nowhere"], ["y"])], "g", [info("x")], [info("y")])
    with pytest.raises(SourceError, match="is not a valid ONNX model"):
        prepare(saved(tmp_path / "m.onnx", graph))
