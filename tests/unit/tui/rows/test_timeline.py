"""A build's own time: phases, tuned layers, how far a build is."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from trtforensics.model.log import LayerTuning, Outcome
from trtforensics.tui.rows.timeline import moment_at, progress, timeline

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


def clock(line: int) -> str:
    """Return a line of a log in which each line takes a second."""
    return f"[06/01/2023-12:{line // 60:02}:{line % 60:02}] [V] line"


def silent(_: int) -> None:
    """Return no line."""


def test_phases_and_layers_stand_by_the_clock_of_their_lines(log: BuildLog) -> None:
    build = log.builds[0]
    rows = timeline(log, build, clock)
    phases = [row for row in rows[1 : [row.line for row in rows].index(None, 1)] if row.seconds is not None]
    assert sum(row.seconds or 0.0 for row in phases) == build.last_line - build.first_line
    layers = {row.label: row for row in rows[len(phases) + 2 :]}
    assert layers.keys() == {result.layer for result in build.tuned_results}
    last = max(choice.span.line for choice in build.choices)
    first = min(choice.first_line for choice in build.choices)
    assert sum(row.seconds or 0.0 for row in layers.values()) == last - first
    tuned = {choice.layer for choice in build.choices}
    assert {name for name, row in layers.items() if row.known == "clock"} == tuned
    assert {row.known for name, row in layers.items() if name not in tuned} <= {"cached"}
    choice = build.choices[0]
    assert layers[choice.layer].line == choice.first_line < choice.span.line


def test_what_the_log_states_goes_before_the_clock(log: BuildLog) -> None:
    build = log.builds[0]
    tuning = tuple(LayerTuning("conv1 + relu1", seconds, build.choices[1].span) for seconds in (0.25, 0.5))
    row = next(row for row in timeline(log, replace(build, tuning=tuning), clock) if row.label == "conv1 + relu1")
    assert (row.seconds, row.known, row.share) == (0.75, "stated", 1.0)


def test_layers_on_lines_without_a_clock_stand_by_their_tactics_and_no_seconds_are_said(log: BuildLog) -> None:
    rows = timeline(log, log.builds[0], silent)
    assert all(row.seconds is None for row in rows)
    assert "the lines have no time" in next(row.label for row in rows if row.label.startswith("Tuning"))
    assert rows[-1].tactics <= next(row.tactics for row in rows if row.label == "conv1 + relu1") == 16


def test_how_far_a_build_is_names_the_layers_known_and_estimates_nothing(log: BuildLog) -> None:
    build = replace(log.builds[0], outcome=Outcome.TRUNCATED)
    assert "layers tuned" in progress(build, clock)
    assert progress(replace(build, choices=()), clock).startswith("0 ") is bool(build.cached)
    assert " a minute" in progress(build, clock) or " a second" in progress(build, clock)
    assert "left" not in progress(build, clock)
    before = replace(build, choices=(), cached=())
    assert progress(before, clock).startswith("before tuning, After")
    assert progress(replace(before, outcome=Outcome.PASSED), clock) == "the log shows no tuning"


def test_a_line_without_a_time_has_that_of_one_near_it() -> None:
    lines = {4: "2023-06-01 12:00:05,123 INFO x", 60: "[13/41/2023-12:00:00] [I] no date"}
    assert moment_at(lines.get, 5) == datetime(2023, 6, 1, 12, 0, 5)  # noqa: DTZ001 - a log's local time
    assert moment_at(lines.get, 3) == moment_at(lines.get, 4)
    assert moment_at(lines.get, 60) is None
    assert moment_at(lines.get, 40) is None
