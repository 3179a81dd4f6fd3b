"""Views of a graph: who writes what a node reads, what is marked, what is left of it."""

from __future__ import annotations

import networkx as nx
import pytest

from tests.support.graph_builds import build, engine, small_build, tensor
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import UsageError
from trtforensics.graphs.build import BuildGraph
from trtforensics.graphs.views import View, around, only, top, viewed
from trtforensics.model.data_types import ComputePrecision, PrecisionSource
from trtforensics.model.log import EngineTensor


def edges(view: View) -> list[tuple[str, str]]:
    return sorted((a, b) for a, b, _ in viewed(BuildGraph(EngineFacts(small_build())), view).edges(keys=True))


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
    nodes = viewed(BuildGraph(EngineFacts(small_build())), View.NETWORK).nodes
    assert nodes["layer:relu1"]["engine_layer"] == "conv1 + relu1"


def test_all_is_the_graph_itself() -> None:
    graph = BuildGraph(EngineFacts(small_build()))
    assert viewed(graph, View.ALL) is graph.graph


def test_a_layer_says_its_share_and_whether_it_reformats() -> None:
    nodes = viewed(BuildGraph(EngineFacts(small_build())), View.ENGINE).nodes
    assert nodes["engine:conv1 + relu1"]["share"] == 1.0
    assert [own["reformat"] for own in nodes.values() if own["kind"] == "engine"] == [False, True, False]


def test_a_name_that_is_used_again_connects_each_reader_with_the_writers_before_it() -> None:
    layers = (engine("a", "x", "t", 1), engine("b", "t", "u", 2), engine("c", "u", "t", 3), engine("d", "t", "y", 4))
    found = viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE)
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
    found = viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE)
    (first,) = found.get_edge_data("engine:a", "engine:b").values()
    assert (first["dtype"], first["layout"], first["dims"], first["casts"]) == ("Int8", "CHW32", [1, 64, 8, 8], True)
    (second,) = found.get_edge_data("engine:b", "engine:c").values()
    assert "casts" not in second


def test_kernels_of_one_foreign_node_belong_together() -> None:
    layers = (engine("a_myl0_1", "x", "t", 1), engine("b_myl0_2", "t", "u", 2), engine("c", "u", "y", 3))
    nodes = viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE).nodes
    assert [nodes[f"engine:{name}"].get("foreign_node") for name in ("a_myl0_1", "b_myl0_2", "c")] == [
        "ForeignNode 0",
        "ForeignNode 0",
        None,
    ]


def test_order_inside_an_onnx_node_is_no_tensor() -> None:
    one = small_build().onnx_nodes[0]
    one.layers = ("conv1", "helper")
    found = viewed(BuildGraph(EngineFacts(build(onnx_nodes=(one,)))), View.NETWORK)
    assert [data for *_, data in found.edges(data=True)] == [{"kind": "tensor", "order": True}]


def test_tensors_without_dimensions_make_edges_too() -> None:
    layers = (engine("a", "x", "t", 1, outputs=(tensor("t", "", ()),)), engine("b", "t", "y", 2))
    found = viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE)
    assert found.has_edge("engine:a", "engine:b")


def test_layers_of_which_only_names_are_told_stand_in_their_order() -> None:
    layers = tuple(engine(name, "", "", n, inputs=(), outputs=()) for n, name in enumerate("abc"))
    found = viewed(BuildGraph(EngineFacts(build(engine_layers=layers))), View.ENGINE)
    assert [(a, b, data["order"]) for a, b, data in found.edges(data=True)] == [
        ("engine:a", "engine:b", True),
        ("engine:b", "engine:c", True),
    ]


def chain(*times: float | None) -> nx.MultiDiGraph:
    """Return layers ``l0 -> l1 -> …`` with these times."""
    graph = nx.MultiDiGraph()
    for number, ms in enumerate(times):
        timed = {} if ms is None else {"time_ms": ms}
        graph.add_node(f"engine:l{number}", kind="engine", name=f"l{number}", onnx_nodes=[f"n{number}"], **timed)
    for number in range(len(times) - 1):
        graph.add_edge(f"engine:l{number}", f"engine:l{number + 1}", key="tensor:t")
    return graph


@pytest.mark.parametrize(("hops", "found"), [(1, ["l1", "l2", "l3"]), (2, ["l0", "l1", "l2", "l3", "l4"])])
def test_around_goes_both_ways(hops: int, found: list[str]) -> None:
    part = around(chain(1, 1, 1, 1, 1), "l2", hops, where="x")
    assert sorted(own["name"] for _, own in part.nodes(data=True)) == found
    assert [own["name"] for _, own in part.nodes(data=True) if own.get("centre")] == ["l2"]


def test_a_layer_is_meant_by_its_onnx_node_or_by_a_part_of_its_name() -> None:
    assert "engine:l1" in around(chain(1, 1, 1), "n1", 1, where="x")
    with pytest.raises(UsageError, match="3 nodes are meant by 'L': l0; l1; l2"):
        around(chain(1, 1, 1), "L", 1, where="x")
    with pytest.raises(UsageError, match="no node of this view is named 'zzz'"):
        around(chain(1, 1, 1), "zzz", 1, where="x")


def test_the_slowest_layers_stay_connected_through_those_that_are_left_out() -> None:
    part = top(chain(5, 1, 1, 4, 3), 3, where="x")
    assert sorted((a, b, data.get("hidden", 0)) for a, b, data in part.edges(data=True)) == [
        ("engine:l0", "engine:l3", 2),
        ("engine:l3", "engine:l4", 0),
    ]


def test_a_part_of_a_graph_is_in_the_graph_s_order_whatever_the_seed_of_hashes() -> None:
    graph = chain(*range(1, 41))
    for part in (top(graph, 9, where="x"), around(graph, "l20", 4, where="x")):
        assert list(part) == [node for node in graph if node in part]


def test_without_times_there_are_no_slowest_layers() -> None:
    with pytest.raises(UsageError, match="tells no layer's time"):
        top(chain(None, None), 3, where="x")


def test_a_loop_of_hidden_nodes_ends() -> None:
    graph = chain(1, 1, 1)
    graph.add_edge("engine:l1", "engine:l1", key="loop")
    graph.add_edge("engine:l2", "engine:l1", key="back")
    part = only(graph, {"engine:l0", "engine:l2"})
    assert [(a, b) for a, b, _ in part.edges(keys=True)] == [("engine:l0", "engine:l2")]


def test_a_way_on_is_found_behind_a_way_that_has_ended() -> None:
    graph = nx.MultiDiGraph([("a", "b"), ("a", "x"), ("x", "y"), ("y", "c"), ("b", "c")])
    assert sorted(only(graph, {"a", "b", "c"}).edges(data="hidden")) == [
        ("a", "b", None),
        ("a", "c", 2),
        ("b", "c", None),
    ]
