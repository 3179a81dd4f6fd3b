"""The findings over real logs, as they were read and judged by hand: ``reviewed_findings.tsv``."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trtforensics.errors import NotABuildLogError
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import LONGEST_QUOTE, read_log

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.findings.finding import Finding

REVIEWED = Path(__file__).parent / "reviewed_findings.tsv"
"""A log a line: its name, and each code with how often it is found; ``TF304<TF305x1`` follows from TF305.

Logs of up to 500 kB, which take a second in all.
"""

ROWS = [line.split("\t") for line in REVIEWED.read_text(encoding="utf-8").splitlines()]


def codes(path: Path) -> str:
    """Return the codes found in a log; every finding must quote its lines truly."""
    try:
        log = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)
    except NotABuildLogError:
        return "no build log"
    findings = judge(Inputs([log]), Suppression()).findings
    evidence = [one for finding in findings for one in finding.evidence]
    assert all(finding.evidence for finding in findings)
    content = path.read_bytes()
    for one in evidence:
        line = content[one.span.byte :].split(b"\n", 1)[0].decode("utf-8", "replace").rstrip("\r")
        assert "\x1b" in line or one.text in {line, f"{line[:LONGEST_QUOTE]}…"}
    counted = Counter(finding.code + _root(finding, findings) for finding in findings)
    return " ".join(f"{code}x{count}" for code, count in sorted(counted.items()))


def _root(finding: Finding, findings: Sequence[Finding]) -> str:
    return "" if finding.consequence_of is None else f"<{findings[finding.consequence_of].code}"


@pytest.mark.slow
@pytest.mark.corpus
@pytest.mark.parametrize(("name", "expected"), ROWS, ids=[name for name, _ in ROWS])
def test_the_findings_are_those_that_were_reviewed(name: str, expected: str, corpus: Path) -> None:
    assert codes(corpus / "buildlog" / name) == expected
