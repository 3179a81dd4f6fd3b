"""What each key changes on each screen, line by line; `--snapshot-update` renews it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.diff_samples import log_with
from tests.support.engine_pair import write_pair
from tests.support.repository import ROOT
from tests.support.screens import AppOn, ScreenText, log_app
from trtforensics.tui.diff import DiffScreen
from trtforensics.tui.model import ModelScreen
from trtforensics.tui.runs import RunsScreen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence
    from pathlib import Path

    from textual.pilot import Pilot

    Settled = Callable[[Pilot[Any]], Awaitable[None]]

SIZE = (112, 34)
LIMIT = 1 << 30


def changed(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the lines that differ, with their numbers."""
    longest = max(len(before), len(after))
    sides = ([*lines, *[""] * (longest - len(lines))] for lines in (before, after))
    return [f"{number:3} {new.rstrip()}" for number, (old, new) in enumerate(zip(*sides, strict=True)) if old != new]


async def walked(app: AppOn[Any], keys: Sequence[str], screen_text: ScreenText, settled: Settled) -> str:
    """Press keys one after the other; return the first screen, and what each key changes."""
    told: list[str] = []
    async with app.run_test(size=SIZE) as pilot:
        await settled(pilot)
        shown = screen_text(app).split("\n")
        told += [line.rstrip() for line in shown]
        for pressed in keys:
            await pilot.press(*(pressed.removeprefix("type ") if pressed.startswith("type ") else pressed.split()))
            await settled(pilot)
            before, shown = shown, screen_text(app).split("\n")
            told += [f"== {pressed}", *changed(before, shown)]
    return "\n".join(told)


LOG_KEYS = (
    "down", "enter", "escape", "2", "down", "right", "left", "s", "S", "m", "down", "M", "escape", "%", "H", "escape",
    "a", "x", "right", "escape", "3", "4", "5", "space", "6", "7", "o", "b", "]", "escape",
)  # fmt: skip
MORE_LOG_KEYS = (
    "2", "enter", "escape", "a", "A", "3", "end", "4", "g", "type 40", "enter", "n", "v", "v", "escape", "p", "F", "z",
    "z", "]", "[", "2 f", "type conv", "enter", "escape", "question_mark", "escape",
)  # fmt: skip


@pytest.mark.parametrize("keys", [LOG_KEYS, pytest.param(MORE_LOG_KEYS, marks=pytest.mark.slow)], ids=["usual", "more"])
async def test_a_walk_through_a_log(
    keys: Sequence[str], session: Any, screen_text: ScreenText, settled: Settled, snapshot: object
) -> None:
    assert await walked(log_app(session), keys, screen_text, settled) == snapshot


async def test_a_walk_through_a_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen_text: ScreenText, settled: Settled, snapshot: object
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.log").write_text(log_with(fused=True))
    (tmp_path / "bad.log").write_text(log_with(fused=False, pool_tactic=0x3))
    keys = (
        "down",
        "end",
        "tab",
        "down",
        "enter",
        "1",
        "v",
        "v",
        "v",
        "escape",
        "f",
        "type pool",
        "enter",
        "escape",
        "enter",
        "escape",
    )
    app = AppOn(DiffScreen("good.log", "bad.log", kind=None, max_bytes=LIMIT))
    assert await walked(app, keys, screen_text, settled) == snapshot


async def test_a_walk_through_a_map_of_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, screen_text: ScreenText, settled: Settled, snapshot: object
) -> None:
    monkeypatch.chdir(tmp_path)
    write_pair(tmp_path)
    keys = (
        "down",
        "enter",
        "escape",
        "s",
        "down",
        "s",
        "2",
        "down",
        "3",
        "4",
        "f",
        "type good:conv",
        "enter",
        "escape",
    )
    app = AppOn(DiffScreen("fast.profile.json", "slow.profile.json", kind=None, max_bytes=LIMIT))
    assert await walked(app, keys, screen_text, settled) == snapshot


@pytest.mark.slow
async def test_a_walk_through_a_model(
    monkeypatch: pytest.MonkeyPatch,
    no_trials: None,  # noqa: ARG001 - nothing starts a child process
    screen_text: ScreenText,
    settled: Settled,
    snapshot: object,
) -> None:
    monkeypatch.chdir(ROOT / "testdata" / "models")
    keys = ("down", "x", "enter", "5", "space", "t", "o", "f", "type op:conv", "enter", "escape")
    assert await walked(AppOn(ModelScreen("norm-chain.onnx")), keys, screen_text, settled) == snapshot


@pytest.mark.slow
async def test_a_walk_through_runs(
    monkeypatch: pytest.MonkeyPatch, screen_text: ScreenText, settled: Settled, snapshot: object
) -> None:
    monkeypatch.chdir(ROOT / "testdata")
    keys = ("down", "s", "s", "S", "m", "down", "M", "escape", "f", "type python", "enter", "escape")
    assert await walked(AppOn(RunsScreen("logs", max_bytes=LIMIT)), keys, screen_text, settled) == snapshot
