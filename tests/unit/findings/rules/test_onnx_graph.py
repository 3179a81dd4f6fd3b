"""Rules that look at the ONNX model beside the log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper, save

from tests.support.marked_logs import marked
from tests.unit.findings.rules.examples import HALF, SINGLE, summed
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.onnx_models.checked import read_checked
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import onnx

    from trtforensics.findings.finding import Finding

LOG = """
&& 10.16.1 --fp16
i === Build Options ===
i Precision: {precision}
V Parsing node: odd [{op}]
V odd [{op}] inputs: [x -> (2, 8)[FLOAT]],
V Registering layer: odd for ONNX node: odd
V odd [{op}] outputs: [y -> (2, 8)[FLOAT]],
&&. end
"""


def model_of(
    nodes: Sequence[onnx.NodeProto],
    *,
    constants: dict[str, np.ndarray] | None = None,
    opset: int = 17,
    batch: str | int = "N",
    weights: type = np.float32,
) -> onnx.ModelProto:
    """Return a model from ``x`` to ``y`` with some constants."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 8])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    tensors = [numpy_helper.from_array(value, name) for name, value in (constants or {}).items()]
    tensors.append(numpy_helper.from_array(np.ones(3, weights), "weights"))
    graph = helper.make_graph(list(nodes), "graph", [x], [y], tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])


def reshape(shape: Sequence[int], *, allowzero: int = 0) -> tuple[list[onnx.NodeProto], dict[str, np.ndarray]]:
    """Return a Reshape and its constant shape."""
    return [helper.make_node("Reshape", ["x", "shape"], ["y"], "odd", allowzero=allowzero)], {
        "shape": np.array(shape, np.int64)
    }


def layernorm(*, before: str) -> list[onnx.NodeProto]:
    """Return a mean over what an operator gives."""
    inputs = ["x", "two"] if before == "Pow" else ["x"]
    return [helper.make_node(before, inputs, ["p"], "p"), helper.make_node("ReduceMean", ["p"], ["y"], "odd", axes=[1])]


def island(*, to: int) -> list[onnx.NodeProto]:
    """Return a Softmax behind a Cast to a type."""
    return [helper.make_node("Cast", ["x"], ["c"], "cast", to=to), helper.make_node("Softmax", ["c"], ["y"], "odd")]


SHAPE = [helper.make_node("Shape", ["x"], ["y"], "odd")]


def built(code: str) -> tuple[onnx.ModelProto, onnx.ModelProto]:
    """Return a model at which the rule must speak, and a look-alike."""
    if code == "TF110":
        zero, none = reshape([0, 8], allowzero=1), reshape([-1, 8], allowzero=1)
        return model_of(zero[0], constants=zero[1]), model_of(none[0], constants=none[1])
    if code == "TF111":
        fixed, free = reshape([2, 8]), reshape([-1, 8])
        return model_of(fixed[0], constants=fixed[1]), model_of(free[0], constants=free[1])
    if code == "TF112":
        power = layernorm(before="Pow")
        return model_of(power, opset=14), model_of(layernorm(before="Relu"), opset=14)
    if code == "TF113":
        return model_of(SHAPE, batch=2), model_of(SHAPE, batch="N")
    half = np.float16
    return model_of(island(to=1), weights=half), model_of(island(to=10), weights=half)


def findings(model: onnx.ModelProto, folder: Path, op: str = "Reshape", precision: str = "FP32+FP16") -> list[Finding]:
    """Return the findings of a small log with this model."""
    (folder / "build.log").write_text(
        marked(LOG.format(op=op, precision=precision)).text, encoding="utf-8", newline="\n"
    )
    save(model, str(folder / "m.onnx"))
    log = read_log(str(folder / "build.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    return list(judge(Inputs([log], model=read_checked(str(folder / "m.onnx"))), Suppression()).findings)


@pytest.mark.parametrize("code", ["TF110", "TF111", "TF112", "TF113", "TF114"])
def test_it_names_the_node_and_the_line_that_parses_it(code: str, tmp_path: Path) -> None:
    speaks, silent = built(code)
    (found,) = [one for one in findings(speaks, tmp_path) if one.code == code]
    assert found.onnx_nodes == ("odd",)
    assert [e.text.partition("] [TRT] ")[2] for e in found.evidence] == ["Parsing node: odd [Reshape]"]
    assert [one for one in findings(silent, tmp_path) if one.code == code] == []


def test_islands_of_a_strongly_typed_build_are_safe(tmp_path: Path) -> None:
    speaks, _ = built("TF114")
    assert [one for one in findings(speaks, tmp_path, precision="Strongly Typed") if one.code == "TF114"] == []


def test_a_fixed_batch_is_no_matter_where_the_model_has_one(tmp_path: Path) -> None:
    nodes, constants = reshape([2, 8])
    assert [f for f in findings(model_of(nodes, constants=constants, batch=2), tmp_path) if f.code == "TF111"] == []


def test_external_data_is_not_opened(tmp_path: Path) -> None:
    nodes, constants = reshape([2, 8])
    model = model_of(nodes, constants=constants)
    tensor = model.graph.initializer[-1]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", "missing.bin"
    assert [f.code for f in findings(model, tmp_path) if f.code == "TF111"] == ["TF111"]


@pytest.mark.parametrize(
    ("channels", "title"), [(512, ["1 layer sums up to 2,048 products in FP16: product"]), (511, [])]
)
def test_the_sums_of_a_convolution_are_as_long_as_its_kernel_times_its_channels(
    channels: int, title: list[str], tmp_path: Path
) -> None:
    conv = helper.make_node("Conv", ["x", "kernel"], ["y"], "product")
    save(model_of([conv], constants={"kernel": np.zeros((4, channels, 2, 2), np.float32)}), str(tmp_path / "m.onnx"))
    (tmp_path / "b.log").write_text(marked(summed(HALF, SINGLE, marks=("> ", ""))).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    report = judge(Inputs([log], model=read_checked(str(tmp_path / "m.onnx"))), Suppression())
    assert [finding.title for finding in report.findings if finding.code == "TF326"] == title
