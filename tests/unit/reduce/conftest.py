"""Models of which each test cuts something."""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx
import pytest

from tests.support.failing_models import branch, loop, model_with, square
from trtforensics.bisect.precision.inputs.drawing import random_samples
from trtforensics.reduce.deriving import Deriver
from trtforensics.reduce.original import take_apart
from trtforensics.reduce.recording import record

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
