"""Each operator that a finding is about is named by it, and its neighbours are not: one model a set of operators."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto, helper

from tests.support.faulty_models import FLOAT, INT64, model, node
from tests.support.for_each import for_each
from trtforensics.cli import main
from trtforensics.findings.models.quantization import moved_by
from trtforensics.onnx_models.graphs import is_random

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import onnx
    import pytest

_BOOL = TensorProto.BOOL
_TEN = ("--target", "10.3")
_FP16 = (*_TEN, "--fp16")
_KERNEL = np.full((4, 4, 3, 3), 0.1, np.float32)
_NORMALISATIONS = "LayerNormalization GroupNormalization InstanceNormalization"


_FEWEST = {"BatchNormalization": 5, "InstanceNormalization": 3, "GroupNormalization": 3, "Where": 3}
_FEWEST |= {"Gemm": 3, "GRU": 3, "LSTM": 3, "RNN": 3}
"""How many inputs an operator has at the least, where that is more than two."""
_WANTED: dict[str, dict[str, Any]] = {"Concat": {"axis": 0}, "Einsum": {"equation": "ij,ij->ij"}}
_WANTED |= {"GroupNormalization": {"num_groups": 1}, **{op: {"hidden_size": 4} for op in ("GRU", "LSTM", "RNN")}}


def _node(op: str, inputs: str, output: str, label: str) -> onnx.NodeProto:
    """Return a node with all that its operator wants; a node without it is no node to a check."""
    words = inputs.split()
    words += words[-1:] * (_FEWEST.get(op, 0) - len(words))
    return node(op, " ".join(words), output, label, **_WANTED.get(op, {}))


def _each(operators: str, inputs: str = "x x") -> list[onnx.NodeProto]:
    """Return a node of each operator, whose name is its operator's."""
    return [_node(op, inputs, f"y{op}", f"/{op}") for op in operators.split()]


def _behind(first: str, inputs: str, operators: str, place: int = 0) -> Iterator[onnx.NodeProto]:
    """Give nodes that are named after the operator that reads each."""
    for op in operators.split():
        read = [f"m{op}", "k"] if place == 0 else ["k", f"m{op}"]
        yield node(first, inputs, f"m{op}", f"/{op}")
        yield _node(op, " ".join(read), f"y{op}", f"/reader{op}")


def _branch(op: str) -> onnx.NodeProto:
    bodies = [
        helper.make_graph(
            [_node(op, "x x", f"{side}{op}", f"/{side}/{op}")],
            side,
            [],
            [helper.make_tensor_value_info(f"{side}{op}", FLOAT, None)],
        )
        for side in ("then", "else")
    ]
    return node("If", "c", f"y{op}", f"/{op}", then_branch=bodies[0], else_branch=bodies[1])


_ROWS: list[tuple[str, Sequence[str], str, str, Any]] = [
    (
        "inside ForeignNodes",
        _TEN,
        f"MatMul Gemm Softmax ArgMax {_NORMALISATIONS}",
        "Conv MaxPool Relu Add ReduceSum",
        lambda both: model(*_each(both)),
    ),
    (
        "depends on data",
        _TEN,
        "NonZero NonMaxSuppression Compress Unique",
        "TopK Where",
        lambda both: model(*_each(both)),
    ),
    (
        "in one kernel with what follows",
        _TEN,
        "BatchNormalization Relu LeakyRelu Clip Sigmoid Tanh Elu Add",
        "Abs Softmax MaxPool Conv",
        lambda both: model(*_behind("Conv", "x w", both), w=_KERNEL, k=np.float32(1)),
    ),
    (
        "keeps nothing from 0",
        _FP16,
        "Log Pow Reciprocal Sqrt",
        "Div Abs Exp",
        lambda both: model(*_behind("Add", "x z", both), z=np.float32(0), k=np.float32(1)),
    ),
    (
        "keeps nothing from 0",
        _FP16,
        "Div",
        "Sub Mul",
        lambda both: model(*_behind("Add", "x z", both, 1), z=np.float32(0), k=np.float32(1)),
    ),
    (
        "keeps a batch of 1",
        _TEN,
        "Add Sub Mul Div Where Equal And Or Max Min MatMul Pow",
        "Concat Gather Abs",
        lambda both: model(*_each(both, "x one"), inputs={"x": (FLOAT, ("n", 8)), "one": (FLOAT, (1, 8))}),
    ),
    (
        "broadcasts as the parser does not",
        ("--target", "7.2"),
        "Add Sub Mul Div Equal Greater Less Max Min Gemm Pow And Or Xor",
        "Conv Abs MatMul",
        lambda both: model(*_each(both), opset=6),
    ),
    (
        "they must be of one type",
        _TEN,
        "Add Sub Mul Div Equal Greater Less Max Min Gemm MatMul Concat Conv",
        "Pow Gather Where",
        lambda both: model(*_each(both, "x i"), inputs={"x": (FLOAT, (4, 4)), "i": (INT64, (4, 4))}),
    ),
    (
        "is a quantised constant",
        _TEN,
        "Add Gather Reshape Conv",
        "DequantizeLinear QuantizeLinear Clip Flatten If Loop Scan Shape Size",
        lambda both: model(*_each(both, "q s"), q=np.ones((4, 4), np.int8), s=np.float32(1)),
    ),
    (
        "around products, convolutions or recurrences",
        _TEN,
        "Conv ConvTranspose Einsum Gemm MatMul GRU LSTM RNN",
        "Add Relu Softmax",
        lambda both: model(*(_branch(op) for op in both.split()), inputs={"x": (FLOAT, (4, 4)), "c": (_BOOL, ())}),
    ),
]


@for_each(
    ("words", "options", "named", "not_named", "make"),
    _ROWS,
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_finding_names_the_operators_that_it_is_about_and_no_others(  # noqa: PLR0913, PLR0917 - a row and two fixtures
    words: str,
    options: Sequence[str],
    named: str,
    not_named: str,
    make: Any,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(make(f"{named} {not_named}").SerializeToString())
    assert main(["check", str(path), *options, "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    labels = {label for each in findings if words in each["title"] for label in each["onnx_nodes"]}
    assert labels == {f"/{op}" for op in named.split()}


_MOVING = "DepthToSpace Expand Flatten Reshape SpaceToDepth Squeeze Tile Unsqueeze Abs Gather Identity MaxPool Neg Pad"
_RANDOM = "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Multinomial Bernoulli"


@for_each(
    ("operators", "inputs", "moved"),
    [
        (f"{_MOVING} Slice Split Transpose", "a b", ["a"]),
        ("Concat", "a b", ["a", "b"]),
        ("Relu Clip AveragePool Resize Add", "a b", []),
    ],
)
def test_quantisation_moves_across_what_moves_values(operators: str, inputs: str, moved: list[str]) -> None:
    assert {op: [*moved_by(node(op, inputs, "y"))] for op in operators.split()} == dict.fromkeys(
        operators.split(), moved
    )


@for_each(
    ("operators", "inputs", "random"),
    [
        (_RANDOM, "x", True),
        ("Dropout", "x r t", True),
        ("Dropout", "x r", False),
        ("Dropout", "x r -", False),
        ("Range Abs", "x", False),
    ],
)
def test_operators_that_draw_numbers_are_random(operators: str, inputs: str, *, random: bool) -> None:
    assert [op for op in operators.split() if is_random(node(op, inputs, "y")) is not random] == []
