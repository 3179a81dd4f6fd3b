"""The built-in checks on models that ONNX Runtime runs; engines need a GPU."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.integration import precision_nets as nets
from tests.support.zoo.net import Net
from trtforensics.bisection.checks import command_of
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytest.importorskip("onnxruntime", reason="ONNX Runtime is not installed")


def model(folder: Path, kind: str, *, batch: int = 4) -> Path:
    """Return a model that is fine, or wrong in one way."""
    net = Net()
    tensor = net.node("MatMul", "/in", ["x", net.weight("w", 8, 8)])
    if kind == "overflow":
        tensor = net.node("Exp", "/exp", [net.node("Mul", "/up", [tensor, net.tensor("k", 1e6)])])
    if kind == "rows":
        tensor = net.node("Add", "/add", [tensor, net.tensor("c", np.arange(batch * 8).reshape(batch, 8))])
    if kind == "noise":
        tensor = net.node("Add", "/add", [tensor, net.node("RandomNormalLike", "/noise", [tensor])])
    path = folder / f"{kind}-{batch}.onnx"
    onnx.save(net.model(tensor, {"x": (batch, 8)}, (batch, 8)), path)
    return path


@pytest.mark.parametrize(
    ("check", "kind", "status"),
    [
        ("finite", "fine", 0),
        ("finite", "overflow", 1),
        ("rows", "rows", 1),
        *(
            pytest.param(*row, marks=pytest.mark.slow)
            for row in (
                ("repeat", "noise", 1),
                ("against:{fine}", "rows", 1),
                ("rows", "fine", 0),
                ("repeat", "fine", 0),
                ("against:{fine}", "fine", 0),
                ("against:nothing.onnx", "fine", 125),
            )
        ),
    ],
)
def test_a_check_tells_what_is_fine_from_what_is_not(tmp_path: Path, check: str, kind: str, status: int) -> None:
    check = check.replace("{fine}", str(model(tmp_path, "fine")))
    command = command_of(f"builtin:{check}", "{engine}").replace("{engine}", str(model(tmp_path, kind)))
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == status, done.stdout + done.stderr


@pytest.mark.slow
def test_a_batch_of_one_says_nothing_about_rows(tmp_path: Path) -> None:
    command = command_of("builtin:rows", "{engine}").replace("{engine}", str(model(tmp_path, "fine", batch=1)))
    done = subprocess.run(["/bin/sh", "-c", command], capture_output=True, text=True, check=False)
    assert done.returncode == 125
    assert "no batch of two rows" in done.stderr


@pytest.mark.parametrize("check", ["builtin:golden", "builtin:against", "builtin:finite:x"])
def test_a_check_that_is_not_there_is_refused(check: str) -> None:
    with pytest.raises(UsageError):
        command_of(check, "{engine}")


def test_a_command_is_left_as_it_is() -> None:
    assert command_of("./check.sh {engine}", "{engine}") == "./check.sh {engine}"


@pytest.mark.slow
def test_a_search_by_a_built_in_check(run: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    onnx.save(nets.either(), tmp_path / "model.onnx")
    done = run(
        *("bisect", "precision", tmp_path / "model.onnx", "--artifacts-dir", tmp_path / "out", "--build", "none"),
        *("--find", "first", "--json", "--check", "builtin:finite"),
    )
    found = json.loads(done.stdout)
    assert found["status"] == "certified"
    assert {member["item"] for member in found["culprits"][0]} == {"/left/Mul", "/left/Div"}
    assert sys.executable not in found["why"]


@pytest.mark.gpu
@pytest.mark.skipif(shutil.which("nvidia-smi") is None, reason="there is no GPU")
@pytest.mark.parametrize("check", ["finite", "rows", "repeat", "against:{fine}"])
def test_an_engine_is_checked(tmp_path: Path, check: str) -> None:
    pytest.importorskip("tensorrt", reason="TensorRT is not installed")
    job = {"module": "tensorrt", "model": str(model(tmp_path, "fine")), "report": str(tmp_path / "report.json")}
    engine = tmp_path / "engine"
    (tmp_path / "job.json").write_text(json.dumps({**job, "engine": str(engine)}))
    subprocess.run([sys.executable, "-m", "trtforensics.trt.build", str(tmp_path / "job.json")], check=True)
    check = check.replace("{fine}", str(tmp_path / "fine-4.onnx"))
    command = command_of(f"builtin:{check}", "{engine}").replace("{engine}", str(engine))
    subprocess.run(["/bin/sh", "-c", command], check=True)
