"""Which slots of which nodes may be 16 bits wide, by the ONNX schema and the use of their values.

A slot follows its type variable: if the schema lets the variable be 16 bits wide and the model uses it as FP32, all
slots of the variable change together. Operators with their type stated elsewhere (control flow, casts, generators) are
never candidates, nor are nodes with sequences or tensors of unknown type, arithmetic on shapes, nor what is computed
of constants alone, which a compiler folds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import onnx
from onnx import TensorProto

from trtforensics.knowledge.table import rows
from trtforensics.onnx_models.graphs import holds_graphs, is_random
from trtforensics.onnx_models.reading import schema_of

if TYPE_CHECKING:
    from trtforensics.bisection.precision.casting.storage import Storage
    from trtforensics.onnx_models.checked_graph import Survey


_OPERATORS = tuple(rows("operators", "trtforensics.bisection.precision"))


def operators_that(role: str) -> frozenset[str]:
    """Return the operators with a role, as ``operators.tsv`` names it."""
    return frozenset(row["operator"] for row in _OPERATORS if role in row["roles"].split())


_TYPED_ELSEWHERE = operators_that("typed-elsewhere")

_MOVES = operators_that("moves")
"""Each output value is an input value or its magnitude, so that 16 bits lose no more than the producer has lost."""

_ONLY_THESE_VARIABLES = {"BatchNormalization": frozenset({"T"})}
"""TensorRT takes FP32 statistics beside 16-bit data (seen in TensorRT-RTX 1.7.1), and needs their range."""
_SHAPE_SLOTS = {row["operator"]: tuple(map(int, row["shape_slots"].split())) for row in _OPERATORS}


@dataclass(frozen=True, slots=True)
class CandidateNode:
    """A node that may compute in 16 bits, with the slots that change. ``moves`` names the tensor that it only moves."""

    name: str
    op: str
    scope: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    moves: str | None = None


def candidates(model: onnx.ModelProto, survey: Survey, storage: Storage) -> dict[str, CandidateNode]:
    """Return the nodes that may compute in 16 bits, in the order of the file."""
    versions = {entry.domain: entry.version for entry in model.opset_import}
    shapes = _shape_arithmetic(survey)
    scopes = {use.node: use.scope for uses in survey.uses.values() for use in uses}
    eligible = {}
    fixed = set(survey.constants)
    for name, node in survey.nodes.items():
        if node.op_type not in _TYPED_ELSEWHERE and node.input and fixed.issuperset(filter(None, node.input)):
            fixed.update(node.output)  # the compiler folds it, in FP32
            continue
        if name in shapes or node.op_type in _TYPED_ELSEWHERE or holds_graphs(node):
            continue
        version = versions.get(node.domain, versions.get("ai.onnx" if not node.domain else "", 0))
        schema = schema_of(node.op_type, version, node.domain)
        if schema is None:
            continue
        inputs, outputs = (_slots(node, schema, survey, storage, side) for side in ("inputs", "outputs"))
        if inputs is None or outputs is None or not inputs:
            continue
        # a node that moves a constant rounds it, so it counts as arithmetic; a Dropout that draws does too
        moves = node.op_type in _MOVES and not is_random(node)
        moves = moves and inputs == (0,) and bool(outputs) and node.input[0] not in survey.constants
        moved = node.input[0] if moves else None
        eligible[name] = CandidateNode(name, node.op_type, scopes[name], inputs, outputs, moved)
    return eligible


def _slots(
    node: onnx.NodeProto, schema: onnx.defs.OpSchema, survey: Survey, storage: Storage, side: str
) -> tuple[int, ...] | None:
    """Return the slots that change, or None if a type is unknown or no tensor type."""
    formals = schema.inputs if side == "inputs" else schema.outputs
    wide = {rule.type_param_str for rule in schema.type_constraints if storage.type_name in rule.allowed_type_strs}
    wide &= _ONLY_THESE_VARIABLES.get(node.op_type, wide)
    slots = []
    for slot, name in enumerate(node.input if side == "inputs" else node.output):
        if not name:
            continue
        kind = survey.types.get(name, TensorProto.UNDEFINED)
        if kind == TensorProto.UNDEFINED:
            return None
        if kind == TensorProto.FLOAT and formals[min(slot, len(formals) - 1)].type_str in wide:
            slots.append(slot)
    return tuple(slots)


def _shape_arithmetic(survey: Survey) -> set[str]:
    """Return the nodes that compute sizes: from shapes alone, or small tensors that end in a shape input."""
    # FP16 cannot tell 4102 from 4104, and TensorRT refuses dynamic shapes computed in it
    chain: set[str] = set()
    derived: set[str] = set()
    for name, node in survey.nodes.items():
        varying = [i for i in node.input if i and i not in survey.constants]
        from_shapes = bool(varying) and all(i in derived for i in varying)
        if node.op_type in {"Shape", "Size"} or (from_shapes and survey.small.issuperset(node.output)):
            derived.update(node.output)
            chain.add(name)
    slots = {name: _SHAPE_SLOTS.get(node.op_type, ()) for name, node in survey.nodes.items()}
    ahead = [tensor for tensor, uses in survey.uses.items() if any(use.slot in slots[use.node] for use in uses)]
    while ahead:
        tensor = ahead.pop()
        producer = survey.producers.get(tensor)
        if producer is None or tensor not in survey.small or producer in chain:
            continue
        chain.add(producer)
        ahead.extend(i for i in survey.nodes[producer].input if i)
    return chain
