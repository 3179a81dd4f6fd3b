"""A precision search that Python calls: on arrays, on a file, and again on the same directory."""

from __future__ import annotations

import json
import re
import sys
import time
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

import trtforensics as tf
from tests.support.repository import ROOT
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.emulation import oracle
from trtforensics.bisection.precision.emulation.twin import without_range_limits
from trtforensics.bisection.precision.running import given_samples, search
from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.search_options import BuildOptions, ModelRequest, PrecisionOptions

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.bisection.precision.casting.caster import Caster
    from trtforensics.model.data_types import Accumulator
    from trtforensics.onnx_models.streaming import Streamed

MODEL = ROOT / "testdata" / "models" / "norm-chain.onnx"

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="probes run on Linux only")
pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def arrays() -> dict[str, np.ndarray]:
    """Return a sample of the model, near which its squares leave FP16."""
    (value,) = onnx.load(MODEL).graph.input
    shape = [dim.dim_value or 2 for dim in value.type.tensor_type.shape.dim]
    return {value.name: np.random.default_rng(1).standard_normal(shape).astype(np.float32)}


def test_a_model_in_memory_has_the_answer_of_its_file(tmp_path: Path) -> None:
    sample = arrays()
    np.savez(tmp_path / "sample.npz", x=sample["x"])
    answer = tf.bisect_precision(MODEL, tmp_path / "file", samples=[tmp_path / "sample.npz"], build="none")
    other = tf.bisect_precision(onnx.load(MODEL), tmp_path / "memory", samples=[sample], build="none")
    assert (answer.status, answer.search.reused) == ("certified", 0)
    assert answer.nodes
    assert (answer.nodes, answer.minimal, answer.judged) == (other.nodes, other.minimal, other.judged)
    assert (tmp_path / "memory.onnx").exists()
    assert json.loads((tmp_path / "file" / "result.json").read_text()) == json.loads(json.dumps(answer.document()))
    again = tf.bisect_precision(MODEL, tmp_path / "file", samples=[tmp_path / "sample.npz"], build="none")
    assert (again.status, again.search.reused) == ("certified", answer.search.builds)


def test_the_first_look_says_whether_outputs_pass_before_the_search_does(tmp_path: Path) -> None:
    request = ModelRequest(str(MODEL), PrecisionOptions(), given_samples([arrays()]), BuildOptions())
    told: list[str] = []
    answer, _ = search(request, RunOptions(build="none"), tmp_path, print, told.append)
    assert answer.status == "certified"
    (line,) = told
    assert line.startswith("first look, 1 sample: the outputs fail with every node in FP16 (emulated: y")
    assert " tensors go beyond 65504 in FP32 (" in line


def test_the_first_look_is_at_the_first_of_several_samples(tmp_path: Path) -> None:
    small, large = {"x": arrays()["x"] / 1e3}, arrays()
    told = {}
    for name, given in {"small": [small, large], "large": [large, small]}.items():
        request = ModelRequest(str(MODEL), PrecisionOptions(), given_samples(given), BuildOptions())
        lines: list[str] = []
        search(request, RunOptions(build="none"), tmp_path / name, print, lines.append)
        (told[name],) = lines
    for name, (verdict, beyond) in {"small": ("pass", 0), "large": ("fail", 2)}.items():
        assert told[name].startswith(f"first look, 1 of 2 samples: the outputs {verdict} with every node in FP16")
        assert f"; {beyond} of " in told[name]


def test_the_first_look_does_not_measure_what_rounding_costs_where_nothing_hangs_on_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    net = Net(seed=1)
    net.tensor("weights", np.full((4, 8), 0.5))
    onnx.save(net.model(net.node("MatMul", "/product", ["x", "weights"]), {"x": (1, 4)}, (1, 8)), tmp_path / "m.onnx")
    measured: list[Caster] = []

    def measure(caster: Caster, accumulator: Accumulator) -> tuple[onnx.ModelProto, Streamed]:
        measured.append(caster)
        return without_range_limits(caster, accumulator)

    monkeypatch.setattr(oracle, "without_range_limits", measure)
    samples = given_samples([{"x": np.arange(4, dtype=np.float32)[None]}])
    request = ModelRequest(str(tmp_path / "m.onnx"), PrecisionOptions(), samples, BuildOptions())
    told: list[tuple[str, int]] = []
    search(request, RunOptions(build="none"), tmp_path / "out", print, lambda line: told.append((line, len(measured))))
    ((line, before),) = told
    assert "the outputs pass with every node in FP16" in line
    assert (before, len(measured)) == (0, 1)


def test_a_looser_tolerance_and_another_metric_judge_what_is_stored(tmp_path: Path) -> None:
    sample = arrays()
    lax = tf.bisect_precision(MODEL, tmp_path, samples=[sample], metric="cosine", tolerance=-1.0, build="none")
    assert (lax.status, {rule.metric for rule in lax.judged.values()}) == ("not-reproduced", {"cosine"})
    strict = tf.bisect_precision(MODEL, tmp_path, samples=[sample], metric={"y": "max-rel"}, build="none")
    assert strict.status == "certified"


def test_an_output_of_equal_values_is_said_to_tell_little(tmp_path: Path) -> None:
    net = Net(seed=1)
    net.tensor("filler", np.full((4, 8), 0.5))
    product = net.node("MatMul", "/product", ["x", "filler"])
    onnx.save(net.model(net.node("Softmax", "/softmax", [product]), {"x": (1, 4)}, (1, 8)), tmp_path / "m.onnx")
    sample = {"x": np.ones((1, 4), np.float32)}
    answer = tf.bisect_precision(tmp_path / "m.onnx", tmp_path / "out", samples=[sample], build="none")
    assert answer.samples_are == "1 sample (all values of y are equal in FP32, which tells little)"
    assert "equal" not in tf.bisect_precision(MODEL, tmp_path / "n", samples=[arrays()], build="none").samples_are


def test_samples_that_do_not_fit_are_named(tmp_path: Path) -> None:
    with pytest.raises(tf.ForensicsError, match="has no array for the input"):
        tf.bisect_precision(MODEL, tmp_path / "out", samples=[{"other": np.zeros(1)}], build="none")


def test_progress_tells_the_time_since_the_search_began(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    request = ModelRequest(str(MODEL), PrecisionOptions(), given_samples([arrays()]), BuildOptions())
    uptime = time.monotonic
    monkeypatch.setattr(time, "monotonic", lambda: uptime() + 1e6)
    lines: list[str] = []
    search(request, RunOptions(build="none"), tmp_path, lines.append)
    assert re.fullmatch(r"probes done \d+.*; last (good|bad); \d{1,2}:\d\d", lines[-1])


def test_an_output_that_is_no_tensor_is_refused(tmp_path: Path) -> None:
    model = onnx.load(MODEL)
    pair = onnx.helper.make_node("SequenceConstruct", [model.graph.output[0].name] * 2, ["pair"], name="pair")
    model.graph.node.append(pair)
    kind = onnx.helper.make_sequence_type_proto(model.graph.output[0].type)
    model.graph.output.append(onnx.helper.make_value_info("pair", kind))
    with pytest.raises(tf.ForensicsError, match="outputs that are no tensors, which cannot be compared: pair"):
        tf.bisect_precision(model, tmp_path / "out", samples=[arrays()], build="none")
