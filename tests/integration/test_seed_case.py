"""The case the tool was asked for: LayerNorms asked for in FP32, swallowed by a ForeignNode, from log to advice."""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.engine.foreign import Transformer
from trtforensics.cli import main

if TYPE_CHECKING:
    from pathlib import Path

NORMS = [f"/layers.{i}/norm{j}/LayerNormalization" for i in (0, 1) for j in (1, 2)]
PATTERN = "/layers.*LayerNormalization:fp32"


def swallowed(version: tuple[int, int, int], folder: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """Return the finding that the command reports."""
    path = folder / "build.log"
    path.write_text(Transformer(version, precisions=PATTERN, constraints="obey").log().text(), encoding="utf-8")
    assert main(["report", str(path), "--json"]) == 0
    printed = capsys.readouterr().out
    (found,) = [one for one in json.loads(printed)["findings"] if one["code"] == "TF201"]
    return dict(found)


@pytest.mark.parametrize("version", [(8, 6, 1), (10, 12, 0), (10, 16, 1)])
def test_it_names_each_layernorm_the_foreign_node_and_the_option(
    version: tuple[int, int, int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = swallowed(version, tmp_path, capsys)
    assert found["severity"] == "error"
    assert found["onnx_nodes"] == NORMS
    assert found["layers"][0] == Transformer().foreign
    assert f"--layerPrecisions={PATTERN} (obey precision constraints)" in found["cause"]
    cited = " ".join(evidence["text"] for evidence in found["evidence"])
    assert all(f"Parsing node: {name}" in cited for name in NORMS)
    assert PATTERN in cited
    assert found["confidence"] == "likely"
    assert found["settle"]


def test_the_fix_is_right_for_a_version_with_strong_typing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = swallowed((10, 16, 1), tmp_path, capsys)
    cast, build, compare, inside = (shlex.split(step["command"]) for step in found["next"])
    assert cast[:3] == ["python", "-m", "modelopt.onnx.autocast"]
    assert cast[cast.index("--nodes_to_exclude") + 1 :] == NORMS
    assert (build[0], set(build[1:])) == ("trtexec", {"--onnx=mixed.onnx", "--stronglyTyped", "--verbose"})
    assert compare[:2] == ["polygraphy", "run"]
    assert [f"{name}_output_0" for name in NORMS] == compare[compare.index("--trt-outputs") + 1 :][:4]
    assert {"--profilingVerbosity=detailed", "--dumpLayerInfo"} <= set(inside)
    assert any("AutoCast" in fix for fix in found["fixes"])


def test_the_fix_is_right_for_a_version_without(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = swallowed((8, 6, 1), tmp_path, capsys)
    commands = " ".join(step["command"] for step in found["next"])
    assert "--stronglyTyped" not in commands
    assert "markUnfused" not in commands
    assert "--trt-outputs" in commands
    assert any("plugin" in fix for fix in found["fixes"])
    assert not any("AutoCast" in fix for fix in found["fixes"])
    assert "does not list members" in found["settle"]
