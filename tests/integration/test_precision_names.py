"""The names that are given to other tools are those of layers in TensorRT's network, as its ONNX parser makes it."""

from __future__ import annotations

import importlib
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from tests.support.repository import ROOT
from tests.support.zoo import models
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.repair import fixes
from trtforensics.cli import main
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

MODELS = {model.name: model.build for model in models() if not model.large and not model.external}


def without_layers() -> onnx.ModelProto:
    """Return a model with nodes that the parser makes no layer of, between some that are layers."""
    net = Net(seed=1)
    dropped = net.node("Dropout", "/Dropout", [net.node("Abs", "/Abs", ["x"])])
    flat = net.node("Flatten", "/matrix", [net.node("Flatten", "/Flatten", [dropped])])
    return net.model(net.node("Exp", "/Exp", [flat]), {"x": (2, 4, 8)}, (2, 32))


MODELS |= {"nodes without layers": without_layers}
MODELS |= {path.name: partial(onnx.load, path) for path in sorted((ROOT / "testdata" / "models").glob("*.onnx"))}


def without_names(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        node.name = ""


def all_alike(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        node.name = "layer"


def like_its_output(model: onnx.ModelProto) -> None:
    for node in model.graph.node:
        node.name = node.output[0]


def layers_of(model: onnx.ModelProto) -> set[str] | None:
    """Return the names of a network's layers; None where the parser does not take the model."""
    trt: Any = importlib.import_module("tensorrt_rtx")
    logger = trt.Logger(trt.Logger.INTERNAL_ERROR)
    network = trt.Builder(logger).create_network(1 << int(trt.NetworkDefinitionCreationFlag.STRONGLY_TYPED))
    if not trt.OnnxParser(network, logger).parse(model.SerializeToString()):
        return None
    return {network.get_layer(index).name for index in range(network.num_layers)}


@pytest.mark.slow
@pytest.mark.rtx
@pytest.mark.parametrize("name", MODELS)
def test_nodes_are_called_as_the_parser_calls_their_layers(name: str, tmp_path: Path) -> None:
    pytest.importorskip("tensorrt_rtx", reason="tensorrt_rtx is not installed")
    for change in (without_names, all_alike, like_its_output):
        model = MODELS[name]()
        change(model)
        onnx.save(model, tmp_path / "model.onnx")
        prepared = prepare(str(tmp_path / "model.onnx"))
        caster = Caster(prepared, FP16)
        named = caster.cast(caster.candidates)
        built = layers_of(model if change is without_names else named)
        if built is None:
            pytest.skip("TensorRT-RTX does not take this model")
        assert {*fixes.layers_of(caster, [name for name, node in caster.candidates.items() if not node.scope])} <= built


@pytest.mark.parametrize(
    ("change", "kept"),
    [
        (without_names, ["node_of_/up_output_0", "node_of_/down_output_0"]),
        (all_alike, ["layer_node_1", "layer_node_2"]),
        (like_its_output, ["/up_output_0", "/down_output_0"]),
    ],
)
def test_no_names_are_an_obstacle(change: Callable[[onnx.ModelProto], None], kept: list[str], tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")
    net = Net(seed=1)
    scaled = net.node("Mul", "/up", [net.node("Abs", "/Abs", ["x"]), net.tensor("k", 60000.0)])
    down = net.node("Div", "/down", [scaled, "k"])
    model = net.model(down, {"x": (4, 8)}, (4, 8))
    change(model)
    onnx.save(model, tmp_path / "model.onnx")
    out = tmp_path / "out"
    arguments = [str(tmp_path / "model.onnx"), "--artifacts-dir", str(out), "--build", "none", "--quiet"]
    assert main(["bisect", "precision", *arguments]) == 0
    assert json.loads((out / "result.json").read_text())["safe"]["nodes"] == kept
    command = (out / "fixed" / "trtexec.txt").read_text()
    assert all(f"{name}:fp32" in command for name in kept)
    renamed = change is not like_its_output
    assert (out / "fixed" / "named.onnx").exists() is renamed
    for file in ("trtexec.txt", "fp32_layers.py", "autocast.txt"):
        assert ("named.onnx" in (out / "fixed" / file).read_text()) is renamed
    if renamed:
        named = onnx.load(out / "fixed" / "named.onnx")
        assert set(kept) <= {node.name for node in named.graph.node}
