"""A layer of a quantized model has its own noise and that of all before, and another network is refused."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

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
    noise = f"  {b.node} [{b.op}]: alone {b.alone_db:.0f} dB, summed {b.summed_db:.0f} dB"
    assert found.lines()[1] == f"{noise}; /b/Q uses 2.4% of its range: the values reach -2.81, it ends at -115"


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"scale": 0.25}, "holds 0.25 times the original's values"),
        ({"scale": 4.0}, "holds 4 times the original's values"),
        ({"axis": 0}, "has scales along axis 0 that suit axis 1"),
        ({"coarse": True}, "uses 6.2% of its range: the values reach "),
        ({"turned": True}, "holds other values than the original's, rounded"),
    ],
)
def test_stored_weights_at_fault_come_before_a_layer_that_is_noisier_by_nature(
    wrong: Mapping[str, Any], says: str, tmp_path: Path
) -> None:
    report = stored(tmp_path, **wrong)
    assert (report.layers[0].node, report.layers[0].scaled_by) == ("/b/MatMul", "/b/stored")
    assert f"; /b/stored {says}" in report.lines()[1]
    assert not any("/stored" in line for line in report.lines()[2:])


def stored(
    folder: Path, scale: float = 1.0, axis: int = 1, *, coarse: bool = False, turned: bool = False
) -> OriginalReport:
    """Hold a network whose weights are stored by output channel, those of one layer wrongly, against its original.

    Its last layer is noisy by nature: little is left of what it reads.
    """
    original = network({})
    end = original.graph.node[-1]
    original.graph.node.remove(end)
    floor = numpy_helper.from_array(np.asarray(1.6, np.float32), "floor")
    original.graph.initializer.append(floor)
    original.graph.node.append(helper.make_node("Sub", ["/c/MatMul_output_0", "floor"], ["less"], name="/less"))
    original.graph.node.append(helper.make_node("Relu", ["less"], ["y"], name="/rare"))
    quantized = onnx.ModelProto()
    quantized.CopyFrom(original)
    nodes = {node.name: node for node in quantized.graph.node}
    weights = {each.name: numpy_helper.to_array(each) for each in original.graph.initializer}
    made = []
    for scope in LAYERS:
        exact, bad = weights[f"{scope}.w"], scope == "/b"
        steps = np.full(16, np.abs(exact).max() * 16 / 127) if bad and coarse else np.abs(exact).max(axis=0) / 127
        held = np.rint(exact / steps).astype(np.int8)
        for name, values in (
            (f"{scope}.8", held[::-1] if bad and turned else held),
            (f"{scope}.s", (steps * (scale if bad else 1.0)).astype(np.float32)),
            (f"{scope}.z", np.zeros(16, np.int8)),
        ):
            quantized.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        names = [f"{scope}.8", f"{scope}.s", f"{scope}.z"]
        place = axis if bad else 1
        made.append(helper.make_node("DequantizeLinear", names, [f"{scope}.dq"], name=f"{scope}/stored", axis=place))
        nodes[f"{scope}/MatMul"].input[1] = f"{scope}.dq"
    rest = list(quantized.graph.node)
    del quantized.graph.node[:]
    quantized.graph.node.extend([*made, *rest])
    for model, name in ((original, "fp32"), (quantized, "quantized")):
        onnx.save(model, folder / f"{name}.onnx")
    oracle = Oracle(Caster(prepare(str(folder / "quantized.onnx")), FP16), [SAMPLE])
    return held_to_original(str(folder / "fp32.onnx"), oracle)


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
