"""Every type of ONNX, cut at every edge: the same type, shape and bits, or no cut."""

from __future__ import annotations

from itertools import combinations, product
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from trtforensics.onnx_models.cutting import UnknownValueError
from trtforensics.onnx_models.running import run_model
from trtforensics.onnx_models.samples import read_samples, write_npz

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.reduce.deriving import Deriver

    ApartOn = Callable[[onnx.ModelProto, dict[str, Any]], Deriver]

_UNUSED = {"UNDEFINED", "FLOAT6E2M3", "FLOAT6E3M2"}
"""ONNX's Identity takes no six bits in any operator set."""
ELEMENTS = {name: kind for name, kind in TensorProto.DataType.items() if name not in _UNUSED}
DIMS: dict[str, list[Any]] = {"fixed": [2, 3], "scalar": [], "named": ["rows", 3], "dynamic": [None, 3]}
KINDS = {
    "tensor": ("Identity", "Identity"),
    "sequence": ("SequenceConstruct", "SequenceAt"),
    "optional": ("Optional", "OptionalGetElement"),
}


def chain(element: int, kind: str, dims: list[Any]) -> onnx.ModelProto | None:
    """Return a chain of four nodes whose tensors, sequences or optional values have a type; None where ONNX has not."""
    into, out = KINDS[kind]
    place = ["place"] if kind == "sequence" else []
    nodes = [
        helper.make_node(into, ["x"], ["a"], name="into"),
        helper.make_node("Identity", ["a"], ["b"], name="first"),
        helper.make_node("Identity", ["b"], ["c"], name="second"),
        helper.make_node(out, ["c", *place], ["y"], name="out"),
    ]
    x, y = (helper.make_tensor_value_info(name, element, dims) for name in "xy")
    constants = [numpy_helper.from_array(np.asarray(0, np.int64), "place")] if place else []
    graph = helper.make_graph(nodes, "chain", [x], [y], constants)
    for opset in range(16, onnx.defs.onnx_opset_version() + 1):
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=11)
        try:
            onnx.checker.check_model(model, full_check=True)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            continue
        return model
    return None


def declared(model: onnx.ModelProto) -> dict[str, bytes]:
    values = (*model.graph.input, *model.graph.output, *model.graph.value_info)
    return {value.name: value.type.SerializeToString(deterministic=True) for value in values}


def sampled(model: onnx.ModelProto, element: int) -> dict[str, Any]:
    dtype = helper.tensor_dtype_to_np_dtype(element)
    known = model.graph.input[0].type.tensor_type.shape.dim
    shape = [dim.dim_value or 2 for dim in known]
    count = int(np.prod(shape))
    if element == TensorProto.STRING:
        return {"x": np.array([f"text {index}" for index in range(count)], object).reshape(shape)}
    return {"x": (np.arange(count) % 2).astype(dtype).reshape(shape)}


@pytest.mark.parametrize("element", ELEMENTS)
def test_a_cut_has_the_type_that_inference_finds(apart_on: ApartOn, element: str) -> None:
    for kind, dims in product(KINDS, DIMS):
        model = chain(ELEMENTS[element], kind, DIMS[dims])
        assert model is not None or kind != "tensor"
        if model is None:
            continue
        wanted = declared(onnx.shape_inference.infer_shapes(model)) | declared(model)
        deriver = apart_on(model, sampled(model, ELEMENTS[element]))
        for kept in (kept for count in range(1, 5) for kept in combinations(range(4), count)):
            check_cut(deriver, kept, wanted, (element, kind, dims))


def check_cut(deriver: Deriver, kept: tuple[int, ...], wanted: dict[str, bytes], case: tuple[str, str, str]) -> None:
    """Require that a cut is exact, or refused for a reason: a sequence, or no value where none can be made up."""
    element, kind, dims = case
    cut = {name for index in kept for name in deriver.original.nodes[index].proto.input if name != "place"}
    cut -= {name for index in kept for name in deriver.original.nodes[index].makes}
    try:
        derived = deriver.derive(kept).model
    except UnknownValueError:
        if kind == "tensor":  # ONNX Runtime does not run it, so that no value is known
            assert not cut <= deriver.recording.values.keys()
            assert dims in {"named", "dynamic"} or element == "STRING"
        else:
            assert not cut.isdisjoint("abc") or "y" not in deriver.recording.values
        return
    onnx.checker.check_model(derived, full_check=True)
    types = declared(derived)
    assert types == {name: wanted[name] for name in types}
    constants = {tensor.name for tensor in derived.graph.initializer} - {"place"}
    assert {value.name for value in derived.graph.input} | constants == cut
    assert not constants or (element in {"INT64", "INT32"} and dims == "scalar")


def raw(array: Any) -> bytes:
    return bytes(numpy_helper.from_array(np.asarray(array)).raw_data)


@pytest.mark.parametrize(
    "element", ["BFLOAT16", *(name for name in ELEMENTS if name.startswith("FLOAT8E") and name != "FLOAT8E8M0")]
)
def test_recorded_values_have_every_bit(apart_on: ApartOn, element: str, tmp_path: Path) -> None:
    """All bit patterns, NaN's too, go through ONNX Runtime, a cut, and the file of inputs."""
    model = chain(ELEMENTS[element], "tensor", ["n"])
    assert model is not None
    dtype = np.dtype(helper.tensor_dtype_to_np_dtype(ELEMENTS[element]))
    every = np.arange(256**dtype.itemsize, dtype=f"u{dtype.itemsize}").view(dtype)
    deriver = apart_on(model, {"x": every})
    derived = deriver.derive([2])
    assert raw(derived.inputs["b"]) == raw(every)
    write_npz(derived.inputs, tmp_path / "inputs.npz")
    (sample,) = read_samples(derived.model, [str(tmp_path / "inputs.npz")])
    assert raw(sample["b"]) == raw(every)
    ran = run_model(derived.model, sample)
    assert not isinstance(ran, str)
    assert raw(ran["c"]) == raw(every)


def test_four_bit_values_are_cut_as_such(apart_on: ApartOn) -> None:
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "scale"], ["q"], name="q", output_dtype=TensorProto.INT4),
        helper.make_node("DequantizeLinear", ["q", "scale"], ["y"], name="dq"),
    ]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in "xy")
    graph = helper.make_graph(nodes, "four", [x], [y], [numpy_helper.from_array(np.array(1, np.float32), "scale")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10)
    derived = apart_on(model, {"x": np.array([1, -3, 7], np.float32)}).derive([1])
    assert derived.model.graph.input[0].type.tensor_type.elem_type == TensorProto.INT4
    ran = run_model(derived.model, derived.inputs)
    assert not isinstance(ran, str)
    assert ran["y"].tolist() == [1, -3, 7]


def test_texts_are_cut_where_a_file_holds_them(apart_on: ApartOn, tmp_path: Path) -> None:
    model = chain(TensorProto.STRING, "tensor", [2])
    assert model is not None
    derived = apart_on(model, {"x": np.array(["a", "größer"], object)}).derive([1])
    write_npz(derived.inputs, tmp_path / "inputs.npz")
    assert np.load(tmp_path / "inputs.npz")["a"].tolist() == ["a", "größer"]
    with pytest.raises(UnknownValueError, match="its texts end with zeros"):
        apart_on(model, {"x": np.array(["a", "zero\0"], object)}).derive([1])
