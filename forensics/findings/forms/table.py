"""The findings of a report as a table, a row each, with the first line that each cites."""

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any

from trtforensics.findings.finding import Report
from trtforensics.tables.columns import columns_of
from trtforensics.tables.table import Table

_FORMS: Mapping[str, Callable[..., Any]] = {
    "of_first": lambda path: lambda finding: attrgetter(path)(finding.evidence[0]),
    "steps": lambda steps: tuple(step.command or step.what for step in steps),
}
_COLUMNS = columns_of("findings", _FORMS)


def finding_table(report: Report | None, builds: frozenset[int] | None = None) -> Table:
    """Return the findings about some builds, by their indexes, or about all; without a report, the columns alone."""
    findings = () if report is None else report.findings
    return Table(_COLUMNS, [each for each in findings if builds is None or not builds.isdisjoint(each.builds)])
