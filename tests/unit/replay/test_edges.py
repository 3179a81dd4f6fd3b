"""Edges between the layers of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.errors import ForensicsError
from trtforensics.replay.edges import DataflowEdge, DataflowNode, edges_between, nodes_of_layer_info

if TYPE_CHECKING:
    from pathlib import Path


def test_edges_go_past_reformats_and_never_from_a_layer_to_itself() -> None:
    copy = "Reformatting CopyNode for Input Tensor 0 to b"
    nodes = (
        DataflowNode("a", ("x",), ("t", "u")),
        DataflowNode(copy, ("u",), ("u reformatted",)),
        DataflowNode("b", ("t", "u reformatted"), ("v",)),
        DataflowNode("b", ("v",), ("w",)),
    )
    assert edges_between(nodes) == (DataflowEdge("a", 0, "b", 0, "t"), DataflowEdge("a", 1, "b", 1, "u"))


def test_layer_information_gives_edges(tmp_path: Path) -> None:
    path = tmp_path / "layers.json"
    path.write_text(
        '{"Layers": [{"Name": "a", "Inputs": [], "Outputs": [{"Name": "t"}]}, '
        '{"Name": "b", "Inputs": [{"Name": "t"}], "Outputs": []}]}'
    )
    nodes = nodes_of_layer_info(str(path), max_bytes=1000)
    assert edges_between(nodes) == (DataflowEdge("a", 0, "b", 0, "t"),)
    for other in ('{"Layers": ["a", "b"]}', "[]", "nonsense"):
        path.write_text(other)
        with pytest.raises(ForensicsError, match=r"no detailed layer information|no list of|is no JSON"):
            nodes_of_layer_info(str(path), max_bytes=1000)
