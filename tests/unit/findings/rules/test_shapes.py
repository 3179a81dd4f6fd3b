"""Guessed shapes: by trtexec, whose warning may be missing, and by Polygraphy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import of_code, report_on

if TYPE_CHECKING:
    from pathlib import Path

SET = "i Set shape of input tensor x for optimization profile 0 to: MIN=1x8 OPT=1x8 MAX=1x8"
GUESS = (
    "w Dynamic dimensions required for input: x, but no shapes were provided. Automatically overriding shape to: 1x8"
)


@pytest.mark.parametrize(
    ("asked", "lines"),
    [("i Input build shapes: model", [3, 4]), ("i Input build shape (profile 0): x=1x8+1x8+1x8", [])],
)
def test_without_stderr_the_shapes_that_trtexec_set_show_its_guess(
    asked: str, lines: list[int], tmp_path: Path
) -> None:
    log = marked(f"&& 10.16.1 --skipInference\ni === Build Options ===\n{asked}\n{SET}").text
    found = of_code(report_on(log, tmp_path), "TF403")
    assert [e.span.line for one in found for e in one.evidence] == lines
    assert [step.what[-6:] for one in found for step in one.next_steps] == [" x:1x8"] * bool(lines)


def test_trtexecs_warning_is_cited_where_it_is_there(tmp_path: Path) -> None:
    log = marked(f"&& 10.16.1 --fp16\ni === Build Options ===\ni Input build shapes: model\n{GUESS}\n{SET}").text
    (found,) = of_code(report_on(log, tmp_path), "TF403")
    assert [e.span.line for e in found.evidence] == [4]


def test_a_loaded_engine_is_run_at_a_guessed_shape(tmp_path: Path) -> None:
    log = marked(f"&& 10.16.1 --loadEngine=m.plan\n{GUESS}\n{SET}").text
    (found,) = of_code(report_on(log, tmp_path), "TF403")
    assert found.severity.word == "note"
    assert found.next_steps[0].what == "Give the sizes that the application uses by --shapes, not x:1x8"


def test_what_polygraphy_makes_up_follows_from_the_name_that_no_input_has(tmp_path: Path) -> None:
    log = (
        "[W]     Input tensor: tensor0 (dtype=DataType.FLOAT, shape=(-1, 8)) | No shapes provided; Will use shape: "
        "[1, 8] for min/opt/max in profile.\n"
        "[E]     Invalid inputs were provided to the optimization profile: {'x:0'}\n"
    )
    report = report_on(log, tmp_path)
    (root,), (made_up,) = of_code(report, "TF419"), of_code(report, "TF403")
    assert made_up.title == "Polygraphy guessed the shape of tensor0"
    assert made_up.consequence_of is not None
    assert report.findings[made_up.consequence_of] is root


def test_a_profile_that_torch_tensorrt_goes_on_with_is_a_warning(tmp_path: Path) -> None:
    said = "[Torch-TensorRT TorchScript Conversion Context] - Max value of this profile is not valid"
    found = [of_code(report_on(f"{level}: {said}", tmp_path), "TF402")[0] for level in ("WARNING", "ERROR")]
    assert [one.severity.word for one in found] == ["warning", "error"]
