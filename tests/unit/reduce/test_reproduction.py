"""The script and the report that go with a reduced model."""

from dataclasses import replace
from pathlib import Path

import pytest

from trtforensics.bisect.levers.recipe import Recipe
from trtforensics.reduce.failure import Failure
from trtforensics.reduce.reproduction import Reproduction, notes_text, script_text
from trtforensics.trt.installed import Installed

INSTALLED = Installed("tensorrt", "10.16.1", True, True, True, "", ("FP16",), gpu="L4", driver="580.1")  # noqa: FBT003
FAILURE = Failure("build", "failed", "TF108", title="The parser failed", lines=("[E] no", "password=hunter2secret"))
PLAIN = Reproduction(
    failure=FAILURE,
    recipe=Recipe(INSTALLED, Path("model.onnx"), flags=("FP16",), typed=False, level=3),
    shapes={"x": (1, 4)},
    precision="",
    commands=("trtexec --onnx={model}", None),
    has_golden=True,
    nodes=(300, 2),
    document={"status": "certified", "why": ""},
    model="the model as text",
)


def test_the_script_builds_as_the_probes_were_built() -> None:
    script = script_text(PLAIN)
    assert "trtexec --onnx=reduced.onnx --verbose --skipInference --fp16 --builderOptimizationLevel=3" in script
    assert "--minShapes=x:1x4 --optShapes=x:1x4 --maxShapes=x:1x4" in script
    assert "polygraphy convert reduced.onnx" in script
    assert "${1:-trtexec}" in script


def test_wrong_numbers_are_compared_with_golden_outputs() -> None:
    numbers = replace(PLAIN, failure=Failure("numbers", "are not finite"), precision="fp16", recipe=None)
    script = script_text(numbers)
    assert "polygraphy run reduced.onnx --trt --load-inputs inputs.json --validate" in script
    assert "--load-outputs outputs.json" in script
    assert "emulating fp16" in notes_text(numbers)


def test_tensorrt_rtx_is_asked_for_by_its_name() -> None:
    recipe = replace(PLAIN.recipe or pytest.fail("there is one"), installed=replace(INSTALLED, module="tensorrt_rtx"))
    script = script_text(replace(PLAIN, recipe=recipe))
    assert "env POLYGRAPHY_USE_TENSORRT_RTX=1 polygraphy convert" in script
    assert "${1:-polygraphy}" in script


def test_the_report_has_failure_size_versions_and_no_secret() -> None:
    notes = notes_text(PLAIN)
    for part in ("TF108 The parser failed", "2 of the original's 300 nodes", "each was left out once", "10.16.1", "L4"):
        assert part in notes
    assert "hunter2secret" not in notes


def test_an_uncertified_answer_says_so() -> None:
    notes = notes_text(replace(PLAIN, document={"status": "named", "why": "without 1 of its 2 nodes …"}))
    assert "That it is the smallest was not shown: without 1 of its 2 nodes …." in notes
    assert "each was left out once" not in notes
