"""What changed from run to run as a page with pictures: a dot for each run, and a line where a change begins."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.datasets.trends import MEASURES, text_of
from trtforensics.plots.figure import WIDTH, Canvas
from trtforensics.plots.page import element, stylesheet
from trtforensics.render.headline import figure
from trtforensics.render.markup import page, tag

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from xml.etree import ElementTree as ET

    from trtforensics.datasets.trends import Group
    from trtforensics.plots.figure import Figure

_LEFT, _HEIGHT = 50.0, 110.0
_DOT, _WORSE = "#3b78b5", "#d1603d"
_FEWEST = 2
"""Fewest runs that are worth a picture."""


def page_of(groups: Sequence[Group]) -> str:
    """Return groups as one page, each with its text and a picture of every measure that its runs state."""
    return page("Trends", stylesheet(), tag("body", tag("h1", "Trends"), *map(_section, groups), cls="plots"))


def _section(group: Group) -> ET.Element:
    first, *lines = text_of(group).splitlines()
    told = tag("ul", *(tag("li", line) for line in lines))
    return tag("section", tag("h2", first), told, *map(element, figures_of(group)))


def figures_of(group: Group) -> Iterator[Figure]:
    """Give a picture of each measure that runs of a group state, in their order."""
    for measure in MEASURES:
        values = [(number, float(run[measure])) for number, run in enumerate(group.runs, 1) if run[measure] is not None]
        if len(values) >= _FEWEST:
            yield _figure(group, measure, values)


def _figure(group: Group, measure: str, values: Sequence[tuple[int, float]]) -> Figure:
    low, high = min(value for _, value in values), max(value for _, value in values)
    canvas = Canvas()
    unit = (WIDTH - _LEFT - 4) / max(len(group.runs) - 1, 1)

    def across(number: int) -> float:
        return _LEFT + (number - 1) * unit

    def down(value: float) -> float:
        return 6 + _HEIGHT * (high - value) / (high - low or 1.0)

    for value in dict.fromkeys((high, low)):
        canvas.line((_LEFT, down(value)), (WIDTH, down(value)))
        canvas.text(_LEFT - 6, down(value) + 4, figure(value), anchor="end", tone="pale")
    changes = [trend for trend in group.trends if trend.of == "measure" and trend.what == measure]
    for trend in changes:
        canvas.line((across(trend.number), 0.0), (across(trend.number), _HEIGHT + 12), strong=True)
    later = [trend.number for trend in changes if trend.worse]
    for number, value in values:
        colour = _WORSE if later and number >= later[0] else _DOT
        canvas.circle(
            across(number), down(value), 2, colour, f"run {number:,}: {value:g}, {group.runs[number - 1]['source']}"
        )
    canvas.y = _HEIGHT + 28
    canvas.text(_LEFT, canvas.y - 4, "run 1", tone="pale")
    canvas.text(WIDTH, canvas.y - 4, f"{len(group.runs):,}", anchor="end", tone="pale")
    alt = f"{measure} of {counted(len(values), 'run')}, {figure(low)} to {figure(high)}."
    rows = ((number, value, str(group.runs[number - 1]["source"])) for number, value in values)
    note = " ".join(trend.text() for trend in changes) or "No change."
    return canvas.figure(measure, measure, alt, ("run", measure, "source"), rows, note=note)
