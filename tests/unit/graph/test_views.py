"""Views of a graph: who writes what a node reads, what is marked, what is left of it."""

from __future__ import annotations

from tests.support.graph_builds import build, engine, small_build, tensor
from trtforensics.graph.build import build_graph
from trtforensics.graph.views import View, viewed
from trtforensics.model.log import EngineTensor
from trtforensics.model.precision import ComputePrecision, PrecisionSource


def edges(view: View) -> list[tuple[str, str]]:
    return sorted((a, b) for a, b, _ in viewed(build_graph(small_build()), view).edges(keys=True))


def test_the_engine_view_has_layers_and_the_network_s_inputs_and_outputs() -> None:
    copy = "engine:Reformatting CopyNode for Input Tensor 0 to pool"
    assert edges(View.ENGINE) == [
        (copy, "engine:pool"),
        ("engine:conv1 + relu1", copy),
        ("engine:pool", "tensor:y"),
        ("tensor:x", "engine:conv1 + relu1"),
    ]


def test_the_onnx_and_the_network_view() -> None:
    assert ("onnx:conv1", "onnx:relu1") in edges(View.ONNX)
    assert edges(View.NETWORK) == [("layer:conv1", "layer:relu1"), ("layer:relu1", "layer:pool")]
    nodes = viewed(build_graph(small_build()), View.NETWORK).nodes
    assert nodes["layer:relu1"]["engine_layer"] == "conv1 + relu1"


def test_all_is_the_graph_itself() -> None:
    graph = build_graph(small_build())
    assert viewed(graph, View.ALL) is graph.graph


def test_a_layer_says_its_share_and_whether_it_reformats() -> None:
    nodes = viewed(build_graph(small_build()), View.ENGINE).nodes
    assert nodes["engine:conv1 + relu1"]["share"] == 1.0
    assert [own["reformat"] for own in nodes.values() if own["kind"] == "engine"] == [False, True, False]


def test_a_name_that_is_used_again_connects_each_reader_with_the_writers_before_it() -> None:
    layers = (engine("a", "x", "t", 1), engine("b", "t", "u", 2), engine("c", "u", "t", 3), engine("d", "t", "y", 4))
    found = viewed(build_graph(build(engine_layers=layers)), View.ENGINE)
    assert list(found.predecessors("engine:b")) == ["engine:a"]
    assert "engine:c" in list(found.predecessors("engine:d"))


def test_an_edge_tells_its_type_and_layout_and_where_the_precision_changes() -> None:
    written = EngineTensor("t", "Int8", (1, 64, 8, 8), "Thirty-two wide channel vectorized row major Int8 format", 32)
    half, int8 = (ComputePrecision(one, PrecisionSource.KERNEL) for one in ("Half", "Int8"))
    layers = (
        engine("a", "x", "t", 1, outputs=(written,), compute_precision=half),
        engine("b", "t", "u", 2, compute_precision=int8),
        engine("c", "u", "y", 3, compute_precision=int8),
    )
    found = viewed(build_graph(build(engine_layers=layers)), View.ENGINE)
    (first,) = found.get_edge_data("engine:a", "engine:b").values()
    assert (first["dtype"], first["layout"], first["dims"], first["casts"]) == ("Int8", "CHW32", [1, 64, 8, 8], True)
    (second,) = found.get_edge_data("engine:b", "engine:c").values()
    assert "casts" not in second


def test_kernels_of_one_foreign_node_belong_together() -> None:
    layers = (engine("a_myl0_1", "x", "t", 1), engine("b_myl0_2", "t", "u", 2), engine("c", "u", "y", 3))
    nodes = viewed(build_graph(build(engine_layers=layers)), View.ENGINE).nodes
    assert [nodes[f"engine:{name}"].get("foreign_node") for name in ("a_myl0_1", "b_myl0_2", "c")] == [
        "ForeignNode 0",
        "ForeignNode 0",
        None,
    ]


def test_order_inside_an_onnx_node_is_no_tensor() -> None:
    one = small_build().onnx_nodes[0]
    one.layers = ("conv1", "helper")
    found = viewed(build_graph(build(onnx_nodes=(one,))), View.NETWORK)
    assert [data for *_, data in found.edges(data=True)] == [{"kind": "tensor", "order": True}]


def test_tensors_without_dimensions_make_edges_too() -> None:
    layers = (engine("a", "x", "t", 1, outputs=(tensor("t", "", ()),)), engine("b", "t", "y", 2))
    found = viewed(build_graph(build(engine_layers=layers)), View.ENGINE)
    assert found.has_edge("engine:a", "engine:b")


def test_layers_of_which_only_names_are_told_stand_in_their_order() -> None:
    layers = tuple(engine(name, "", "", n, inputs=(), outputs=()) for n, name in enumerate("abc"))
    found = viewed(build_graph(build(engine_layers=layers)), View.ENGINE)
    assert [(a, b, data["order"]) for a, b, data in found.edges(data=True)] == [
        ("engine:a", "engine:b", True),
        ("engine:b", "engine:c", True),
    ]
