"""Nodes that are added to a twin: each has one output, and the names follow from one prefix."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import helper, numpy_helper

if TYPE_CHECKING:
    import numpy.typing as npt
    import onnx


@dataclass(slots=True)
class NodeWriter:
    """Nodes in the making; names begin with the name of what is computed."""

    prefix: str
    nodes: list[onnx.NodeProto] = field(default_factory=list)

    def add(self, op: str, *inputs: str, **attributes: Any) -> str:  # noqa: ANN401 - as make_node takes them
        """Add a node of one output, and return that."""
        name = f"{self.prefix}__{op}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, list(inputs), [name], name=name, **attributes))
        return name

    def constant(self, values: npt.ArrayLike, dtype: npt.DTypeLike = np.int64) -> str:
        """Add a constant."""
        return self.add("Constant", value=numpy_helper.from_array(np.asarray(values, dtype), "value"))

    def named(self, source: str, target: str) -> None:
        """Give a tensor a name."""
        self.nodes.append(helper.make_node("Identity", [source], [target], name=target))
