"""Sessions that the TUI is tested on, and how a test waits for what the screen shows."""

from __future__ import annotations

import os
import re
import time
from importlib.metadata import version
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

os.environ["TEXTUAL_ANIMATIONS"] = "none"

import pytest
from textual import _wait
from textual._compositor import Compositor

from tests.support.artifacts import Directory
from tests.support.repository import ROOT
from tests.support.sample_session import (
    FOREIGN_NAME,
    MARKUP_NAME,
    PATIENCE,
    ReplayedSession,
    ReplayedText,
    Scribe,
    log_of,
    sample_session,
    unknown_build,
)
from trtforensics.bisection.search import Verdict
from trtforensics.tui import screen
from trtforensics.tui.log.screen import LogScreen

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator
    from pathlib import Path

    from textual.app import App
    from textual.pilot import Pilot

SNAPSHOTS_OF = re.findall(r'"textual==([\d.]+)"', (ROOT / "pyproject.toml").read_text(encoding="utf-8"))[0]
"""The version of Textual that drew the snapshots; the tests' extra asks for it."""

_wait.SLEEP_GRANULARITY, _wait.SLEEP_IDLE = 1 / 200, 1 / 4000  # Pilot waits twice a key for so long, and longer if busy

LOOKS = 3
"""Looks in a row at which a screen that has come to rest is the same."""


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Keep the developer's environment out of the pictures, and the tests out of the developer's files."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(screen, "REST_S", 0.0)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path_factory.mktemp("config")))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))


@pytest.fixture
def drawn() -> None:
    """For tests of drawing itself: each change is drawn for the terminal, as it is for a user."""


@pytest.fixture(autouse=True)
def _undrawn(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw no changes for a terminal that nobody sees, a third of a test's time; readers of the screen draw it all."""
    draw = Compositor.render_update

    def skip(compositor: Compositor, *, full: bool = False, **options: Any) -> object:
        if full:  # a picture
            return draw(compositor, full=full, **options)
        compositor._dirty_regions.clear()
        return None

    if "drawn" not in request.fixturenames:
        monkeypatch.setattr(Compositor, "render_update", skip)


@pytest.fixture
def snap_compare(snap_compare: Callable[..., bool]) -> Callable[..., bool]:
    """Compare with the picture of before, where Textual is the version that drew it."""
    if version("textual") != SNAPSHOTS_OF:
        pytest.skip(f"the snapshots are of Textual {SNAPSHOTS_OF}; {version('textual')} is installed")
    return snap_compare


@pytest.fixture
def session() -> Iterator[ReplayedSession]:
    """A session whose parse ends at once. The gate is opened at the end, so that no thread stays behind."""
    replayed = sample_session()
    replayed.gate.set()
    yield replayed
    replayed.gate.set()


@pytest.fixture
def slow_session(session: ReplayedSession) -> ReplayedSession:
    """The same session, whose parse runs until the test opens the gate."""
    session.gate.clear()
    return session


@pytest.fixture
def make() -> SimpleNamespace:
    """The parts of the sample, for tests that need other logs."""
    return SimpleNamespace(
        Scribe=Scribe,
        Session=ReplayedSession,
        Text=ReplayedText,
        unknown_build=unknown_build,
        log_of=log_of,
        markup_name=MARKUP_NAME,
        foreign_name=FOREIGN_NAME,
    )


@pytest.fixture
def screen_text() -> Callable[[App[object]], str]:
    """Read the screen as a user does."""

    def read(app: App[object]) -> str:
        return "\n".join(strip.text for strip in app.screen._compositor.render_strips())

    return read


@pytest.fixture
def until() -> Callable[[Pilot[object], Callable[[], bool]], Awaitable[None]]:
    """Let the app run until a condition holds."""

    async def wait(pilot: Pilot[object], holds: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not holds():
            assert time.monotonic() < end, "it never came to hold"
            await pilot.pause(0.01)

    return wait


@pytest.fixture
def settled() -> Callable[[Pilot[object]], Awaitable[None]]:
    """Wait until no work is left and the screen stays the same; a busy machine is no sign that it will."""

    async def wait(pilot: Pilot[object]) -> None:
        app = pilot.app
        shown, same, end = None, 0, time.monotonic() + PATIENCE
        while same < LOOKS:
            assert time.monotonic() < end, "the screen never came to rest"
            await app.workers.wait_for_complete()
            await pilot.pause(0.02)
            before, shown = shown, app.screen._compositor.render_strips()
            same = same + 1 if shown == before else 0

    return wait


@pytest.fixture
def parsed(
    until: Callable[[Pilot[object], Callable[[], bool]], Awaitable[None]],
) -> Callable[[Pilot[object]], Awaitable[None]]:
    """Wait until the parse has ended and its result is on the screen."""

    async def wait(pilot: Pilot[object]) -> None:
        app = pilot.app
        first = app.screen_stack[0]
        assert isinstance(first, LogScreen)
        await until(pilot, lambda: first.build is not None)
        await until(pilot, lambda: all(worker.is_finished for worker in app.workers if worker.group == "judge"))
        await pilot.pause()

    return wait


@pytest.fixture
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Directory:
    """Two ended probes, and one that runs."""
    made = Directory(tmp_path)
    monkeypatch.setattr("trtforensics.tui.bisection.present", made.now)
    made.start("0-7", "0-7")
    made.end(Verdict.BAD)
    made.start("0-3", "0-7")
    made.end(Verdict.UNRESOLVED, "build: died by SIGSEGV")
    made.start("0-1", "0-3")
    made.look()
    return made
