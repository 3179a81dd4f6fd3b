"""The title of the screen, and the progress of a parse."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.screens import text_of
from trtforensics.console.progress import Progress
from trtforensics.tui.rows.pieces import width_of
from trtforensics.tui.rows.title_and_progress import progress_line, title_line

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


def test_progress_of_a_pipe_shows_no_share() -> None:
    assert text_of(progress_line(Progress(2048, None, 1), 80)) == " reading  2.0 KiB · 1 line"


def test_the_title_counts_builds_only_where_there_are_several(log: BuildLog) -> None:
    assert "build 1 of 2" in text_of(title_line("a", log, log.builds[0], 80))
    alone = replace(log, builds=log.builds[:1])
    assert "build" not in text_of(title_line("a", alone, alone.builds[0], 80))


def test_a_long_path_gives_way_to_the_outcome_in_the_title(log: BuildLog) -> None:
    title = title_line("/a/very/long/path" * 9 + "/build.log", log, log.builds[0], 90)
    assert width_of(title) <= 90
    assert text_of(title).endswith("build.log  build 1 of 2 [ ]  TensorRT 8.5.1 · trtexec · passed")
