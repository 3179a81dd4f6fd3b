"""Commands of a repair, pasted into a shell where stand-ins of the programs say what they were given."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.small_caster import caster
from trtforensics.bisection.precision.repair.fixes import (
    autocast_command,
    layers_of,
    network_script,
    trtexec_command,
)

if TYPE_CHECKING:
    from pathlib import Path

NAMES = ["/a/Mul", "/it's", "/c$d`e", '/"q"', "/back\\slash", "/e(f)[g]{h}", "!x", "~", "/ü;|&#"]
CUT = ["/a b", "/e:f", "/g,h", "/i*", "/new\nline"]


def given(text: str, folder: Path, program: str) -> list[list[str]]:
    """Run text in a shell; return the arguments of each call of the program."""
    stand_in = folder / program
    calls = folder / "calls"
    say = f"open({str(calls)!r}, 'a').write(json.dumps(sys.argv[1:]) + chr(10))"
    stand_in.write_text(f"#!{sys.executable}\nimport json, sys\n{say}\n")
    stand_in.chmod(0o755)
    calls.unlink(missing_ok=True)
    env = {**os.environ, "PATH": f"{folder}:{os.environ['PATH']}"}
    done = subprocess.run(["/bin/sh"], input=text, text=True, capture_output=True, check=False, env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    return [json.loads(line) for line in calls.read_text().splitlines()] if calls.exists() else []


def test_trtexec_gets_each_name_as_it_is(tmp_path: Path) -> None:
    layers = {name: name != "~" for name in NAMES}
    (call,) = given(trtexec_command(layers, "fp16", "/models/my model.onnx"), tmp_path, "trtexec")
    assert call[:3] == ["--onnx=/models/my model.onnx", "--fp16", "--precisionConstraints=obey"]
    options = dict(word.split("=", 1) for word in call[3:])
    assert options["--layerPrecisions"].split(",") == [f"{name}:fp32" for name in NAMES]
    assert options["--layerOutputTypes"].split(",") == [f"{name}:fp32" for name in NAMES if name != "~"]


@pytest.mark.parametrize("name", CUT)
def test_a_name_that_trtexec_would_cut_has_it_build_the_repaired_model(name: str, tmp_path: Path) -> None:
    text = trtexec_command({"/fine": True, name: True}, "fp16", "m.onnx")
    assert given(text, tmp_path, "trtexec") == [["--onnx=model.onnx", "--stronglyTyped"]]
    assert name.replace("\n", "\\n") in text
    assert "--fp16" not in text


def test_the_command_in_the_script_is_one_that_a_shell_takes(tmp_path: Path) -> None:
    script = network_script(NAMES, "fp16", "/models/my model's.onnx")
    (line,) = [line[2:] for line in script.splitlines() if line.startswith("# polygraphy")]
    (call,) = given(line, tmp_path, "polygraphy")
    assert call[:2] == ["convert", "/models/my model's.onnx"]
    assert call[call.index("--trt-network-postprocess-script") + 1] == "fp32_layers.py:postprocess"


def test_the_script_pins_layers_by_name() -> None:
    script = network_script([*NAMES, *CUT], "fp16", "m.onnx")
    space: dict[str, object] = {}
    exec(compile(script.replace("import tensorrt as trt", ""), "fp32_layers.py", "exec"), space)  # noqa: S102 - our own text
    assert space["FP32_LAYERS"] == {*NAMES, *CUT}


def test_names_are_patterns_for_autocast() -> None:
    command = autocast_command(["/a.b+c"], caster())
    assert r"'^/a\.b\+c$'" in command
    assert "'my model.onnx'" in command


def test_only_a_layer_whose_outputs_are_all_floats_gets_an_output_type() -> None:
    assert layers_of(caster(), {"/exp", "/less"}) == {
        "/exp": True,
        "/less": False,
    }
