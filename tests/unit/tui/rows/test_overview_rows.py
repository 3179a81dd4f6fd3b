"""The overview of a build, its title, the strip of builds, and the progress of a parse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.sample_session import Scribe, log_of, unknown_build
from tests.support.screens import text_of
from trtforensics.console.progress import Progress
from trtforensics.model.log import BackendPass, BuildLog, Outcome
from trtforensics.tui.rows.overview_rows import (
    OverviewRow,
    first_failed,
    overview_rows,
    progress_line,
    strip_line,
    title_line,
)
from trtforensics.tui.rows.pieces import width_of


def test_the_overview_names_what_matters(log: BuildLog) -> None:
    rows = {row.label.strip(" ▏▎▍▌▋▊▉█"): row for row in reversed(overview_rows(log, log.builds[0]))}
    assert rows["GPU"].value == "NVIDIA A10G, compute capability 8.6, 80 SMs"
    assert rows["Precision"].value == "FP32+FP16"
    assert rows["Memory Pools"].value == "workspace: 4096 MiB"
    assert rows["0: backend strategy 4"].value.startswith("the engine, estimated 0.8120 ms, lines ")
    assert rows["1: backend strategy 2"].value.startswith("discarded, lines ")
    assert rows["101  -4"].value == "After dead-layer removal"
    assert rows["engine"].value == "5 layers"
    values = [row.value for row in overview_rows(log, log.builds[0])]
    assert any(value.startswith("types: CaskConvolution 1, TiledPooling 1, ") for value in values)
    assert "output types: Half 5" in values
    assert rows["understood"].value == "2 lines of 1 shape were not understood"
    assert rows["2 times"].value == "A line [of] a shape nobody knows"
    assert rows["throughput"].value == "1234.5 qps"


def test_the_overview_leaves_out_stages_of_passes_that_were_discarded_and_those_that_changed_nothing(
    log: BuildLog,
) -> None:
    build = log.builds[0]
    last = build.stages[-1]
    stages = (
        *build.stages,
        replace(last, name="After slice removal"),
        replace(last, name="lost", pass_index=1, layers=9),
    )
    rows = overview_rows(log, replace(build, stages=stages))
    values = [row.value for row in rows]
    assert "After vertical fusions" in values
    assert "1 more stage changed nothing" in values
    assert not {"After slice removal", "lost"} & set(values)


def test_an_overview_of_a_log_that_was_understood_says_so(log: BuildLog) -> None:
    clean = replace(log, lines=replace(log.lines, unknown=0), unknown_shapes=0, unknown_samples=())
    cut = replace(clean, source=replace(log.source, cut=True))
    values = [row.value for row in overview_rows(cut, log.builds[0])]
    assert any(value.startswith("every ") and " understood" in value for value in values)
    assert "the last line has no line ending, as where a log is cut" in values


def test_what_a_log_does_not_tell_is_said(log: BuildLog) -> None:
    rows = {row.label: row.value for row in overview_rows(log, log.builds[1])}
    assert rows["GPU"] == "not in this log"
    assert rows["TensorRT"] == "version unknown"
    assert rows["engine"] == "1 layer; the log prints their names only"
    assert rows["chosen"] == "1 choice; the log does not tell which the engine uses"


def test_a_long_value_goes_on_below_itself() -> None:
    row = OverviewRow("command", "trtexec " + "--option " * 20, 7)
    lines = [text_of(line) for line in row.lines(4, 60)]
    assert len(lines) > 3
    assert lines[0].startswith("   7 command  ")
    assert all(line.startswith(" " * 19 + "--option") and len(line) <= 60 for line in lines[1:])
    wide = [text_of(line) for line in row.lines(4, 120)]
    assert all(line.startswith(" " * 30 + "--option") for line in wide[1:])


def test_a_label_longer_than_its_column_is_whole_and_a_value_keeps_to_its_lines() -> None:
    row = OverviewRow("BuilderOptimizationLevel", "five " * 30, 7, most=2)
    first, last = (text_of(line) for line in row.lines(4, 60))
    assert first.startswith("   7 BuilderOptimizationLevel five")
    assert last.startswith(" " * 19 + "five")
    assert last.endswith(" …")
    assert max(len(first), len(last)) <= 60


def test_the_overview_points_at_the_lines_that_state_its_facts(log: BuildLog, session: Any) -> None:
    for row in overview_rows(log, log.builds[0]):
        if row.label == "Precision":
            assert row.line is not None
            assert "Precision: FP32+FP16" in session.text.line(row.line)
            return
    raise AssertionError("no precision")


def test_a_single_pass_without_strategy_is_not_worth_a_row(log: BuildLog) -> None:
    build = replace(log.builds[0], passes=(BackendPass(None, 1, 2, chosen=None),))
    assert "Passes" in {row.label for row in overview_rows(log, log.builds[0])}
    assert "Passes" not in {row.label for row in overview_rows(log, build)}


def test_progress_of_a_pipe_shows_no_share() -> None:
    assert text_of(progress_line(Progress(2048, None, 1), 80)) == " reading  2.0 KiB · 1 line"


def test_the_title_counts_builds_only_where_there_are_several(log: BuildLog) -> None:
    assert "build 1 of 2" in text_of(title_line("a", log, log.builds[0], 80))
    alone = replace(log, builds=log.builds[:1])
    assert "build" not in text_of(title_line("a", alone, alone.builds[0], 80))


def test_a_long_path_gives_way_to_the_outcome_in_the_title(log: BuildLog) -> None:
    title = title_line("/a/very/long/path" * 9 + "/build.log", log, log.builds[0], 90)
    assert width_of(title) <= 90
    assert text_of(title).endswith("build.log  build 1 of 2 [ ] PASSED · trtexec 8.5.1")


def log_with(outcomes: list[Outcome]) -> BuildLog:
    """Return a log whose builds ended so."""
    builds = [replace(unknown_build(Scribe()), index=index, outcome=outcome) for index, outcome in enumerate(outcomes)]
    return log_of(Scribe(), *builds)


def test_each_build_has_the_mark_of_its_outcome_and_the_one_in_view_brackets() -> None:
    log = log_with([Outcome.PASSED, Outcome.FAILED, Outcome.TRUNCATED, Outcome.UNKNOWN])
    text = text_of(strip_line(log, log.builds[1], 120))
    assert text.strip() == "4 builds · 1 failed [ ]   1✔  [2✗]  3…   4?"


def test_one_build_in_one_pass_needs_no_strip() -> None:
    log = log_with([Outcome.PASSED])
    assert strip_line(log, log.builds[0], 120) == ()


def test_passes_say_which_was_kept() -> None:
    passes = [BackendPass(None, 1, 2, chosen) for chosen in (False, True, False)]
    log = log_of(Scribe(), replace(unknown_build(Scribe()), passes=passes))
    assert text_of(strip_line(log, log.builds[0], 120)).strip() == "3 passes, kept 2"
    silent = [BackendPass(None, 1, 2, None) for _ in range(2)]
    log = log_of(Scribe(), replace(unknown_build(Scribe()), passes=silent))
    assert "2 passes, the log does not tell which was kept" in text_of(strip_line(log, log.builds[0], 120))


def test_the_first_failed_build_is_found() -> None:
    assert first_failed(log_with([Outcome.PASSED, Outcome.FAILED, Outcome.FAILED]).builds) == 1
    assert first_failed(log_with([Outcome.PASSED, Outcome.TRUNCATED]).builds) == 0


@given(st.integers(2, 400), st.integers(0, 399), st.integers(40, 200))
def test_the_strip_fits_and_shows_the_build_in_view(count: int, shown: int, width: int) -> None:
    log: Any = log_with([Outcome.PASSED] * count)
    line = strip_line(log, log.builds[shown % count], width)
    assert width_of(line) <= width
    assert f"[{shown % count + 1}✔]" in text_of(line)
