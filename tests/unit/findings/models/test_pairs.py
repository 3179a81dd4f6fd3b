"""Each fault is found by its code, and its faultless twin has none of that code and no error or warning at all."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import helper
from onnx.external_data_helper import set_external_data

from tests.support.faulty_models import FLOAT, Pair, model, node, pairs, residual, written
from tests.support.for_each import for_each
from trtforensics.cli import main
from trtforensics.findings.models import forecast
from trtforensics.onnx_models import trying

if TYPE_CHECKING:
    from pathlib import Path

_QUIET = {"TF180"}
"""What is said of every model with dynamic inputs and no shapes."""


def _found(path: str, pair: Pair, capsys: pytest.CaptureFixture[str]) -> list[dict[str, Any]]:
    assert main(["check", path, *pair.options, "--json"]) == 0
    return list(json.loads(capsys.readouterr().out)["findings"])


@for_each("pair", pairs(), ids=lambda pair: pair.name)
def test_a_fault_is_found_and_its_twin_is_not_blamed(
    pair: Pair, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = written(pair, tmp_path)
    assert pair.code in {finding["code"] for finding in _found(paths["faulty"], pair, capsys)}
    twin = _found(paths["faultless"], pair, capsys)
    assert pair.code not in {finding["code"] for finding in twin}
    assert not [finding for finding in twin if finding["severity"] != "note" and finding["code"] not in _QUIET]


def test_a_plugin_that_tensorrt_ships_is_a_note_and_new_types_alone_are_no_newer_operator(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own, shipped = (model(node(name, "x", "y")) for name in ("YoloLayer_TRT", "EfficientNMS_TRT"))
    found = _both(Pair("", "TF172", own, shipped, ("--target", "10.3")), tmp_path, capsys)
    assert [finding["severity"] for each in found for finding in each] == ["warning", "note"]
    cast, plain = model(node("Cast", "x", "y", to=FLOAT), opset=23), model(node("Round", "x", "y"), opset=23)
    found = _both(Pair("", "TF173", cast, plain, ("--target", "8.6")), tmp_path, capsys)
    assert [[finding["code"] for finding in each] for each in found] == [["TF173"], []]


def test_what_is_added_to_a_product_in_8_bits_is_quantised_too(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = _both(Pair("", "", residual("x"), residual("d"), ("--target", "10.3")), tmp_path, capsys)
    titles = [[finding["title"] for finding in each if "addend" in finding["title"]] for each in found]
    assert titles == [["Forecast: /add in floating point: the other addend of a quantised product has no Q/DQ"], []]


def test_what_is_wrong_is_said_with_its_tensor_its_sizes_and_its_value(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    zero: Any = {"s": np.zeros((), np.float32), "z": np.zeros((), np.int8)}
    stored = model(node("Add", "x k", "y"), k=np.ones(8, np.float32))
    set_external_data(stored.graph.initializer[0], "gone.bin")
    stored.graph.initializer[0].ClearField("raw_data")
    misfit = model(node("Add", "x k", "y"), inputs={"x": (FLOAT, ("n", 8))}, k=np.ones((3, 8), np.float32))
    scaled = model(node("QuantizeLinear", "x s z", "q"), node("DequantizeLinear", "q s z", "y"), **zero)
    pairs = [Pair("", "", scaled, stored, ()), Pair("", "", misfit, misfit, ("--shapes=x:2x8",))]
    titles = {finding["title"] for pair in pairs for each in _both(pair, tmp_path, capsys) for finding in each}
    assert titles >= {
        "QuantizeLinear: y_scale has 0, it must be above 0: /quantizelinear",
        "The data file gone.bin of k is missing",
        "Add /add does not work at min shapes (2x8, 3x8): Incompatible dimensions",
    }
    assert not [title for title in titles if title.startswith("Add: ONNX Runtime")]


def test_words_of_an_attribute_are_said_as_they_stand(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pair = next(pair for pair in pairs() if pair.name == "an activation that the parser has not")
    found = _both(pair, tmp_path, capsys)[0]
    assert [finding["title"] for finding in found if finding["title"].startswith("RNN: activations is Affine, it must")]


@for_each(
    "op, inputs, weights",
    [("Gemm", (1, 64), (64, 8)), ("MatMul", (1, 64), (64, 8)), ("Conv", (1, 64, 1, 1), (8, 64, 1, 1))],
)
def test_each_product_is_forecast_where_its_weights_add_up_beyond_half(
    op: str, inputs: tuple[int, ...], weights: tuple[int, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    large, small = (
        model(node(op, "x w", "y", "/product"), inputs={"x": (FLOAT, inputs)}, w=np.full(weights, each, np.float32))
        for each in (1025, 1023)
    )
    found = _both(Pair("", "", large, small, ("--target", "10.3", "--fp16")), tmp_path, capsys)
    titles = [[each["title"] for each in every if "may reach" in each["title"]] for every in found]
    assert titles == [["Forecast: /product may reach 6.56e+04 where its inputs are at most 1, FP16 ends at 65504"], []]


def test_a_normalisation_without_channels_is_judged_by_its_scales(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    wrong, right = (
        model(
            node("GroupNormalization", "x s s", "y", num_groups=2),
            inputs={"x": (FLOAT, (4,))},
            opset=21,
            s=np.ones(n, np.float32),
        )
        for n in (5, 4)
    )
    found = _both(Pair("", "", wrong, right, ("--target", "rtx")), tmp_path, capsys)
    assert ["TF179" in {finding["code"] for finding in each} for each in found] == [True, False]


def test_an_input_that_may_be_left_out_is_not_missed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    info = helper.make_tensor_value_info
    names = [info(name, FLOAT, [8]) for name in "suab"]
    body = helper.make_graph([node("Add", "s u", "a"), node("Identity", "a", "b")], "body", names[:2], names[2:])
    rows: Any = {"x": (FLOAT, (1, 4, 8)), "i": (FLOAT, (1, 8))}
    whole = model(node("Scan", "- i x", "f y", body=body, num_scan_inputs=1), inputs=rows, opset=8)
    assert "TF184" not in {each["code"] for each in _both(Pair("", "", whole, whole, ()), tmp_path, capsys)[0]}


@pytest.mark.parametrize(("target", "expected"), [("10.3", ["error"]), ("10.9", ["warning"]), ("10.13", [])])
def test_branches_may_have_two_shapes_from_the_release_that_allows_it(
    target: str, expected: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pair = next(pair for pair in pairs() if pair.name == "branches of two shapes")
    path = written(pair, tmp_path)["faulty"]
    found = _found(path, replace(pair, options=("--target", target)), capsys)
    assert [finding["severity"] for finding in found if finding["code"] == "TF194"] == expected


def test_what_is_pooled_to_nothing_is_reshaped_to_nothing_else(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs: Any = {"x": (FLOAT, (1, 4, "n"))}
    pooled = node("MaxPool", "x", "p", kernel_shape=[2], strides=[2])
    shapes = [np.array(each) for each in ([1, 4, 1], [1, 4, -1])]
    faulty, good = (model(pooled, node("Reshape", "p s", "y"), inputs=inputs, s=each) for each in shapes)
    found = _both(Pair("", "", faulty, good, ("--target", "rtx")), tmp_path, capsys)
    told = [[finding["severity"] for finding in each if finding["code"] == "TF180"] for each in found]
    assert told == [["error"], ["warning"]]


def _both(pair: Pair, folder: Path, capsys: pytest.CaptureFixture[str]) -> list[list[dict[str, Any]]]:
    return [_found(path, pair, capsys) for path in written(pair, folder).values()]


@pytest.mark.parametrize(
    ("words", "title"),
    [
        (("--target", "8.6", "--bf16"), "TensorRT 8.6 has no --bf16"),
        (("--target", "11.1", "--fp16"), "TensorRT 11.1 has no --fp16"),
        (
            ("--target", "10.3", "--fp8", "--gpu", "8.6"),
            "The build allows FP8, which a GPU of compute capability 8.6 does not have",
        ),
        (("--target", "10.3", "--fp8", "--gpu", "8.9"), ""),
    ],
)
def test_types_that_a_build_allows_are_those_of_its_release_and_gpu(
    words: tuple[str, ...], title: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain = next(pair for pair in pairs() if pair.name == "DOUBLE input")
    found = _found(written(plain, tmp_path)["faultless"], replace(plain, options=words), capsys)
    assert [finding["title"] for finding in found if finding["code"] == "TF174"] == [title] * bool(title)


def test_memory_is_said_at_max_and_opt_with_what_a_product_may_ask_for(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs: Any = {"x": (FLOAT, ("n", 64)), "z": (FLOAT, (64, "n"))}
    path = tmp_path / "m.onnx"
    path.write_bytes(model(node("MatMul", "x z", "y", "/product"), inputs=inputs).SerializeToString())
    bounds = [f"--{name}Shapes=x:{n}x64,z:64x{n}" for name, n in (("min", 1), ("opt", 1024), ("max", 8192))]
    assert main(["check", str(path), *bounds, "--json"]) == 0
    titles = [finding["title"] for finding in json.loads(capsys.readouterr().out)["findings"]]
    parts = titles[0].split("; ")
    assert parts[:2] == ["Forecast: 0 MiB of weights as stored", "260 MiB of tensors around /product at max shapes"]
    assert parts[2] == "256 MiB of workspace at the most for /product at max shapes"
    assert parts[3] == "4 MiB of tensors around /product at opt shapes"


def test_weights_that_no_gpu_holds_are_counted_in_the_narrowest_type_of_the_build(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(forecast, "memory_of", lambda: 1)
    path = tmp_path / "m.onnx"
    for mib, types, told in ((2.5, ["--fp16"], True), (1.5, ["--fp16"], False), (1.5, [], True)):
        weights = np.ones((8, int(mib * (1 << 15))), np.float32)
        path.write_bytes(model(node("MatMul", "x w", "y"), w=weights).SerializeToString())
        assert main(["check", str(path), "--target", "10.3", *types, "--json"]) == 0
        titles = [finding["title"] for finding in json.loads(capsys.readouterr().out)["findings"]]
        assert any("of weights as stored, more than" in title for title in titles) is told


def _tried(*biases: int) -> Any:
    """Return deconvolutions to six channels, each with a bias of so many numbers, and a Clip by one number or four."""
    bounds: Any = {"low": np.zeros(()), "high": np.zeros((4,))}
    clip = "high" if 4 in biases else "low"
    nodes = [node("ConvTranspose", f"x w b{bias}", f"c{bias}", f"/up{bias}") for bias in biases]
    arrays = {f"b{bias}": np.ones(bias, np.float32) for bias in biases} | {"k": bounds[clip].astype(np.float32)}
    nodes += [node("Clip", f"c{biases[0]} k", "y")]
    return model(*nodes, w=np.ones((4, 6, 2, 2), np.float32), **arrays)


def test_nodes_that_onnx_runtime_does_not_run_are_named_and_their_twins_are_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "PATIENCE_S", 30)
    found, twin = _both(Pair("", "", _tried(5, 4), _tried(6), ("--target", "10.3")), tmp_path, capsys)
    says = {
        each["onnx_nodes"][0]: each["severity"] for each in found if "ONNX Runtime does not run it" in each["title"]
    }
    adds_any_bias = tuple(map(int, version("onnxruntime").split(".")[:2])) <= (1, 23)  # the last for Python 3.10
    assert says == ({} if adds_any_bias else {"/up5": "warning", "/up4": "warning"}) | {"/clip": "warning"}
    assert not [each for each in twin if each["severity"] != "note"]


def test_onnx_forbids_two_types_where_the_release_does_not_take_them_as_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scales = [np.ones(4, kind) for kind in (np.float16, np.float32)]
    models = [model(node("InstanceNormalization", "x s b", "y"), s=each, b=scales[1]) for each in scales]
    found, twin = _both(Pair("", "", models[0], models[1], ("--target", "10.3")), tmp_path, capsys)
    assert ["ONNX forbids it: scale has" in each["title"] for each in found if each["code"] == "TF169"] == [True]
    assert "TF169" not in {each["code"] for each in twin}
    doubles = model(node("Mul", "x k", "y"), k=np.ones(8))
    assert "TF169" not in {each["code"] for each in _both(Pair("", "", doubles, doubles, ()), tmp_path, capsys)[0]}


def test_an_empty_pooling_and_a_quantisation_without_a_zero_point_are_no_errors(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    few: Any = {"x": (FLOAT, (1, 4, 2, 2))}
    pools = [model(node("MaxPool", "x", "y", kernel_shape=[size, size]), inputs=few) for size in (4, 3)]
    found = _both(Pair("", "", pools[0], pools[1], ("--target", "10.3")), tmp_path, capsys)
    assert [[each["code"] for each in every if each["severity"] == "error"] for every in found] == [["TF179"], []]
    scale, nodes = np.float32(0.1), (node("QuantizeLinear", "x s", "q"), node("DequantizeLinear", "q s", "y"))
    signed, zero = model(*nodes, s=scale), node("QuantizeLinear", "x s z", "q")
    unsigned = model(zero, nodes[1], s=scale, z=np.uint8(0))
    found = _both(Pair("", "", unsigned, signed, ("--target", "10.3")), tmp_path, capsys)
    errors = ({each["code"] for each in every if each["severity"] == "error"} for every in found)
    assert ["TF174" in codes for codes in errors] == [True, False]


def test_what_the_builder_takes_though_onnx_forbids_it_is_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows: Any = {"x": (FLOAT, (3, 8))}
    models = [model(node("Expand", "x s", "y"), inputs=rows, s=np.array([size, 8])) for size in (2, 3)]
    found, twin = _both(Pair("", "", models[0], models[1], ("--target", "10.3")), tmp_path, capsys)
    assert [(each["code"], each["severity"]) for each in found if each["severity"] != "note"] == [("TF169", "warning")]
    assert not [each for each in twin if each["severity"] != "note"]


def test_nodes_of_functions_are_named_as_in_the_file_and_order_is_told_from_circles(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("function", "circle", "nodes out of order")
    found = [_both(pair, tmp_path, capsys)[0] for pair in pairs() if pair.name in names]
    assert [each["onnx_nodes"] for each in found[0] if each["code"] == "TF170"] == [["Twice//det"]]
    titles = {each["title"] for every in found[1:] for each in every if each["code"] == "TF184"}
    assert titles == {
        "Add /add reads b, which /neg makes from it, in a circle",
        "Abs /abs reads a, which /neg makes only later: the nodes are out of order, and the parser sorts them",
    }


def test_a_circle_of_nodes_that_move_values_is_not_quantised(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nodes = node("Identity", "b", "a"), node("Identity", "a", "b"), node("Conv", "a w", "y")
    circle = model(*nodes, w=np.ones((2, 2, 1, 1), np.float32))
    found, _ = _both(Pair("", "", circle, circle, ("--target", "10.3")), tmp_path, capsys)
    assert "TF189" not in {each["code"] for each in found}
