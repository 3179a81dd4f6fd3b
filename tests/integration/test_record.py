"""``record``: commands of every release, run where trtexec is; layers and profile from objects of TensorRT's API."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.emulator.tensorrt.python_path import environment
from tests.support.repository import ROOT
from trtforensics.findings.versions import Version, flags
from trtforensics.parsers.text.source import MAX_BYTES
from trtforensics.sources.engine import load_engine_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Run = Callable[..., subprocess.CompletedProcess[str]]
    Refuse = Callable[..., str]

MODEL = str(ROOT / "testdata" / "models" / "convnet.onnx")
RELEASES = ("7.0", "7.2.1", "8.0.1", "8.2", "8.4.1", "8.5.1", "8.6.1", "9.3", "10.0", "10.3", "10.16", "11.0", "11.1")
TRTEXEC = """#!/bin/sh
echo "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # $0 $*"
for word; do case "$word" in
--help) exit 0;;
--export*=*|--save*=*) echo '{"Layers": ["a"]}' > "${word#*=}";;
*broken*) exit 3;;
esac; done
"""
INSIDE = """
import sys
import tensorrt as trt
import trtforensics as tf
engine = trt.Runtime(trt.Logger(trt.Logger.ERROR)).deserialize_cuda_engine(open("e.plan", "rb").read())
context = engine.create_execution_context()
before = context.profiler
tf.write_layers(engine, "layers.json")
tf.write_profile(context, lambda: context.execute_async_v3(0), "profile.json", runs=3)
assert context.profiler is before
try:
    tf.write_profile(context, lambda: None, "none.json")
except ValueError as error:
    print(error)
"""


@pytest.fixture
def trtexec(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:  # noqa: ARG001 - it makes the folder
    """Return the folder in which commands run; a program on the path stands in for trtexec of 8.6.1."""
    program = tmp_path / "bin" / "trtexec"
    program.parent.mkdir()
    program.write_text(TRTEXEC, encoding="utf-8")
    program.chmod(0o755)
    (program.parent / "nvidia-smi").symlink_to("/bin/true")
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    return tmp_path / "cwd"


@pytest.mark.parametrize("release", RELEASES)
def test_a_release_has_every_option_of_its_commands(release: str, run: Run) -> None:
    document = json.loads(run("record", MODEL, "--release", release, "--json", "--options", "--shapes=x:1x3").stdout)
    assert document["release"] == release
    version = Version(tuple(map(int, release.split("."))))
    lines = [shlex.split(each["command"].partition(" > ")[0]) for each in document["commands"]]
    for program, *words in lines[:-1]:
        assert program == "trtexec"
        known = [flags()[word.partition("=")[0]] for word in words]
        assert all(version.has(flag.since, flag.before) for flag in known)
        assert "--shapes=x:1x3" in words
    written = {name.rpartition("/")[2] for each in document["commands"] for name in each["writes"]}
    logs = {"build.log", "profile.log", "times.log"}
    assert written - {"layers.json"} == logs | {"model.plan", "profile.json", "times.json", "gpu.txt"}
    assert ("layers.json" in written) == (version.numbers >= (8, 2))


def test_commands_run_where_trtexec_is_and_are_of_its_release(trtexec: Path, run: Run) -> None:
    script = run("record", MODEL).stdout
    assert script.startswith("# trtexec of TensorRT 8.6.1\nset -e\nmkdir -p recorded\ntrtexec --onnx=")
    assert script.endswith("# then: trtforensics tui recorded/build.log recorded/layers.json recorded/profile.json "
                           "recorded/times.json\n")  # fmt: skip
    assert run("record", MODEL, "--run", "--into", "some where").returncode == 0
    assert (trtexec / "some where" / "build.log").read_text(encoding="utf-8").startswith("&&&& RUNNING")
    assert {"layers.json", "profile.json", "times.json"} <= {path.name for path in (trtexec / "some where").iterdir()}


def test_the_first_command_that_fails_is_told(trtexec: Path, run: Run) -> None:
    done = run("record", MODEL, "--run", "--options", "--shapes=broken:1")
    assert (done.returncode, done.stdout.splitlines()[1]) == (1, "why: trtforensics report recorded/build.log")
    assert not (trtexec / "recorded" / "gpu.txt").exists()


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((str(ROOT / "README.md"),), "is neither an ONNX model nor an engine"),
        ((MODEL, "--release", "6"), "--release: 6 is no release of TensorRT from 7 on"),
        ((MODEL, "--release", "11.1", "--options", "--fp16"), "trtexec of TensorRT 11.1 has no --fp16"),
        ((MODEL, "--release", "10.3", "--options", "--onnx=b"), "`record` itself sets --onnx"),
        (("rtx.plan",), "is an engine, built by TensorRT-RTX 1.7.1"),
        (("e.plan", "--options", "--int8"), "e.plan is built, so that --int8 has no effect"),
        (("e.plan", "--run"), "is an engine, built by TensorRT 10.3.1, and there is no trtexec on the path nor a"),
        ((MODEL, "--run"), "is an ONNX model, and there is no trtexec on the path."),
    ],
)
def test_what_cannot_be_is_one_sentence(
    words: tuple[str, ...], sentence: str, refuse: Refuse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/bin")
    for name, opening, version in (("e.plan", b"ftrt", (10, 3, 1)), ("rtx.plan", b"vtrt", (1, 7, 1))):
        (tmp_path / "cwd" / name).write_bytes(opening + bytes(20) + bytes((*version, 0)) + bytes(80))
    assert sentence in refuse("record", *words)


@pytest.mark.slow
def test_an_engine_and_its_context_write_what_trtexec_exports(tmp_path: Path, run: Run) -> None:
    there = environment(version="10.13.3", luck="a")
    job = {"module": "tensorrt", "model": MODEL, "report": "r.json", "engine": "e.plan"}
    (tmp_path / "job.json").write_text(json.dumps(job), encoding="utf-8")
    build = [sys.executable, "-m", "trtforensics.trt.build", "job.json"]
    subprocess.run(build, env=there, cwd=tmp_path, check=True, capture_output=True)
    line = [sys.executable, "-c", INSIDE]
    said = subprocess.run(line, env=there, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert said.startswith("no layer reported a time")
    paths = [str(tmp_path / name) for name in ("layers.json", "profile.json")]
    files = load_engine_files(paths, kind=None, max_bytes=MAX_BYTES)
    document = json.loads((tmp_path / "profile.json").read_text(encoding="utf-8"))
    layers = json.loads((tmp_path / "layers.json").read_text(encoding="utf-8"))["Layers"]
    assert document[0] == {"count": 3}
    assert [row["name"] for row in document[1:]] == [layer["Name"] for layer in layers]
    assert document[1]["timeMs"] == pytest.approx(3 * len(layers[0]["Name"]) / 1000)
    assert sum(row["percentage"] for row in document[1:]) == pytest.approx(100)
    times = files.times(files.layers[0].engines[0])
    assert len(times) == len(layers)
    assert None not in times
    done = run("record", "e.plan", "--run", "--into", "again", env={**there, "PATH": "/bin"}, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "")
    again = (tmp_path / "again" / "layers.json").read_text(encoding="utf-8")
    assert again == (tmp_path / "layers.json").read_text(encoding="utf-8")
