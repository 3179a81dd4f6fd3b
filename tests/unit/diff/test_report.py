"""A comparison as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.diff_samples import replay_text
from trtforensics.diff.compare import compare
from trtforensics.diff.loading import load_side
from trtforensics.diff.report import report

if TYPE_CHECKING:
    from pathlib import Path


def test_the_report_puts_consequences_under_their_cause_with_lines(two_logs: tuple[str, str]) -> None:
    text = report(compare(load_side(two_logs[0], "good"), load_side(two_logs[1], "bad")))
    lines = text.split("\n")
    fusion, tactic = lines.index("FUSION (1)"), lines.index("TACTIC (1)")
    assert fusion < tactic
    assert any("6 follow from it" in line for line in lines[fusion:tactic])
    assert any("pool2" in line for line in lines[fusion:tactic])
    assert "  pool5" in lines[tactic:]
    assert "    bad  conv1, PWN(relu1)  lines 5, 6" in lines


def test_hostile_names_reach_the_report_visible_only(tmp_path: Path) -> None:
    name = "a\x1b[31m\u202e"
    for side, tactic in {"good": 1, "bad": 2}.items():
        (tmp_path / f"{side}.json").write_text(replay_text({name: tactic}))
    found = compare(*(load_side(str(tmp_path / f"{side}.json"), side) for side in ("good", "bad")))
    text = report(found)
    assert "\x1b" not in text
    assert "\u202e" not in text
    assert "a␛[31m" in text
