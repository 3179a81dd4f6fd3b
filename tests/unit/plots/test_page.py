"""Figures as files."""

from __future__ import annotations

import csv
import sys
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest

from trtforensics.errors import OutputError
from trtforensics.plots.figure import Canvas, to_csv, to_html, to_png, to_svg

if TYPE_CHECKING:
    from trtforensics.plots.figure import Figure

NASTY = '<script>alert("x")</script>\x1b[31m & token=ghp_0123456789abcdefghijABCDEFGHIJ012345'


def figure(name: str = "conv") -> Figure:
    canvas = Canvas()
    canvas.legend([(name, "#3b78b5")])
    rows = ((name, 0.1, None), ("b", 2.0, 7))
    return canvas.figure("layers", "Time", f"alt of {name}", ("layer", "ms", "n"), rows)


def test_a_page_has_each_picture_with_its_words_and_its_table() -> None:
    page = to_html([figure(), figure("other")], "x.log")
    assert page.count("<svg") == page.count("<table>") == page.count("<figcaption>") == 2
    assert "<script" not in page
    assert '<td class="number">0.1</td>' in page
    assert "prefers-color-scheme: dark" in page
    assert "@media print" in page


def test_names_of_a_log_are_never_markup_and_secrets_stay_secret() -> None:
    for text in (to_html([figure(NASTY)], NASTY), to_svg(figure(NASTY)), to_csv(figure(NASTY))):
        assert "ghp_" not in text
        assert "\x1b" not in text
    assert "<script" not in to_html([figure(NASTY)], NASTY)
    assert "<script" not in to_svg(figure(NASTY))


def test_an_svg_stands_alone_with_title_and_description() -> None:
    root = ET.fromstring(to_svg(figure()))  # noqa: S314 - we have just written it
    space = "{http://www.w3.org/2000/svg}"
    assert root.tag == f"{space}svg"
    assert [root.findtext(f"{space}{name}") for name in ("title", "desc")] == ["Time", "alt of conv"]
    assert root.attrib["role"] == "img"


def test_a_png_is_drawn_where_cairosvg_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("cairosvg", exc_type=(ImportError, OSError))  # type: ignore[arg-type]  # a tuple of types works
    assert to_png(figure(), "x.png").startswith(b"\x89PNG")
    monkeypatch.setitem(sys.modules, "cairosvg", None)
    with pytest.raises(OutputError, match=r"a \.png is drawn by CairoSVG, which cannot be loaded"):
        to_png(figure(), "x.png")


def test_csv_reads_back() -> None:
    assert list(csv.reader(StringIO(to_csv(figure('a,"b"'))))) == [
        ["layer", "ms", "n"],
        ['a,"b"', "0.1", ""],
        ["b", "2.0", "7"],
    ]
