"""Bars: where they begin and end."""

from __future__ import annotations

import pytest

from trtforensics.plots.bars import BarPart, BarRow, draw_bars
from trtforensics.plots.figure import WIDTH, Canvas


def drawn(*bars: tuple[BarPart, ...], base: float = 0.0) -> list[tuple[float, float]]:
    """Return the left end and the width of each rectangle."""
    canvas = Canvas()
    draw_bars(canvas, [BarRow("a", "", (bar,)) for bar in bars], base)
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
    canvas = Canvas()
    draw_bars(canvas, [BarRow("a", "", ((BarPart(-1, "#000"),),)), BarRow("b", "", ((BarPart(3, "#000"),),))])
    (line,) = [one for one in canvas.root if one.tag == "line"]
    assert float(line.attrib["x1"]) == pytest.approx(WIDTH / 4)


def test_nothing_is_no_error() -> None:
    assert drawn() == []
    assert drawn((BarPart(0, "#000"),)) == [(0, 0.5)]
