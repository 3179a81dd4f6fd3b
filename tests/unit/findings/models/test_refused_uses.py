"""Uses of operators that the parser or the builder refuses, each beside the nearest one that it takes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.support.faulty_models import FLOAT, INT64, Values, model, node
from tests.support.for_each import for_each
from trtforensics.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_SQUARE: Values = {"x": (FLOAT, (4, 4))}
_HEADS: Values = {"x": (FLOAT, (2, 3, 4, 8))}
Uses = tuple[Any, ...]


def _attributes() -> Iterator[Uses]:
    for op in ("Conv", "MaxPool", "AveragePool"):
        window: dict[str, Any] = {"w": np.ones((4, 4, 3, 3), np.float32)} if op == "Conv" else {}
        words = "x w" if window else "x"
        made: dict[str, Any] = {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}
        both = (model(node(op, words, "y", auto_pad=word, **made), **window) for word in ("SAME_UPPER", "NOTSET"))
        yield f"pads of {op}", *both
    heard: Values = {"x": (FLOAT, (1, 16, 1)), "n": (INT64, ())}
    frames: dict[str, Any] = {"inputs": heard, "s": np.int64(2), "w": np.ones(4, np.float32), "k": np.int64(4)}
    yield "length of frames at run time", *(model(node("STFT", f"x s w {n}", "y"), **frames) for n in "nk")
    groups: dict[str, Any] = {"opset": 21, "s": np.ones((1, 4), np.float32), "t": np.ones(4, np.float32)}
    yield "rank of scales", *(model(node("GroupNormalization", f"x {n} t", "y", num_groups=2), **groups) for n in "st")
    sizes: Values = {"x": (INT64, ())}
    yield (
        "type of a window",
        *(model(node("HannWindow", "x", "y", output_datatype=n), inputs=sizes) for n in (10, 1)),
    )
    lengths: list[Values] = [{"x": (INT64, shape)} for shape in ((1,), ())]
    yield "length of a window", *(model(node("HannWindow", "x", "y"), inputs=each) for each in lengths)
    yield "Cast to no type", *(model(node("Cast", "x", "y", to=n)) for n in (0, TensorProto.FLOAT16))
    for attribute in ("batch_axis", "time_axis"):
        other: dict[str, Any] = (
            {"batch_axis": 1, "time_axis": 0} if attribute == "time_axis" else {"batch_axis": 0, "time_axis": 1}
        )
        for place in (-1, 2):
            turned = [{**other, attribute: place}, other]
            lengths_given: dict[str, Any] = {"n": np.full(4, 2)}
            yield (
                f"{attribute} {place}",
                *(
                    model(node("ReverseSequence", "x n", "y", **each), inputs=_SQUARE, **lengths_given)
                    for each in turned
                ),
            )
    boxes: Values = {"x": (FLOAT, (1, 4, 8, 8)), "r": (FLOAT, (2, 4)), "b": (INT64, (2,))}
    for name, low in (("spatial_scale", 0.0), ("output_height", 0)):
        both = (
            model(node("RoiAlign", "x r b", "y", **_given(name, each)), inputs=boxes) for each in (low, type(low)(1))
        )
        yield f"{name} of RoiAlign", *both
    scaled: dict[str, Any] = {"inputs": {"x": (FLOAT, (2, 8))}, "opset": 23, "s": np.ones(8, np.float32)}
    stashed = (model(node("RMSNormalization", "x s", "y", stash_type=n), **scaled) for n in (17, 16))
    yield "stash_type", *stashed


def _inputs() -> Iterator[Uses]:
    eights: dict[str, Any] = {"outputs": {"y": (TensorProto.INT8, None)}, "s": np.float32(0.1)}
    moving: Values = {**_SQUARE, "z": (TensorProto.INT8, ())}
    fixed = model(node("QuantizeLinear", "x s z", "y"), inputs=_SQUARE, z=np.int8(0), **eights)
    yield "zero point at run time", model(node("QuantizeLinear", "x s z", "y"), inputs=moving, **eights), fixed
    for size in (3, 4):
        odd: Values = {"x": (TensorProto.INT4, (3, size))}
        if size % 2:
            unpaired = model(node("DequantizeLinear", "x s", "y"), inputs=odd, opset=21, s=np.float32(0.1))
        else:
            paired = model(node("DequantizeLinear", "x s", "y"), inputs=odd, opset=21, s=np.float32(0.1))
    yield "odd number of elements in 4 bits", unpaired, paired
    for op in ("Squeeze", "Unsqueeze"):
        made = [
            model(node(op, "x a", "y"), inputs={"x": (kind, (1, 4))}, outputs={"y": (kind, None)}, opset=23, a=[0])
            for kind in (TensorProto.INT4, TensorProto.INT8)
        ]
        yield f"4 bits in {op}", *made
    numbers: Values = {"x": (TensorProto.INT8, (4, 4))}
    made = [model(node("Einsum", "x", "y", equation="ij->ji"), inputs=each) for each in (numbers, _SQUARE)]
    made[0].graph.output[0].type.tensor_type.elem_type = TensorProto.INT8
    yield "Einsum in 8 bits", *made
    scales: dict[str, Any] = {"s": np.array([1, 1, 2, 2], np.float32)}
    yield "Resize to no size", model(node("Resize", "x", "y")), model(node("Resize", "x - s", "y"), **scales)
    eighths: dict[str, Any] = {"opset": 21, "s": np.float32(0.1)}
    kinds = [TensorProto.INT8, TensorProto.FLOAT8E4M3FN]
    each_kind: list[Values] = [{"x": (kind, (4, 4)), "z": (kind, ())} for kind in kinds]
    both = (model(node("DequantizeLinear", "x s z", "y"), inputs=each, **eighths) for each in each_kind)
    yield "zero point of INT8 at run time", *both
    depths = model(node("OneHot", "x d v", "y"), inputs={"x": (INT64, (3,)), "d": (FLOAT, ())}, v=np.eye(2)[0])
    fixed = model(node("OneHot", "x d v", "y"), inputs={"x": (INT64, (3,))}, d=np.float32(5), v=np.eye(2)[0])
    yield "depth of floating point at run time", depths, fixed
    whole: Values = {"x": (INT64, (4, 4))}
    for op in ("ReduceL2", "ReduceLogSum", "ReduceLogSumExp"):
        made = [model(node(op, "x", "y"), inputs=each) for each in (whole, _SQUARE)]
        made[0].graph.output[0].type.tensor_type.elem_type = INT64
        yield f"integers in {op}", *made
    scalar: Values = {"x": (FLOAT, ())}
    yield "sum of a scalar", *(model(node("ReduceSum", "x", "y"), inputs=each) for each in (scalar, _SQUARE))
    yield "loop without a condition", *(_loop(words) for words in ("n - x", "n c x"))


def _constants() -> Iterator[Uses]:
    """Yield what has to be a constant, and constants that not every node may read."""
    eights: dict[str, Any] = {"q": np.ones((4, 8), np.int8), "s": np.float32(0.1), "n": np.array([8, 4])}
    chains = (
        [node("Reshape", "q n", "r"), node("DequantizeLinear", "r s", "d")],
        [node("DequantizeLinear", "q s", "f"), node("Reshape", "f n", "d")],
    )
    both = (model(*each, node("MatMul", "x d", "y"), inputs={"x": (FLOAT, (2, 8))}, **eights) for each in chains)
    yield "a quantised constant before a Reshape", *both
    factors: dict[str, Any] = {"a": np.ones(2, np.float32), "s": np.full(2, 2, np.float32)}
    computed = model(node("Mul", "a s", "c"), node("Resize", "x - c", "y", axes=[2, 3]), opset=18, **factors)
    yield "computed scales of axes", computed, model(node("Resize", "x - s", "y", axes=[2, 3]), opset=18, **factors)
    numbers: dict[str, Any] = {"inputs": {"x": (TensorProto.INT8, (4,))}, "outputs": {"y": (TensorProto.INT8, None)}}
    for words in ("x m m", "x"):
        bounds = (model(node("Clip", each, "y"), m=np.int8(3), **numbers) for each in ("x - m", words))
        yield f"integers without a lower bound, not {words}", *bounds
    largest = (
        model(node("TopK", "x k", "y z", sorted=0), outputs={"y": (FLOAT, None), "z": (INT64, None)}, k=n)
        for n in ([4000], [2])
    )
    yield "largest elements, unsorted", *largest
    blank = model(node("Clip", "x -", "y"), inputs=_SQUARE)
    yield "a blank bound", blank, model(node("Clip", "x", "y"), inputs=_SQUARE)
    doubles: dict[str, Any] = {"outputs": {"y": (TensorProto.DOUBLE, None)}, "opset": 18}
    for op in ("Clip", "LpNormalization", "Mish"):
        kinds: list[Values] = [{"x": (kind, (2, 4))} for kind in (TensorProto.INT16, TensorProto.DOUBLE)]
        yield f"DOUBLE in {op}", *(model(node(op, "x", "y"), inputs=each, **doubles) for each in kinds)


def _asserted() -> Iterator[Uses]:
    """Yield ranks, sizes and numbers that the importer asserts."""
    flat: list[Values] = [{"x": (FLOAT, shape)} for shape in ((2, 4), (2, 4, 1))]
    scale: dict[str, Any] = {"s": np.ones(4, np.float32)}
    for op, opset in (("GroupNormalization", 21), ("InstanceNormalization", 17)):
        more: dict[str, Any] = {"num_groups": 2} if op[0] == "G" else {}
        yield f"rank of {op}", *(model(node(op, "x s s", "y", **more), inputs=n, opset=opset, **scale) for n in flat)
    deep: list[Values] = [{"x": (FLOAT, (1, 2, *[4] * n))} for n in (4, 3)]
    windows = ([1] * len(each["x"][1][2:]) for each in deep if each["x"][1])
    both = (model(node("LpPool", "x", "y", kernel_shape=n), inputs=each) for n, each in zip(windows, deep, strict=True))
    yield "rank of LpPool", *both
    moved: list[Values] = [{**_SQUARE, "p": (INT64, shape)} for shape in ((1, 4), (4,))]
    yield "rank of pads", *(model(node("Pad", "x p", "y"), inputs=each) for each in moved)
    ends: dict[str, Any] = {"a": 0, "b": 4, "inputs": {}, "outputs": {"y": (INT64, None)}}
    yield "steps of 0", *(model(node("Range", "a b c", "y"), c=n, **ends) for n in (0, 1))
    rows: list[dict[str, Any]] = [
        {"i": np.zeros((1, size), np.int64), "u": np.ones((1, size), np.float32)} for size in (5, 4)
    ]
    put = (model(node("ScatterElements", "x i u", "y"), inputs=_SQUARE, **each) for each in rows)
    yield "more indices than elements", *put
    cube: Values = {"x": (FLOAT, (2, 2, 2, 2))}
    grown = (model(node("Resize", "x - - s", "y", mode="linear"), inputs=cube, s=[n, 4, 4, 4]) for n in (4, 2))
    yield "linear to sizes in four dimensions", *grown
    doubled = (
        model(node("Upsample", "x", "y", mode="linear", scales=[n, 2.0, 2.0, 2.0]), inputs=cube, opset=7)
        for n in (2.0, 1.0)
    )
    yield "linear in four dimensions of set 7", *doubled
    filled = [helper.make_tensor("v", kind, [1], [1]) for kind in (TensorProto.UINT8, TensorProto.INT32)]
    made = [
        model(node("ConstantOfShape", "s", "y", value=n), inputs={}, outputs={"y": (n.data_type, None)}, s=[2])
        for n in filled
    ]
    yield "a constant of UINT8", *made


def test_fewer_parts_than_outputs_end_no_check(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    proto = model(node("Split", "x", "y z w", num_outputs=2), opset=18)
    assert _errors(proto, tmp_path, capsys) == {"TF179"}


def _loop(words: str) -> onnx.ModelProto:
    state = [helper.make_tensor_value_info(name, FLOAT, [2]) for name in ("s", "t")]
    head = [helper.make_tensor_value_info("i", INT64, []), helper.make_tensor_value_info("go", TensorProto.BOOL, [])]
    end = helper.make_tensor_value_info("on", TensorProto.BOOL, [])
    nodes = [node("Add", "s s", "t", "/double"), node("Identity", "go", "on", "/keep")]
    body = helper.make_graph(nodes, "body", [*head, state[0]], [end, state[1]])
    return model(node("Loop", words, "y", body=body), inputs={"x": (FLOAT, (2,))}, n=3, c=True)


def _sizes() -> Iterator[Uses]:
    for op, gates in (("GRU", 3), ("LSTM", 4), ("RNN", 1)):
        weights: dict[str, Any] = {
            "w": np.ones((1, 4 * gates, 6), np.float32),
            "r": np.ones((1, 4 * gates, 4), np.float32),
        }
        sequence: Values = {"x": (FLOAT, (3, 2, 6))}
        for more in (("hidden_size", 5), ()):
            both = (
                model(node(op, "x w r", "y", **_given(*each)), inputs=sequence, **weights)
                for each in (more, {"hidden_size": 4})
            )
            yield f"hidden_size of {op}: {more or 'none'}", *both
        uneven = [["Tanh"] * (max(gates - 1, 1) + n) for n in (1, 0)]
        both = (
            model(node(op, "x w r", "y", hidden_size=4, activations=each), inputs=sequence, **weights)
            for each in uneven
        )
        yield f"activations of {op}", *both
    for name, width, more in (("cache", 3, ()), ("turned part", 4, ("rotary_embedding_dim", 3))):
        rotary = [
            model(node("RotaryEmbedding", "x c c", "y", **_given(*extra)), inputs=_HEADS, opset=23, c=_cache(size))
            for extra, size in ((more, width), ((), 4))
        ]
        yield f"{name} of a RotaryEmbedding", *rotary
    joined: Values = {"x": (FLOAT, (2, 4, 24))}
    parted = (
        model(node("RotaryEmbedding", "x c c", "y", num_heads=n), inputs=joined, opset=23, c=_cache(4)) for n in (5, 3)
    )
    yield "heads of a RotaryEmbedding", *parted
    yield "heads of queries", *(_attention(24, n, 3) for n in (5, 3))
    yield "groups of heads", *(_attention(48, n, 3, 24 * n // 3 if n == 6 else 48) for n in (4, 6))
    thirds: Values = {"x": (FLOAT, (2, 3, 4))}
    normal = (model(node("MeanVarianceNormalization", "x", "y"), inputs=each) for each in (thirds, {**_HEADS}))
    yield "axes that are not there", *normal


def _given(name: str = "", value: float = 0) -> dict[str, Any]:
    return {name: value} if name else {}


def _cache(width: int) -> Any:
    return np.ones((2, 4, width), np.float32)


def _attention(width: int, queries: int, keys: int, query_width: int | None = None) -> onnx.ModelProto:
    inputs: Values = {"x": (FLOAT, (1, 4, query_width or width)), "k": (FLOAT, (1, 6, 24))}
    made = node("Attention", "x k k", "y", q_num_heads=queries, kv_num_heads=keys)
    return model(made, inputs=inputs, opset=23)


@for_each("uses", [*_attributes(), *_inputs(), *_constants(), *_asserted(), *_sizes()], ids=lambda uses: uses[0])
def test_a_use_is_refused_and_the_nearest_one_is_not(
    uses: Uses, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    refused, taken = (_errors(each, tmp_path, capsys) for each in uses[1:])
    assert refused & {"TF171", "TF174", "TF179"}
    assert not taken


def test_an_operator_of_one_input_of_uint8_does_nothing_to_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bytes_in: Values = dict.fromkeys("xz", (TensorProto.UINT8, (2, 3)))
    outputs: Values = {"y": (TensorProto.UINT8, None)}
    for words, codes in (("x", set[str]()), ("x z", {"TF174"})):
        assert _errors(model(node("Min", words, "y"), inputs=bytes_in, outputs=outputs), tmp_path, capsys) == codes


def test_further_sizes_of_a_kernel_are_not_read(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel: dict[str, Any] = {"w": np.ones((4, 4, 3, 3), np.float32)}
    for shape, codes in ((3, 3, 5), set[str]()), ((5, 3, 3), {"TF179"}):
        assert _errors(model(node("Conv", "x w", "y", kernel_shape=shape), **kernel), tmp_path, capsys) == codes


def test_an_output_shape_of_too_few_sizes_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kernel: dict[str, Any] = {"w": np.ones((4, 4, 3, 3), np.float32)}
    proto = model(node("ConvTranspose", "x w", "y", output_shape=[10]), **kernel)
    assert _errors(proto, tmp_path, capsys) == {"TF179"}


def test_a_node_of_a_branch_without_its_first_input_ends_no_check(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    outputs = {name: helper.make_tensor_value_info(name, TensorProto.BOOL, None) for name in "ab"}
    nodes = {"a": node("RegexFullMatch", "- x", "a"), "b": node("Not", "c", "b")}
    then, other = (helper.make_graph([nodes[name]], name, [], [outputs[name]]) for name in "ab")
    inputs: Values = {"c": (TensorProto.BOOL, ()), "x": (TensorProto.STRING, (2,))}
    proto = model(node("If", "c", "y", then_branch=then, else_branch=other), inputs=inputs, opset=20)
    assert "TF184" in _errors(proto, tmp_path, capsys)


def _forbidden() -> Iterator[tuple[str, onnx.ModelProto]]:
    for op, gates in (("GRU", 3), ("LSTM", 4)):
        shapes = {"w": (1, 4 * gates, 6), "r": (2, 4 * gates, 4)}
        weights: dict[str, Any] = {name: np.ones(shape, np.float32) for name, shape in shapes.items()}
        yield op, model(node(op, "x w r", "y", hidden_size=4), inputs={"x": (FLOAT, (3, 2, 6))}, **weights)
    for opset in (1, 12):
        yield f"Softmax {opset}", model(node("Softmax", "x", "y", axis=1), inputs={"x": (FLOAT, (8,))}, opset=opset)
    yield "Transpose", model(node("Transpose", "x", "y", perm=[0, 2, 3, 1, 3]))
    for words, shape, kernel in (("wide", (1, 4, 8, 8), (4, 4, 3)), ("long", (1, 4, 8), (4, 4, 3, 1))):
        convolved: dict[str, Any] = {"w": np.ones(kernel, np.float32)}
        yield f"{words} Conv", model(node("Conv", "x w", "y"), inputs={"x": (FLOAT, shape)}, **convolved)
    looped = _loop("n c x")
    del looped.graph.initializer[1]
    looped.graph.input.append(helper.make_tensor_value_info("c", TensorProto.BOOL, [1]))
    yield "Loop", looped


@for_each("proto", [each for _, each in _forbidden()], ids=[name for name, _ in _forbidden()])
def test_what_onnx_alone_forbids_is_no_error(
    proto: onnx.ModelProto, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert not _errors(proto, tmp_path, capsys)


def test_an_order_that_names_a_dimension_twice_is_an_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _errors(model(node("Transpose", "x", "y", perm=[0, 1, 2, 2])), tmp_path, capsys) == {"TF179"}


def _errors(proto: onnx.ModelProto, folder: Path, capsys: pytest.CaptureFixture[str]) -> set[str]:
    path = str(folder / "model.onnx")
    onnx.save(proto, path)
    assert main(["check", path, "--target", "rtx", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["findings"]
    return {finding["code"] for finding in found if finding["severity"] == "error"}
