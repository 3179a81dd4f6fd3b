"""The operators of an ONNX model, by the names that layers are made of."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.onnx_model import model
from trtforensics.errors import ForensicsError
from trtforensics.replay.edges import DataflowEdge, DataflowNode, edges_between, nodes_of_model, operators_of

if TYPE_CHECKING:
    from pathlib import Path


def test_a_model_gives_names_and_edges(tmp_path: Path) -> None:
    operators = operators_of(model(tmp_path))
    assert operators == (
        DataflowNode("first", ("x",), ("h",)),
        DataflowNode("node_of_i", ("h",), ("i",)),
        DataflowNode("last", ("i",), ("y",)),
    )
    fused = nodes_of_model(operators, ["first + node_of_i", "last"])
    assert fused == (DataflowNode("first + node_of_i", ("x",), ("i",)), DataflowNode("last", ("i",), ("y",)))
    assert edges_between(fused) == (DataflowEdge("first + node_of_i", 0, "last", 0, "i"),)


@pytest.mark.parametrize("content", [b"", b"no model", b"\x08\x07"])
def test_what_is_no_model_is_refused(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    with pytest.raises(ForensicsError, match="no ONNX model"):
        operators_of(str(path))
    with pytest.raises(ForensicsError, match="cannot be read"):
        operators_of(str(tmp_path / "none.onnx"))
