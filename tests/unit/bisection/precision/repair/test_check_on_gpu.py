"""The script that a user takes to a GPU, run where the emulator stands in for TensorRT."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.emulator.tensorrt.python_path import environment
from tests.support.zoo.net import Net
from trtforensics.bisection.precision.emulation.measures import scores_of
from trtforensics.bisection.precision.repair.fixes import write_gpu_check

if TYPE_CHECKING:
    from pathlib import Path

MEASURE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import numpy as np
from check_on_gpu import measures
pairs = np.load(sys.argv[2])
count = len(pairs.files) // 2
print(json.dumps([measures(pairs[f"a{i}"], pairs[f"b{i}"], 5.0, -65504.0) for i in range(count)]))
"""


def run(*words: object, version: str = "10.13.3") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, *map(str, words)]
    return subprocess.run(command, env=environment(version=version), capture_output=True, text=True, check=False)


def prepared(folder: Path, tolerance: float) -> Path:
    """Write an original, a repair that is twice as large, a sample, and the script beside them."""
    fixed = folder / "fixed"
    (fixed / "samples").mkdir(parents=True)
    net = Net()
    model = net.model(net.node("Relu", "/relu", ["x"]), {"x": ("batch", 4)}, ("batch", 4)).SerializeToString()
    (fixed / "model.onnx").write_bytes(model)
    (folder / "original.onnx").write_bytes(model)
    np.savez(fixed / "samples" / "000.npz", x=np.asarray([[1.0, 2.0, 3.0, 4.0]], np.float32))
    judged = {"y": [{"metric": "max-rel", "tolerance": tolerance}, {"metric": "rel-l2", "tolerance": tolerance}]}
    write_gpu_check(str(folder / "original.onnx"), judged, {"y": -65504.0}, fixed)
    return fixed / "check_on_gpu.py"


@pytest.mark.parametrize(
    ("tolerance", "status", "says"), [(0.5, 1, "FAILS"), pytest.param(1.5, 0, "passes", marks=pytest.mark.slow)]
)
def test_both_models_run_on_the_same_samples(tmp_path: Path, tolerance: float, status: int, says: str) -> None:
    script = prepared(tmp_path, tolerance)
    done = run("-m", "tests.support.gpu_check_run", script)
    assert done.returncode == status, done.stderr
    assert "tensorrt 10.13.3, 1 samples, model.onnx against original.onnx" in done.stdout
    assert "y: max-rel 1, rel-l2 1, max-abs 4, cosine 1, psnr 3.29, mismatch 1\n" in done.stdout
    assert f"  max-rel {says}, tolerance {tolerance}\n  rel-l2 {says}, tolerance {tolerance}\n" in done.stdout


@pytest.mark.slow
def test_what_cannot_run_is_a_sentence(tmp_path: Path) -> None:
    script = prepared(tmp_path, 1.0)
    for words, says in (
        (("--original", tmp_path / "none.onnx"), "there is no model"),
        (("--samples", tmp_path), "there are no samples"),
    ):
        done = run(script, *words)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"check_on_gpu: {says}")
    done = run("-m", "tests.support.gpu_check_run", script, version="8.6.1")
    assert done.returncode == 2
    assert "TensorRT 8.6.1 has no strongly typed networks" in done.stderr


def test_its_measures_are_those_of_the_search(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    one = random.standard_normal((5, 7)).astype(np.float32)
    pairs: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = [
        (one, one),
        (one, one + np.float32(0.01) * random.standard_normal(one.shape).astype(np.float32)),
        (one, np.where(one > 1, np.float32(np.inf), one)),
        (np.zeros(3, np.float32), np.ones(3, np.float32)),
        (np.zeros(3, np.float32), np.zeros(3, np.float32)),
        (np.asarray([1.0, -1e9, -np.inf], np.float32), np.asarray([1.01, -65504.0, -70000.0], np.float32)),
        (np.asarray([1.0, -1e9], np.float32), np.asarray([1.0, -5.0], np.float32)),
        (np.asarray([1.0, np.inf], np.float32), np.asarray([1.0, np.inf], np.float32)),
        (np.asarray([True, False]), np.asarray([True, True])),
        (np.empty((0, 2), np.float32), np.empty((0, 2), np.float32)),
        (np.asarray([1.0, np.nan], np.float32), np.asarray([1.01, 7.0], np.float32)),
    ]
    arrays: dict[str, Any] = {}
    for number, (wanted, seen) in enumerate(pairs):
        arrays.update({f"a{number}": wanted, f"b{number}": seen})
    np.savez(tmp_path / "pairs.npz", **arrays)
    script = prepared(tmp_path, 1.0)
    done = run("-c", MEASURE, script.parent, tmp_path / "pairs.npz")
    assert done.returncode == 0, done.stderr
    for (wanted, seen), measured in zip(pairs, json.loads(done.stdout), strict=True):
        known = ~np.isnan(wanted)
        scores = scores_of(wanted[known], seen[known], peak=5.0, lowest=-65504.0)
        assert (measured is None) == (scores is None)
        assert measured is None or measured == pytest.approx(scores)
