"""Models of inputs alone, for tests of samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

from onnx import TensorProto, helper

if TYPE_CHECKING:
    import onnx

FLOAT, INT64, BOOL = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL


def model(**inputs: tuple[int, list[int | str]]) -> onnx.ModelProto:
    ins = [helper.make_tensor_value_info(name, kind, dims) for name, (kind, dims) in inputs.items()]
    return helper.make_model(helper.make_graph([], "g", ins, []))


MIXED = model(x=(FLOAT, [2, 3]), ids=(INT64, [2, "n"]), mask=(BOOL, [2]))
