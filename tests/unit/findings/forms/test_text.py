"""The text of a report answers: what is wrong, why, what to do; no line but a command is wider than the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import report_on
from trtforensics.findings.forms.rendering import Look, render

if TYPE_CHECKING:
    from pathlib import Path

UNREAD = "E Could not open file a_rather_long_folder/of_several/levels/with_the_model_of_this_test.onnx"
NOTE = "W Using default stream in enqueueV3() may lead to performance issues due to additional calls."
WEIGHTS = (
    "W Weights [name=fc.weight] had the following issues when converted to FP16:\nW  - Subnormal FP16 values detected."
)


def text_of(lines: str, tmp_path: Path, look: Look) -> str:
    """Return the report on a log of these lines."""
    return render(report_on(marked(lines).text, tmp_path), "text", look)


@pytest.mark.parametrize("width", [60, 80])
def test_on_a_terminal_no_line_but_a_command_is_wider(width: int, tmp_path: Path) -> None:
    shown = text_of(f"{UNREAD}\n{NOTE}\n{WEIGHTS}", tmp_path, Look(width=width)).splitlines()
    assert max(len(line) for line in shown if "/" not in line) <= width
    assert len(max(shown, key=len)) > width / 2


def test_causes_that_the_log_does_not_tell_apart_are_numbered_with_what_settles_them(tmp_path: Path) -> None:
    shown = text_of(UNREAD, tmp_path, Look())
    places = [shown.index(word) for word in ("error TF153", "\n      1. ", "\n      2. ", "to tell: ", "do: ")]
    assert places == sorted(places)


def test_notes_are_named_where_something_is_worse_and_shown_where_nothing_is(tmp_path: Path) -> None:
    assert "note TF605" in text_of(NOTE, tmp_path, Look())
    both = text_of(f"{UNREAD}\n{NOTE}", tmp_path, Look())
    assert "\n1 note: TF605 " in both
    assert "note TF605" not in both
    assert "note TF605" in text_of(f"{UNREAD}\n{NOTE}", tmp_path, Look(verbose=True))


def test_the_same_answer_is_given_once(tmp_path: Path) -> None:
    line = "W TensorRT was linked against cuBLAS {} but loaded cuBLAS 8.1.1"
    shown = text_of("\n".join(map(line.format, ("8.2.0", "8.3.0"))), tmp_path, Look())
    assert shown.count("warning TF416") == 2
    assert shown.count("    do: ") == 1


def test_a_log_that_lacks_much_is_said_to_where_nothing_else_is_wrong(tmp_path: Path) -> None:
    assert "warning TF705" in text_of("I Parsing", tmp_path, Look())
    assert "TF705" not in text_of(f"I Parsing\n{WEIGHTS}", tmp_path, Look())
