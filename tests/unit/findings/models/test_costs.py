"""What costs time, memory or digits for certain is a warning with its node; the model without it has none."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from tests.support.faulty_models import FLOAT, INT64, Values, model, node
from trtforensics.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import onnx

_BOOL = TensorProto.BOOL
_IMAGE: Values = {"x": (FLOAT, (1, 4, 8, 8))}
_ROWS: Values = {"x": (FLOAT, (2, 8))}
_KERNEL = np.full((4, 4, 3, 3), 0.1, np.float32)
_FP16, _INT8 = ("--target", "10.3", "--fp16"), ("--target", "10.3", "--int8")
_Row = tuple[Any, ...]


def _pair(tensor: str, to: str) -> list[onnx.NodeProto]:
    return [
        node("QuantizeLinear", f"{tensor} s z", f"{to}q", f"/{to}/q"),
        node("DequantizeLinear", f"{to}q s z", to, f"/{to}"),
    ]


def _eight(*nodes: onnx.NodeProto, **more: Any) -> onnx.ModelProto:
    constants: dict[str, Any] = {"s": np.float32(0.01), "z": np.int8(0), "w": _KERNEL, **more}
    return model(*nodes, **constants)


def _chain(kinds: str) -> onnx.ModelProto:
    nodes, tensor = _pair("w", "v"), "x"
    for place, kind in enumerate(kinds):
        read = f"d{place} v" if kind == "q" else f"{tensor} w"
        nodes += [
            *(_pair(tensor, f"d{place}") if kind == "q" else []),
            node("Conv", read, f"c{place}", f"/conv{place}", pads=[1] * 4),
        ]
        tensor = f"c{place}"
    return _eight(*nodes, node("Abs", tensor, "y"))


def _quantised() -> Iterator[_Row]:
    both, result = [*_pair("x", "d"), *_pair("w", "v")], node("Conv", "d v", "y", "/conv")
    good = _eight(*both, result)
    yield "TF189", "/conv1", _chain("qfq"), _chain("fqqf"), _INT8
    yield "TF189", "/conv", _eight(*_pair("w", "v"), node("Conv", "x v", "y", "/conv")), good, _INT8
    between = _eight(*both, node("Conv", "d v", "c"), *_pair("c", "e"), node("Relu", "e", "y", "/act"))
    behind = _eight(*both, node("Conv", "d v", "c"), node("Relu", "c", "r", "/act"), *_pair("r", "y"))
    yield "TF198", "/act", between, behind, _INT8
    yield "TF174", "", model(node("Conv", "x w", "y"), w=_KERNEL), good, _INT8
    channels: dict[str, Any] = {"t": np.full(4, 0.1, np.float32), "p": np.zeros(4, np.int8)}
    each = node("QuantizeLinear", "x t p", "dq", "/each"), node("DequantizeLinear", "dq t p", "d")
    yield "TF187", "/each", _eight(*each, *_pair("w", "v"), result, **channels), good, _INT8
    twice = node("QuantizeLinear", "d t z", "eq", "/again"), node("DequantizeLinear", "eq t z", "e")
    doubled = _eight(*both, *twice, node("Conv", "e v", "y"), t=np.float32(0.03))
    yield "TF198", "/again", doubled, good, _INT8
    mixed = _eight(*both, result)
    mixed.graph.node[0].input[2] = mixed.graph.node[1].input[2] = "f"
    mixed.graph.initializer.append(helper.make_tensor("f", TensorProto.FLOAT8E4M3FN, [], [0]))
    yield "TF189", "/conv", mixed, good, ("--target", "10.3", "--int8", "--fp8", "--gpu", "8.9")
    for scale in (1e-4, 1.0):
        odd = node("QuantizeLinear", "w t z", "vq", "/weights"), node("DequantizeLinear", "vq t z", "v")
        yield "TF187", "/weights", _eight(*_pair("x", "d"), *odd, result, t=np.float32(scale)), good, _INT8


def _ranges() -> Iterator[_Row]:
    def counted(most: int) -> onnx.ModelProto:
        return model(node("Add", "x p", "y"), inputs={"x": (FLOAT, (1, most))}, p=np.arange(most, dtype=np.float32))

    yield "TF176", "/add", counted(1000), counted(250), ("--target", "10.3", "--bf16")
    yield "TF176", "/add", counted(5000), counted(2000), _FP16
    mean, root = node("Add", "x e", "a"), node("Sqrt", "a", "y")
    yield "TF176", "/add", *(model(mean, root, e=np.float32(e)) for e in (0, 1e-4)), _FP16
    total, share = node("ReduceSum", "e k", "t"), node("Div", "e t", "y")
    bare = model(node("Exp", "x", "e"), total, share, inputs=_ROWS, k=np.array([1]))
    less = node("ReduceMax", "x", "m", axes=[1]), node("Sub", "x m", "b"), node("Exp", "b", "e")
    yield "TF196", "/exp", bare, model(*less, total, share, inputs=_ROWS, k=np.array([1])), _FP16
    soft = node("Exp", "x", "e"), node("Add", "e o", "f"), node("Log", "f", "y")
    yield "TF196", "/exp", model(*soft, o=np.float32(1)), model(node("Softplus", "x", "y")), _FP16
    norms = model(node("ReduceL2", "x", "y", axes=[1])), model(node("ReduceL1", "x", "y", axes=[1]))
    yield "TF196", "/reducel2", *norms, _FP16
    square = node("Pow", "x k", "p", "/square"), node("ReduceSum", "p", "y")
    yield "TF196", "/square", *(model(*square, k=np.float32(k)) for k in (2, 1)), _FP16
    thrice = (
        [node("Mul", "x x", "p"), node("Mul", "p x", "y", "/cube")],
        [node("Mul", "x x", "p"), node("Abs", "p", "y")],
    )
    yield "TF196", "/cube", *(model(*nodes) for nodes in thrice), _FP16
    shares = [model(node("Div", "x k", "y"), k=np.float32(k)) for k in (1e-6, 0.1)]
    yield "TF196", "/div", *shares, _FP16
    cast = node("Cast", "k", "c", "/cast", to=TensorProto.FLOAT16), node("Cast", "c", "y", "/back", to=FLOAT)
    yield "TF176", "/cast", *(model(*cast, inputs={}, k=np.array([1, k])) for k in (100000, 1000)), _FP16
    scales: dict[str, Any] = {"o": np.ones(4, np.float32), "i": np.array([1, np.inf, 1, 1], np.float32)}
    batches = [model(node("BatchNormalization", f"x {name} o o o", "y"), **scales) for name in "io"]
    yield "TF177", "/batchnormalization", *batches, ("--target", "10.3")
    small = _KERNEL * np.float32(1e-4)
    small[0, 0] = 0.1
    yield "TF176", "/conv", *(model(node("Conv", "x w", "y"), w=each) for each in (small, _KERNEL)), _FP16
    whole = model(node("ReduceSum", "x", "y"), inputs={"x": (INT64, (1, 70000))}, outputs={"y": (INT64, None)})
    longs = [model(node("ReduceSum", "x", "y"), inputs={"x": (FLOAT, (1, n))}) for n in (70000, 7000)]
    yield "TF196", "/reducesum", *longs, _FP16
    yield "TF196", "/reducesum", longs[0], whole, _FP16


def _body(*nodes: onnx.NodeProto, reads: str = "", makes: str) -> onnx.GraphProto:
    kinds: dict[str, tuple[int, list[int] | None]] = {"i": (INT64, []), "c": (_BOOL, []), "k": (_BOOL, [])}
    given, made = (
        [helper.make_tensor_value_info(name, *kinds.get(name, (FLOAT, None))) for name in names.split()]
        for names in (reads, makes)
    )
    return helper.make_graph(nodes, "body", given, made)


def _fused() -> Iterator[_Row]:
    step = node("Identity", "c", "k"), node("MatMul", "h w", "n"), node("Relu", "n", "g")
    loop = node("Loop", "m b x", "y", "/loop", body=_body(*step, reads="i c h", makes="k g"))
    square: dict[str, Any] = {"m": np.int64(9), "b": np.bool_(1), "w": np.ones((8, 8), np.float32)}
    plain = model(node("MatMul", "x w", "y"), inputs=_ROWS, w=square["w"])
    yield "TF182", "/loop", model(loop, inputs=_ROWS, **square), plain, ("--target", "10.3")
    convolved = node("Conv", "x w", "c", "/conv"), node("Relu", "c", "y")
    given = [model(*convolved, outputs=dict.fromkeys(names, (FLOAT, None)), w=_KERNEL) for names in ("yc", "y")]
    yield "TF198", "/conv", *given, ("--target", "10.3")
    heads = []
    for size in (300, 64):
        inputs: Values = dict.fromkeys("qv", (TensorProto.FLOAT16, (1, 4, 8, size)))
        inputs["k"] = (TensorProto.FLOAT16, (1, 4, size, 8))
        parts = node("MatMul", "q k", "s"), node("Softmax", "s", "p"), node("MatMul", "p v", "y", "/sum")
        heads.append(model(*parts, inputs=inputs, outputs={"y": (TensorProto.FLOAT16, None)}))
    yield "TF191", "/sum", *heads, _FP16
    turned = [parts[0], node("Softmax", "s", "p", axis=1), parts[2]]
    yield "TF191", "/sum", model(*turned, inputs=inputs, outputs={"y": (TensorProto.FLOAT16, None)}), heads[1], _FP16
    shown = model(*parts, inputs=inputs, outputs=dict.fromkeys("yp", (TensorProto.FLOAT16, None)))
    yield "TF191", "/sum", shown, heads[1], _FP16
    stored = numpy_helper.from_array(np.ones((2048, 2048), np.float32), "v")
    nodes = node("Constant", "", "w", "/weights", value=stored), node("MatMul", "x w", "y")
    held = model(*nodes, inputs={"x": (FLOAT, (2, 2048))})
    yield "TF186", "/weights", held, plain, ("--target", "10.3")


def _large() -> Iterator[_Row]:
    def wide(size: int) -> onnx.ModelProto:
        return model(node("Add", "x z", "y"), inputs={"x": (FLOAT, (size, 1, 1024)), "z": (FLOAT, (1, 1024, 1024))})

    yield "TF190", "/add", wide(2500), wide(100), ("--target", "10.3", "--gpu", "T4")
    yield "TF190", "/add", wide(20000), wide(2000), ("--target", "10.3", "--gpu", "8.6")
    yield "TF190", "/add", wide(100000), wide(2000), ("--target", "rtx")
    yield "TF190", "/add", wide(2500), wide(2000), ("--target", "10.3")


@pytest.mark.parametrize("make", [_quantised, _ranges, _fused, _large])
def test_what_costs_for_certain_is_a_warning(make: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "m.onnx"
    for code, label, faulty, good, options, *others in make():
        found = []
        for each, words in ((faulty, options), (good, others[0] if others else options)):
            path.write_bytes(each.SerializeToString())
            assert main(["check", str(path), *words, "--json"]) == 0
            warned = [each for each in json.loads(capsys.readouterr().out)["findings"] if each["severity"] != "note"]
            found.append([(each["code"], "".join(each["onnx_nodes"][:1])) for each in warned])
        assert (code, label) in found[0], (code, label, found)
        assert not found[1], (code, label, found)


def test_a_batch_of_1_that_is_broadcast_is_a_note(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mask: Values = {"x": (FLOAT, ("n", 8)), "k": (FLOAT, (1, 8))}
    shared = model(node("Abs", "k", "a"), node("Add", "x a", "y"), inputs=mask)
    path = tmp_path / "m.onnx"
    path.write_bytes(shared.SerializeToString())
    sizes = [f"--{name}Shapes=x:{n}x8,k:1x8" for name, n in (("min", 1), ("opt", 4), ("max", 8))]
    assert main(["check", str(path), *sizes, "--json"]) == 0
    findings = {each["code"]: each for each in json.loads(capsys.readouterr().out)["findings"]}
    assert findings["TF111"]["severity"] == "note"
    assert findings["TF111"]["onnx_nodes"] == ["/add"]


@pytest.mark.parametrize("value", [-1e30, -10000.0])
def test_a_mask_counts_nothing(value: float, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mask = np.where(np.tri(8, dtype=bool), 0.0, value).astype(np.float32)
    masked = model(node("Add", "x m", "s"), node("Softmax", "s", "y"), inputs={"x": (FLOAT, (8, 8))}, m=mask)
    path = tmp_path / "m.onnx"
    path.write_bytes(masked.SerializeToString())
    assert main(["check", str(path), "--target", "10.8", "--bf16", "--json"]) == 0
    findings = json.loads(capsys.readouterr().out)["findings"]
    assert not [each for each in findings if each["severity"] != "note"]
