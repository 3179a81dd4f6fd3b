"""HTML as a tree that the standard library writes: text of a log never becomes markup. Facts as notebooks show them."""

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import fields, is_dataclass
from hashlib import sha256
from itertools import islice
from typing import Generic, TypeVar
from xml.etree import ElementTree as ET

from trtforensics.console.terminal import visible
from trtforensics.render.names import shortened

Child = ET.Element | str

_DIGITS = 4
_LONGEST_WORD = 40
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def tag(name: str, *children: Child, cls: str = "", **attributes: str) -> ET.Element:
    """Return an element; texts among its children are made safe to show."""
    element = ET.Element(name, ({"class": cls} if cls else {}) | attributes)
    last: ET.Element | None = None
    for child in children:
        if isinstance(child, ET.Element):
            element.append(child)
            last = child
        elif last is None:
            element.text = (element.text or "") + visible(child)
        else:
            last.tail = (last.tail or "") + visible(child)
    return element


def html(element: ET.Element) -> str:
    """Return an element as text of HTML."""
    return ET.tostring(element, encoding="unicode", method="html")


def page(title: str, style: str, body: ET.Element, script: str = "") -> str:
    """Return a whole page, which loads nothing and runs nothing but ``script``; ``style`` is its style sheet."""
    sheet, policy = ET.Element("style"), _POLICY
    sheet.text = style
    if script:
        policy += f"; script-src 'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
        body.append(ET.Element("script"))
        body[-1].text = script
    head = tag(
        "head",
        ET.Element("meta", charset="utf-8"),
        ET.Element("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        ET.Element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        ET.Element("meta", {"name": "color-scheme", "content": "light dark"}),
        tag("title", title),
        sheet,
    )
    return f"<!DOCTYPE html>\n{html(tag('html', head, body, lang='en'))}\n"


def table(header: Sequence[str], rows: Iterable[Sequence[object]], most: int) -> ET.Element:
    """Return a table of at most ``most`` rows, with the number of those left out below it."""
    every = iter(rows)
    shown = [tag("tr", *map(_data, map(_cell, row))) for row in islice(every, most)]
    left = sum(1 for _ in every)
    head = tag("thead", tag("tr", *(tag("th", name) for name in header)))
    rest = [tag("p", f"and {left:,} more rows")] if left else []
    return tag("div", tag("table", head, tag("tbody", *shown)), *rest)


def _data(text: str) -> ET.Element:
    """Return a cell; one with a word as long as a kernel's name breaks inside it, or it squeezes the others."""
    long = any(len(word) > _LONGEST_WORD for word in text.split())
    return tag("td", text, **({"style": "overflow-wrap:anywhere"} if long else {}))


def _cell(value: object) -> str:
    if isinstance(value, tuple | list):
        return "; ".join(map(_cell, value))
    if isinstance(value, float):
        return f"{value:.{_DIGITS}g}"
    return "" if value is None else str(value)


_Item = TypeVar("_Item")
_COLUMNS = 8
_NAMES = 200
"""Characters of names in a ``repr``."""
_ROWS = 30
_PLAIN = (str, int, float, type(None))


class Records(tuple[_Item, ...], Generic[_Item]):
    """A tuple of facts whose ``repr`` is one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} x {type(self[0]).__name__}>" if self else "()"

    def _repr_html_(self) -> str:
        first: object = self[0] if self else None
        if first is None or not is_dataclass(first):
            return html(table(["#", repr(self)[1:-1]], enumerate(map(repr, self), 1), _ROWS))
        names = [field.name for field in fields(first)]
        names = [name for name in names if all(isinstance(getattr(item, name), _PLAIN) for item in self[:_ROWS])]
        rows = ([getattr(item, name) for name in names[:_COLUMNS]] for item in self)
        return html(table(names[:_COLUMNS], rows, _ROWS))


class RecordsByName(dict[str, _Item]):
    """Facts by name, whose ``repr`` is one line."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{len(self):,} facts: {shortened(', '.join(self), _NAMES)}>"

    def _repr_html_(self) -> str:
        return Records(self.values())._repr_html_()
