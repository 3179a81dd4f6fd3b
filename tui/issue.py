"""An issue about something on the screen, in Markdown: what it is, the lines that show it, versions; redacted."""

from __future__ import annotations

import re
from itertools import islice
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, milliseconds
from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.model.timings import tactic_text
from trtforensics.model.version import __version__
from trtforensics.render.headline import headline_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from trtforensics.findings.finding import Finding
    from trtforensics.model.log import Build, BuildLog
    from trtforensics.tui.rows.layers.candidates import CandidateTable
    from trtforensics.tui.rows.layers.index import TreeRow

_FENCE = "````"

_QUOTED = 20
"""Most candidates and most lines that an issue quotes."""

_OPTIONS = ("build", "device")
"""The blocks of options that say how the engine was built, and on what."""

_AS_USUAL = re.compile(r"Disabled|Us(?:e|ing) default .*|(?:\w+: )?default(?:, \w+: default)*")
"""The value of an option that is off, or that nobody chose."""


_OURS = frozenset({"State", "Sides", "More"})
"""Headings of lines in this tool's own words, which need no replacing."""

Cited = tuple[str, int, str]
"""A line of a file: path, number and text."""


def quoted_issue(title: str, sections: Mapping[str, Sequence[str]], cited: Iterable[Cited | None] = ()) -> str:
    """Return an issue of lines below headings, names replaced consistently, as ``redact`` does, paths left out."""
    from trtforensics.redaction.pseudonyms import Pseudonyms
    from trtforensics.redaction.vocabulary import vocabulary

    names = Pseudonyms(vocabulary())
    parts = [f"### {title}", ""]
    for heading, lines in sections.items():
        parts += _fenced(heading, lines if heading in _OURS else map(names.rewrite, lines))
    parts += _fenced("Log lines", (f"{number}: {names.rewrite(text)}" for _, number, text in filter(None, cited)))
    parts.append(f"trtforensics {__version__}. Names are replaced, the same name by the same one.")
    return "\n".join(parts)


def _fenced(heading: str, lines: Iterable[str]) -> list[str]:
    """Return a heading above lines in a fence that none of them can end; nothing where there are no lines."""
    body = [visible(masked(line)).replace(_FENCE, "'" * len(_FENCE)) for line in lines]
    return [f"**{heading}**", "", _FENCE, *body, _FENCE, ""] if body else []


def finding_issue(log: BuildLog, build: Build, finding: Finding, cited: Sequence[Cited]) -> str:
    """Return the issue about a finding; ``cited`` are the lines that it cites."""
    from trtforensics.findings.registry import rule_of

    layers, more = [*finding.layers, *finding.onnx_nodes][:_QUOTED], [f"trtforensics explain {finding.code}"]
    title = f"{finding.code}, {finding.severity.word}: {rule_of(finding.code).title}"
    return quoted_issue(title, {"Build": _versions(log, build), "Layers": layers, "More": more}, cited)


def layer_issue(log: BuildLog, build: Build, row: TreeRow, table: CandidateTable, cited: Cited | None) -> str:
    """Return the issue about a layer, or about a combination of formats that was tuned for it."""
    lines = [
        f"{'chosen ' if index == table.chosen else ''}{milliseconds(candidate.time_ms)} ms  "
        f"{tactic_text(candidate.tactic) or '-'}  {candidate.runner}  {candidate.kernel}".rstrip()
        for index, candidate in enumerate(islice(table.candidates, _QUOTED))
    ]
    more = len(table.candidates) - len(lines)
    heading = f"Candidates{f', the first {_QUOTED} of {len(table.candidates)}' if more else ''}"
    sections = {"Build": _versions(log, build), "Layer": [row.text], heading: lines}
    return quoted_issue("A layer of a TensorRT build", sections, [cited])


def _versions(log: BuildLog, build: Build) -> list[str]:
    """Return the headline of the run, and the options of the build that say something."""
    facts = [headline_of(log, build).text]
    given = [fact for block in _OPTIONS for fact in build.options.get(block, ()) if fact.value]
    telling = [fact for fact in given if not _AS_USUAL.fullmatch(fact.value)]
    facts += [f"{fact.name}: {fact.value}" for fact in telling]
    if len(telling) < len(given):
        facts.append(f"({counted(len(given) - len(telling), 'other option')}: off or default)")
    return facts
