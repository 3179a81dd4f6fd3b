"""Nodes that run alone in ONNX Runtime: what it refuses of them while they run, which no inference of shapes tells.

Each distinct node runs once, in a child process and within limits, with its constants and with samples of one value.
What needs other values, or has no kernel on the CPU, is not tried.
"""

import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from importlib.util import find_spec
from math import prod
from time import monotonic

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.console.processes import completed
from trtforensics.knowledge.operators import deciding_inputs
from trtforensics.onnx_models.checked import CheckedModel
from trtforensics.onnx_models.checked_graph import CheckedNode
from trtforensics.onnx_models.deciding import computed
from trtforensics.onnx_models.graphs import copied
from trtforensics.onnx_models.running import failures, session_of
from trtforensics.onnx_models.samples import Values, dtypes_of
from trtforensics.onnx_models.shapes import Sizes

PATIENCE_S = 5
_ELEMENTS = 1 << 18
"""Elements of the inputs and outputs of a node that is tried."""
_NOT_ALONE = {"Constant", "If", "Loop", "Scan"}
"""Operators that are not tried; what an If holds may be meant for other sizes, and is not tried either."""
_NOT_TRIED = {"UNDEFINED", "STRING", "COMPLEX64", "COMPLEX128"}
_PLACED = ("Gather", "Scatter")
"""How operators begin whose integers are places, from 0 on."""
_REFUSED = re.compile(
    r"(?:while running .*?Status Message: |during initialization: |Op \(\w+\) \[ShapeInferenceError\] )"
    r"(?:(?:.* )?/\S+:\d+ (?:.* was false\. |.*\] |.*\)(?: const)? )|(?:.* )?\w+\.(?:cc|h):\d+ \w+ )?(.+)",
    re.DOTALL,
)
"""A failure of a run, or of a node that is set up for it, without place and function in ONNX Runtime's sources."""
_OWN_LIMITS = re.compile(r"only supports?\b|[Nn]ot (?:yet )?(?:supported|implemented)|nsupported|alloc")


def refused_alone(model: CheckedModel, sizes: Mapping[str, Sizes]) -> dict[str, str]:
    """Return why nodes do not run where tensors have these sizes, by their labels; none without ONNX Runtime."""
    known, alone = computed(model, sizes), dict[bytes, list[str]]()
    for node in model.nodes if PATIENCE_S and find_spec("onnxruntime") else ():
        if single := _single(model, node, sizes, known):
            alone.setdefault(single, []).append(node.label)
    reasons = list[str]()
    if alone:
        line = [sys.executable, "-u", "-m", "trtforensics.onnx_models.trying"]
        data = "\n".join(map(bytes.hex, alone)).encode()
        with suppress(subprocess.TimeoutExpired, OSError):
            reasons = completed(line, data, 4 * PATIENCE_S).stdout.decode(errors="replace").split("\n")
    return {label: why for labels, why in zip(alone.values(), reasons, strict=False) if why for label in labels}


def _single(model: CheckedModel, node: CheckedNode, sizes: Mapping[str, Sizes], known: Mapping[str, Values]) -> bytes:
    """Return a model of one node, nothing in it named as in its model; empty where it is not tried."""
    holder = model.by_name.get(node.holder)
    count = sum(prod(size or 1 for size in sizes.get(name, ())) for name in (*node.proto.input, *node.proto.output))
    in_branch = (holder.op if holder else node.holder) == "If"
    if not node.is_standard or node.op in _NOT_ALONE or in_branch or count > _ELEMENTS:
        return b""
    names = {name: f"i{place}" for place, name in enumerate(node.proto.input) if name}
    outputs = [f"o{place}" if name else "" for place, name in enumerate(node.proto.output)]
    given = {name: value for name in names if (value := known.get(name, model.values(name))) is not None}
    left = [name for name in names if name not in given]
    deciding = {*model.slots(node, deciding_inputs(node.op))}
    if not node.op.startswith(_PLACED):
        deciding |= {name for name in [*names][1:] if model.type_of(name) in {"INT32", "INT64"}}
    is_open = any({None, 0} & {*sizes.get(name, (None,))} for name in left) or not deciding.isdisjoint(left)
    if is_open or not _NOT_TRIED.isdisjoint(map(model.type_of, names)):
        return b""
    kinds = {name: TensorProto.DataType.Value(model.type_of(name)) for name in names}
    copy = copied(node.proto)
    copy.name, copy.input[:], copy.output[:] = "", [names.get(name, "") for name in node.proto.input], outputs
    arrays = {name: value.astype(helper.tensor_dtype_to_np_dtype(kinds[name])) for name, value in given.items()}
    graph = helper.make_graph(
        [copy],
        "alone",
        [helper.make_tensor_value_info(names[name], kinds[name], sizes[name]) for name in left],
        [helper.make_empty_tensor_value_info(name) for name in outputs if name],
        [numpy_helper.from_array(array, names[name]) for name, array in arrays.items()],
    )
    single = helper.make_model(graph, opset_imports=[helper.make_opsetid("", model.opset)], ir_version=8)
    return bytes(single.SerializeToString(deterministic=True))


def refusal_of(single: bytes) -> str:
    """Run a model of one node with what most operators take: places 0, other integers 1, numbers 0.5."""
    model = onnx.load_from_string(single)
    whole = int(not model.graph.node[0].op_type.startswith(_PLACED))
    shapes = {each.name: [dim.dim_value for dim in each.type.tensor_type.shape.dim] for each in model.graph.input}
    kinds = dtypes_of(model)
    feed = {
        name: np.full(shape, whole if kinds[name].kind in "iub" else 0.5).astype(kinds[name])
        for name, shape in shapes.items()
    }
    try:
        session_of(model, {}, threads=1).run(feed)
    except failures() as error:
        refused = None if _OWN_LIMITS.search(str(error)) else _REFUSED.search(str(error))
        return " ".join(refused[1].split()).rstrip(".") if refused else ""
    return ""


if __name__ == "__main__":
    end = monotonic() + PATIENCE_S
    for text in sys.stdin:
        if monotonic() < end:
            sys.stdout.write(refusal_of(bytes.fromhex(text)) + "\n")
