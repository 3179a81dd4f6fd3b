"""Of the example of each rule: redacted it gives the same findings at the same lines, and commands can be typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.property.test_next_commands import check_report
from tests.support.for_each import for_each
from tests.unit.findings.rules.examples import EXAMPLES
from tests.unit.findings.rules.test_examples import example_of, report_on
from trtforensics.redaction import rewriting

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.findings.finding import Report


def _said(report: Report) -> list[tuple[object, ...]]:
    return [(f.code, f.build, f.confidence, [e.span.line for e in f.evidence]) for f in report.findings]


@pytest.mark.slow
@for_each("code", sorted(EXAMPLES))
def test_it_says_the_same_and_every_proposed_command_can_be_typed(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, quoted, report = example_of(code)
    check_report(quoted, report)
    # What `redact` itself compares is less than what is compared here.
    monkeypatch.setattr(rewriting, "_log", lambda *_: None)
    (tmp_path / "build.log").write_text(log.text, encoding="utf-8", newline="\n")
    out = tmp_path / "public.log"
    out.unlink(missing_ok=True)
    rewriting.redact(str(tmp_path / "build.log"), str(out), max_bytes=1 << 30, on_progress=lambda _: None)
    assert _said(report_on(out.read_text(encoding="utf-8"), tmp_path)) == _said(report)
