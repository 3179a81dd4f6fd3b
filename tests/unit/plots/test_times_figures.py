"""Figures of inferences: what they show is what the samples are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.graph_builds import span
from trtforensics.model.span import SourceInfo
from trtforensics.model.timings import InferenceSamples, InferenceTimes
from trtforensics.plots.figure import WIDTH
from trtforensics.plots.times_figures import figures_of_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.plots.figure import Figure

_CELL = st.floats(0.001, 10_000.0)


def times(*runs: Sequence[float], path: str = "a/times.json", compute: float = 1.0) -> InferenceTimes:
    made = (InferenceSamples((*run,), tuple(compute * one for one in run), sum(run), span(1)) for run in runs)
    return InferenceTimes(SourceInfo(path, 0, 0, ""), tuple(made))


def texts(figure: Figure) -> list[str]:
    return [one.text or "" for one in figure.svg.iter("text")]


def test_each_inference_is_a_column_in_its_order() -> None:
    course, spread = figures_of_times([times([2.0, 3.0, 2.5], compute=0.5)])
    assert (course.name, spread.name) == ("inferences", "spread")
    assert course.rows == (
        ("times.json", 1, 1, 2.0, 2.0, 2.0, 1.0),
        ("times.json", 2, 2, 3.0, 3.0, 3.0, 1.5),
        ("times.json", 3, 3, 2.5, 2.5, 2.5, 1.25),
    )
    assert course.alt == (
        "Latency by inference. times.json: 3 inferences, median 2.5, p90 2.9, p95 2.95, p99 2.99, from 2 to 3 ms, "
        "of which GPU compute 1.25 (median)."
    )
    assert [row[3] for row in spread.rows] == [1, 1, 1]
    assert {"times.json", "median 2.5 ms, p99 2.99 ms", "inference 1", "3"} <= {*texts(course)}


def test_of_many_inferences_neighbours_share_a_column() -> None:
    (course, spread) = figures_of_times([times([float(n % 7 + 1) for n in range(1000)])])
    assert course.rows[0][1:6] == (1, 6, 1.0, 3.5, 6.0)
    assert course.rows[-1][2] == 1000
    assert sum(int(str(row[3])) for row in spread.rows) == 1000


def test_few_far_slower_inferences_do_not_flatten_the_rest() -> None:
    course, spread = figures_of_times([times([1.0, 1.1] * 200 + [50.0])])
    assert "1 inference is slower than its end, 1.4 ms." in course.note
    name, begin, end, count = spread.rows[-1]
    assert (name, end, count) == ("times.json", 50.0, 1)
    assert begin == pytest.approx(1.4)
    assert "slower than the scale" in texts(spread)


def test_runs_alike_share_a_scale_and_runs_far_apart_do_not() -> None:
    alike, _ = figures_of_times([times([1.0, 1.2], [1.3, 1.4])])
    assert alike.note == "The scale begins at 1 ms."
    apart, _ = figures_of_times([times([1.0, 1.2], [10.0, 10.2])])
    assert apart.note == "Each run has a scale of its own."
    assert {"run 1 of 2", "run 2 of 2"} <= {*texts(apart)}


def test_files_are_told_apart_and_many_runs_stay_in_the_table() -> None:
    both, _ = figures_of_times([times([1.0]), times([1.0], [1.1], path="b.json")])
    assert [row[0] for row in both.rows] == ["times.json", "b.json, run 1 of 2", "b.json, run 2 of 2"]
    many, _ = figures_of_times([times(*[[1.0 + n / 100] for n in range(10)])])
    assert "2 further runs are in the table only." in many.note
    assert many.alt.endswith("7 more runs.")
    assert len(many.rows) == 10
    assert figures_of_times([]) == []


@given(st.lists(st.lists(_CELL, min_size=1, max_size=300), min_size=1, max_size=3))
def test_whatever_the_times_all_are_counted_and_drawn_inside(runs: list[list[float]]) -> None:
    course, spread = figures_of_times([times(*runs)])
    for number, run in enumerate(runs, 1):
        name = "times.json" if len(runs) == 1 else f"run {number} of {len(runs)}"
        assert sum(int(str(row[3])) for row in spread.rows if row[0] == name) == len(run)
        last = [row for row in course.rows if row[0] == name][-1]
        assert last[2] == len(run)
    for figure in (course, spread):
        tall = float(figure.svg.attrib["viewBox"].split()[3])
        for box in figure.svg.iter("rect"):
            x, y, width, height = (float(box.attrib[name]) for name in ("x", "y", "width", "height"))
            assert -0.1 <= x <= x + width <= WIDTH + 1.1
            assert 0 <= y <= y + height <= tall
