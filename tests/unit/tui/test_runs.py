"""The screen of many logs, driven by keys: over a folder, and over the dataset of its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.repository import LOGS
from tests.support.screens import AppOn, ScreenText, Until
from trtforensics.cli import main
from trtforensics.tui.diff import DiffScreen
from trtforensics.tui.log.screen import LogScreen
from trtforensics.tui.runs import RunsScreen

if TYPE_CHECKING:
    from pathlib import Path

SIZE = (80, 24)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A log, a copy that failed, two runs in one file, and no log."""
    logs = tmp_path / "logs"
    logs.mkdir()
    lines = (LOGS / "emulated-trtexec-8.6.log").read_text("utf-8").splitlines(keepends=True)
    text = "".join((*lines[:150], *lines[-30:]))
    failed = text.replace("&&&& PASSED", "&&&& FAILED")
    for name, content in {"a.log": text, "b.log": failed, "c.log": failed + text, "d.txt": "a poem\n"}.items():
        (logs / name).write_text(content, "utf-8")
    return logs


async def test_runs_are_sorted_filtered_compared_and_opened(
    folder: Path, screen_text: ScreenText, until: Until
) -> None:
    app = AppOn(RunsScreen(str(folder), max_bytes=1 << 30))
    rows = app.first.rows
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "4 runs · 1 file not read as logs" in screen_text(app))
        places = [(row["source"][-5:], row["run"], row["outcome"]) for row in rows.rows]
        ends = ["passed", "failed", "failed", "passed"]
        assert places == list(zip(["a.log", "b.log", "c.log", "c.log"], [1, 1, 1, 2], ends, strict=True))
        await pilot.press("s")
        await until(pilot, lambda: [row["outcome"] for row in rows.rows] == sorted(ends))
        await pilot.press("S", "f", *"outcome:passed", "enter")
        await until(pilot, lambda: "2 of 4 runs" in screen_text(app))
        assert [row["source"][-5:] for row in rows.rows] == ["a.log", "c.log"]
        await pilot.press("end", "enter")
        await until(pilot, lambda: isinstance(app.screen, LogScreen) and app.screen.build is not None)
        assert isinstance(app.screen, LogScreen)
        assert app.screen.build is not None
        assert app.screen.build.index == 1
        await pilot.press("q")
        await until(pilot, lambda: app.screen is app.first)
        await pilot.press("d", "home", "d")
        await until(pilot, lambda: isinstance(app.screen, DiffScreen))
        assert isinstance(app.screen, DiffScreen)
        assert [path[-5:] for path in app.screen._paths.values()] == ["c.log", "a.log"]


@pytest.mark.slow
async def test_a_dataset_lists_the_same_runs(folder: Path, tmp_path: Path, until: Until) -> None:
    pytest.importorskip("pyarrow", reason="part of the extra `table`")
    into = str(tmp_path / "set")
    assert main(["ingest", str(folder), "--into", into, "-q"]) == 0
    screens = [RunsScreen(path, max_bytes=1 << 30) for path in (str(folder), into)]
    every = []
    for screen in screens:
        async with AppOn(screen).run_test(size=SIZE) as pilot:
            await until(pilot, lambda screen=screen: not screen._reading)  # type: ignore[misc]  # mypy: no type of a default
            assert screen._refused == 1
            every.append([{**row, "roots": list(row["roots"] or ())} for row in screen.rows.rows])
    assert every[0] == every[1]
