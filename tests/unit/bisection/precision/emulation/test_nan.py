"""Where operators compare, NaN counts in the twin as on a GPU, whatever ONNX Runtime makes of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.onnx_models.reading import prepare
from trtforensics.onnx_models.running import run_model

if TYPE_CHECKING:
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

NAN = np.nan
SMALL = np.asarray([[1.0, NAN, 2.0, 0.0], [NAN, 1.0, 2.0, 0.0], [1.0, 2.0, 0.0, NAN], [3.0, 1.0, 2.0, 0.0]], np.float32)
OF_ROWS = [NAN, NAN, NAN, 3.0]
CASES: list[tuple[str, list[str], dict[str, Any], Any]] = [
    ("Max", ["z", "half"], {}, np.where(np.isnan(SMALL), NAN, np.maximum(SMALL, 0.5))),
    ("Min", ["half", "z"], {}, np.where(np.isnan(SMALL), NAN, np.minimum(SMALL, 0.5))),
    ("Clip", ["z", "half"], {}, np.where(np.isnan(SMALL), NAN, np.maximum(SMALL, 0.5))),
    ("Relu", ["z"], {}, SMALL),
    ("ThresholdedRelu", ["z"], {"alpha": 1.5}, np.where(SMALL <= 1.5, 0.0, SMALL)),
    ("Shrink", ["z"], {"lambd": 0.5, "bias": 0.0}, np.where(np.abs(SMALL) <= 0.5, 0.0, SMALL)),
    ("Hardmax", ["z"], {"axis": 1}, [0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0, 0]),
    ("Greater", ["z", "half"], {}, SMALL > 0.5),
    ("GreaterOrEqual", ["half", "z"], {}, SMALL <= 0.5),
    ("Equal", ["z", "z"], {}, ~np.isnan(SMALL)),
    ("Where", ["above", "z", "half"], {}, np.where(np.arange(4) > 1, SMALL, 0.5)),
    ("ReduceMax", ["z", "axis"], {"keepdims": 0}, OF_ROWS),
    ("ReduceMin", ["z", "axis"], {"keepdims": 0}, [NAN, NAN, NAN, 0.0]),
    ("GlobalMaxPool", ["image"], {}, [NAN]),
    ("MaxPool", ["image"], {"kernel_shape": [1, 4]}, OF_ROWS),
    ("ArgMax", ["z"], {"axis": 1, "keepdims": 0}, [1, 0, 3, 0]),
    ("ArgMin", ["z"], {"axis": 1, "keepdims": 0}, [1, 0, 3, 3]),
    ("TopK", ["z", "one"], {"axis": 1}, [np.inf, np.inf, np.inf, 3.0]),
]


@pytest.mark.parametrize("case", CASES, ids=[case[0] for case in CASES])
def test_nan_counts_as_on_a_gpu(
    case: tuple[str, list[str], dict[str, Any], Any],
    tmp_path: Path,
) -> None:
    op, inputs, attributes, wanted = case
    kind = TensorProto.INT64 if op.startswith("Arg") else TensorProto.FLOAT
    kind = TensorProto.BOOL if np.asarray(wanted).dtype == np.bool_ else kind
    nodes = [
        helper.make_node("Mul", ["x", "x"], ["z"], name="/square"),
        helper.make_node("Reshape", ["z", "shape"], ["image"], name="/image"),
        helper.make_node(op, inputs, ["y", "places"] if op == "TopK" else ["y"], name="/op", **attributes),
    ]
    constants = {"half": 0.5, "axis": [1], "one": [1], "shape": [1, 1, 4, 4]}
    made = [
        onnx.numpy_helper.from_array(np.asarray(each, np.float32 if name == "half" else np.int64), name)
        for name, each in constants.items()
    ]
    made.append(onnx.numpy_helper.from_array(np.arange(4) > 1, "above"))
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [4, 4])],
        [helper.make_tensor_value_info("y", kind, None)],
        made,
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), tmp_path / "m.onnx")
    caster = Caster(prepare(str(tmp_path / "m.onnx")), FP16)
    feed = {"x": np.sqrt(SMALL)}
    outputs = run_model(emulate(caster.cast(())), feed)
    assert isinstance(outputs, dict), outputs
    np.testing.assert_allclose(outputs["y"].astype(np.float64).ravel(), np.ravel(wanted), rtol=1e-3)
