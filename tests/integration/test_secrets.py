"""No form of output shows a secret of its source, and every form does with ``--show-secrets``."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.diff_samples import replay_text

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]

HIDDEN = "hunter-two"
NAME = f"/net/conv?api_key={HIDDEN}"
"""The name of a layer, as a network has it that was made of addresses."""

LOG = f"""\
&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=https://me:{HIDDEN}@host.example/net.onnx --fp16
[11/21/2026-10:00:00] [I] === Model Options ===
[11/21/2026-10:00:00] [I] Format: ONNX
[11/21/2026-10:00:00] [I] Model: https://me:{HIDDEN}@host.example/net.onnx
[11/21/2026-10:00:00] [V] [TRT] Parsing node: {NAME} [Conv]
[11/21/2026-10:00:00] [V] [TRT] Original: 2 layers
[11/21/2026-10:00:01] [V] [TRT] ConvReluFusion: Fusing {NAME} with relu1
[11/21/2026-10:00:01] [V] [TRT] =============== Computing costs for {NAME} + relu1
[11/21/2026-10:00:01] [V] [TRT] *************** Autotuning format combination: Half(4,1) -> Half(4,1) ***************
[11/21/2026-10:00:01] [V] [TRT] --------------- Timing Runner: {NAME} + relu1 (CaskConvolution[0x80000009])
[11/21/2026-10:00:01] [V] [TRT] Tactic Name: ampere_sgemm_nn Tactic: 0xdeadbeefdeadbeef Time: 0.0119
[11/21/2026-10:00:01] [V] [TRT] >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0xdeadbeefdeadbeef
[11/21/2026-10:00:01] [W] [TRT] no luck with the mirror, password={HIDDEN}
[11/21/2026-10:00:01] [E] Error[4]: cannot read https://me:{HIDDEN}@host.example/net.onnx
[11/21/2026-10:00:02] [V] [TRT] Layer(Cask): {NAME} + relu1, Tactic: 0xdeadbeefdeadbeef, x (Half[4]) -> y (Half[4])
export PASSWORD={HIDDEN}
"""
LAYERS = json.dumps({"Layers": [{"Name": NAME, "LayerType": "Convolution", "TacticValue": "0x1"}]})
PROFILE = json.dumps([{"count": 1}, {"name": NAME, "timeMs": 1.0, "averageMs": 1.0, "percentage": 100}])

LINES = [
    ("parse", "build.log"),
    ("parse", "build.log", "--json"),
    ("parse", "layers.json", "--json"),
    ("parse", "layers.json", "profile.json"),
    ("parse", "layers.json", "profile.json", "--json"),
    ("report", "build.log", "-v"),
    ("report", "build.log", "--format", "json"),
    ("report", "build.log", "--format", "html"),
    ("report", "build.log", "--format", "sarif"),
    ("report", "build.log", "--format", "junit"),
    ("diff", "good.log", "build.log"),
    ("diff", "good.log", "build.log", "--json"),
    ("replay", "show", "replay.json"),
    ("replay", "show", "replay.json", "--json"),
]
FILES = [("graph", "build.log", "-o", f"graph.{ending}") for ending in ("json", "graphml", "dot")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "build.log").write_text(LOG)
    (tmp_path / "good.log").write_text(LOG.replace("0xdeadbeefdeadbeef", "0x1111111111111111"))
    (tmp_path / "layers.json").write_text(LAYERS)
    (tmp_path / "profile.json").write_text(PROFILE)
    (tmp_path / "replay.json").write_text(replay_text({NAME: 5}))
    return tmp_path


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_what_is_printed(line: tuple[str, ...], folder: Path, run: Run) -> None:
    masked, shown = (run(*line, *more, cwd=folder) for more in ((), ("--show-secrets",)))
    assert masked.returncode in {0, 1}, masked.stderr
    assert HIDDEN not in masked.stdout + masked.stderr
    assert "[secret]" in masked.stdout
    assert HIDDEN in shown.stdout
    assert "[secret]" not in shown.stdout


@pytest.mark.parametrize("line", FILES, ids=" ".join)
def test_what_is_written_to_a_file(line: tuple[str, ...], folder: Path, run: Run) -> None:
    assert run(*line, cwd=folder).returncode == 0
    masked = (folder / line[-1]).read_text()
    assert run(*line, "--show-secrets", cwd=folder).returncode == 0
    assert HIDDEN not in masked
    assert "[secret]" in masked
    assert HIDDEN in (folder / line[-1]).read_text()


def test_an_error_that_names_a_path(run: Run) -> None:
    done = run("parse", f"https://me:{HIDDEN}@host.example/x.log")
    assert done.returncode == 2
    assert HIDDEN not in done.stderr


def test_a_redacted_log_holds_no_secret(folder: Path, run: Run) -> None:
    assert run("redact", "build.log", "-o", "public.log", cwd=folder).returncode == 0
    assert "two" not in (folder / "public.log").read_text()


def test_a_replay_that_is_made_keeps_its_names(folder: Path, run: Run) -> None:
    """TensorRT finds a layer by its name: a masked name would be another layer's."""
    done = run("replay", "convert", "replay.json", "--to", "F5", "-o", "other.json", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert NAME in json.loads((folder / "other.json").read_text())["replay"]
