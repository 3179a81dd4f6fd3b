"""Models of which each test cuts something."""

from __future__ import annotations

import runpy
import subprocess
import sys
import warnings
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import onnx
import pytest

from tests.support.failing_models import branch, loop, model_with, square
from trtforensics.onnx_models import shapes
from trtforensics.onnx_models.cutting import take_apart
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.reduce.deriving import Deriver, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAULTS = {"branch": branch, "loop": loop, "square": square, "none": None}


def _run_here(line: list[str], *, folder: str, **_: object) -> subprocess.CompletedProcess[bytes]:
    """Run what a Python command line names in this process; errors are dropped, as that process only prints them."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings(action="ignore"), suppress(Exception):
        patch.chdir(folder)
        patch.setattr(sys, "argv", line[2:])
        runpy.run_module(line[2], run_name="__main__")
    return subprocess.CompletedProcess(line, 0)


@pytest.fixture(autouse=True)
def _symbolic_inference_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """ONNX Runtime's symbolic inference starts no process: each would import ONNX Runtime and sympy for one model.

    `tests/unit/onnx_models` has the process itself.
    """
    monkeypatch.setattr(shapes, "completed", _run_here)


@pytest.fixture
def apart(tmp_path: Path) -> Callable[..., Deriver]:
    """Return a function that takes a model with a fault apart and records its values."""

    def take(fault: str | onnx.ModelProto, count: int = 24, **more: object) -> Deriver:
        path = tmp_path / "model.onnx"
        onnx.save(model_with(FAULTS[fault], count) if isinstance(fault, str) else fault, path)
        original = take_apart(str(path))
        (sample,) = random_samples(original.model, {"x": (2, 4, 8, 8)} if more.pop("dynamic", False) else {}, 1)
        return Deriver(original, record(original, sample), **more)  # type: ignore[arg-type]

    return take


@pytest.fixture
def apart_on(tmp_path: Path) -> Callable[..., Deriver]:
    """Return a function that takes a model apart and records its values on a sample."""

    def take(model: onnx.ModelProto, sample: dict[str, Any]) -> Deriver:
        path = tmp_path / "model.onnx"
        onnx.save(model, path)
        original = take_apart(str(path))
        return Deriver(original, record(original, sample))

    return take
