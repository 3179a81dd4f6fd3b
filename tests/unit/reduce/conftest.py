"""Models of which each test cuts something."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import onnx
import pytest

from tests.support.failing_models import branch, loop, model_with, square
from trtforensics.onnx_models.cutting import take_apart
from trtforensics.onnx_models.drawing import random_samples
from trtforensics.reduce.deriving import Deriver, record

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

FAULTS = {"branch": branch, "loop": loop, "square": square, "none": None}


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
