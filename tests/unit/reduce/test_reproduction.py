"""What goes with a reduced model to show its failure: a script, and a report."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.answers import search_answer
from trtforensics import __version__
from trtforensics.bisection.levers.recipe import Recipe
from trtforensics.reduce.failure import Failure
from trtforensics.reduce.reproduction import (
    Reproduction,
    needs,
    notes_text,
    polygraphy_line,
    script_text,
    trtexec_line,
)
from trtforensics.trt.installed import Installed

if TYPE_CHECKING:
    from trtforensics.bisection.session.answer import SearchAnswer

INSTALLED = Installed("tensorrt", "10.16.1", True, True, True, "", ("FP16",), gpu="L4", driver="580.1")  # noqa: FBT003
RECIPE = Recipe(INSTALLED, Path("model.onnx"), flags=("FP16",), typed=False, level=3)
BUILT = Reproduction(
    failure=Failure("build", "failed", "TF108", title="The parser failed"),
    recipe=RECIPE,
    shapes={"x": (1, 4)},
    is_dynamic=True,
    has_golden=True,
)
RTX = replace(
    BUILT,
    recipe=replace(RECIPE, installed=replace(INSTALLED, module="tensorrt_rtx", gpu=""), compute_capability="SM120"),
)
CHECKED = Reproduction(
    Failure("check", "failed"),
    None,
    {"x": (1, 4)},
    commands=("make {model} {engine} > {log}", "look {engine} {inputs}"),
)


def test_the_script_builds_as_the_probes_were_built() -> None:
    assert list(BUILT.ways) == ["trtexec", "polygraphy"]
    assert "--verbose --skipInference --fp16 --builderOptimizationLevel=3" in trtexec_line(BUILT)
    assert "--minShapes=x:1x4 --optShapes=x:1x4 --maxShapes=x:1x4" in trtexec_line(BUILT)
    assert "--fp16 --builder-optimization-level 3 --trt-min-shapes 'x:[1,4]'" in polygraphy_line(BUILT)
    assert "Shapes" not in trtexec_line(replace(BUILT, is_dynamic=False))


@pytest.mark.parametrize(
    ("capability", "trtexec", "polygraphy"),
    [
        ("SM120", "--computeCapabilities=120", "--compute-capabilities 12.0"),
        ("SM89", "--computeCapabilities=89", "--compute-capabilities 8.9"),
        ("CURRENT", "--useGPU", "--use-gpu"),
    ],
)
def test_tensorrt_rtx_builds_for_the_same_gpu(capability: str, trtexec: str, polygraphy: str) -> None:
    assert RTX.recipe is not None
    case = replace(RTX, recipe=replace(RTX.recipe, compute_capability=capability))
    assert trtexec_line(case).startswith("tensorrt_rtx --onnx=reduced.onnx")
    assert trtexec in trtexec_line(case)
    assert polygraphy_line(case).startswith("env POLYGRAPHY_USE_TENSORRT_RTX=1 polygraphy convert")
    assert polygraphy in polygraphy_line(case)
    assert next(iter(case.ways)) == "polygraphy"


def test_no_target_is_named_where_tensorrt_rtx_takes_its_own() -> None:
    assert RTX.recipe is not None
    line = trtexec_line(replace(RTX, recipe=replace(RTX.recipe, compute_capability="NONE")))
    assert "GPU" not in line
    assert "omputeCap" not in line


def test_builder_flags_are_spelled_as_each_tool_does() -> None:
    flags = ("OBEY_PRECISION_CONSTRAINTS", "SPARSE_WEIGHTS", "EDITABLE_TIMING_CACHE")
    case = replace(BUILT, recipe=replace(RECIPE, flags=flags))
    assert "--precisionConstraints=obey --sparsity=enable" in trtexec_line(case)
    assert "--precision-constraints obey --sparse-weights" in polygraphy_line(case)
    assert "trtexec and Polygraphy cannot set the builder flag EDITABLE_TIMING_CACHE." in needs(case)


def test_wrong_numbers_need_the_inputs_and_the_golden_outputs() -> None:
    case = replace(BUILT, failure=Failure("numbers", "are not finite"), precision="fp16", recipe=None)
    assert "polygraphy run reduced.onnx --trt --load-inputs inputs.json --validate --fp16" in polygraphy_line(case)
    assert "--load-outputs outputs.json" in polygraphy_line(case)
    assert trtexec_line(case).endswith("--loadInputs=x:input0.bin --dumpOutput")
    assert "--skipInference" not in trtexec_line(case)
    assert "TensorRT 11 has no flag for FP16: use 10 or older." in needs(case)


def test_a_name_with_a_colon_is_quoted_for_trtexec() -> None:
    case = replace(BUILT, shapes={"Input:0": (1, 4)})
    assert "'\"'\"'Input:0'\"'\"':1x4" in trtexec_line(case)


def test_what_a_check_saw_is_shown_by_the_commands_only() -> None:
    assert list(CHECKED.ways) == ["commands"]
    assert list(replace(CHECKED, builtin="finite").ways) == ["commands", "trtexec", "polygraphy"]
    silent = replace(CHECKED, is_silent=True)
    assert "commands" not in silent.ways
    assert "make" not in script_text(silent)
    assert any("left out" in sentence for sentence in needs(silent))


def test_a_check_of_our_own_build_gets_its_engine() -> None:
    case = replace(CHECKED, recipe=RECIPE, commands=(None, "look {engine}"))
    assert '-o "$TRTFORENSICS_ENGINE"' in script_text(case)


def test_the_commands_run_with_what_a_probe_has(tmp_path: Path) -> None:
    build = "cat {model} > {engine} && echo built $TRTFORENSICS_MODEL > {log}"
    check = "cat {inputs}/inputs.json {inputs}/000.npz {engine}; test -d {dir}; cat {log} ./beside; exit 7"
    case = replace(CHECKED, commands=(build, check))
    folder, elsewhere = tmp_path / "a b", tmp_path / "elsewhere"
    folder.mkdir()
    elsewhere.mkdir()
    (elsewhere / "beside").write_text("where the script is called\n")
    for name in ("reduced.onnx", "inputs.json", "inputs.npz"):
        (folder / name).write_text(f"this is {name}\n")
    (folder / "repro.sh").write_text(script_text(case))
    line = ["sh", str(folder / "repro.sh")]
    done = subprocess.run(line, cwd=elsewhere, capture_output=True, text=True, check=False)
    said = done.stdout.splitlines()
    assert (done.returncode, said[:3]) == (7, ["this is inputs.json", "this is inputs.npz", "this is reduced.onnx"])
    assert said[3:] == [f"built {folder}/reduced.onnx", "where the script is called"]
    wrong = subprocess.run([*line, "nothing"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "commands" in wrong.stderr) == (2, True)


INSTALLED = Installed("tensorrt", "10.16.1", True, True, True, "", ("FP16",), gpu="L4", driver="580.1")  # noqa: FBT003
FAILURE = Failure("build", "failed", "TF108", title="The parser failed", lines=("[E] no", "password=hunter2secret"))
PLAIN = Reproduction(
    failure=FAILURE,
    recipe=Recipe(INSTALLED, Path("model.onnx"), flags=("FP16",), typed=False, level=3),
    shapes={"x": (1, 4)},
    is_dynamic=True,
    has_golden=True,
)
ANSWER = search_answer()


def notes_of(case: Reproduction, answer: SearchAnswer = ANSWER, nodes: tuple[int, int] = (300, 2)) -> str:
    return notes_text(case, answer, nodes, "the model as text")


def test_the_report_has_failure_size_versions_and_no_secret() -> None:
    notes = notes_of(PLAIN)
    for part in (
        "TF108 The parser failed",
        "2 of the original's 300 nodes",
        "each was left out once",
        "10.16.1",
        "L4",
        f"trtforensics {__version__}",
    ):
        assert part in notes
    assert "hunter2secret" not in notes


def test_an_uncertified_answer_says_so() -> None:
    uncertified = search_answer(status="named", why="without 1 of its 2 nodes …")
    notes = notes_of(PLAIN, uncertified)
    assert "That it is the smallest was not shown: without 1 of its 2 nodes …." in notes
    assert "each was left out once" not in notes


def test_of_a_single_node_nothing_was_left_out() -> None:
    notes = notes_of(PLAIN, nodes=(300, 1))
    assert "1 of the original's 300 nodes. It failed twice." in notes
    assert "left out" not in notes


def test_of_two_nodes_either_was_left_out() -> None:
    assert "Without either of them it does not fail so" in notes_of(PLAIN)
    assert "Without any one of them it does not fail so" in notes_of(PLAIN, nodes=(300, 3))


def test_a_model_of_one_node_is_said_to_be_whole() -> None:
    assert "the original's only node. It failed twice." in notes_of(PLAIN, nodes=(1, 1))


def test_a_builder_s_version_stands_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trtforensics.reduce.reproduction.tool_versions", lambda: {"tensorrt-rtx": "1.7.1"})
    assert PLAIN.recipe is not None
    recipe = replace(PLAIN.recipe, installed=replace(INSTALLED, module="tensorrt_rtx", version="1.7.1"))
    notes = notes_of(replace(PLAIN, recipe=recipe))
    assert "- tensorrt_rtx 1.7.1" in notes
    assert "- tensorrt-rtx 1.7.1" not in notes
