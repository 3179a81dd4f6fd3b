"""Rows of the findings: a headline each, and below an opened finding its cause, evidence and remedies."""

from collections.abc import Iterator
from dataclasses import replace
from textwrap import wrap

from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Confidence, Finding, Severity
from trtforensics.model.span import SourceSpan
from trtforensics.tui.rows.log_lines import log_pieces
from trtforensics.tui.rows.pieces import CitingLine, Line, Piece, Role, list_columns

ROLES = {Severity.ERROR: Role.ERROR, Severity.WARNING: Role.WARNING, Severity.NOTE: Role.ACCENT}
_HEAD = 12
"""Cells before a headline's text: the arrow, the severity's letter, the code."""
_INDENT = 5
_LEAST = 16
"""Fewest cells that a text is wrapped to."""


FINDING_FILTERS = list_columns("findings", layers=lambda finding: (*finding.layers, *finding.onnx_nodes))


def line_in_view(span: SourceSpan, log: str) -> int | None:
    """Return the line of the text in view: of the log, or of a file whose lines count on; None for another file's."""
    return span.line if span.file == log or span.before else None


def in_view(finding: Finding, first: int, last: int) -> Finding:
    """Return a finding of several builds with the lines of the one in view, ``first`` to ``last``, if it cites any."""
    inside = tuple(cited for cited in finding.evidence if first <= cited.span.line <= last)
    if len(finding.builds) == 1 or not inside:
        return finding
    return replace(finding, evidence=inside, evidence_total=len(inside))


def rows_of(finding: Finding, log: str, width: int, *, expanded: bool) -> list[CitingLine]:
    """Lay a finding out in ``width`` cells; ``log`` is the file in view, whose lines can be shown."""
    first = next(filter(None, (line_in_view(cited.span, log) for cited in finding.evidence)), None)
    arrow = (" ▾ " if expanded else " ▸ ") if finding.consequence_of is None else ("  ▾" if expanded else "  ▸")
    head: Line = (
        Piece(arrow, Role.DIM),
        Piece(f"{finding.severity.word[0].upper()} ", ROLES[finding.severity]),
        Piece(f"{finding.code:<6} ", Role.STRONG),
    )
    discarded = "" if not finding.pass_discarded else " [discarded pass]"
    sure = "" if finding.confidence is Confidence.CERTAIN else f" ({finding.confidence})"
    title, *more = _wrapped(finding.title + sure + discarded, width - _HEAD)
    role = Role.DIM if finding.pass_discarded else Role.PLAIN
    head = tuple(Piece(piece.text, Role.DIM) for piece in head) if finding.pass_discarded else head
    rows = [CitingLine((*head, Piece(title, role)), first, headline=True)]
    rows += [CitingLine((Piece(" " * _HEAD + text, role),), first, headline=True) for text in more]
    if expanded:
        rows += _details(finding, log, width)
    return rows


def _details(finding: Finding, log: str, width: int) -> Iterator[CitingLine]:
    yield from _labelled("why", finding.cause, width)
    if finding.settle:
        yield from _labelled("to settle", finding.settle, width)
    yield from _evidence(finding, log)
    for step in finding.next_steps:
        yield from _labelled("next", step.what, width)
        for text in _wrapped(step.command, width - _INDENT - 2):
            yield CitingLine((Piece(" " * (_INDENT + 2)), Piece(text, Role.ACCENT)), None)
    for fix in finding.fixes:
        yield from _labelled("fix", fix, width)


def _labelled(label: str, text: str, width: int) -> Iterator[CitingLine]:
    """Yield a text behind its label; wrapped lines are indented to the text."""
    margin = _INDENT + len(label) + 1
    for index, line in enumerate(_wrapped(text, width - margin)):
        head = f"{'':{_INDENT}}{label} " if index == 0 else " " * margin
        yield CitingLine((Piece(head, Role.DIM), Piece(line)), None)


def _evidence(finding: Finding, log: str) -> Iterator[CitingLine]:
    gutter = max(len(str(cited.span.line)) for cited in finding.evidence)
    for cited in finding.evidence:
        span = cited.span
        place = "" if span.file == log else f"{span.file} "
        number = Piece(f"{'':{_INDENT}}{place}{span.line_in_file:>{gutter}} ", Role.DIM)
        row = (number, *log_pieces(cited.text, prefixes=False))
        yield CitingLine(row, line_in_view(span, log))
    if finding.evidence_total > len(finding.evidence):
        more = f"{'':{_INDENT}}and {finding.evidence_total - len(finding.evidence):,} more lines"
        yield CitingLine((Piece(more, Role.DIM),), None)


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(visible(text), max(width, _LEAST), break_on_hyphens=False)
