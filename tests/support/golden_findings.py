"""What rules say of their examples, as a file keeps it: a block of lines for each code."""

from __future__ import annotations

from functools import cache
from pathlib import PurePath
from typing import TYPE_CHECKING

from tests.support.repository import ROOT
from tests.support.rounding import rounded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.findings.finding import Finding, Report

GOLDEN = ROOT / "tests" / "golden" / "findings" / "findings.txt"


@cache
def golden_findings() -> Mapping[str, str]:
    """Return the block of each code."""
    blocks = GOLDEN.read_text(encoding="utf-8").split("\n\n")
    return {block.split()[0]: f"{block.rstrip()}\n" for block in blocks}


def said_of(code: str, report: Report) -> str:
    """Return the block of a code."""
    lines = [line for finding in report.findings if finding.code == code for line in _spelled(finding)]
    said = "".join(f"{line}\n" for line in lines)
    for source in report.sources:
        said = said.replace(source.path, PurePath(source.path).name)
    return rounded(said)


def _spelled(finding: Finding) -> Iterator[str]:
    """Give what a rule decides: how grave and sure it is, its title, lines, layers, fixes and commands."""
    lines = ",".join(str(cited.span.line) for cited in finding.evidence)
    yield f"{finding.code} {finding.severity.word} {finding.confidence} @{lines}: {finding.title}"
    if finding.settle:
        yield f"  settle {finding.settle}"
    names = (*finding.layers, *finding.onnx_nodes)
    if names:
        yield f"  about {'; '.join(names)}"
    yield f"  {len(finding.cause.split())} words of cause, {len(finding.fixes)} fixes"
    for step in finding.next_steps:
        yield f"  next {step.what} $ {step.command}".rstrip(" $")
