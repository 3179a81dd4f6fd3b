"""Models whose large constants stay in files of their own."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.onnx_models import reading, streaming
from trtforensics.onnx_models.cutting import take_apart
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.onnx_models.running import run_model
from trtforensics.onnx_models.streaming import data_file, held, write_model
from trtforensics.reduce.deriving import Derived, Deriver, record
from trtforensics.reduce.graph_lever import ReductionLever
from trtforensics.reduce.running import reduce_model
from trtforensics.reduce.simplifying import Aspect, simplifications_of

if TYPE_CHECKING:
    from pathlib import Path

WIDTH, LAYERS = 640, 3
RANDOM = np.random.default_rng(0)
WEIGHTS = [RANDOM.uniform(-0.1, 0.3, (WIDTH, WIDTH)).astype(np.float32) for _ in range(LAYERS)]


@pytest.fixture
def deriver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Deriver:
    """A model of three products that keeps its weights in a file, taken apart as one of gigabytes is."""
    monkeypatch.setattr(reading, "_LARGEST", 1000)
    monkeypatch.setattr(streaming, "HELD", WEIGHTS[0].nbytes)
    nodes = [helper.make_node("MatMul", [f"x{i}", f"acme_w{i}"], [f"x{i + 1}"], name=f"m{i}") for i in range(LAYERS)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", WIDTH]) for name in ("x0", f"x{LAYERS}")]
    constants = [numpy_helper.from_array(weight, f"acme_w{i}") for i, weight in enumerate(WEIGHTS)]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    path = tmp_path / "original.onnx"
    onnx.save(model, path, save_as_external_data=True, location="original.data", size_threshold=0)
    original = take_apart(str(path))
    (sample,) = random_samples(original.model, {"x0": (2, WIDTH)}, 1)
    return Deriver(original, record(original, sample), simplifications_of(original, anonymous=True, sample=sample))


def everything(deriver: Deriver, nodes: set[int]) -> frozenset[int]:
    count = len(deriver.original.nodes)
    return frozenset(nodes) | frozenset(range(count, count + len(deriver.simplifications)))


def written(derived: Derived, folder: Path) -> onnx.ModelProto:
    path = folder / "cut.onnx"
    write_model(derived.model, derived.streamed, path)
    return onnx.load(path)


def test_weights_of_a_large_model_stay_outside_of_its_message(deriver: Deriver) -> None:
    original = deriver.original
    assert set(original.streamed) == {"acme_w0", "acme_w1", "acme_w2"}
    assert original.model.ByteSize() < 2000
    expected = deriver.recording.values["x0"] @ WEIGHTS[0] @ WEIGHTS[1] @ WEIGHTS[2]
    np.testing.assert_allclose(deriver.recording.values["x3"], expected, rtol=1e-3)


def test_a_cut_model_has_the_weights_that_it_reads_in_a_file(deriver: Deriver, tmp_path: Path) -> None:
    derived = deriver.derive(everything(deriver, {1, 2}))
    assert set(derived.streamed) == {"acme_w1", "acme_w2"}
    assert derived.model.ByteSize() < 2000
    model = written(derived, tmp_path)
    assert [tensor.name for tensor in model.graph.initializer] == ["acme_w1", "acme_w2"]
    for tensor, weight in zip(model.graph.initializer, WEIGHTS[1:], strict=True):
        assert np.array_equal(numpy_helper.to_array(tensor), weight)
    outside = run_model(derived.model, derived.inputs, derived.streamed)
    inside = run_model(model, derived.inputs)
    assert isinstance(outside, dict)
    assert isinstance(inside, dict)
    np.testing.assert_allclose(outside["x3"], inside["x3"], rtol=1e-5)


def test_few_weights_go_into_the_message(deriver: Deriver, tmp_path: Path) -> None:
    derived = deriver.derive(everything(deriver, {1}))
    assert not derived.streamed
    assert np.array_equal(numpy_helper.to_array(derived.model.graph.initializer[0]), WEIGHTS[1])
    written(derived, tmp_path)
    assert not data_file(tmp_path / "cut.onnx").exists()


def test_weights_outside_become_smaller(deriver: Deriver) -> None:
    first = len(deriver.original.nodes)
    halving = next(i for i, s in enumerate(deriver.simplifications, first) if s.key == str(WIDTH))
    derived = deriver.derive(everything(deriver, {0, 1, 2}) - {halving})
    half = WIDTH // 2
    arrays = derived.streamed or {t.name: numpy_helper.to_array(t) for t in derived.model.graph.initializer}
    for name, weight in zip(("acme_w0", "acme_w1", "acme_w2"), WEIGHTS, strict=True):
        assert np.array_equal(arrays[name], weight[:half, :half])
    assert derived.inputs["x0"].shape == (2, half)


def test_weights_outside_become_random_of_their_range(deriver: Deriver, tmp_path: Path) -> None:
    first = len(deriver.original.nodes)
    random = {
        i for i, s in enumerate(deriver.simplifications, first) if s.aspect is Aspect.WEIGHTS and s.key == "acme_w0"
    }
    derived = deriver.derive(everything(deriver, {0, 1}) - random)
    model = written(derived, tmp_path)
    made, kept = map(numpy_helper.to_array, model.graph.initializer)
    assert np.array_equal(kept, WEIGHTS[1])
    assert not np.isin(made, WEIGHTS[0]).mean() > 0.1
    assert WEIGHTS[0].min() <= made.min() < made.max() <= WEIGHTS[0].max()
    assert np.array_equal(made, deriver.derive(everything(deriver, {0, 1}) - random).streamed["acme_w0"])


def test_weights_outside_are_found_under_other_names(deriver: Deriver, tmp_path: Path) -> None:
    first = len(deriver.original.nodes)
    names = {i for i, s in enumerate(deriver.simplifications, first) if s.aspect is Aspect.NAMES}
    model = written(deriver.derive(everything(deriver, {0, 1}) - names), tmp_path)
    assert not {tensor.name for tensor in model.graph.initializer} & {"acme_w0", "acme_w1"}
    for tensor, weight in zip(model.graph.initializer, WEIGHTS, strict=False):
        assert np.array_equal(numpy_helper.to_array(tensor), weight)
    assert b"acme" not in (tmp_path / "cut.onnx").read_bytes()


def test_constants_are_held_as_a_whole_or_not_at_all(deriver: Deriver) -> None:
    derived = deriver.derive(everything(deriver, {0, 1}))
    size = derived.model.ByteSize()
    assert held(derived.model, derived.streamed) == derived.streamed
    assert derived.model.ByteSize() == size


@pytest.mark.slow
def test_a_reduction_leaves_no_weights_of_judged_probes(deriver: Deriver, tmp_path: Path) -> None:
    judge = tmp_path / "check.py"
    judge.write_text(
        "import sys, onnx\n"
        "model = onnx.load(sys.argv[1])\n"  # with its data: it lies beside the model while the probe is judged
        "large = [t for t in model.graph.initializer if len(t.raw_data) > 1_000_000]\n"
        "print('ValueError: two large products') if len(large) > 1 else None\n"
        "sys.exit(len(large) > 1)\n"
    )
    command, out = f"{shlex.quote(sys.executable)} {judge} {{model}}", tmp_path / "out"
    lever = ReductionLever(deriver, out, commands=(None, command))
    answer, fixed = reduce_model(out, lever, RunOptions(build=None, check=command), lambda _: None)
    assert (answer.search.status, len(answer.reduction.left)) == ("certified", 2)
    assert not list(out.glob("probes/**/*.data"))
    assert any(line.startswith("reduced.onnx.data: its large weights") for line in fixed)
    reduced = onnx.load(out / "fixed" / "reduced.onnx")
    onnx.checker.check_model(reduced, full_check=True)
    with np.load(out / "fixed" / "inputs.npz") as inputs, np.load(out / "fixed" / "outputs.npz") as golden:
        ran = run_model(reduced, dict(inputs))
        assert isinstance(ran, dict)
        (name,) = golden.files
        np.testing.assert_allclose(ran[name], golden[name], rtol=1e-5)
