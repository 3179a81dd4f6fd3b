"""Which inputs a node computes from, when a model does not run on them."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.bisect.precision.casting.preparation import graphs
from trtforensics.bisect.precision.inputs.integers import INTEGERS

if TYPE_CHECKING:
    import onnx

_FAILING_NODE = re.compile(r"Name:'([^']*)'")
"""How ONNX Runtime names the node that fails (seen in 1.17 to 1.31)."""


def inputs_behind(model: onnx.ModelProto, message: str) -> list[str]:
    """Return the model's inputs that lead to the node which an error of ONNX Runtime names; all, if it names none."""
    inputs = [value.name for value in model.graph.input]
    named = _FAILING_NODE.search(message)
    nodes = {node.name: node for graph in graphs(model.graph) for node in graph.node}
    if named is None or named.group(1) not in nodes:
        return inputs
    producers = {name: node for node in nodes.values() for name in node.output}
    ahead, seen = list(nodes[named.group(1)].input), set(nodes[named.group(1)].input)
    while ahead:
        producer = producers.get(ahead.pop())
        for name in producer.input if producer is not None else ():
            if name not in seen:
                seen.add(name)
                ahead.append(name)
    return [name for name in inputs if name in seen] or inputs


def how_to_give(model: onnx.ModelProto, names: list[str]) -> str:
    """Return the next step for inputs on which a model does not run, when they were random."""
    types = {value.name: value.type.tensor_type.elem_type for value in model.graph.input}
    example = next((name for name in names if types[name] in INTEGERS), names[0])
    return f"Give real ones by --inputs FILE, or a range such as `--val-range {example}:[0,1]`"
