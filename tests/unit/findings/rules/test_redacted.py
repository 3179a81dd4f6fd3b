"""A redacted log gives the findings of the log itself, at the same lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.unit.findings.rules.examples import EXAMPLES
from tests.unit.findings.rules.test_examples import example_of, report_on
from trtforensics.errors import NotABuildLogError
from trtforensics.redaction.rewriting import redact

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.findings.finding import Report


def _said(report: Report) -> list[tuple[object, ...]]:
    return [(f.code, f.build, f.confidence, [e.span.line for e in f.evidence]) for f in report.findings]


@pytest.mark.slow
@for_each("code", sorted(EXAMPLES))
def test_it_says_the_same(code: str, tmp_path: Path) -> None:
    log, _, report = example_of(code)
    before = _said(report)
    (tmp_path / "build.log").write_text(log.text, encoding="utf-8", newline="\n")
    out = tmp_path / "public.log"
    try:
        out.unlink(missing_ok=True)
        redact(str(tmp_path / "build.log"), str(out), max_bytes=1 << 30, on_progress=lambda _: None)
    except NotABuildLogError:
        assert before == []
        return
    assert _said(report_on(out.read_text(encoding="utf-8"), tmp_path)) == before
