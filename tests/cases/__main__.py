"""Usage: ``python -m tests.cases [--mutations N] DIR…``: a table of the cases, and how many are diagnosed.

A case is an excerpt ``NAME.txt`` and what was found out in the end, ``NAME.json``. It is diagnosed if one of the first
three findings holds a phrase of ``expect_any`` and cites a line of ``expect_lines`` or the one beside it, and none of
the three holds a phrase of ``must_not``. With ``--mutations`` each case is also pasted in N other ways, with a fixed
seed: how often the first finding stays the same.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from tests.cases.mutations import mutated
from trtforensics.errors import ForensicsError
from trtforensics.findings.judging import Inputs, judge
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
        log = read_log(str(case.with_suffix(".txt")), max_bytes=1 << 30, on_progress=lambda _: None)
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


def roots_kept(case: Path, count: int, scratch: Path) -> int:
    """Return how many of some mutations of a case have the case's first finding."""
    text = case.with_suffix(".txt").read_text(encoding="utf-8", errors="replace").rstrip("\n")
    root, cited = _root(case.with_suffix(".txt"))
    needed = {*cited, *json.loads(case.read_text(encoding="utf-8"))["expect_lines"]}
    kept = 0
    for lines in mutated(text.split("\n"), needed, count, random.Random(case.stem)):
        scratch.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="")
        kept += _root(scratch)[0] == root
    return kept


def _root(path: Path) -> tuple[str, list[int]]:
    """Return the code of the first finding and its lines."""
    try:
        log = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)
        findings = judge(Inputs([log]), Suppression()).findings
    except ForensicsError:
        return "refused", []
    return (findings[0].code, [one.span.line for one in findings[0].evidence]) if findings else ("", [])


def _print_mutations(folder: Path, count: int) -> None:
    kept = 0
    cases = sorted(folder.glob("*.json"))
    with TemporaryDirectory() as scratch:
        for case in cases:
            own = roots_kept(case, count, Path(scratch) / "paste.txt")
            kept += own
            if own < count:
                print(f"{case.stem:10} {own} of {count} mutations keep the first finding")
    print(f"{folder}: {kept} of {count * len(cases)} mutations keep the first finding")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m tests.cases")
    parser.add_argument("--mutations", type=int, default=0, metavar="N")
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    args = parser.parse_args()
    for folder in args.folders:
        found = list(judgements(folder))
        for one in found:
            print(f"{one.name:10} {one.outcome:13} {one.why}")
        counts = Counter(one.outcome for one in found)
        print(f"{folder}: {counts['right']} of {len(found)} diagnosed", dict(counts))
        if args.mutations:
            _print_mutations(folder, args.mutations)


if __name__ == "__main__":
    main()
