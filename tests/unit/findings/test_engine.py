"""The engine of the rules bounds what a report quotes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.marked_logs import marked
from trtforensics.findings.engine import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.findings.tree import MAX_EVIDENCE
from trtforensics.sources.quoting import LONGEST_QUOTE, read_log

if TYPE_CHECKING:
    from pathlib import Path


def test_long_evidence_is_cut_and_counted(tmp_path: Path) -> None:
    names = ("t" * 2000 + str(number) for number in range(30))
    said = "Missing scale and zero-point for tensor {}, expect fall back to non-int8 implementation for it"
    text = marked("\n".join(f"W {said.format(name)}" for name in names)).text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF211"]
    assert len(found.evidence) == MAX_EVIDENCE
    assert found.evidence_total == 30
    assert {len(e.text) for e in found.evidence} == {LONGEST_QUOTE + 1}
