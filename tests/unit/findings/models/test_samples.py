"""``check --samples``: the nodes whose results first leave FP16's range."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np
import onnx
import pytest

from tests.support.faulty_models import FLOAT, Values, model, node
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

_ROW: Values = {"x": (FLOAT, (1, 4))}


@pytest.fixture
def path(tmp_path: Path) -> str:
    """Return a model of a square, its mean and a mask; beside it the samples ``small`` and ``large``."""
    nodes = [
        node("Mul", "x x", "s", "/square"),
        node("ReduceMean", "s", "m", "/mean", axes=[-1]),
        node("Add", "m low", "masked", "/mask"),
        node("Softmax", "masked", "y", "/weights"),
    ]
    proto = model(*nodes, inputs=_ROW, low=np.array([[0, 0, -1e9, 0]], np.float32))
    for name, largest in (("small", 100.0), ("large", 1000.0)):
        np.savez(tmp_path / f"{name}.npz", x=np.array([[1, 2, 3, largest]], np.float32))
    onnx.save(proto, tmp_path / "model.onnx")
    return str(tmp_path / "model.onnx")


def _titles(path: str, capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    samples = (word for name in words for word in ("--samples", path.replace("model.onnx", f"{name}.npz")))
    assert main(["check", path, "--target", "10.3", "--fp16", "--json", *samples]) == 0
    return [each["title"] for each in json.loads(capsys.readouterr().out)["findings"] if each["code"] == "TF196"]


def test_the_first_node_beyond_the_range_is_named_with_value_bound_and_sample(
    path: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _titles(path, capsys, "small", "large") == [
        "Forecast: /square reaches 1e+06 on sample 2, FP16 ends at 65504"
    ]
    assert _titles(path, capsys, "small") == []
    assert "may square in FP16" in "".join(_titles(path, capsys))


def test_an_input_beyond_the_range_is_named(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(path.replace("model.onnx", "huge.npz"), x=np.full((1, 4), 70000, np.float32))
    assert _titles(path, capsys, "huge") == ["Forecast: The input x reaches 7e+04 on sample 1, FP16 ends at 65504"]


def test_samples_are_of_use_with_fp16_alone(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", path, "--samples", "none.npz"]) == 2
    assert "Add --fp16" in capsys.readouterr().err
