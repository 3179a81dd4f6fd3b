"""Figures: a canvas that makes SVG, rows of bars, treemaps; as HTML page without scripts, as SVG, PNG, and CSV."""

import csv
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from importlib.resources import files
from io import StringIO
from typing import NamedTuple
from xml.etree import ElementTree as ET

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.errors import OutputError
from trtforensics.render.markup import page, tag
from trtforensics.render.names import in_two_lines, shortened

WIDTH = 440
"""Units across a picture: so few that its text can be read where a phone makes it narrow."""

PAD = 4

SIZE = 12

NAME_LENGTH = 100
"""Characters of a name in a sentence."""

_INK, _PALE, _LINE = "#22262e", "#5d6470", "#d5d8de"
_CHARACTER = 0.56
"""How wide a character is on average, of the height of the font."""


class Box(NamedTuple):
    """A rectangle of a picture."""

    x: float
    y: float
    width: float
    height: float


Cell = str | float | None


@dataclass(frozen=True)
class Figure:
    """One picture. ``alt`` describes it in a sentence; ``header`` and ``rows`` are its data; units in names."""

    name: str
    title: str
    alt: str
    svg: ET.Element
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""

    def __repr__(self) -> str:
        return f"<figure {self.name} of {len(self.rows)} rows: {self.title}>"


@dataclass
class Canvas:
    """A picture under construction, from top to bottom; ``y`` is where the next part begins."""

    root: ET.Element = field(default_factory=lambda: ET.Element("g"))
    y: float = 0.0

    def rectangle(self, box: Box, colour: str, tip: str = "") -> None:
        """Draw a filled rectangle; ``tip`` is shown under the pointer."""
        element = ET.SubElement(self.root, "rect", {**_numbers(box._asdict()), "fill": colour})
        if tip:
            ET.SubElement(element, "title").text = visible(tip)

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", tone: str = "ink") -> None:
        """Write a text. Its ``tone`` (``ink``, ``pale``, or ``dark`` whatever the page) follows the page's colours."""
        look = {"class": tone, "fill": _PALE if tone == "pale" else _INK, "text-anchor": anchor}
        place = _numbers({"x": x, "y": y, "font-size": SIZE})
        ET.SubElement(self.root, "text", {**place, **look}).text = visible(text)

    def line(self, begin: tuple[float, float], end: tuple[float, float], *, strong: bool = False) -> None:
        """Draw a thin line, or a strong one."""
        place = _numbers({"x1": begin[0], "y1": begin[1], "x2": end[0], "y2": end[1]})
        look = {"class": "roof", "stroke": _PALE} if strong else {"class": "rule", "stroke": _LINE}
        ET.SubElement(self.root, "line", {**place, **look, "stroke-width": "1.6" if strong else "1"})

    def rule(self, left: float, y: float, text: str, gap: float = 4) -> None:
        """Draw a line across the picture, with its value before its left end."""
        self.line((left, y), (WIDTH, y))
        self.text(left - gap, y + 4, text, anchor="end", tone="pale")

    def circle(self, x: float, y: float, radius: float, colour: str, tip: str) -> None:
        """Draw a dot that what lies behind it shows through."""
        place = _numbers({"cx": x, "cy": y, "r": radius})
        element = ET.SubElement(self.root, "circle", {**place, "fill": colour, "fill-opacity": "0.75"})
        ET.SubElement(element, "title").text = visible(tip)

    def legend(self, entries: Sequence[tuple[str, str]]) -> None:
        """Name colours, in as many lines as it takes."""
        x = 0.0
        for text, colour in entries:
            width = 22 + width_of(text)
            if x and x + width > WIDTH:
                x, self.y = 0.0, self.y + 16
            self.rectangle(Box(x, self.y, 10, 10), colour)
            self.text(x + 14, self.y + 9, text, tone="pale")
            x += width
        self.y += 24 if entries else 0

    def heading(self, label: str, text: str) -> None:
        """Write a label in a line or two, with a pale text at the right end of its first line."""
        self.text(WIDTH, self.y + 10, text, anchor="end", tone="pale")
        for line in wrapped(label, WIDTH - width_of(f"{text}  "), WIDTH):
            self.text(0, self.y + 10, line)
            self.y += _ROW

    def figure(  # noqa: PLR0913 - the parts of a figure
        self,
        name: str,
        title: str,
        alt: str,
        header: tuple[str, ...],
        rows: Iterable[tuple[Cell, ...]],
        *,
        note: str = "",
    ) -> Figure:
        """Return the picture as an ``svg`` element, with its data."""
        size = {"viewBox": f"{-PAD} {-PAD} {WIDTH + 2 * PAD} {self.y + 2 * PAD:.0f}", "class": "plot", "role": "img"}
        svg = ET.Element("svg", {**size, "font-family": "Helvetica, Arial, sans-serif"})
        ET.SubElement(svg, "title").text = visible(title)
        ET.SubElement(svg, "desc").text = visible(alt)
        svg.append(self.root)
        return Figure(name, title, alt, svg, header, tuple(rows), note)


