"""Figures as files: one HTML page without scripts, an SVG, a PNG, and the data of a figure as CSV."""

import csv
from base64 import b64encode
from collections.abc import Iterable, Sequence
from copy import deepcopy
from importlib.resources import files
from io import StringIO
from xml.etree import ElementTree as ET

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.errors import OutputError
from trtforensics.plots.figure import PAD, Cell, Figure
from trtforensics.render.markup import page, tag

_NAMESPACE = "http://www.w3.org/2000/svg"
_DARK = (
    "@media (prefers-color-scheme: dark){.ink{fill:#e8eaee}.pale{fill:#a9b0bc}.rule{stroke:#3b4049}"
    ".roof{stroke:#a9b0bc}}"
)
_SCALE = 2
_HEADLINE = 26.0
"""Units above a picture that stands alone, for its title."""


def to_html(figures: Sequence[Figure], title: str) -> str:
    """Return a page of figures; each has its data as a table below it."""
    return page(title, stylesheet(), tag("body", tag("h1", title), *map(element, figures), cls="plots"))


def stylesheet() -> str:
    """Return the styles of figures in a page."""
    return (files("trtforensics.plots") / "plots.css").read_text("utf-8")


def element(figure: Figure) -> ET.Element:
    """Return a figure as an element of a page, with its table."""
    rows = (_row(row, "td") for row in figure.rows)
    table = tag("table", tag("thead", _row(figure.header, "th")), tag("tbody", *rows))
    details = tag("details", tag("summary", f"The data, {counted(len(figure.rows), 'row')}"), table)
    caption = tag("figcaption", " ".join(filter(None, (figure.alt, figure.note))))
    return tag("figure", tag("h2", figure.title), deepcopy(figure.svg), caption, details, cls="plot")


def _row(cells: Iterable[Cell], kind: str) -> ET.Element:
    return tag("tr", *(tag(kind, _text(cell), cls="number" * isinstance(cell, int | float)) for cell in cells))


def _text(cell: Cell) -> str:
    if cell is None:
        return ""
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)


def to_svg(figure: Figure) -> str:
    """Return a figure as an SVG file, readable on light and dark pages."""
    svg = _alone(figure)
    style = ET.Element("style")
    style.text = _DARK
    svg.insert(2, style)
    return f"{ET.tostring(svg, encoding='unicode')}\n"


def image(figure: Figure) -> ET.Element:
    """Return a figure as an ``img`` element that holds its SVG, so that no style of a notebook meets its own."""
    data = b64encode(to_svg(figure).encode()).decode()
    return ET.Element("img", {"src": f"data:image/svg+xml;base64,{data}", "alt": visible(figure.alt)})


def to_png(figure: Figure, where: str) -> bytes:
    """Return a figure as a PNG on white, at twice its size, for the file ``where``. OutputError without CairoSVG."""
    try:
        import cairosvg  # noqa: PLC0415 - an extra
    except (ImportError, OSError) as error:
        what = f"a .png is drawn by CairoSVG, which cannot be loaded ({str(error).splitlines()[0]})"
        raise OutputError(where, what, "pip install 'trtforensics[plots]', or write .svg or .html") from None
    drawn = cairosvg.svg2png(bytestring=ET.tostring(_alone(figure)), scale=_SCALE, background_color="white")
    return bytes(drawn)


def _alone(figure: Figure) -> ET.Element:
    """Return a picture that needs no page: with its title above it and with a size."""
    svg = deepcopy(figure.svg)
    _, _, width, height = map(float, svg.attrib["viewBox"].split())
    place = {"x": "0", "y": f"{10 - _HEADLINE:g}", "font-size": "14", "font-weight": "bold", "fill": "#22262e"}
    title = ET.SubElement(svg, "text", {**place, "class": "ink"})
    title.text = visible(figure.title)
    whole = height + _HEADLINE
    box = f"{-PAD} {-PAD - _HEADLINE:g} {width:g} {whole:g}"
    svg.attrib.update({"xmlns": _NAMESPACE, "viewBox": box, "width": f"{width:g}", "height": f"{whole:g}"})
    return svg


def to_csv(figure: Figure) -> str:
    """Return a figure's data as CSV."""
    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(figure.header)
    writer.writerows([None if cell is None else visible(str(cell)) for cell in row] for row in figure.rows)
    return stream.getvalue()
