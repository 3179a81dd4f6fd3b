"""What functions of ``import trtforensics`` return, with the page that a notebook shows of it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar

from trtforensics.comparison.differences import Comparison
from trtforensics.comparison.report import report
from trtforensics.findings.finding import Report
from trtforensics.findings.forms.html import fragment
from trtforensics.plots.figure import Figure, image, to_svg
from trtforensics.render.markup import Records, html, table, tag

_VEGA_LITE = "application/vnd.vegalite.v5+json"
_NOT_DRAWN = ("file", "line", "share")
_LATER = ("first_", "second_", "layers")
"""How the columns begin that are drawn only where no other can be."""
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

    def interactive(self) -> InteractiveFigure:
        """Return it for exploring: values under the pointer, zoom by the wheel, filters by legend and by a text."""
        return InteractiveFigure(**{each.name: getattr(self, each.name) for each in fields(self)})

    def _repr_html_(self) -> str:
        data = tag("details", tag("summary", "The data"), table(self.header, self.rows, len(self.rows)))
        return html(tag("div", image(self), tag("p", " ".join(filter(None, (self.alt, self.note)))), data))


class InteractiveFigure(Figure):
    """A figure as a chart of Vega-Lite, which JupyterLab and VS Code draw without a network; elsewhere its picture."""

    def vega_lite(self) -> dict[str, Any]:
        """Return the chart's specification; other readers of Vega-Lite 5, such as Altair, take it too."""
        names = sorted((name for name in self.header if name not in _NOT_DRAWN), key=lambda it: it.startswith(_LATER))
        texts = [name for name in names if any(isinstance(row[self.header.index(name)], str) for row in self.rows)]
        numbers = [{"field": name, "type": "quantitative"} for name in names if name not in texts]
        label, x, scale, zoomed = {"field": texts[0], "type": "nominal"}, numbers[0], {}, ["x"]
        y: dict[str, Any] = {**label, "sort": {"field": x["field"], "order": "descending"}, "axis": {"labelLimit": 240}}
        if self.name == "roofline":
            y, scale, zoomed = dict(numbers[1]), {"scale": {"type": "log"}}, ["x", "y"]
        tips = [{"field": name} for name in self.header]
        encoding: dict[str, Any] = {"x": x | scale, "y": y | scale, "tooltip": tips}
        params = [
            {"name": "zoom", "select": {"type": "interval", "encodings": zoomed}, "bind": "scales"},
            {"name": "has", "value": "", "bind": {"input": "text", "name": f"{texts[0]} contains "}},
        ]
        if texts[1:]:
            encoding["color"] = {"field": texts[-1], "type": "nominal"}
            encoding["opacity"] = {"condition": {"param": "named", "value": 1}, "value": 0.1}
            params += [{"name": "named", "select": {"type": "point", "fields": texts[-1:]}, "bind": "legend"}]
        return {
            "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
            "title": self.title,
            "width": 600,
            "data": {"values": [dict(zip(self.header, row, strict=True)) for row in self.rows]},
            "transform": [{"filter": f"indexof(lower(datum['{texts[0]}']), lower(has)) >= 0"}],
            "mark": "point" if self.name == "roofline" else "bar",
            "params": params,
            "encoding": encoding,
        }

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
        return {_VEGA_LITE: self.vega_lite(), "image/svg+xml": to_svg(self), "text/plain": repr(self)}


def view(kind: type[_View], value: Report | Comparison | Figure, *listed: str) -> _View:
    """Return the view of a value; its fields ``listed`` become :class:`Records`."""
    values: dict[str, Any] = {field.name: getattr(value, field.name) for field in fields(value) if field.init}
    values |= {name: Records(values[name]) for name in listed}
    return kind(**values)
