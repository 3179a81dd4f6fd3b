"""How our own builds are asked for: the job that a probe's folder holds, and what makes two searches the same."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.bisection.levers.recipe import JOB, Recipe, build_command, read_report
from trtforensics.trt.build import BuildJob
from trtforensics.trt.installed import Installed

if TYPE_CHECKING:
    from pathlib import Path


_ABLE: dict[str, Any] = {"selector": True, "editable_cache": True, "debug_tensors": True}


@pytest.fixture
def recipe(tmp_path: Path) -> Recipe:
    (tmp_path / "m.onnx").write_bytes(b"a model")
    installed = Installed("tensorrt", "10.9.0", **_ABLE, routes="{}", flags=("FP16", "TF32"))
    return Recipe(installed, tmp_path / "m.onnx", {"x": (1, 3)}, flags=("TF32",), typed=True, level=2)


def test_a_job_has_the_recipe_and_what_the_lever_sets(recipe: Recipe, tmp_path: Path) -> None:
    recipe.write(tmp_path, {"outputs": ["t"], "debug": True, "level": 5})
    job = BuildJob(**json.loads((tmp_path / JOB).read_text()))
    assert (job.module, job.model, job.level) == ("tensorrt", str(recipe.model), 5)
    assert (job.shapes, job.flags, job.typed) == ({"x": [1, 3]}, ["TF32"], True)
    assert (job.outputs, job.debug, job.route, job.keys) == (["t"], True, None, None)
    assert job.report == str(tmp_path / "build-report.json")
    assert job.engine == str(tmp_path / "engine")


def test_a_recipe_is_told_from_others_by_all_but_the_knobs_that_there_are(recipe: Recipe, tmp_path: Path) -> None:
    content = recipe.content()
    told = {"module": "tensorrt", "version": "10.9.0", "flags": ("FP16", "TF32"), "capabilities": ()}
    assert content["installed"] == told | _ABLE | {"gpu": "", "driver": ""}
    (tmp_path / "m.onnx").write_bytes(b"another")
    assert recipe.content() != content


def test_a_folder_without_a_report_tells_of_no_lever(tmp_path: Path) -> None:
    assert read_report(tmp_path).refused == []


@pytest.mark.parametrize(("status", "judged"), [(0, 0), (3, 1), (1, 125), (2, 125), (125, 125), (139, 139)])
def test_a_refused_build_is_bad_and_an_exception_says_nothing(status: int, judged: int) -> None:
    ends = build_command().partition("s=$?;")[2]
    assert subprocess.run(["/bin/sh", "-c", f"s={status}; {ends}"], check=False).returncode == judged
