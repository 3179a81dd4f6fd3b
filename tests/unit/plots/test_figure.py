"""What figures are drawn with, and the files of them."""

from __future__ import annotations

import csv
import sys
from io import StringIO
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.errors import OutputError
from trtforensics.plots.figure import (
    WIDTH,
    BarPart,
    BarRow,
    Canvas,
    barred,
    fitting,
    squarified,
    to_csv,
    to_html,
    to_png,
    to_svg,
)

if TYPE_CHECKING:
    from trtforensics.plots.figure import Figure


def test_a_text_that_is_too_wide_loses_its_middle() -> None:
    assert fitting("short", 200) == "short"
    cut = fitting("abcdefghijklmnopqrstuvwxyz", 60)
    assert (cut[0], cut[-1], "…" in cut, len(cut) <= 10) == ("a", "z", True, True)


def test_a_legend_takes_as_many_lines_as_it_needs() -> None:
    canvas = Canvas()
    canvas.legend([(f"a long name of a type {n}", "#000") for n in range(12)])
    places = [(float(one.attrib["x"]), float(one.attrib["y"])) for one in canvas.root if one.tag == "rect"]
    assert max(x for x, _ in places) < WIDTH
    assert len({y for _, y in places}) > 1
    assert canvas.y > max(y for _, y in places)


def drawn(*bars: tuple[BarPart, ...], base: float = 0.0) -> list[tuple[float, float]]:
    """Return the left end and the width of each rectangle."""
    canvas = barred((), [BarRow("a", "", (bar,)) for bar in bars], base)
    return [(float(one.attrib["x"]), float(one.attrib["width"])) for one in canvas.root if one.tag == "rect"]


def test_the_longest_bar_fills_the_width_and_others_are_in_proportion() -> None:
    assert drawn((BarPart(4, "#000"),), (BarPart(1, "#000"),)) == [(0, WIDTH), (0, WIDTH / 4)]


def test_parts_of_a_bar_follow_each_other() -> None:
    assert drawn((BarPart(1, "#000"), BarPart(3, "#000"))) == [(0, WIDTH / 4), (WIDTH / 4, WIDTH * 3 / 4)]


def test_a_step_begins_where_it_is_said_and_may_go_back() -> None:
    assert drawn((BarPart(4, "#000"),), (BarPart(-1, "#000", start=4.0),)) == [(0, WIDTH), (WIDTH * 3 / 4, WIDTH / 4)]


def test_what_lies_below_the_base_is_not_drawn() -> None:
    assert drawn((BarPart(4, "#000"),), (BarPart(1, "#000", start=3.0),), base=2.0) == [
        (0, WIDTH),
        (WIDTH / 2, WIDTH / 2),
    ]


def test_values_below_zero_have_a_line_at_zero() -> None:
    canvas = barred((), [BarRow("a", "", ((BarPart(-1, "#000"),),)), BarRow("b", "", ((BarPart(3, "#000"),),))])
    (line,) = [one for one in canvas.root if one.tag == "line"]
    assert float(line.attrib["x1"]) == pytest.approx(WIDTH / 4)


def test_nothing_is_no_error() -> None:
    assert drawn() == []
    assert drawn((BarPart(0, "#000"),)) == [(0, 0.5)]


@given(st.lists(st.floats(0.01, 100), min_size=1, max_size=30).map(lambda values: sorted(values, reverse=True)))
def test_tiles_cover_the_rectangle_in_proportion(values: list[float]) -> None:
    tiles = squarified(values, 560, 360)
    for tile, value in zip(tiles, values, strict=True):
        assert abs(tile.width * tile.height / (560 * 360) - value / sum(values)) < 1e-6
        assert tile.x >= -1e-6
        assert tile.y >= -1e-6
        assert tile.x + tile.width <= 560 + 1e-6
        assert tile.y + tile.height <= 360 + 1e-6
    for one in tiles:
        for other in tiles:
            apart = one.x + one.width <= other.x + 1e-6 or one.y + one.height <= other.y + 1e-6
            before = other.x + other.width <= one.x + 1e-6 or other.y + other.height <= one.y + 1e-6
            assert one is other or apart or before


def test_tiles_are_nearly_square() -> None:
    tiles = squarified([1.0] * 12, 560, 360)
    assert max(max(tile.width / tile.height, tile.height / tile.width) for tile in tiles) < 2


def test_no_values_make_no_tiles() -> None:
    assert squarified([], 10, 10) == squarified([0.0], 10, 10) == []


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


def test_lines_dots_and_texts_stand_where_they_were_put() -> None:
    canvas = Canvas()
    canvas.line((1, 2), (3, 4))
    canvas.circle(5, 6, 7, "#123456", "tip")
    canvas.text(8, 9, "word", anchor="end")
    line, circle, text = [*canvas.root][-3:]
    assert [line.get(name) for name in ("x1", "y1", "x2", "y2")] == ["1", "2", "3", "4"]
    assert [circle.get(name) for name in ("cx", "cy", "r", "fill")] == ["5", "6", "7", "#123456"]
    assert [text.get(name) for name in ("x", "y", "text-anchor")] == ["8", "9", "end"]
    assert (text.text, circle[0].text) == ("word", "tip")
