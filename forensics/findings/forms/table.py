"""The findings of a report as a table, a row each, with the first line that each cites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import Table

if TYPE_CHECKING:
    from trtforensics.findings.finding import Report

_COLUMNS = (
    TableColumn("code", lambda row: row.code),
    TableColumn("severity", lambda row: row.severity.word),
    TableColumn("title", lambda row: row.title),
    TableColumn("cause", lambda row: row.cause),
    TableColumn("confidence", lambda row: row.confidence.value),
    TableColumn("build", lambda row: row.build + 1, Sort.INTEGER),
    TableColumn("layers", lambda row: row.layers, Sort.TEXTS, aliases=("layer", "name")),
    TableColumn("onnx_nodes", lambda row: row.onnx_nodes, Sort.TEXTS, aliases=("fused",)),
    TableColumn("consequence_of", lambda row: row.consequence_of, Sort.INTEGER),
    TableColumn("fixes", lambda row: row.fixes, Sort.TEXTS, plain=False),
    TableColumn("next", lambda row: tuple(step.command or step.what for step in row.next_steps), Sort.TEXTS),
    TableColumn("source", lambda row: row.evidence[0].span.file, plain=False),
    TableColumn("line", lambda row: row.evidence[0].span.line_in_file, Sort.INTEGER),
    TableColumn("text", lambda row: row.evidence[0].text),
)


def finding_table(report: Report | None, builds: frozenset[int] | None = None) -> Table:
    """Return the findings about some builds, by their indexes, or about all; without a report, the columns alone."""
    findings = () if report is None else report.findings
    return Table(_COLUMNS, [each for each in findings if builds is None or not builds.isdisjoint(each.builds)])
