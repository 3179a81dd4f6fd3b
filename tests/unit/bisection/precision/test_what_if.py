"""What if products were quantized: ranges, the layers that are left out, and the model that is written."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import numpy_helper

from tests.support.zoo.net import Net
from trtforensics.bisection.precision.what_if import ranges_of
from trtforensics.cli import main
from trtforensics.onnx_models.running import run_model

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def network(opset: int = 17) -> onnx.ModelProto:
    """Return four products; what ``/2`` reads has one channel 3000 times beyond the others, which the rest needs."""
    net, tensor = Net(seed=5, opset=opset), "x"
    for index in range(4):
        gain = np.ones(32)
        gain[0] = 3000.0
        if index == 2:
            tensor = net.node("Mul", "/gain", [tensor, net.tensor("gain", gain)])
        weights = np.random.default_rng(index).standard_normal((32, 32)) / 6.0
        weights[0] /= gain[0] if index == 2 else 1.0
        tensor = net.node("MatMul", f"/{index}", [tensor, net.tensor(f"{index}.w", weights)])
    return net.model(tensor, {"x": (16, 32)}, (16, 32))


def what_if(model: onnx.ModelProto, folder: Path, *options: str, status: int = 0) -> Any:
    onnx.save(model, folder / "model.onnx")
    arguments = [str(folder / "model.onnx"), "--artifacts-dir", str(folder / "out"), "--build", "none", "--quiet"]
    assert main(["bisect", "precision", *arguments, *options]) == status
    return json.loads((folder / "out" / "result.json").read_text()) if status < 2 else None


@pytest.mark.parametrize("precision", ["int8", "fp8"])
def test_the_product_that_cannot_be_quantized_is_left_out(
    precision: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    left_out = ["/2"] if precision == "int8" else []
    found = what_if(network(), tmp_path, "--precision", precision)
    assert (found["products"], found["left_out"]) == (["/0", "/1", "/2", "/3"], left_out)
    said = capsys.readouterr().out
    assert f"the model with {4 - len(left_out)} of 4 products quantized passes." in said
    assert [trial["passes"] for trial in found["ranges"]] == [not left_out] * len(found["ranges"])
    assert found["held_out"]["passes"]


def test_the_written_model_has_the_error_that_was_said(tmp_path: Path) -> None:
    sample = {"x": np.random.default_rng(3).standard_normal((16, 32)).astype(np.float32)}
    np.savez(tmp_path / "x.npz", **sample)  # type: ignore[arg-type]
    found = what_if(network(), tmp_path, "--precision", "int8", "--inputs", str(tmp_path / "x.npz"))
    written = onnx.load(tmp_path / "out" / "fixed" / "model.onnx")
    quantizing = [node for node in written.graph.node if node.op_type == "QuantizeLinear"]
    assert [node.name for node in quantizing] == [f"/{layer}__{slot}_Q" for layer in (0, 1, 3) for slot in (0, 1)]
    exact, output = (run_model(model, sample) for model in (network(), written))
    assert isinstance(exact, dict)
    assert isinstance(output, dict)
    wrong = np.abs(exact["y"] - output["y"]).max() / np.abs(exact["y"]).max()
    assert found["curve"]["points"][found["curve"]["chosen"]]["scores"]["y"] == pytest.approx(wrong, rel=1e-3)


def test_scales_of_weights_are_those_of_output_channels(tmp_path: Path) -> None:
    net = Net(seed=1)
    weights = np.random.default_rng(1).standard_normal((6, 3, 3, 3)) * 10.0 ** -np.arange(6).reshape(6, 1, 1, 1)
    scaled = net.node("Conv", "/Conv", ["x", net.tensor("w", weights)])
    model = net.model(scaled, {"x": (1, 3, 8, 8)}, (1, 6, 6, 6))
    assert what_if(model, tmp_path, "--precision", "int8")["ranges"][0]["weights"] == "channel"
    written = onnx.load(tmp_path / "out" / "fixed" / "model.onnx")
    constants = {each.name: numpy_helper.to_array(each) for each in written.graph.initializer}
    if constants["/Conv__1_scale"].ndim:
        peaks = np.abs(weights).max(axis=(1, 2, 3))
        assert constants["/Conv__1_scale"] == pytest.approx(peaks / 127, rel=1e-6)


class Values:
    """An oracle of one tensor."""

    def __init__(self, values: np.ndarray) -> None:
        self._values = values

    def values_of(self, names: list[str]) -> list[tuple[str, list[np.ndarray]]]:
        """Return the values under each name."""
        return [(name, [self._values]) for name in names]


def test_percentile_and_entropy_cut_a_lone_outlier_and_max_does_not() -> None:
    values = np.append(np.random.default_rng(2).standard_normal(200_000), 100.0)
    ranges: Any = ranges_of(Values(values), ["x"], ["max", "percentile", "entropy"])  # type: ignore[arg-type]
    assert ranges["max"]["x"] == 100.0
    assert 3.5 < ranges["percentile"]["x"] < 5.0
    assert 3.0 < ranges["entropy"]["x"] < 10.0
    even = np.linspace(-1.0, 1.0, 100_001)
    ranges = ranges_of(Values(even), ["x"], ["entropy"])  # type: ignore[arg-type]
    assert ranges["entropy"]["x"] > 0.9


def test_entropy_keeps_128_steps_whose_shares_are_unlike() -> None:
    # Of 2048 bins the first 128 hold all but an outlier, by turns many and few: a wider range would mix them.
    middles = (np.arange(128) + 0.5) / 2048
    values = np.append(np.repeat(middles, np.where(np.arange(128) % 2, 1000, 10)), 1.0)
    ranges: Any = ranges_of(Values(values), ["x"], ["entropy"])  # type: ignore[arg-type]
    assert ranges["entropy"]["x"] == pytest.approx(128 / 2048)


def test_what_cannot_be_asked_is_refused_in_a_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    what_if(network(), tmp_path, "--precision", "int8", "--check", "true", status=2)
    assert "--check: has no use with --precision int8. Leave it out." in capsys.readouterr().err
    what_if(network(), tmp_path, "--precision", "int8")
    written = onnx.load(tmp_path / "out" / "fixed" / "model.onnx")
    capsys.readouterr()
    what_if(written, tmp_path, "--precision", "int8", status=2)
    assert "has pairs of Q and DQ already. Give the FP32 model that it was made of." in capsys.readouterr().err
    (tmp_path / "out" / "job.json").write_text("{}")
    what_if(network(), tmp_path, "--precision", "int8", status=2)
    assert "holds other files. Name an empty or a new directory." in capsys.readouterr().err
