"""Parts of a view."""

from __future__ import annotations

import networkx as nx
import pytest

from trtforensics.errors import UsageError
from trtforensics.graph.selecting import around, only, top


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


def test_without_times_there_are_no_slowest_layers() -> None:
    with pytest.raises(UsageError, match="tells no layer's time"):
        top(chain(None, None), 3, where="x")


def test_a_loop_of_hidden_nodes_ends() -> None:
    graph = chain(1, 1, 1)
    graph.add_edge("engine:l1", "engine:l1", key="loop")
    graph.add_edge("engine:l2", "engine:l1", key="back")
    part = only(graph, {"engine:l0", "engine:l2"})
    assert [(a, b) for a, b, _ in part.edges(keys=True)] == [("engine:l0", "engine:l2")]
