"""Usage: ``python -m tests.cases DIR…``: a table of the cases in each folder, and how many are diagnosed.

A case is an excerpt ``NAME.txt`` and what was found out in the end, ``NAME.json``. It is diagnosed if one of the first
three findings holds a phrase of ``expect_any`` and cites a line of ``expect_lines`` or the one beside it, and none of
the three holds a phrase of ``must_not``.
"""

from __future__ import annotations

import json
import sys
from collections import Counter
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtforensics.errors import ForensicsError
from trtforensics.findings.engine import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.finding import Finding

FIRST = 3
"""The findings that are the diagnosis."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """How a case was judged: ``outcome`` is ``right``, ``wrong advice``, ``missed``, ``silent`` or ``refused``."""

    name: str
    outcome: str
    why: str = ""


def judged(case: Path) -> Judgement:
    """Judge the case of a JSON file."""
    expected = json.loads(case.read_text(encoding="utf-8"))
    try:
        with closing(read_log(str(case.with_suffix(".txt")), max_bytes=1 << 30, on_progress=lambda _: None)) as log:
            findings = judge(Inputs([log]), Suppression()).findings[:FIRST]
    except ForensicsError as error:
        return Judgement(case.stem, "refused", str(error))
    return Judgement(case.stem, *_outcome(expected, findings))


def _outcome(expected: dict[str, Any], findings: tuple[Finding, ...]) -> tuple[str, str]:
    texts = [_text(finding) for finding in findings]
    wrong = [phrase for text in texts for phrase in expected["must_not"] if phrase in text]
    if wrong:
        return "wrong advice", wrong[0]
    for text, finding in zip(texts, findings, strict=True):
        named = any(phrase in text for phrase in expected["expect_any"])
        cited = {evidence.span.line for evidence in finding.evidence}
        if named and any(abs(line - wanted) <= 1 for line in cited for wanted in expected["expect_lines"]):
            return "right", ""
    return ("missed", ", ".join(finding.code for finding in findings)) if findings else ("silent", "")


def _text(finding: Finding) -> str:
    steps = (f"{step.what} {step.command}" for step in finding.next_steps)
    return " ".join((finding.title, finding.cause, finding.settle, *finding.fixes, *steps)).lower()


def judgements(folder: Path) -> Iterator[Judgement]:
    """Judge the cases of a folder in the order of their names."""
    return map(judged, sorted(folder.glob("*.json")))


def main() -> None:
    """Print the tables."""
    for folder in map(Path, sys.argv[1:]):
        found = list(judgements(folder))
        for one in found:
            print(f"{one.name:10} {one.outcome:13} {one.why}")
        counts = Counter(one.outcome for one in found)
        print(f"{folder}: {counts['right']} of {len(found)} diagnosed", dict(counts))


if __name__ == "__main__":
    main()
