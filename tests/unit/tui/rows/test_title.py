"""The title of a build log, the strip of its builds, and the progress of its parse."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.support.sample_session import Scribe, log_of, unknown_build
from tests.support.screens import text_of
from trtforensics.console.progress import Progress
from trtforensics.model.log import BackendPass, BuildLog, Outcome
from trtforensics.tui.rows.overview_rows import first_failed, progress_line, strip_line, title_line
from trtforensics.tui.rows.pieces import width_of


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