def width_of(text: str) -> float:
    """Return about how many units wide a text is."""
    return len(text) * SIZE * _CHARACTER


def wrapped(text: str, first: float, second: float) -> list[str]:
    """Part a text into a line or two of so many units at most; of what does not fit, the middle is cut out."""
    return in_two_lines(text, _room(first), _room(second))


def fitting(text: str, width: float) -> str:
    """Cut the middle out of a text that is wider than there is room."""
    return shortened(text, _room(width))


def _room(width: float) -> int:
    return max(int(width / (SIZE * _CHARACTER)), 3)


def _numbers(values: dict[str, float]) -> dict[str, str]:
    return {name: f"{value:.2f}".rstrip("0").rstrip(".") for name, value in values.items()}


_ROW, _BAR, _GAP = 15, 9, 7


@dataclass(frozen=True, slots=True)
class BarPart:
    """A part of a bar. It begins where the one before it ends, or at ``start``."""

    value: float
    colour: str
    name: str = ""
    start: float | None = None


@dataclass(frozen=True, slots=True)
class BarRow:
    """A label of a line or two with one or more bars below; ``text`` stands at the right end of its first line."""

    label: str
    text: str
    bars: tuple[tuple[BarPart, ...], ...]


def bar_row(label: str, text: str, value: float, colour: str, start: float | None = None) -> BarRow:
    """Return a row with one bar of one colour."""
    return BarRow(label, text, ((BarPart(value, colour, start=start),),))


def barred(legend: Sequence[tuple[str, str]], rows: Sequence[BarRow], base: float = 0.0) -> Canvas:
    """Return a picture of rows of bars on one scale, which holds ``base``; what lies below it is not drawn."""
    canvas = Canvas()
    canvas.legend(legend)
    ends = [place for row in rows for bar in row.bars for _, *places in _placed(bar) for place in places]
    low, high = (base, max(ends)) if base else (min([0.0, *ends]), max([0.0, *ends]))
    unit = WIDTH / (high - low) if high > low else 0.0
    top = canvas.y
    for row in rows:
        canvas.heading(row.label, row.text)
        for bar in row.bars:
            for part, begin, end in _placed(bar):
                left, right = ((max(place, low) - low) * unit for place in sorted((begin, end)))
                tip = f"{row.label}: {part.name or row.text}"
                canvas.rectangle(Box(left, canvas.y, max(right - left, 0.5), _BAR), part.colour, tip)
            canvas.y += _BAR + 1
        canvas.y += _GAP
    if low < 0:
        canvas.line((-low * unit, top), (-low * unit, canvas.y))
    return canvas


def _placed(bar: Sequence[BarPart]) -> Iterator[tuple[BarPart, float, float]]:
    """Give the parts of a bar with the values that they begin and end at."""
    end = 0.0
    for part in bar:
        begin = end if part.start is None else part.start
        end = begin + part.value
        yield part, begin, end


def squarified(values: list[float], width: float, height: float) -> list[Box]:
    """Lay out positive values, largest first, nearly square: Bruls, Huizing, van Wijk, Squarified Treemaps (2000)."""
    whole = sum(values)
    if not whole:
        return []
    areas = [value * width * height / whole for value in values]
    tiles: list[Box] = []
    x = y = 0.0
    first = 0
    while first < len(areas):
        side = min(width, height)
        last = first + 1
        while last < len(areas) and _worst(areas[first : last + 1], side) <= _worst(areas[first:last], side):
            last += 1
        row = areas[first:last]
        thick = sum(row) / side
        along = 0.0
        for area in row:
            long = area / thick
            tiles.append(Box(x, y + along, thick, long) if width >= height else Box(x + along, y, long, thick))
            along += long
        if width >= height:
            x, width = x + thick, width - thick
        else:
            y, height = y + thick, height - thick
        first = last
    return tiles


def _worst(row: list[float], side: float) -> float:
    """Return the largest ratio of sides in a row of areas along a side."""
    whole = sum(row)
    return max(side * side * max(row) / (whole * whole), whole * whole / (side * side * min(row)))


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
