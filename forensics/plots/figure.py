"""A figure: a picture with its data as a table and an alternative text, whatever it is written to."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple
from xml.etree import ElementTree as ET

from trtforensics.console.secrets import masked
from trtforensics.console.terminal import visible
from trtforensics.render.names import in_two_lines, shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

WIDTH = 440
"""Units across a picture: so few that its text can be read where a phone makes it narrow."""

PAD = 4
"""Units around a picture."""

SIZE = 12
"""The height of texts."""

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
    """One picture. ``alt`` says in a sentence what it shows; ``header`` and ``rows`` are its data; units in names."""

    name: str
    title: str
    alt: str
    svg: ET.Element
    header: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""


@dataclass
class Canvas:
    """A picture under construction, from top to bottom; ``y`` is where the next part begins."""

    root: ET.Element = field(default_factory=lambda: ET.Element("g"))
    y: float = 0.0

    def rectangle(self, box: Box, colour: str, tip: str = "") -> None:
        """Draw a filled rectangle; ``tip`` is shown under the pointer."""
        element = ET.SubElement(self.root, "rect", {**_numbers(box._asdict()), "fill": colour})
        if tip:
            ET.SubElement(element, "title").text = shown(tip)

    def text(self, x: float, y: float, text: str, *, anchor: str = "start", tone: str = "ink") -> None:
        """Write a text. Its ``tone`` (``ink``, ``pale``, or ``dark`` whatever the page) follows the page's colours."""
        look = {"class": tone, "fill": _PALE if tone == "pale" else _INK, "text-anchor": anchor}
        place = _numbers({"x": x, "y": y, "font-size": SIZE})
        ET.SubElement(self.root, "text", {**place, **look}).text = shown(text)

    def line(self, begin: tuple[float, float], end: tuple[float, float], *, strong: bool = False) -> None:
        """Draw a thin line, or a strong one."""
        place = _numbers({"x1": begin[0], "y1": begin[1], "x2": end[0], "y2": end[1]})
        look = {"class": "roof", "stroke": _PALE} if strong else {"class": "rule", "stroke": _LINE}
        ET.SubElement(self.root, "line", {**place, **look, "stroke-width": "1.6" if strong else "1"})

    def circle(self, x: float, y: float, radius: float, colour: str, tip: str) -> None:
        """Draw a dot that what lies behind it shows through."""
        place = _numbers({"cx": x, "cy": y, "r": radius})
        element = ET.SubElement(self.root, "circle", {**place, "fill": colour, "fill-opacity": "0.75"})
        ET.SubElement(element, "title").text = shown(tip)

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

    def finished(self, title: str, alt: str) -> ET.Element:
        """Return the picture as an ``svg`` element."""
        size = {"viewBox": f"{-PAD} {-PAD} {WIDTH + 2 * PAD} {self.y + 2 * PAD:.0f}", "class": "plot", "role": "img"}
        svg = ET.Element("svg", {**size, "font-family": "Helvetica, Arial, sans-serif"})
        ET.SubElement(svg, "title").text = shown(title)
        ET.SubElement(svg, "desc").text = shown(alt)
        svg.append(self.root)
        return svg


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


def shown(text: str) -> str:
    """Return a text without secrets and control characters."""
    return visible(masked(text))


def _numbers(values: dict[str, float]) -> dict[str, str]:
    return {name: f"{value:.2f}".rstrip("0").rstrip(".") for name, value in values.items()}
