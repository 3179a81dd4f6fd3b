"""A probe's scores are those that were written, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.precision.emulation.oracle import Scores
from trtforensics.bisect.precision.lever import SCORES, read_scores, write_scores

if TYPE_CHECKING:
    from pathlib import Path


def test_scores_are_read_back_and_a_changed_digit_makes_them_none(tmp_path: Path) -> None:
    assert read_scores(tmp_path) is None
    scores = Scores({"y": ({"relative": 0.125}, None), "z": ({"relative": float("inf")},)})
    write_scores(tmp_path, scores)
    assert read_scores(tmp_path) == scores
    path = tmp_path / SCORES
    written = path.read_text()
    for other in (written.replace("0.125", "0.126"), written.replace("null", "{}"), "{}", "[" * 100_000, "x"):
        assert other != written
        path.write_text(other)
        assert read_scores(tmp_path) is None
