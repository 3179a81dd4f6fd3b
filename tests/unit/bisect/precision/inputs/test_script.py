"""Samples from a script, which runs in a child process."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.input_models import FLOAT, model
from trtforensics.bisect.precision.inputs.script import run_script
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

ONE = model(x=(FLOAT, [2]))
SCRIPT = """
import numpy as np

def load_data():
    number = 0
    while True:
        print("reading", number)
        yield {"x": np.full(2, number)}
        number += 1

def listed():
    return [{"x": np.zeros(2, np.float32)}]

def nothing():
    return []

def broken():
    raise MemoryError("too much")

def killed():
    import os
    os.abort()

def odd():
    yield 3

def other():
    yield {"z": np.zeros(2)}
"""


@pytest.fixture
def script(tmp_path: Path) -> str:
    (tmp_path / "loader.py").write_text(SCRIPT)
    return str(tmp_path / "loader.py")


def test_an_endless_script_gives_its_first_samples(script: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert [sample["x"].tolist() for sample in run_script(ONE, script, 3)] == [[0, 0], [1, 1], [2, 2]]
    assert capfd.readouterr().out == ""


def test_another_function_is_named(script: str) -> None:
    assert len(run_script(ONE, f"{script}:listed", 3)) == 1


@pytest.mark.parametrize(
    ("name", "says"),
    [
        (":nothing", "gives no sample"),
        (":broken", r"its broken\(\) failed: MemoryError: too much"),
        (":killed", "failed"),
        (":odd", "failed"),
        (":absent", "absent"),
        (":other", "has no array for the input x; it has z"),
        (".missing", "no such file"),
    ],
)
def test_a_script_that_gives_no_samples_is_one_sentence(script: str, name: str, says: str) -> None:
    with pytest.raises(SourceError, match=says) as caught:
        run_script(ONE, script + name, 3)
    assert caught.value.where == script + (name if name == ".missing" else "")
