"""The same LayerNorm in the operator sets 7 to 21."""

from __future__ import annotations

from functools import partial

from tests.support.zoo.model import ZooModel, nodes
from tests.support.zoo.net import feeds
from tests.support.zoo.norms import layer_norm

_OPERATOR_SETS = (7, 8, 9, 10, 11, 12, 13, 15, 18, 19, 20, 21)


def models() -> list[ZooModel]:
    """Return the models."""
    expected = nodes("/norm", "Pow", "ReduceMean_1")
    samples = feeds(3, 6, 32)
    return [
        ZooModel(f"operator set {opset}", partial(layer_norm, opset), samples, expected, expected)
        for opset in _OPERATOR_SETS
    ]
