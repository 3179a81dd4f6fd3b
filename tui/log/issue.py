"""The issue about a finding or a layer of a build: versions, the layer, its candidates, the lines that show it."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.findings.registry import rule_of
from trtforensics.model.timings import tactic_text
from trtforensics.tui.issue import IssueSection, quoted_issue
from trtforensics.tui.rows.pieces import milliseconds

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.findings.finding import Finding
    from trtforensics.model.log import Build
    from trtforensics.tui.rows.layers.candidates import CandidateTable
    from trtforensics.tui.rows.layers.index import TreeRow

Cited = tuple[str, int, str]

_QUOTED = 20
"""Most candidates and most lines that an issue quotes."""

_OPTIONS = ("build", "device")
"""The blocks of options that say how the engine was built, and on what."""

_AS_USUAL = re.compile(r"Disabled|Us(?:e|ing) default .*|(?:\w+: )?default(?:, \w+: default)*")
"""The value of an option that is off, or that nobody chose."""


def finding_issue(build: Build, finding: Finding, cited: Sequence[Cited]) -> str:
    """Return the issue about a finding; ``cited`` are the lines that it cites."""
    layers = IssueSection("Layers", [*finding.layers, *finding.onnx_nodes][:_QUOTED])
    steps = IssueSection("More", [f"trtforensics explain {finding.code}"], ours=True)
    title = f"{finding.code}, {finding.severity.word}: {rule_of(finding.code).title}"
    return quoted_issue(title, [_versions(build), layers, steps], cited)


def layer_issue(build: Build, row: TreeRow, table: CandidateTable, cited: Sequence[Cited]) -> str:
    """Return the issue about a layer, or about a combination of formats that was tuned for it."""
    layer = IssueSection("Layer", [row.text])
    lines = [
        f"{'chosen ' if index == table.chosen else ''}{milliseconds(candidate.time_ms)} ms  "
        f"{tactic_text(candidate.tactic) or '-'}  {candidate.runner}  {candidate.kernel}".rstrip()
        for index, candidate in enumerate(islice(table.candidates, _QUOTED))
    ]
    more = len(table.candidates) - len(lines)
    candidates = IssueSection(f"Candidates{f', the first {_QUOTED} of {len(table.candidates)}' if more else ''}", lines)
    return quoted_issue("A layer of a TensorRT build", [_versions(build), layer, candidates], cited)


def _versions(build: Build) -> IssueSection:
    """Return TensorRT's version, the tool, the GPU and the options of the build that say something."""
    facts = [f"TensorRT {build.tensorrt_version or 'of unknown version'}, {build.tool}, {build.outcome}"]
    given = [fact for block in _OPTIONS for fact in build.options.get(block, ()) if fact.value]
    telling = [fact for fact in given if not _AS_USUAL.fullmatch(fact.value)]
    facts += [f"{fact.name}: {fact.value}" for fact in telling]
    if len(telling) < len(given):
        facts.append(f"({counted(len(given) - len(telling), 'other option')}: off or default)")
    return IssueSection("Build", facts)
