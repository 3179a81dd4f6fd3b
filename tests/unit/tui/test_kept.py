"""What is kept of a source between sessions."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import LOGS
from tests.support.screens import SIZE, ScreenText, log_app, log_line, panes_of
from trtforensics.tui.sessions import open_log
from trtforensics.tui.user_files import Bookmark, KeptSource, copied_file
from trtforensics.tui.widgets.log_view import BOOKMARK

if TYPE_CHECKING:
    from pathlib import Path

LINES = {3: "token=hunter2secret", 5: "five"}


def test_bookmarks_are_kept_without_the_text_of_their_lines_and_tell_a_line_that_moved() -> None:
    kept = KeptSource("build.log", LINES.get)
    kept.mark(3, "why?")
    kept.mark(5, "")
    assert not kept.keep({"pane": "layers"})
    (path,) = (copied_file().parent / "sources").iterdir()
    assert "hunter2" not in path.read_text("utf-8")
    again = KeptSource("build.log", (LINES | {5: "other"}).get)
    assert again.bookmarks == {3: Bookmark(3, "why?"), 5: Bookmark(5, "", moved=True)}
    assert again.place == {"pane": "layers"}
    assert KeptSource("other.log", LINES.get).bookmarks == {}


@pytest.mark.parametrize("text", ["", "[]", "{", '{"place": 3, "bookmarks": [{"line": "x"}, 4]}', "[" * 100_000])
def test_a_damaged_file_keeps_nothing_and_stops_nobody(text: str) -> None:
    kept = KeptSource("build.log", LINES.get)
    kept.mark(3, "")
    kept.keep()
    (path,) = (copied_file().parent / "sources").iterdir()
    path.write_text(text, "utf-8")
    assert KeptSource("build.log", LINES.get).bookmarks == {}


def test_a_source_that_was_only_looked_at_leaves_no_file() -> None:
    assert not KeptSource("build.log", LINES.get).keep({})
    assert not (copied_file().parent / "sources").exists()


async def test_a_log_opens_as_it_was_left_unless_it_changed(
    tmp_path: Path, parsed: Any, screen_text: ScreenText
) -> None:
    path = tmp_path / "build.log"
    path.write_bytes((LOGS / "emulated-trtexec-8.6.log").read_bytes())
    app = log_app(open_log(str(path), 1 << 40))
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("4", "down", "down", "B", *"why", "enter")
        assert f"3{BOOKMARK}" in screen_text(app)
        await pilot.press("2", "s", "f", *"relu", "enter", "down")
        tree = panes_of(app).layer_tree
        left = tree.memory(), tree.kept_by.text, tree._order.column, len(tree.rows)
    app = log_app(open_log(str(path), 1 << 40))
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        tree = panes_of(app).layer_tree
        assert panes_of(app).tab == "layers"
        assert (tree.memory(), tree.kept_by.text, tree._order.column, len(tree.rows)) == left
        await pilot.press("apostrophe")
        assert "why" in screen_text(app)
        await pilot.press("enter")
        assert log_line(app) == 3
    path.write_bytes(path.read_bytes() + b"one more line\n")
    app = log_app(open_log(str(path), 1 << 40))
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert panes_of(app).tab == "overview"
        assert app.first.kept is not None
        assert app.first.kept.bookmarks == {3: Bookmark(3, "why")}
    (kept,) = (copied_file().parent / "sources").iterdir()
    assert json.loads(kept.read_bytes())["bookmarks"][0]["note"] == "why"
