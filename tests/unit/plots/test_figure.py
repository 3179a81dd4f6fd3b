"""What figures are drawn with."""

from __future__ import annotations

from trtforensics.plots.figure import WIDTH, Canvas, fitting


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
