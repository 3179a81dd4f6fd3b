"""Values that are lost inside are traced to the node that causes it, and nothing is lost in the repaired model."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from tests.support.zoo.emulation import Emulation
from tests.support.zoo.net import Net
from trtforensics.cli import main

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

ROWS, WIDTH = 4, 32
SAMPLES = [{"x": np.random.default_rng(seed).standard_normal((ROWS, WIDTH)).astype(np.float32)} for seed in (1, 2)]


def ended(net: Net, tensor: str) -> onnx.ModelProto:
    last = net.linear("/out", tensor, WIDTH, 8)
    return net.model(last, {"x": (ROWS, WIDTH)}, (ROWS, 8))


def spectrum() -> onnx.ModelProto:
    """A power whose small values become zero, so that its logarithm is minus infinity, which a Clip hides."""
    net = Net(seed=3)
    small = net.node("Mul", "/scale", ["x", net.tensor("k", 2e-3)])
    power = net.node("Mul", "/power", [small, small])
    level = net.node("Log", "/Log", [net.node("Add", "/Add", [power, net.tensor("floor", 1e-9)])])
    return ended(net, net.node("Clip", "/Clip", [level, net.tensor("low", -30.0), net.tensor("high", 30.0)]))


def guard() -> onnx.ModelProto:
    """A Clip at 1e-8 before a logarithm: in FP16 the bound is zero."""
    net = Net(seed=4)
    positive = net.node("Relu", "/Relu", ["x"])
    limited = net.node("Clip", "/Clip", [positive, net.tensor("low", 1e-8), net.tensor("high", 1e4)])
    bounded = net.node("Max", "/Max", [net.node("Log", "/Log", [limited]), net.tensor("least", -20.0)])
    return ended(net, bounded)


def dropped() -> onnx.ModelProto:
    """A quotient of infinities, NaN, from which a Max and a ReduceMax choose."""
    net = Net(seed=5)
    large = net.node("Mul", "/up", ["x", net.tensor("k", 6e4)])
    ratio = net.node("Div", "/ratio", [large, large])
    best = net.node("Max", "/Max", [ratio, net.tensor("half", 0.5)])
    top = net.node("ReduceMax", "/top", [best], axes=[-1], keepdims=1)
    return ended(net, net.node("Mul", "/weighed", ["x", top]))


def root() -> onnx.ModelProto:
    """A variance as a difference of means, which rounding makes negative: the node in range that makes NaN."""
    net = Net(seed=6)
    near = net.node("Add", "/near", [net.node("Mul", "/small", ["x", net.tensor("k", 1e-3)]), net.tensor("one", 3.0)])
    squares = net.node("ReduceMean", "/squares", [net.node("Mul", "/square", [near, near])], axes=[-1], keepdims=1)
    mean = net.node("ReduceMean", "/mean", [near], axes=[-1], keepdims=1)
    variance = net.node("Sub", "/variance", [squares, net.node("Mul", "/mean_square", [mean, mean])])
    deviation = net.node("Sqrt", "/Sqrt", [variance])
    bounded = net.node("Min", "/Min", [deviation, net.tensor("most", 1.0)])
    return ended(net, net.node("Add", "/shift", ["x", bounded]))


def search(model: onnx.ModelProto, folder: Path) -> dict[str, Any]:
    onnx.save(model, folder / "model.onnx")
    arguments = ["bisect", "precision", str(folder / "model.onnx"), "--artifacts-dir", str(folder / "out"), "--quiet"]
    for number, sample in enumerate(SAMPLES):
        np.savez(folder / f"{number}.npz", **sample)  # type: ignore[arg-type]
        arguments += ["--inputs", str(folder / f"{number}.npz")]
    main([*arguments, "--build", "none"])
    found: dict[str, Any] = json.loads((folder / "out" / "result.json").read_text())
    return found


def lost(model: onnx.ModelProto, keep: Collection[str]) -> set[str]:
    """Return the tensors that are not finite though they are in FP32, by numpy, which hands NaN on as a GPU does."""
    everything = frozenset(node.name for node in model.graph.node)
    names = set()
    for sample in SAMPLES:
        exact, twin = Emulation(model, everything), Emulation(model, keep)
        exact.run(sample)
        twin.run(sample)
        for name, (made,) in twin.seen.items():
            if made.dtype == np.float32 and (np.isfinite(exact.seen[name][0]) & ~np.isfinite(made)).any():
                names.add(name)
    return names


@pytest.mark.parametrize(
    ("build", "causes", "why"),
    [
        (spectrum, {"/power", "/Add", "/Log"}, "because /Add_output_0 has values up to "),
        (guard, {"/Clip", "/Log"}, "/Clip_output_0 has values up to 1e-08 that become zero, fp16 begins at 5.96e-08"),
        (dropped, {"/up", "/ratio"}, "/up_output_0 reaches "),
        (root, {"/variance", "/Sqrt"}, "is rounded to fp16, and /Sqrt makes it not finite"),
    ],
)
def test_nothing_is_lost_inside_the_repaired_model(
    build: Callable[[], onnx.ModelProto],
    causes: set[str],
    why: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = build()
    found = search(model, tmp_path)
    said = capsys.readouterr().out
    kept = set(found["safe"]["nodes"])
    assert lost(model, set(found["minimal"]["nodes"])) == {e["tensor"] for e in found["inside"] if e["lost"]}
    assert lost(model, kept) == set()
    assert (found["left"], found["safe"]["verdict"]) == ([], "good")
    assert causes <= kept
    assert why in said


@pytest.mark.parametrize("opset", [9, 13, 15])
def test_the_statistics_of_a_normalisation_are_folded_in_fp32(
    opset: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = Net(seed=7, opset=opset)
    image = net.node("Reshape", "/image", ["x", net.tensor("shape", [ROWS, 8, 4], np.int64)])
    bounds = {"scale": np.full(8, 3e5), "shift": np.full(8, 0.5), "mean": np.full(8, 0.1), "variance": np.full(8, 1e11)}
    parameters = [net.tensor(name, values) for name, values in bounds.items()]
    normal = net.node("BatchNormalization", "/BatchNormalization", [image, *parameters])
    flat = net.node("Reshape", "/flat", [normal, net.tensor("rows", [ROWS, WIDTH], np.int64)])
    found = search(ended(net, flat), tmp_path)
    assert found["why"] == "the model passes with every node in FP16"
    assert found["constants"] == []
    assert "clamped" not in capsys.readouterr().out


def test_what_is_computed_of_constants_alone_is_folded_in_fp32(tmp_path: Path) -> None:
    net = Net(seed=8)
    share = net.node("Div", "/share", [net.tensor("part", 2e6), net.tensor("whole", 8e6)])
    found = search(ended(net, net.node("Mul", "/Mul", ["x", share])), tmp_path)
    assert found["why"] == "the model passes with every node in FP16"
    assert found["items"] == 2
