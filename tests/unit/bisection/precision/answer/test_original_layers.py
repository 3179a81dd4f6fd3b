"""A layer of a quantized model has its own noise and that of all before, and another network is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.zoo.net import Net
from trtforensics.bisection.precision.answer.original_layers import OriginalReport, held_to_original
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.errors import UsageError
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

LAYERS = ("/a", "/b", "/c")
SAMPLE = {"x": np.random.default_rng(3).standard_normal((4, 16)).astype(np.float32)}


def network(scales: Mapping[str, float], suffix: str = "") -> onnx.ModelProto:
    """Return products and sums; those of ``scales`` read their data through a pair."""
    net = Net(seed=5)
    net.tensor("zero", 0, np.int8)
    tensor = "x"
    for scope in LAYERS:
        if scope in scales:
            step = net.tensor(f"{scope}.scale", scales[scope])
            narrow = net.node("QuantizeLinear", f"{scope}/Q", [tensor, step, "zero"])
            tensor = net.node("DequantizeLinear", f"{scope}/DQ", [narrow, step, "zero"])
        tensor = net.linear(f"{scope}{suffix}", tensor, 16, 16)
    return net.model(tensor, {"x": (4, 16)}, (4, 16))


def report(scales: Mapping[str, float], original: onnx.ModelProto, folder: Path) -> OriginalReport:
    onnx.save(network(scales), folder / "quantized.onnx")
    onnx.save(original, folder / "fp32.onnx")
    oracle = Oracle(Caster(prepare(str(folder / "quantized.onnx")), FP16), [SAMPLE])
    return held_to_original(str(folder / "fp32.onnx"), oracle)


def test_a_layer_has_its_own_noise_and_the_last_has_all_of_it(tmp_path: Path) -> None:
    found = report({"/a": 0.03, "/b": 0.9}, network({}), tmp_path)
    a, b, c = sorted(found.layers, key=lambda layer: layer.node)
    assert a.alone_db is not None
    assert b.alone_db is not None
    assert found.layers[0].node == b.node
    assert b.alone_db < 20 < a.alone_db
    assert a.summed_db == pytest.approx(a.alone_db)
    assert (c.alone_db, found.unmatched) == (None, ())
    assert c.summed_db is not None
    assert c.summed_db < a.alone_db
    assert f"  {b.node} [{b.op}]: alone {b.alone_db:.0f} dB, summed {b.summed_db:.0f} dB" in found.lines()


def test_weights_of_another_training_are_said_to_be_unlike(tmp_path: Path) -> None:
    other = network({})
    for tensor in other.graph.initializer:
        if len(tensor.dims) == 2:
            values = np.random.default_rng(8).standard_normal(tuple(tensor.dims)).astype(np.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(values, tensor.name))
    assert "this may not be the model that it was made of" in "\n".join(report({"/a": 0.03}, other, tmp_path).lines())


@pytest.mark.parametrize(("scales", "suffix", "says"), [({"/a": 0.03}, "/other", "no product of"), ({}, "", "no Q/DQ")])
def test_where_nothing_can_be_held_one_sentence_says_so(
    scales: Mapping[str, float], suffix: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match=says):
        report(scales, network({}, suffix), tmp_path)
