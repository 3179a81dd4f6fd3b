"""The screen of an artifacts directory: a finished one, one that grows, one that is damaged."""

from __future__ import annotations

import dataclasses
import errno
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.artifacts import Directory
from tests.support.diff_samples import log_with
from tests.support.screens import PICTURES, AppOn
from trtforensics.bisection.search import Verdict
from trtforensics.errors import SourceError
from trtforensics.parsers.text.source import MAX_BYTES
from trtforensics.tui.bisection import BisectionScreen
from trtforensics.tui.diff import DiffScreen
from trtforensics.tui.log.screen import LogScreen
from trtforensics.tui.widgets.log_view import LogView

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.support.screens import ScreenText

SIZE = (140, 36)


def app_on(directory: Directory) -> AppOn[BisectionScreen]:
    return AppOn(BisectionScreen(directory.path, MAX_BYTES))


@pytest.mark.slow
async def test_probes_details_and_logs_are_a_key_away(
    directory: Directory, screen_text: ScreenText, until: Any
) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "log of 0003" in screen_text(app))
        await pilot.press("home", "down")
        await until(pilot, lambda: "build: died by SIGSEGV" in screen_text(app))
        await until(pilot, lambda: f"log of {directory.names[1]}" in screen_text(app))
        assert " red" in screen_text(app)
        assert "\x1b[31m" not in screen_text(app)
        await pilot.press("6")
        await until(pilot, lambda: f"check of {directory.names[1]}" in screen_text(app))
        assert isinstance(app.focused, LogView)
        await pilot.press("escape", "up", "4")
        await until(pilot, lambda: f"log of {directory.names[0]}" in screen_text(app))


@pytest.mark.slow
async def test_the_log_in_view_can_be_searched(directory: Directory, screen_text: ScreenText, until: Any) -> None:
    log = directory.path / "probes" / directory.names[2] / "build.log"
    log.write_text("".join(f"line {number} {'needle' if number % 40 == 0 else ''}\n" for number in range(1, 101)))
    app = app_on(directory)

    def line() -> int:
        return app.query_one(LogView).current_line

    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "line 1 " in screen_text(app))
        await pilot.press("n")
        assert "nothing to search for" in screen_text(app)
        await pilot.press("slash", *"needle", "enter")
        await until(pilot, lambda: line() == 40)
        await until(pilot, lambda: "'needle' 1/2" in screen_text(app))
        await pilot.press("n")
        await until(pilot, lambda: line() == 80)
        await pilot.press("n")
        await until(pilot, lambda: line() == 40)  # from the other end again
        await pilot.press("N")
        await until(pilot, lambda: line() == 80)
        log.write_text(log.read_text() + "one more\n")  # the log grows: place and marks stay
        await until(pilot, lambda: app.query_one(LogView).row_count() == 101)
        assert line() == 80
        await pilot.press("N")
        await until(pilot, lambda: line() == 40)
        await pilot.press("slash", *"nowhere", "enter")
        await until(pilot, lambda: "'nowhere' is nowhere in the lines read" in screen_text(app))
        assert line() == 40
        await pilot.press("slash", "escape")
        assert app.focused is app.first._probes


@pytest.mark.slow
async def test_it_follows_a_bisection_that_goes_on(directory: Directory, screen_text: ScreenText, until: Any) -> None:
    directory.hold()
    directory.answer(builds_left={"expected": 5.2, "worst": 9}, suspects=["layer0", "layer1", "layer2"])
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "2 done · 1 running" in screen_text(app))
        directory.end(Verdict.GOOD, "check: exit status 0")
        directory.start("2", "2-3")
        await until(pilot, lambda: "3 done · 1 running" in screen_text(app))
        assert "inconclusive" not in screen_text(app)
        assert "searching · 3 done · 1 running · about 5 left · 0:25 · ETA 0:43 · 2 suspects" in screen_text(app)
        assert " 2 suspects left" in screen_text(app)
        assert directory.names[3] in screen_text(app)


async def test_p_pauses_what_runs_once_and_lets_it_go_on(
    directory: Directory, screen_text: ScreenText, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    app, paused = app_on(directory), directory.path / "paused"
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.first._probes.row_count() == 3)
        await pilot.press("P")
        assert "no process works on it now: nothing to pause" in screen_text(app)
        assert not paused.exists()
        directory.hold()
        await pilot.press("r")
        await until(pilot, lambda: "searching" in screen_text(app))
        assert "P Pause" in screen_text(app)
        await pilot.press("P")
        assert paused.is_file()
        await until(pilot, lambda: "pausing · 2 done" in screen_text(app))
        await pilot.press("P", "P", "P")  # each by what the directory holds, not by what the screen showed
        assert not paused.exists()
        monkeypatch.setattr("trtforensics.console.own_files.open_own", refused)
        await pilot.press("P")
        (told,) = (note.message for note in app._notifications)
        assert told.startswith(f"{paused}: cannot be written: permission denied. ")
    assert not paused.exists()


def refused(*_: object) -> int:
    raise PermissionError(errno.EACCES, "Permission denied")


async def test_a_damaged_journal_ends_it_with_the_error(directory: Directory, until: Any) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        damaged = directory.path / "damaged"
        damaged.write_text("no journal\n")
        damaged.replace(directory.path / "journal.jsonl")  # the app never reads it half-written
        await until(pilot, lambda: app.return_value is not None)
    assert isinstance(app.return_value, SourceError)
    assert "journal.jsonl:1" in str(app.return_value)


