"""The TUI on an artifacts directory: a finished one, one that grows, one that is damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.bisect.search import Verdict
from trtforensics.bisect.session.view import view_directory
from trtforensics.errors import SourceError
from trtforensics.tui.bisection.app import KEYS, BisectionApp
from trtforensics.tui.rows.bisection_rows import answer_rows, probe_row, set_title
from trtforensics.tui.widgets.log_view import LogView

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from trtforensics.bisect.session.view import DirectoryView

    ScreenText = Callable[[App[Any]], str]

SIZE = (140, 36)


class Lines:
    """A log as a list of lines."""

    def __init__(self, text: str) -> None:
        self._lines = text.splitlines()

    def __len__(self) -> int:
        return len(self._lines)

    def line(self, number: int) -> str:
        """Return a line."""
        return self._lines[number - 1]

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:
        """Find a line."""
        numbers = range(start, 0, -1) if backwards else range(start, len(self) + 1)
        return next((number for number in numbers if needle in self.line(number)), None)


class Directory:
    """An artifacts directory written by hand, and the session on it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        items = [{"item": f"layer{n}", "good": {"tactic": "0x1"}, "bad": {"tactic": "0x2"}} for n in range(8)]
        job = {"schema": 1, "kind": "bisection", "mode": "tactics", "build": "make", "check": "try", "items": items}
        (path / "job.json").write_text(json.dumps(job))
        self.probes = 0

    def event(self, **fields: object) -> None:
        """Append to the journal."""
        with (self.path / "journal.jsonl").open("a") as journal:
            journal.write(json.dumps({"at": "2026-11-21T10:00:00+00:00", **fields}) + "\n")

    def start(self, active: str, suspects: str) -> Path:
        """Begin a probe with a log."""
        self.probes += 1
        name = f"{self.probes:04d}-abcdef"
        folder = self.path / "probes" / name
        folder.mkdir(parents=True)
        (folder / "build.log").write_text(f"log of {name}\n\x1b[31mred\n")
        (folder / "check.log").write_text(f"check of {name}\n")
        fields = {"folder": name, "active": active, "suspects": suspects, "build": 0, "check": 0, "purpose": "narrow"}
        self.event(event="start", probe=self.probes, **fields)
        return folder

    def end(self, verdict: Verdict, reason: str = "check: exit status 1") -> None:
        """End the last probe."""
        judged = {"verdict": verdict, "reason": reason, "judge": "try", "check": 0, "seconds": 2.5}
        flags = {"timed_out": False, "timeout": None, "build_failed": False, "built": True, "log_checks": 1}
        self.event(event="end", probe=self.probes, **judged, **flags)

    def look(self) -> DirectoryView:
        """Read the directory."""
        return view_directory(self.path)

    def log(self, path: Path) -> Lines:
        """Read a log."""
        return Lines(path.read_text())


def app_on(session: Any) -> BisectionApp:
    return BisectionApp(session)


@pytest.fixture
def directory(tmp_path: Path) -> Directory:
    """Two ended probes, and one that runs."""
    made = Directory(tmp_path)
    made.start("0-7", "0-7")
    made.end(Verdict.BAD)
    made.start("0-3", "0-7")
    made.end(Verdict.UNRESOLVED, "build: died by SIGSEGV")
    made.start("0-1", "0-3")
    return made


def test_a_row_tells_verdict_subset_and_suspects(directory: Directory) -> None:
    view = directory.look()
    rows = ["".join(piece.text for piece in probe_row(view, probe)) for probe in view.probes]
    assert [row.split()[:3] for row in rows[:2]] == [["1", "bad", "8"], ["2", "unresolved", "4"]]
    assert rows[0].count("█") == 16
    assert rows[2].count("█") == 8
    assert "cut off" in rows[2]  # nobody holds the lock


def test_an_answer_names_the_culprits_with_both_sides(directory: Directory) -> None:
    member = {"item": "layer3", "good": {"tactic": "0x1"}, "bad": None}
    answer = {"status": "certified", "why": "", "culprits": [[member, member]], "suspects": ["layer5"]}
    (directory.path / "result.json").write_text(json.dumps(answer))
    text = "\n".join("".join(piece.text for piece in row) for row in answer_rows(directory.look()))
    for part in (
        "certified",
        "culprit set 1, bad only together",
        "layer3",
        "good tactic 0x1",
        "bad  not there",
        "layer5",
    ):
        assert part in text


async def test_probes_details_and_logs_are_a_key_away(
    directory: Directory, screen_text: ScreenText, until: Any
) -> None:
    app = app_on(directory)
    async with app.run_test(size=SIZE) as pilot:
        await until(pilot, lambda: "log of 0003" in screen_text(app))
        await pilot.press("home", "down")
        await until(pilot, lambda: "build: died by SIGSEGV" in screen_text(app))
        await until(pilot, lambda: "log of 0002-abcdef" in screen_text(app))
        assert "␛[31mred" in screen_text(app)
        await pilot.press("c")
        await until(pilot, lambda: "check of 0002-abcdef" in screen_text(app))
        assert isinstance(app.focused, LogView)
        await pilot.press("escape", "up", "b")
        await until(pilot, lambda: "log of 0001-abcdef" in screen_text(app))


async def test_the_log_in_view_can_be_searched(directory: Directory, screen_text: ScreenText, until: Any) -> None:
    log = directory.path / "probes" / "0003-abcdef" / "build.log"
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
        assert "0004-abcdef" in screen_text(app)


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


def test_a_set_is_called_what_it_is() -> None:
    assert set_title("tactics", 1, 1) == "culprit set 1"
    assert set_title("tactics", 2, 3) == "culprit set 2, bad only together"
    assert [set_title("precision", number, 2) for number in (1, 2)] == [
        "must stay FP32",
        "alternative 1, which does as well",
    ]
