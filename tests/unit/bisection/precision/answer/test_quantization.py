"""The pair whose scale is wrong is found, and the cost of each is that of the model without it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo.net import Net
from trtforensics.bisection.precision.answer.quantization import cost_of
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from collections.abc import Collection
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

SAMPLE = np.random.default_rng(3).standard_normal((4, 16)).astype(np.float32)
GOOD = 0.03


def chain(scales: dict[str, float], left_out: Collection[str] = ()) -> onnx.ModelProto:
    """Return products of quantized operands; a weight is stored as integers."""
    net = Net(seed=5)
    net.tensor("zero", 0, np.int8)
    tensor = "x"
    for scope, scale in scales.items():
        if scope not in left_out:
            step = net.tensor(f"{scope}.scale", scale)
            narrow = net.node("QuantizeLinear", f"{scope}/Q", [tensor, step, "zero"])
            tensor = net.node("DequantizeLinear", f"{scope}/DQ", [narrow, step, "zero"])
        tensor = net.linear(scope, tensor, 16, 16)
    stored = net.tensor("w8", np.arange(-128, 128).reshape(16, 16), np.int8)
    weight = net.node("DequantizeLinear", "/w/DQ", [stored, net.tensor("w8.scale", 0.01), "zero"])
    return net.model(net.node("MatMul", "/last", [tensor, weight]), {"x": (4, 16)}, (4, 16))


def oracle(model: onnx.ModelProto, folder: Path) -> Oracle:
    onnx.save(model, folder / "model.onnx")
    return Oracle(Caster(prepare(str(folder / "model.onnx")), FP16), [{"x": SAMPLE}])


def output(model: onnx.ModelProto, folder: Path) -> np.ndarray:
    return np.asarray(oracle(model, folder).reference[0]["y"], np.float64)


@pytest.mark.parametrize("wrong", ["/a", "/b", "/c"])
def test_the_scale_that_costs_most_is_named(wrong: str, tmp_path: Path) -> None:
    scales = {scope: 0.6 if scope == wrong else GOOD for scope in ("/a", "/b", "/c")}
    cost = cost_of(oracle(chain(scales), tmp_path))
    assert cost is not None
    exact = output(chain(scales, scales), tmp_path)
    for name, error in ((None, cost.error), *((pair.node, pair.without) for pair in cost.pairs)):
        left = output(chain(scales, () if name is None else (name.removesuffix("/Q"),)), tmp_path)
        assert error == pytest.approx(np.linalg.norm(left - exact) / np.linalg.norm(exact), rel=1e-3)
    assert cost.half == (f"{wrong}/Q",)


def test_pairs_scales_and_stored_weights_are_named(tmp_path: Path) -> None:
    cost = cost_of(oracle(chain({"/a": GOOD, "/b": 0.6}), tmp_path))
    assert cost is not None
    assert [(pair.node, pair.scale) for pair in cost.pairs] == [("/a/Q", "/a.scale"), ("/b/Q", "/b.scale")]
    assert (cost.half, cost.stored_weights) == (("/b/Q",), 1)


def test_where_one_pair_is_not_enough_the_fewest_halve_the_error(tmp_path: Path) -> None:
    scales = {"/a": 0.6, "/b": GOOD, "/c": 0.9, "/d": 0.6}
    cost = cost_of(oracle(chain(scales), tmp_path))
    assert cost is not None
    assert cost.error is not None
    assert min(pair.without or 0.0 for pair in cost.pairs) > cost.error / 2 < cost.error
    assert len(cost.half) > 1
    assert "/b/Q" not in cost.half
    exact, left = (output(chain(scales, out), tmp_path) for out in (scales, [n.removesuffix("/Q") for n in cost.half]))
    assert np.linalg.norm(left - exact) / np.linalg.norm(exact) <= cost.error / 2


def test_a_model_without_pairs_costs_nothing(tmp_path: Path) -> None:
    assert cost_of(oracle(chain({"/a": GOOD}, ("/a",)), tmp_path)) is None
