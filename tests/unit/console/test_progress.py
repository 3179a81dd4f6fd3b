"""Progress: drawn over itself on a terminal, a line now and then in a pipe, nothing when it is quick or unwanted."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest

from trtforensics.console.progress import Progress, ProgressLine

if TYPE_CHECKING:
    from collections.abc import Callable

HALF = Progress(50_000_000, 100_000_000, 1234)


class Stream(io.StringIO):
    """Stands for stderr."""

    def __init__(self, *, terminal: bool) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        """Say what it stands for."""
        return self._terminal


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[..., str]:
    """Report progress at some seconds after the start; return what stderr got."""

    def show(*seconds: float, terminal: bool, quiet: bool = False, progress: Progress = HALF) -> str:
        clock = [100.0]
        stream = Stream(terminal=terminal)
        monkeypatch.setattr("sys.stderr", stream)
        monkeypatch.setattr("time.monotonic", lambda: clock[0])
        with ProgressLine(quiet=quiet) as line:
            for second in seconds:
                clock[0] = 100.0 + second
                line(progress)
        return stream.getvalue()

    return show


def test_a_terminal_sees_one_line_that_is_wiped_at_the_end(shown: Callable[..., str]) -> None:
    text = "reading:  50% of 100 MB, 1,234 lines"
    assert shown(0.6, 1.0, terminal=True) == f"\r{text}\r{text}\r{' ' * len(text)}\r"


def test_a_pipe_gets_a_plain_line_every_few_seconds(shown: Callable[..., str]) -> None:
    line = "trtforensics: reading:  50% of 100 MB, 1,234 lines\n"
    assert shown(1, 4.9, 5, 6, 9.9, 10, terminal=False) == line * 2


def test_a_terminal_is_not_redrawn_more_often_than_one_can_see(shown: Callable[..., str]) -> None:
    assert shown(0.6, 0.61, 0.69, 0.71, terminal=True).count("reading") == 2


@pytest.mark.parametrize("terminal", [True, False])
def test_quick_work_says_nothing(terminal: bool, shown: Callable[..., str]) -> None:  # noqa: FBT001
    assert shown(0.1, 0.4, terminal=terminal) == ""


@pytest.mark.parametrize("terminal", [True, False])
def test_quiet_says_nothing(terminal: bool, shown: Callable[..., str]) -> None:  # noqa: FBT001
    assert shown(1, 10, 100, terminal=terminal, quiet=True) == ""


def test_a_pipe_as_source_has_no_share(shown: Callable[..., str]) -> None:
    assert "\rreading: 50 MB, 1,234 lines" in shown(1, terminal=True, progress=Progress(50_000_000, None, 1234))


def test_a_shorter_line_covers_the_longer_one_before_it(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = Stream(terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    times = iter((0.0, 1.0, 2.0))
    monkeypatch.setattr("time.monotonic", lambda: next(times))
    with ProgressLine(quiet=False) as line:
        line(Progress(1, None, 1_000_000))
        line(Progress(1, None, 1))
    first, second = stream.getvalue().split("\r")[1:3]
    assert len(second) == len(first) > len(second.rstrip())


@pytest.mark.parametrize(("quiet", "wanted"), [(False, "trtforensics: first look\n"), (True, "")])
def test_a_line_that_stays_is_shown_at_once(quiet: bool, wanted: str, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: FBT001
    stream = Stream(terminal=True)
    monkeypatch.setattr("sys.stderr", stream)
    with ProgressLine(quiet=quiet) as line:
        line.keep("first look")
    assert stream.getvalue() == wanted
