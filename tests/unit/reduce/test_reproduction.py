"""The report that goes with a reduced model."""

from dataclasses import replace
from pathlib import Path

import pytest

from trtforensics.bisect.levers.recipe import Recipe
from trtforensics.reduce.failure import Failure
from trtforensics.reduce.reproduction import Notes, notes_text
from trtforensics.reduce.script import Reproduction
from trtforensics.trt.installed import Installed

INSTALLED = Installed("tensorrt", "10.16.1", True, True, True, "", ("FP16",), gpu="L4", driver="580.1")  # noqa: FBT003
FAILURE = Failure("build", "failed", "TF108", title="The parser failed", lines=("[E] no", "password=hunter2secret"))
PLAIN = Reproduction(
    failure=FAILURE,
    recipe=Recipe(INSTALLED, Path("model.onnx"), flags=("FP16",), typed=False, level=3),
    shapes={"x": (1, 4)},
    is_dynamic=True,
    has_golden=True,
)
NOTES = Notes((300, 2), {"status": "certified", "why": ""}, "the model as text")


def test_the_report_has_failure_size_versions_and_no_secret() -> None:
    notes = notes_text(PLAIN, NOTES)
    for part in ("TF108 The parser failed", "2 of the original's 300 nodes", "each was left out once", "10.16.1", "L4"):
        assert part in notes
    assert "hunter2secret" not in notes


def test_an_uncertified_answer_says_so() -> None:
    notes = notes_text(PLAIN, replace(NOTES, document={"status": "named", "why": "without 1 of its 2 nodes …"}))
    assert "That it is the smallest was not shown: without 1 of its 2 nodes …." in notes
    assert "each was left out once" not in notes


def test_of_a_single_node_nothing_was_left_out() -> None:
    notes = notes_text(PLAIN, replace(NOTES, nodes=(300, 1)))
    assert "1 of the original's 300 nodes. It failed twice." in notes
    assert "left out" not in notes


def test_of_two_nodes_either_was_left_out() -> None:
    assert "Without either of them it does not fail so" in notes_text(PLAIN, NOTES)
    assert "Without any one of them it does not fail so" in notes_text(PLAIN, replace(NOTES, nodes=(300, 3)))


def test_a_model_of_one_node_is_said_to_be_whole() -> None:
    assert "the original's only node. It failed twice." in notes_text(PLAIN, replace(NOTES, nodes=(1, 1)))


def test_a_builder_s_version_stands_there_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trtforensics.reduce.reproduction.tool_versions", lambda: {"tensorrt-rtx": "1.7.1"})
    assert PLAIN.recipe is not None
    recipe = replace(PLAIN.recipe, installed=replace(INSTALLED, module="tensorrt_rtx", version="1.7.1"))
    notes = notes_text(replace(PLAIN, recipe=recipe), NOTES)
    assert "- tensorrt_rtx 1.7.1" in notes
    assert "- tensorrt-rtx 1.7.1" not in notes
