"""Rows of probes and of an answer."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from tests.support.screens import text_of
from trtforensics.bisection.search import Verdict
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.tui.rows.bisection_rows import (
    answer_rows,
    bisection_title,
    heading,
    probe_row,
    set_title,
    standing,
    subsets_of,
    verdict_of,
)

if TYPE_CHECKING:
    from tests.support.artifacts import Directory


def test_a_row_tells_verdict_subset_and_suspects(directory: Directory) -> None:
    view = directory.look()
    rows = ["".join(piece.text for piece in probe_row(view, probe)) for probe in view.probes]
    assert [row.split()[:3] for row in rows[:2]] == [["1", "bad", "8"], ["2", "unresolved", "4"]]
    assert rows[0].count("█") == 16
    assert rows[2].count("█") == 8
    assert "cut off" in rows[2]  # nobody holds the lock


def test_a_probe_is_flaky_where_its_last_judge_says_two_things(directory: Directory) -> None:
    view = directory.look()
    bad = view.probes[0].finished[0]
    good, by_another = replace(bad, verdict=Verdict.GOOD), replace(bad, verdict=Verdict.GOOD, judge="another")
    verdicts = [
        verdict_of(view, replace(view.probes[0], finished=[first, bad]))[0] for first in (good, by_another, bad)
    ]
    assert verdicts == ["flaky", "bad", "bad x2"]


def test_a_narrow_title_leaves_out_the_program(directory: Directory) -> None:
    view = directory.look()
    wide, narrow = (text_of(bisection_title(view, width, directory.now())) for width in (200, 40))
    assert wide.startswith(f" trtforensics  {view.path}  tactics · ")
    assert "trtforensics" not in narrow
    assert " tactics · " in narrow


def test_a_pause_is_said_and_counts_for_no_estimate(directory: Directory) -> None:
    """Ten seconds of probes and an hour of pause: two more probes take ten seconds."""
    directory.end(Verdict.GOOD)
    directory.hold()
    view, now = replace(directory.look(), builds_left=2.0), directory.now()
    first, *_, last = view.probes
    began = [(now - timedelta(seconds=before)).isoformat() for before in (3600, 5)]
    ends = [replace(probe.finished[-1], seconds=5.0) for probe in (first, last)]
    two = [replace(first, began=began[0], finished=ends[:1]), replace(last, began=began[1], finished=ends[1:])]
    assert standing(replace(view, probes=tuple(two)), now).endswith("2 done · about 2 left · 1:00:00 · ETA 0:10")
    assert standing(replace(view, probes=tuple(two), paused=True), now) == "paused · 2 done · about 2 left · 1:00:00"
    directory.start("0", "0")
    paused = replace(directory.look(), paused=True)
    assert standing(paused, now).startswith("pausing · 3 done · 1 running")
    rows = [text_of(row) for row in answer_rows(replace(paused, holder=""), now)]
    assert any("the next run waits; P lets it go on" in row for row in rows)


def test_an_answer_names_the_culprits_with_both_sides(directory: Directory) -> None:
    member = {"item": "layer3", "good": {"tactic": "0x1"}, "bad": None}
    answer = {"status": "certified", "why": "", "culprits": [[member, member]], "suspects": ["layer5"]}
    (directory.path / "result.json").write_text(json.dumps(answer))
    text = "\n".join("".join(piece.text for piece in row) for row in answer_rows(directory.look(), directory.now()))
    for part in (
        "certified",
        "culprit set 1, bad only together",
        "layer3",
        "good tactic 0x1",
        "bad  not there",
        "layer5",
    ):
        assert part in text


def test_a_set_is_called_what_it_is() -> None:
    assert set_title("tactics", 1, 1) == "culprit set 1"
    assert set_title("tactics", 2, 3) == "culprit set 2, bad only together"
    assert [set_title("precision", number, 2) for number in (1, 2)] == [
        "must stay FP32",
        "alternative 1, which does as well",
    ]
    assert set_title("reduce", 1, 2) == "what the failure needs"


def test_a_probe_of_a_reduction_tells_what_is_left_and_what_was_cut(directory: Directory) -> None:
    view = directory.look()
    assert [title for title, _ in subsets_of(view, view.probes[1])] == ["4 items from bad"]
    nodes = [DescribedItem(f"node{number}", {"op": "Relu"}) for number in range(7)]
    reduction = replace(view, mode="reduce", items=(*nodes, DescribedItem("the names")))
    probe = replace(view.probes[1], active=frozenset({0, 2, 7}))
    assert subsets_of(reduction, probe) == [
        ("2 nodes left", ["node0", "node2"]),
        ("5 nodes cut", ["node1", "node3", "node4", "node5", "node6"]),
        ("as it was", ["the names"]),
    ]


def test_a_row_of_a_reduction_counts_nodes_and_tells_why_a_probe_was_not_judged(directory: Directory) -> None:
    view = directory.look()
    nodes = [DescribedItem(f"node{number}", {"op": "Relu"}) for number in range(7)]
    reduction = replace(view, mode="reduce", items=(*nodes, DescribedItem("the names")))
    finished = replace(view.probes[1].finished[0], verdict=Verdict.UNRESOLVED, reason="fails otherwise: TF615")
    probe = replace(view.probes[1], active=frozenset({0, 2, 7}), finished=[finished])
    row = "".join(piece.text for piece in probe_row(reduction, probe))
    assert row.split()[:3] == ["2", "unresolved", "2"]
    assert row.endswith("fails otherwise: TF615")
    assert "nodes left" in "".join(piece.text for piece in heading(reduction))
    assert "active suspects" in "".join(piece.text for piece in heading(view))
