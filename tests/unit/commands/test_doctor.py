"""The doctor says what is installed, and of each part whether it works and what it needs."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.tensorrt import python_path
from tests.support.repository import ROOT, import_path
from trtforensics.commands import doctor

if TYPE_CHECKING:
    from pathlib import Path


def examined(environment: dict[str, str]) -> dict[str, Any]:
    line = [sys.executable, "-m", "trtforensics", "doctor", "--json"]
    done = subprocess.run(line, capture_output=True, text=True, check=True, env=environment)
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def works(document: dict[str, Any], opening: str) -> bool:
    (found,) = (ability for ability in document["abilities"] if ability["what"].startswith(opening))
    assert found["works"] or found["needs"]
    return bool(found["works"])


@pytest.mark.parametrize(
    ("version", "tactics", "cache", "route"),
    [
        pytest.param("8.6.1", True, False, False, marks=pytest.mark.slow),
        pytest.param("10.16.1", True, True, False, marks=pytest.mark.slow),
        ("11.4.0", False, True, True),
    ],
)
def test_the_parts_that_build_work_by_the_version_of_tensorrt(
    version: str, *, tactics: bool, cache: bool, route: bool
) -> None:
    document = examined(python_path.environment(version=version))
    assert document["tensorrt"]["tensorrt"] == version
    found = [works(document, f"bisect {lever}") for lever in ("tactics", "cache", "route")]
    assert found == [tactics, cache, route]


def test_a_tensorrt_that_cannot_be_imported_is_named_with_its_error(tmp_path: Path) -> None:
    (tmp_path / "tensorrt.py").write_text("raise ImportError('libnvinfer.so.10: cannot open shared object file')")
    document = examined({**os.environ, "PYTHONPATH": import_path(tmp_path, ROOT)})
    assert "libnvinfer.so.10" in document["tensorrt"]["tensorrt"]
    assert not works(document, "bisect route")


def test_the_text_names_every_part_and_its_need() -> None:
    told = {"lark": "1.3"}
    health: dict[str, Any] = dict.fromkeys(("trtforensics", "python", "system", "builder_python", "gpu"), "1")
    health |= dict.fromkeys(("packages", "extras", "tensorrt"), told) | {"programs": {"dot": "missing"}}
    abilities = [{"what": "fly", "works": False, "needs": "wings"}, {"what": "walk", "works": True, "needs": ""}]
    text = doctor._text({**health, "abilities": abilities})
    assert "  no   fly; it needs wings\n" in text
    assert "  yes  walk\n" in text
    assert "dot           missing\n" in text
