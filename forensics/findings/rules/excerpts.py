"""Excerpts in which no line is an error: what their figures and their owners' words say."""

import re
from collections.abc import Iterator
from dataclasses import replace

from trtforensics.findings.case import Case, LoggedBuild
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.observations import CLASSES
from trtforensics.findings.rule import explained, shared_cases
from trtforensics.findings.special_cases import special
from trtforensics.knowledge.table import rows
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.lines.dialects import prefix_of
from trtforensics.parsers.lines.unread import ANY_ERROR, ONE_QUESTION
from trtforensics.sources.quoting import QuotedLog

_PRINTED, _SAID, _SETTING = (re.compile(row["pattern"]) for row in rows("wording", "trtforensics.findings"))
"""What programs print beside loggers, what an owner says (four words in a row) or types, and lines of settings."""


def as_excerpt(case: Case, read: QuotedLog, worst: Severity) -> Case:
    """Return a case with the text of a short log; without it of a longer one, or of several files."""
    source = read.log.source
    quoted = read.quote(range(1, source.lines + 1)) if source.lines <= ONE_QUESTION and not source.parts else {}
    told = not all(map(_SETTING.match, quoted.values()))
    return replace(case, worst=worst, excerpt=told * "\n".join(quoted[line] for line in sorted(quoted)))


@explained("TF706")
def shown(case: Case) -> Iterator[Observation]:
    """Give the first case of the table that holds of an excerpt; it cites the lines that show it."""
    text = case.excerpt
    told = {note.span.line for note in case.build.notes if note.kind not in {*CLASSES, ANY_ERROR}}
    words = "\n".join(
        line
        if number not in told and _SAID.search(line) and not _PRINTED.search(line) and not prefix_of(line.encode())
        else ""
        for number, line in enumerate(text.split("\n"), 1)
    )
    cases = [row for row in shared_cases("excerpts") if text and (not row.settle or case.worst is Severity.NOTE)]
    found = special(cases, LoggedBuild(case.log, case.build), words, text)
    if found is not None:
        spans = [Spans(case.log.source, case.log.line_starts).of(line) for line in found.lines]
        yield Observation(found.title, spans, cause=found.cause, fix=found.fix, settle=found.settle)
