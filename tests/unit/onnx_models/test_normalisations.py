"""Which chains are recognised as normalisations, and that the operators compute the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.for_each import for_each
from tests.support.zoo.net import Net
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.normalisations import GROUP, LAYER, RMS, chains_of, other_axes, with_operators

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.onnx_models.normalisations import NormChain

runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

WIDTH = 8


def normalised(
    net: Net, *, centred: bool = True, square: str = "Pow", divide: str = "Div", axes: Sequence[int] = (-1,)
) -> str:
    """Write a normalisation in one of the ways of exporters."""
    value = "x"
    if centred:
        value = net.node("Sub", "/Sub", ["x", net.node("ReduceMean", "/mean", ["x"], axes=list(axes), keepdims=1)])
    squared = net.node(square, "/square", [value, net.constant("/two", 2.0) if square == "Pow" else value])
    variance = net.node("ReduceMean", "/variance", [squared], axes=list(axes), keepdims=1)
    total = net.node("Add", "/Add", [net.constant("/epsilon", 1e-3), variance])
    if divide == "Pow":
        return net.node("Mul", "/divide", [net.node("Pow", "/root", [total, net.constant("/power", -0.5)]), value])
    root = net.node("Sqrt", "/root", [total])
    if divide == "Div":
        return net.node("Div", "/divide", [value, root])
    inverse = [root] if divide == "Reciprocal" else [net.constant("/one", 1.0), root]
    return net.node("Mul", "/divide", [value, net.node("Div" if len(inverse) > 1 else divide, "/inverse", inverse)])


def finished(net: Net, output: str, *, affine: bool = True, size: Sequence[int] = (3, WIDTH)) -> onnx.ModelProto:
    if affine:
        scaled = net.node("Mul", "/scale", [output, net.weight("gain", WIDTH, scale=1.0)])
        output = net.node("Add", "/shift", [scaled, net.weight("shift", WIDTH, scale=1.0)])
    model = net.model(output, {"x": size}, size)
    return onnx.shape_inference.infer_shapes(model)


def chains(model: onnx.ModelProto) -> list[NormChain]:
    return chains_of(model, Survey(model))


def outputs(model: onnx.ModelProto, x: np.ndarray) -> np.ndarray:
    options = runtime.SessionOptions()  # its own fusion of such a chain may take another epsilon
    options.graph_optimization_level = runtime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = runtime.InferenceSession(model.SerializeToString(), options, ["CPUExecutionProvider"])
    return np.asarray(session.run(None, {"x": x})[0])


@for_each("divide", ["Div", "Reciprocal", "1/", "Pow"])
@for_each("square", ["Pow", "Mul"])
@for_each("centred", [True, False], ids=["layer", "rms"])
@for_each("opset", [11, 17])
def test_each_way_to_write_it_becomes_the_operator(centred: bool, square: str, divide: str, opset: int) -> None:  # noqa: FBT001 - a column of the table
    net = Net(opset=opset)
    model = finished(net, normalised(net, centred=centred, square=square, divide=divide))
    (chain,) = chains(model)
    assert (chain.operator, chain.source, chain.axis) == (LAYER if centred else RMS, "x", 1)
    assert chain.epsilon == pytest.approx(1e-3)
    assert chain.bias is not None if centred else chain.result == "/scale_output_0"
    rewritten = with_operators(model, [chain])
    assert rewritten is not None
    left = {node.op_type for node in rewritten.graph.node if node.op_type not in {"Identity", "Constant"}}
    assert left == ({LAYER} if centred else {RMS, "Add"})
    read = {name for node in rewritten.graph.node for name in node.input}
    assert {tensor.name for tensor in rewritten.graph.initializer} <= read
    x = np.random.default_rng(1).standard_normal((3, WIDTH)).astype(np.float32)
    np.testing.assert_allclose(outputs(rewritten, x), outputs(model, x), rtol=1e-5, atol=1e-6)


def test_several_axes_from_the_end_are_one_chain() -> None:
    net = Net()
    model = finished(net, normalised(net, axes=(-2, -1)), affine=False, size=(2, 3, 4))
    (chain,) = chains(model)
    assert (chain.axis, chain.scale.shape, chain.bias) == (1, (3, 4), None)


@for_each("kind", ["axes in the middle", "unknown size", "another mean", "a power of three", "negative epsilon"])
def test_what_is_no_normalisation_stays(kind: str) -> None:
    net = Net()
    if kind == "axes in the middle":
        model = finished(net, normalised(net, axes=(1,)), affine=False, size=(2, 3, 4))
    elif kind == "unknown size":
        output = normalised(net)
        model = onnx.shape_inference.infer_shapes(net.model(output, {"x": (3, "n")}, (3, "n")))
    else:
        model = finished(net, normalised(net))
        node = {node.name: node for node in model.graph.node}
        if kind == "another mean":
            node["/variance"].attribute[0].ints[:] = [0]
            node["/mean"].attribute[0].ints[:] = [1]
        else:
            name, value = ("/two", 3.0) if kind == "a power of three" else ("/epsilon", -1.0)
            node[name].attribute[0].t.raw_data = np.float32(value).tobytes()
    assert chains(model) == []
    said = ["/divide"] if kind in {"axes in the middle", "unknown size", "another mean"} else []
    assert other_axes(model, Survey(model)) == said


def test_a_node_that_others_read_stays() -> None:
    net = Net()
    divided = normalised(net)
    output = net.node("Add", "/both", [divided, "/Sub_output_0"])
    model = finished(net, output, affine=False)
    (chain,) = chains(model)
    assert not {"/Sub", "/mean"} & chain.nodes
    assert chain.nodes >= {"/divide", "/root", "/variance", "/square"}
    rewritten = with_operators(model, [chain])
    assert rewritten is not None
    x = np.random.default_rng(1).standard_normal((3, WIDTH)).astype(np.float32)
    np.testing.assert_allclose(outputs(rewritten, x), outputs(model, x), rtol=1e-5, atol=1e-6)


def grouped(
    net: Net,
    *,
    split: Sequence[int] = (0, 2, -1),
    join: Sequence[int] | None = None,
    gain: Sequence[int] | None = (4, 1, 1),
) -> str:
    """Write a normalisation of two groups of four channels, as exporters write it for images of any size."""
    groups = net.node("Reshape", "/split", ["x", net.constant("/split/size", split, np.int64)])
    mean = net.node("ReduceMean", "/mean", [groups], axes=[-1], keepdims=1)
    centred = net.node("Sub", "/Sub", [groups, mean])
    variance = net.node(
        "ReduceMean", "/variance", [net.node("Mul", "/square", [centred, centred])], axes=[-1], keepdims=1
    )
    root = net.node("Sqrt", "/root", [net.node("Add", "/Add", [variance, net.constant("/epsilon", 1e-3)])])
    divided = net.node("Div", "/divide", [centred, root])
    size = net.node("Shape", "/size", ["x"]) if join is None else net.constant("/join/size", join, np.int64)
    whole = net.node("Reshape", "/join", [divided, size])
    if gain is None:
        return whole
    scaled = net.node("Mul", "/scale", [whole, net.weight("gain", *gain, scale=1.0)])
    return net.node("Add", "/shift", [scaled, net.weight("shift", 1, 4, 1, 1, scale=1.0)])


IMAGE = (2, 4, "height", "width")


def image(
    net: Net, output: str, size: Sequence[int | str] = IMAGE, result: Sequence[int | str] | None = None
) -> onnx.ModelProto:
    return onnx.shape_inference.infer_shapes(net.model(output, {"x": size}, result or size), data_prop=True)


@for_each("size", [IMAGE, ("n", 4, "height", "width"), (2, 4, "height", 5)])
@for_each("opset", [11, 17])
def test_groups_of_channels_of_unknown_sizes_become_the_operator(size: Sequence[int | str], opset: int) -> None:
    net = Net(opset=opset)
    model = image(net, grouped(net), size)
    (chain,) = chains(model)
    assert (chain.operator, chain.source, chain.groups) == (GROUP, "x", 2)
    assert chain.bias is not None
    assert (chain.scale.shape, chain.bias.shape, chain.result) == ((4,), (4,), "/shift_output_0")
    rewritten = with_operators(model, [chain])
    assert rewritten is not None
    assert [node.op_type for node in rewritten.graph.node if node.op_type not in {"Constant", "Identity"}] == [GROUP]
    x = np.random.default_rng(1).standard_normal((2, 4, 6, 5)).astype(np.float32)
    np.testing.assert_allclose(outputs(rewritten, x), outputs(model, x), rtol=1e-5, atol=1e-6)


def test_a_factor_along_the_width_is_none_of_the_channels() -> None:
    net = Net()
    model = image(net, grouped(net, gain=(4,)), (2, 4, "height", 4))
    (chain,) = chains(model)
    assert chain.result == "/join_output_0"
    np.testing.assert_array_equal(chain.scale, np.ones(4))
    rewritten = with_operators(model, [chain])
    assert rewritten is not None
    x = np.random.default_rng(1).standard_normal((2, 4, 6, 4)).astype(np.float32)
    np.testing.assert_allclose(outputs(rewritten, x), outputs(model, x), rtol=1e-5, atol=1e-6)


def test_groups_of_known_sizes_become_the_operator_that_more_versions_have() -> None:
    net = Net()
    (chain,) = chains(image(net, grouped(net, split=(2, 2, -1)), (2, 4, 6, 5)))
    assert (chain.operator, chain.source, chain.axis) == (LAYER, "/split_output_0", 2)


@for_each(
    ("split", "join"),
    [((1, 4, -1), None), ((0, 2, -1), (0, 8, -1, 5)), ((0, 2, -1), (0, 4, -1, 5)), ((0, 3, -1), None)],
    ids=["over all images", "other channels", "two sizes unknown", "channels cut"],
)
def test_reshapes_that_do_more_than_group_stay(split: Sequence[int], join: Sequence[int] | None) -> None:
    net = Net()
    size = (2, 4, "height", 6) if split[1] == 3 else IMAGE
    model = image(net, grouped(net, split=split, join=join, gain=None), size, ("a", "b", "c", "d"))
    assert chains(model) == []
    assert other_axes(model, Survey(model)) == ["/divide"]
