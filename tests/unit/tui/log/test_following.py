"""A log whose file changes while it is on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.repository import LOGS
from tests.support.screens import SIZE, LogApp, ScreenText, log_app
from trtforensics.parsers.text.source import open_source
from trtforensics.tui.log import build_screen
from trtforensics.tui.sessions import LogSession

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = (LOGS / "emulated-trtexec-8.6.log").read_bytes()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_screen, "PERIOD_S", 0.01)
    monkeypatch.setattr(build_screen, "_PAUSE", 0)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a log that was cut in the middle."""
    path = tmp_path / "build.log"
    path.write_bytes(WHOLE[: WHOLE.index(b"\n", len(WHOLE) // 2) + 1])
    return path


def write(path: Path, data: bytes) -> None:
    path.write_bytes(data)


def complete(path: Path) -> None:
    """Write the rest of the log."""
    with path.open("ab") as stream:
        stream.write(WHOLE[path.stat().st_size :])


def add_a_line(path: Path) -> None:
    """Write the next line of the log."""
    with path.open("ab") as stream:
        stream.write(WHOLE[path.stat().st_size :].splitlines(keepends=True)[0])


def remove(path: Path) -> None:
    path.unlink()


def app_on(path: Path) -> LogApp:
    return log_app(LogSession(open_source(str(path))))


async def test_a_file_that_grows_is_read_on_and_the_cursor_stays(path: Path, parsed: Any, until: Any) -> None:
    app = app_on(path)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        before = app.first._panes.log_view.row_count()
        await pilot.press("4", "home", "down", "down")
        complete(path)
        await until(pilot, lambda: app.first._panes.log_view.row_count() > before)
        assert app.first._panes.log_view.current_line == 3
        assert app.first._panes.log_view.row_count() == WHOLE.count(b"\n")
        assert app.first.build is not None
        assert app.first.build.engine_layers


@pytest.mark.slow
async def test_a_log_that_grows_is_not_said_to_stop_until_it_rests(
    path: Path, parsed: Any, until: Any, screen_text: ScreenText, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_on(path)
    async with app.run_test(size=(120, 40)) as pilot:
        await parsed(pilot)
        await until(pilot, lambda: "TF701" in screen_text(app))
        add_a_line(path)
        await until(pilot, lambda: "TF701" not in screen_text(app))
        assert "reading" in screen_text(app)
        assert "layers tuned" in screen_text(app)
        monkeypatch.setattr(build_screen, "GROWS_S", 0.01)
        add_a_line(path)
        await until(pilot, lambda: "TF701" in screen_text(app))


@pytest.mark.slow
async def test_a_cursor_at_the_end_follows_the_end(path: Path, parsed: Any, until: Any) -> None:
    app = app_on(path)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("4", "end")
        complete(path)
        await until(pilot, lambda: app.first._panes.log_view.current_line == WHOLE.count(b"\n"))


async def test_a_file_that_is_gone_stays_on_the_screen(
    path: Path, parsed: Any, until: Any, screen_text: ScreenText
) -> None:
    app = app_on(path)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        lines = app.first._panes.log_view.row_count()
        remove(path)
        await until(pilot, lambda: "the file is gone" in screen_text(app))
        await pilot.press("r")
        await until(pilot, lambda: "not read again" in screen_text(app))
        assert app.first._panes.log_view.row_count() == lines


@pytest.mark.slow
async def test_a_truncated_file_is_read_anew_or_said_to_be_none(
    path: Path, parsed: Any, until: Any, screen_text: ScreenText
) -> None:
    app = app_on(path)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("4", "end")
        write(path, WHOLE[: WHOLE.index(b"\n", 2000) + 1])
        short = WHOLE[:2000].count(b"\n") + 1
        await until(pilot, lambda: app.first._panes.log_view.row_count() == short)
        assert app.first._panes.log_view.current_line <= short
        write(path, b"")
        await until(pilot, lambda: "not read again" in screen_text(app))
        assert app.first._panes.log_view.row_count() == short


async def test_r_reads_again_at_once(path: Path, parsed: Any, until: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(build_screen, "PERIOD_S", 1000.0)
    app = app_on(path)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        write(path, WHOLE)
        await pilot.press("r")
        await until(pilot, lambda: app.first._panes.log_view.row_count() == WHOLE.count(b"\n"))


async def test_a_second_build_that_failed_is_opened_and_the_strip_shows_it(
    tmp_path: Path, parsed: Any, screen_text: ScreenText
) -> None:
    failed = WHOLE.replace(b"&&&& PASSED", b"&&&& FAILED")
    path = tmp_path / "two.log"
    path.write_bytes(WHOLE + failed)
    app = app_on(path)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        assert "2 builds · 1 failed" in screen_text(app)
        assert "[2✗]" in screen_text(app)
        assert app.first._number == 1
