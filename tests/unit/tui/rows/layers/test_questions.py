"""The questions above the layers, the columns, and the line that says why."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.support.engine_builds import build_of, layer, tuned
from tests.support.sample_session import Scribe
from tests.support.screens import text_of
from trtforensics.model.data_types import ComputePrecision, PrecisionSource
from trtforensics.model.timings import TimeSource
from trtforensics.tui.rows.layers.columns import LEAST_NAME, SHOWN, ColumnLayout
from trtforensics.tui.rows.layers.index import LayerIndex
from trtforensics.tui.rows.layers.questions import question_at, question_lines, why_lines
from trtforensics.tui.rows.pieces import width_of

WIDE = ColumnLayout(120, 2)


@pytest.fixture
def index() -> LayerIndex:
    """A slow layer in FP32 with a near tie, a fast one in FP16, a reformat, and a layer that runs no kernel."""
    scribe = Scribe()
    choices = (
        *tuned(scribe, "slow", {"Float": (0.9, 0.905), "Half": (1.8,)}, "Float"),
        *tuned(scribe, "fast", {"Half": (0.1, 0.2), "Float": (0.05,)}, "Half"),
    )
    layers = (
        layer(scribe, "slow", choice=0),
        layer(scribe, "Reformatting CopyNode for Input Tensor 0 to fast", "Reformat", "Half"),
        layer(scribe, "fast", "PointWiseV2", "Half", choice=2),
        layer(scribe, "constant", "Constant"),
    )
    timed = [
        replace(one, time_ms=choices[one.choice].time_ms, time_is=TimeSource.TUNED) if one.choice is not None else one
        for one in layers
    ]
    timed[0] = replace(timed[0], compute_precision=ComputePrecision("Float", PrecisionSource.KERNEL))
    return LayerIndex(build_of(scribe, choices, *timed, precision="FP32+FP16"))


def answers(index: LayerIndex, tie: float = 1.02) -> dict[str, list[str]]:
    return {one.title: [entry.name for entry in index.engine if one.keeps(entry)] for one in index.questions(tie)}


def test_each_question_keeps_the_layers_that_answer_it(index: LayerIndex) -> None:
    reformat = "Reformatting CopyNode for Input Tensor 0 to fast"
    assert answers(index) == {
        "FP32 though FP16 asked": ["slow"],
        "near ties": ["slow"],
        "no time": [reformat],
        "ForeignNodes": [],
        "reformats": [reformat],
        "slowest 80 %": ["slow"],
        "inputs INT8, output Float": [],
        "compute ?": ["fast"],
    }
    assert answers(index, 1.001)["near ties"] == []
    assert answers(index, 3.0)["near ties"] == ["slow", "fast"]


def test_the_bar_lists_counts_and_a_click_finds_its_question(index: LayerIndex) -> None:
    questions = index.questions()
    lines = question_lines(questions, "near ties", 4, 60)
    assert len(lines) == 2
    first = text_of(lines[0])
    assert first.startswith(" all 4  FP32 though FP16 asked 1  near ties 1")
    at = first.index("near ties")
    assert question_at(questions, "", 4, 60, (0, at)) == "near ties"
    assert question_at(questions, "", 4, 60, (0, 2)) == ""
    assert question_at(questions, "", 4, 60, (1, 500)) is None


def test_columns_give_way_until_names_have_room_and_headings_fit_them(index: LayerIndex) -> None:
    shown = [tuple(column.title for column in ColumnLayout(width, 2).shown) for width in range(20, 200)]
    assert shown[-1] == tuple(column.title for column in SHOWN)
    assert all(len(before) <= len(after) for before, after in pairwise(shown))
    for width in (40, 80, 120):
        layout = ColumnLayout(width, 2)
        assert width - 6 - sum(column.width + 1 for column in layout.shown) >= LEAST_NAME
        assert width_of(layout.heading(layout.orders[1], index.time_source)) == width
    assert "ms tuned▼" in text_of(WIDE.heading(WIDE.orders[1], index.time_source))
    assert "#▲" in text_of(WIDE.heading(WIDE.orders[0], index.time_source))


@pytest.mark.parametrize(
    ("order", "first"),
    [(0, "slow"), (1, "slow"), (2, "slow"), (3, "fast")],
    ids=[order.column for order in WIDE.orders[:4]],
)
def test_layers_are_sorted_by_a_column(index: LayerIndex, order: int, first: str) -> None:
    assert index.rows(order=WIDE.orders[order])[0].text == first


def test_why_is_wrapped_into_its_lines_and_each_fact_has_its_line(index: LayerIndex) -> None:
    slow = index.engine[0]
    (line,) = why_lines(slow.why(), 120, 1)
    assert text_of(line).startswith(" why FP16 100 % slower [9] · near tie: next tactic 0.6 % slower [5]")
    narrow = why_lines(slow.why(), 40, 2)
    assert [width_of(one) <= 40 for one in narrow] == [True, True]
    assert text_of(why_lines(slow.why(), 40, 1)[0]).endswith("…")
    assert why_lines((), 40, 2) == ((), ())