@pytest.mark.slow
async def test_enter_opens_the_build_log_of_the_probe_and_q_comes_back(directory: Directory, until: Any) -> None:
    log = directory.path / "probes" / directory.names[1] / "build.log"
    log.write_text(log_with(fused=True))
    errors = log.with_name("build.err")
    errors.write_text("[E] Error[10]: Could not find any implementation for node x.\n")
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.first._probes.row_count() == 3)
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: isinstance(app.screen, LogScreen) and app.screen.build is not None)
        assert isinstance(app.screen, LogScreen)
        session = app.screen.session
        assert session.name == str(log)
        assert session.place(len(session.text)) == (str(errors), 1)
        assert app.screen.build is not None
        assert app.screen.build.message_counts.error == 1
        assert app.screen.KEYS == "log"
        await pilot.press("f", *"conv", "enter", "escape", "q")
        assert app.first.is_active
        assert app.first._probes.selected is not None
        assert app.first._probes.selected.number == 2
        assert app.focused is app.first._probes
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, LogScreen) and app.screen.build is not None)
        await pilot.press("escape", "escape")  # it opens as it was left: at the layers
        assert app.first.is_active
        await pilot.press("q")
    assert app.return_value is None


@pytest.mark.slow
async def test_a_log_that_cannot_be_shown_leads_back_with_a_sentence(
    directory: Directory, screen_text: ScreenText, until: Any
) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.first._probes.row_count() == 3)
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: "no line carries a TensorRT" in screen_text(app))
        assert app.first.is_active


@pytest.mark.slow
async def test_d_compares_two_probes_the_better_one_as_good(
    directory: Directory, screen_text: ScreenText, until: Any
) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: app.first._probes.row_count() == 3)
        await pilot.press("home", "d")
        assert "probe 1 is marked" in screen_text(app)
        assert "▸   1" in screen_text(app)
        await pilot.press("escape")
        assert "▸" not in screen_text(app)
        for name, fused in zip(directory.names, (True, False), strict=False):
            (directory.path / "probes" / name / "build.log").write_text(log_with(fused=fused))
        await pilot.press("d", "down", "d")
        await until(pilot, lambda: isinstance(app.screen, DiffScreen) and app.screen.rows.selected is not None)
        assert isinstance(app.screen, DiffScreen)
        names = [str(directory.path / "probes" / name / "build.log") for name in directory.names[:2]]
        bad, good = map(shlex.quote, names)  # the unresolved probe is better than the bad one
        assert app.screen.next_command() == f"trtforensics diff {good} {bad}"
        await pilot.press("q")
        assert app.first.is_active


@pytest.mark.slow
async def test_the_answer_ends_with_the_files_of_the_repair_and_the_command(
    directory: Directory, screen_text: ScreenText, until: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory.end(Verdict.GOOD)
    fixed = directory.path / "fixed"
    fixed.mkdir()
    (fixed / "replay.json").write_text("{}")
    (fixed / "banned-tactics.tsv").write_text("")
    directory.answer(status="certified", why="", culprits=[[{"item": "layer1"}]])
    view = dataclasses.replace(directory.look(), build="make --replay={replay} -o {engine} > {log}")
    monkeypatch.setattr("trtforensics.tui.bisection.view_directory", lambda _: view)  # a job with a build command
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("2", "end")
        await until(pilot, lambda: "apply it" in screen_text(app))
        shown = screen_text(app)
        assert shown.index("replay.json") < shown.index("banned-tactics.tsv") < shown.index("apply it")
        await pilot.press("c")
        assert app.clipboard == f"make --replay={fixed}/replay.json -o fixed.engine > fixed.log"


@pytest.mark.slow
async def test_a_narrow_screen_shows_one_half_at_a_time(
    directory: Directory, screen_text: ScreenText, until: Any
) -> None:
    app = app_on(directory)
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: app.first._probes.row_count() == 3)
        await pilot.pause()
        assert "log of" not in screen_text(app)
        assert "suspects" in screen_text(app)
        await pilot.press("4")
        await until(pilot, lambda: f"log of {directory.names[2]}" in screen_text(app))
        await pilot.press("escape")
        await until(pilot, lambda: "log of" not in screen_text(app))


@pytest.fixture
def searching(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Directory:
    """Three ended probes, one that runs, and a process that works on the directory."""
    monkeypatch.chdir(tmp_path)
    out = Path("out")
    out.mkdir()
    made = Directory(out)
    monkeypatch.setattr("trtforensics.tui.bisection.present", made.now)
    for active, suspects, verdict in (
        ("", "0-7", Verdict.GOOD),
        ("0-7", "0-7", Verdict.BAD),
        ("0-3", "0-7", Verdict.GOOD),
    ):
        made.start(active, suspects)
        made.end(verdict)
    made.start("0-5", "4-7")
    (out / ".lock").write_text("process 1 on another-machine\n")
    made.answer(builds_left={"expected": 3.0, "worst": 5}, suspects=["layer4", "layer5", "layer6", "layer7"])
    made.look()
    return made


@pytest.mark.parametrize(("size", "theme"), PICTURES)
def test_it_looks_as_it_did(
    size: tuple[int, int], theme: str, searching: Directory, snap_compare: Callable[..., bool], until: Any
) -> None:
    app = app_on(searching)
    app.theme = theme

    async def run_before(pilot: Any) -> None:
        await until(pilot, lambda: app.first._probes.row_count() == 4)
        await pilot.press("up")
        await until(
            pilot,
            lambda: app.first._text is not None and "0003" in str(app.first._text.path) and len(app.first._text) > 1,
        )
        await pilot.pause()

    assert snap_compare(app, terminal_size=size, run_before=run_before)
