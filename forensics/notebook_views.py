"""What functions of ``import trtforensics`` return, with the page that a notebook shows of it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from trtforensics.comparison.differences import Comparison
from trtforensics.comparison.report import report
from trtforensics.findings.finding import Report
from trtforensics.findings.forms.html import fragment
from trtforensics.plots.figure import Figure
from trtforensics.plots.page import image, to_svg
from trtforensics.render.markup import Records, html, table, tag

_View = TypeVar("_View", "ReportView", "ComparisonView", "FigureView")


class ReportView(Report):
    """A report: its runs, where the time goes, its findings folded."""

    def _repr_html_(self) -> str:
        return fragment(self)


class ComparisonView(Comparison):
    """A comparison: how many differences of each type, and the whole of it folded."""

    def _repr_html_(self) -> str:
        rest = tag("details", tag("summary", "Differences"), tag("pre", report(self)))
        return html(tag("div", tag("p", repr(self)[1:-1]), rest))


class FigureView(Figure):
    """A figure: the picture, a sentence about it, its data folded."""

    def svg_text(self) -> str:
        """Return it as the text of an SVG file, readable on light and dark pages."""
        return to_svg(self)

    def _repr_html_(self) -> str:
        data = tag("details", tag("summary", "The data"), table(self.header, self.rows, len(self.rows)))
        return html(tag("div", image(self), tag("p", " ".join(filter(None, (self.alt, self.note)))), data))


def view(kind: type[_View], value: Report | Comparison | Figure, *listed: str) -> _View:
    """Return the view of a value; its fields ``listed`` become :class:`Records`."""
    values: dict[str, Any] = {field.name: getattr(value, field.name) for field in fields(value)}
    values |= {name: Records(values[name]) for name in listed}
    return kind(**values)
