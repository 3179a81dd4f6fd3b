"""The detail of a layer: everything that the log tells of it, wrapped to the width, each fact with its line."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from trtforensics.console.counting import milliseconds
from trtforensics.engines.facts import LayerFacts
from trtforensics.engines.why import Reason
from trtforensics.model.timings import tactic_text
from trtforensics.tui.rows.layers.index import TreeRow, fact_rows, formats_text, node_rows
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.pieces import UNNAMED, CitingLine, Presentation, Role, line_digits

_LABEL = 9
_FINAL = {True: "✔ in the engine", False: "✗ lost", None: "? unknown"}


def details(entry: LayerFacts, why: Iterable[Reason]) -> list[OverviewRow]:
    """Return the facts about a layer, why it is as it is first."""
    line = entry.span.line
    rows = [OverviewRow("layer", entry.name or UNNAMED, line, Role.STRONG)]
    rows += [OverviewRow("why", reason.text, reason.span.line if reason.span else None) for reason in why]
    rows += map(_row, chain(fact_rows(entry), node_rows(entry)))
    return [*rows, *_tuned(entry)]


def _row(row: TreeRow) -> OverviewRow:
    return OverviewRow(row.label, f"{row.text}  {row.note}".rstrip(), row.line)


def _tuned(entry: LayerFacts) -> Iterator[OverviewRow]:
    for result in entry.tuned if not entry.inside else ():
        time = "no time" if result.time_ms is None else f"{milliseconds(result.time_ms)} ms"
        tactic = f"{result.runner} {tactic_text(result.tactic) or ''}"
        text = f"{_FINAL[result.final]}  {time}  {formats_text(result)}  {tactic}"
        role = {True: Role.GOOD, False: Role.DIM, None: Role.WARNING}[result.final]
        yield OverviewRow("tuned", f"{text} {result.kernel}".rstrip(), result.span.line, role)


def labelled(rows: Sequence[OverviewRow]) -> Presentation[OverviewRow]:
    """Return how the facts about a layer look in a list."""
    gutter = line_digits(row.line for row in rows)
    return Presentation(
        wrapped=lambda row, width: (
            CitingLine(line, row.line) for line in row.lines(gutter, width - 1, _LABEL, Role.ACCENT)
        )
    )
