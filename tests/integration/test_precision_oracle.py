"""Why the oracle is a twin, and that it agrees with another converter; what becomes of builds that go wrong."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
import pytest

from tests.integration import precision_nets as nets
from trtforensics.bisection.levers.recipe import FAILURE
from trtforensics.bisection.precision.casting.caster import Caster
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.judging import rules_for
from trtforensics.bisection.precision.emulation.oracle import Oracle
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.nodes import PrecisionLever, Target
from trtforensics.bisection.runner.executors import LocalExecutor
from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec
from trtforensics.bisection.search import Verdict
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.onnx_models.reading import prepare

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

runtime = pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")

LN = "/layers.1/ln2"
HOT = frozenset({f"{LN}/Pow", f"{LN}/ReduceMean_1"})
FAILURES = {
    "crash": ("import os, signal; print('last words', flush=True); os.kill(os.getpid(), signal.SIGSEGV)", "SIGSEGV"),
    "killed": ("import os, signal; print('last words', flush=True); os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL"),
    "exception": ("raise MemoryError('last words')", "exit status 1"),
    "hang": ("import time; print('last words', flush=True); time.sleep(600)", "timed out"),
    "chatter": ("[print('line', n, flush=True) for n in range(99)]; raise SystemExit('last words')", "exit status 1"),
}


@pytest.fixture(scope="module")
def oracle(tmp_path_factory: pytest.TempPathFactory) -> Oracle:
    path = tmp_path_factory.mktemp("model") / "model.onnx"
    onnx.save(nets.transformer(2, (LN,)), path)
    prepared = prepare(str(path))
    return Oracle(Caster(prepared, FP16), random_samples(prepared.proto, {}, 3))


def score(oracle: Oracle, model: onnx.ModelProto) -> float | None:
    (found,) = {tuple((sample or {}).get("max-rel") for sample in s) for s in oracle.score(model).outputs.values()}
    return None if None in found else max(value for value in found if value is not None)


@pytest.mark.parametrize("level", ["ORT_DISABLE_ALL", "ORT_ENABLE_ALL"])
def test_onnx_runtime_is_blind_to_the_overflow_that_the_twin_shows(oracle: Oracle, level: str) -> None:
    keep = oracle.caster.candidates.keys() - {f"{LN}/Pow"}
    typed = oracle.caster.cast(keep)
    options = runtime.SessionOptions()
    options.graph_optimization_level = getattr(runtime.GraphOptimizationLevel, level)
    options.log_severity_level = 4
    plain = runtime.InferenceSession(typed.SerializeToString(), options, ["CPUExecutionProvider"])
    twin = runtime.InferenceSession(emulate(typed).SerializeToString(), options, ["CPUExecutionProvider"])
    sample, reference = oracle.samples[0], oracle.reference[0]["y"]
    error = {
        name: float(np.abs(session.run(["y"], dict(sample))[0] - reference).max() / np.abs(reference).max())
        for name, session in (("plain", plain), ("twin", twin))
    }
    assert error["plain"] < 1e-5
    assert error["twin"] > 0.05


@pytest.mark.parametrize("kept", [HOT, frozenset[str]()], ids=["repaired", "all-fp16"])
def test_another_converter_gets_the_same_score_from_the_same_nodes(oracle: Oracle, kept: frozenset[str]) -> None:
    float16 = pytest.importorskip("onnxconverter_common.float16", reason="onnxconverter-common is not installed")
    keep = oracle.caster.kept(kept)
    theirs = float16.convert_float_to_float16(
        oracle.caster.prepared.proto, keep_io_types=True, op_block_list=[], node_block_list=sorted(keep)
    )
    ours = score(oracle, emulate(oracle.caster.cast(keep)))
    assert ours is not None
    assert score(oracle, emulate(theirs)) == pytest.approx(ours, rel=1e-6)


def test_everything_in_fp32_is_the_model_itself(oracle: Oracle) -> None:
    assert score(oracle, emulate(oracle.caster.cast(oracle.caster.candidates))) == 0.0


def test_the_floor_is_what_rounding_alone_costs(oracle: Oracle) -> None:
    floor = max(sample["max-rel"] for sample in oracle.floor.outputs["y"] if sample is not None)
    repaired = score(oracle, emulate(oracle.caster.cast(oracle.caster.kept(HOT))))
    broken = score(oracle, emulate(oracle.caster.cast(oracle.caster.kept(()))))
    assert repaired is not None
    assert broken is not None
    assert 0.4 < repaired / floor < 2.0
    assert broken > 50 * floor


@pytest.fixture
def build(
    oracle: Oracle, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[str], tuple[ProbeOutcome, Path]]:
    """Build a probe with a module that stands in for TensorRT and goes wrong as the given code does."""

    def run(code: str) -> tuple[ProbeOutcome, Path]:
        begun = tmp_path / "begun"
        (tmp_path / "broken_trt.py").write_text(f"open({str(begun)!r}, 'w').close()\n{code}\n")
        monkeypatch.setenv("PYTHONPATH", str(tmp_path))
        rules = rules_for({"y": True}, [], [])
        lever = PrecisionLever(oracle.caster, oracle, rules, Target("broken_trt"), tmp_path / "models")
        lever.builds = True
        folder = tmp_path / "probe"
        folder.mkdir()
        values = {name: str(path) for name, path in lever.prepare(frozenset(), folder).items()}
        values |= {"dir": str(folder), "log": str(folder / "build.log")}
        executor = LocalExecutor(1)
        try:
            spec = ProbeSpec(str(folder), str(tmp_path), lever.build, None, values)
            for timeout in (3.0, 12.0, 48.0, 192.0):
                outcome = executor.submit(replace(spec, timeout=timeout), lever.run).result()
                if begun.exists():  # else the machine is busy: the module was not even imported
                    break
            return outcome, folder
        finally:
            executor.close()

    return run


@pytest.mark.slow
@pytest.mark.parametrize("kind", FAILURES)
def test_a_build_that_goes_wrong_is_unresolved_with_its_last_lines(
    build: Callable[[str], tuple[ProbeOutcome, Path]], kind: str
) -> None:
    code, how = FAILURES[kind]
    outcome, folder = build(code)
    assert outcome.verdict is Verdict.UNRESOLVED
    assert how in outcome.reason
    last = (folder / FAILURE).read_text().splitlines()
    assert len(last) <= 20
    assert any("last words" in line for line in last)


def test_a_job_says_what_is_built(build: Callable[[str], tuple[ProbeOutcome, Path]]) -> None:
    _, folder = build("raise SystemExit(3)")
    job: dict[str, Any] = json.loads((folder / "build-job.json").read_text())
    assert job["module"] == "broken_trt"
    onnx.checker.check_model(job["model"], full_check=True)
