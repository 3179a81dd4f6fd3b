"""A report every text of which is hostile: markup, control characters, half of a surrogate pair."""

from __future__ import annotations

from dataclasses import replace

from trtforensics.findings.finding import (
    Confidence,
    Evidence,
    Finding,
    NotJudged,
    Report,
    ReportSource,
    Severity,
    Step,
    Unreadable,
)
from trtforensics.model.log import Coverage
from trtforensics.model.span import SourceSpan

NOTHING_TOLD = Coverage(
    verdict=False,
    engine_layers=False,
    tactics=False,
    times=None,
    options=False,
    model=False,
    own_lines=9,
    other_lines=0,
)
EVIL = "a<b>&\"'</script>]]>\x1b[31m\x9b\x00\u202e\ud800\ufffe end"


def evil_report(path: str = "build\udc80 #1.log") -> Report:
    """Return a report every text of which is hostile."""
    evidence = tuple(Evidence(SourceSpan(path, line, 0), EVIL) for line in (3, 9))
    finding = Finding(
        code="TF301",
        severity=Severity.ERROR,
        title=EVIL,
        cause=EVIL,
        confidence=Confidence.POSSIBLE,
        settle=EVIL,
        source=0,
        builds=(0,),
        evidence=evidence,
        evidence_total=2,
        fixes=(EVIL,),
        next_steps=(Step(EVIL, EVIL),),
        layers=(EVIL,) * 20,
        onnx_nodes=(EVIL,),
        signature=EVIL,
    )
    source = ReportSource(path, 10, 9, "0" * 64, 2, NOTHING_TOLD)
    return Report(
        (source,),
        (finding, replace(finding, code="TF717", consequence_of=0)),
        suppressed=(finding,),
        not_judged=(NotJudged("TF110", EVIL, ("onnx",)),),
        unreadable=(Unreadable(path, EVIL),),
    )
