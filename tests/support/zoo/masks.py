"""Attention with padded keys: the three ways in which exporters write a mask, and rows without any key."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from tests.support.zoo.model import ZooModel, nodes
from tests.support.zoo.net import Net

if TYPE_CHECKING:
    import numpy.typing as npt
    import onnx

    from tests.support.zoo.model import Feed

_WIDTH, _TOKENS, _BATCH = 16, 8, 3
_LOWEST = float(np.finfo(np.float32).min)


def models() -> list[ZooModel]:
    """Return the models."""
    masked = nodes("/mask", "Mul") | nodes("/attention", "Add", "Softmax")
    none: frozenset[str] = frozenset()
    return [
        ZooModel("mask times finfo.min", partial(_attention, "product", _LOWEST), _samples(), none, none),
        ZooModel("mask times -1e9", partial(_attention, "product", -1e9), _samples(), none, none),
        ZooModel("mask selects -inf", partial(_attention, "where", -np.inf), _samples(), none, none),
        ZooModel("mask selects -1e9", partial(_attention, "where", -1e9), _samples(), none, none),
        ZooModel("mask times -1e4", partial(_attention, "product", -1e4), _samples(), none, none),
        ZooModel(
            "low scores under a mask", partial(_attention, "product", _LOWEST, scale=14.0), _samples(), none, none
        ),
        ZooModel(
            "row without keys",
            partial(_attention, "product", _LOWEST, scale=8.0),
            _samples(empty_row=True),
            masked,
            masked,
        ),
    ]


def _samples(*, empty_row: bool = False) -> list[Feed]:
    random = np.random.default_rng(4)
    lengths = [(_TOKENS, 5, 2), (6, 0 if empty_row else 1, 7)]
    return [
        {
            "x": random.standard_normal((_BATCH, _TOKENS, _WIDTH)).astype(np.float32),
            "attention_mask": _padded(lengths[number]),
        }
        for number in range(len(lengths))
    ]


def _padded(lengths: tuple[int, ...]) -> npt.NDArray[Any]:
    return (np.arange(_TOKENS)[None, :] < np.asarray(lengths)[:, None]).astype(np.int64)


def _attention(kind: str, value: float, scale: float = 1.0) -> onnx.ModelProto:
    net = Net(seed=21)
    mask = net.over_axes("Unsqueeze", "/mask/Unsqueeze", "attention_mask", [1])
    if kind == "product":
        allowed = net.node("Cast", "/mask/Cast", [mask], to=TensorProto.FLOAT)
        padding = net.node("Sub", "/mask/Sub", [net.constant("/mask/one", 1.0), allowed])
        bias = net.node("Mul", "/mask/Mul", [padding, net.constant("/mask/lowest", value)])
    else:
        allowed = net.node("Cast", "/mask/Cast", [mask], to=TensorProto.BOOL)
        lowest = net.constant("/mask/lowest", value)
        bias = net.node("Where", "/mask/Where", [allowed, net.constant("/mask/zero", 0.0), lowest])
    query, key, content = (net.linear(f"/attention/{part}", "x", _WIDTH, _WIDTH) for part in "qkv")
    turned = net.node("Transpose", "/attention/k/Transpose", [key], perm=[0, 2, 1])
    scores = net.node("MatMul", "/attention/MatMul", [query, turned])
    scores = net.node("Mul", "/attention/Mul", [scores, net.constant("/attention/root", scale * _WIDTH**-0.5)])
    weights = net.node("Softmax", "/attention/Softmax", [net.node("Add", "/attention/Add", [scores, bias])], axis=-1)
    mixed = net.node("MatMul", "/attention/MatMul_1", [weights, content])
    size = (_BATCH, _TOKENS, _WIDTH)
    inputs = {"x": size, "attention_mask": (_BATCH, _TOKENS)}
    return net.model(
        net.linear("/out", mixed, _WIDTH, _WIDTH), inputs, size, types={"attention_mask": TensorProto.INT64}
    )
