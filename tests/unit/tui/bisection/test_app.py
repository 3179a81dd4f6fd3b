"""The screen of an artifacts directory: a finished one, one that grows, one that is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.support.artifacts import Directory
from trtforensics.bisect.search import Verdict
from trtforensics.errors import SourceError
from trtforensics.tui.bisection.app import KEYS, BisectionApp
from trtforensics.tui.widgets.log_view import LogView

if TYPE_CHECKING:
    from collections.abc import Callable

    import pytest

    from tests.support.screens import ScreenText

SIZE = (140, 36)


def app_on(session: Any) -> BisectionApp:
    return BisectionApp(session)


async def test_probes_details_and_logs_are_a_key_away(
    directory: Directory, screen_text: ScreenText, until: Any
) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "log of 0003" in screen_text(app))
        await pilot.press("home", "down")
        await until(pilot, lambda: "build: died by SIGSEGV" in screen_text(app))
        await until(pilot, lambda: f"log of {directory.names[1]}" in screen_text(app))
        assert "␛[31mred" in screen_text(app)
        await pilot.press("c")
        await until(pilot, lambda: f"check of {directory.names[1]}" in screen_text(app))
        assert isinstance(app.focused, LogView)
        await pilot.press("escape", "up", "b")
        await until(pilot, lambda: f"log of {directory.names[0]}" in screen_text(app))


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
        assert "'needle' at line 40" in screen_text(app)
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
        await until(pilot, lambda: "'nowhere' is nowhere in this log" in screen_text(app))
        assert line() == 40
        await pilot.press("slash", "escape")
        assert app.focused is app._probes


async def test_help_tells_every_key(directory: Directory, screen_text: ScreenText, until: Any) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await pilot.press("question_mark")
        await until(pilot, lambda: "a bisection that runs goes on" in screen_text(app))
        shown = " ".join(key for _, keys in KEYS for key, _ in keys).replace("Esc", "escape").split()
        named = {"/": "slash", "?": "question_mark"}
        shown = [named.get(key, key) for key in shown]
        bound = {key for binding in BisectionApp.BINDINGS for key in binding.key.split(",")}  # type: ignore[union-attr]  # none of ours is a tuple
        assert bound - set(shown) == {"ctrl+c"}
        await pilot.press("q")
        await until(pilot, lambda: "a bisection that runs goes on" not in screen_text(app))
        assert app.is_running


async def test_it_follows_a_bisection_that_goes_on(directory: Directory, screen_text: ScreenText, until: Any) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "3 probes" in screen_text(app))
        directory.end(Verdict.GOOD, "check: exit status 0")
        directory.start("2", "2-3")
        await until(pilot, lambda: "4 probes" in screen_text(app))
        assert directory.names[3] in screen_text(app)


async def test_a_damaged_journal_ends_it_with_the_error(directory: Directory, until: Any) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        (directory.path / "journal.jsonl").write_text("no journal\n")
        await until(pilot, lambda: app.return_value is not None)
    assert isinstance(app.return_value, SourceError)
    assert "journal.jsonl:1" in str(app.return_value)


def test_it_looks_as_it_did(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    snap_compare: Callable[..., bool],
    screen_text: ScreenText,
    until: Any,
) -> None:
    monkeypatch.chdir(tmp_path)
    out = Path("out")
    out.mkdir()
    made = Directory(out)
    for active, suspects, verdict in (
        ("", "0-7", Verdict.GOOD),
        ("0-7", "0-7", Verdict.BAD),
        ("0-3", "0-7", Verdict.GOOD),
    ):
        made.start(active, suspects)
        made.end(verdict)
    made.start("0-5", "4-7")
    answer = {
        "status": "inconclusive",
        "why": "the search has not ended",
        "culprits": [],
        "suspects": ["layer4", "layer5"],
    }
    (out / "result.json").write_text(json.dumps(answer))
    app = app_on(made)

    async def run_before(pilot: Any) -> None:
        await until(pilot, lambda: "log of 0004" in screen_text(app))
        await pilot.press("up")
        await until(pilot, lambda: "log of 0003" in screen_text(app))

    assert snap_compare(app, terminal_size=(120, 30), run_before=run_before)
