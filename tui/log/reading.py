"""Reads a log, judges it, and reads it again when its file changes: in threads, which post what they have as messages.

The screen shows the lines of the log meanwhile.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from trtforensics.errors import ForensicsError
from trtforensics.tui.screen import Failed

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.console.progress import Progress
    from trtforensics.findings.finding import Report
    from trtforensics.model.log import BuildLog
    from trtforensics.tui.screen import SourceScreen
    from trtforensics.tui.sessions import LogSession

PERIOD_S = 1.0
"""Seconds between two looks at the file."""

_PAUSE = 4
"""A growing file is parsed again after so many times as long as the last parse took, so that keys stay fast."""


@dataclass(eq=False, repr=False)
class Parsed(Message):
    """The whole log is parsed."""

    log: BuildLog


@dataclass(eq=False, repr=False)
class Arrived(Message):
    """The log is still being written; its part so far is parsed."""

    log: BuildLog


@dataclass(eq=False, repr=False)
class Judged(Message):
    """The rules have run. ``report`` is None if they could not run; ``problem`` says why."""

    report: Report | None
    problem: str = ""


@dataclass(eq=False, repr=False)
class Progressed(Message):
    """The parse has read more."""

    progress: Progress

    def can_replace(self, message: Message) -> bool:
        """Let the newest message replace older ones, so that a fast parse does not queue work for the screen."""
        return isinstance(message, Progressed)


@dataclass(eq=False, repr=False)
class Reparsed(Message):
    """The file was parsed again; ``log`` is None if it is no build log any more, and ``problem`` says why."""

    session: LogSession
    log: BuildLog | None
    problem: str = ""


class LogReader:
    """Reads a session for a screen; ``prepare`` is called with the parsed log in the thread that parses."""

    def __init__(self, screen: SourceScreen, session: LogSession, prepare: Callable[[BuildLog], None]) -> None:
        self.session = session
        self._screen = screen
        self._prepare = prepare
        self._follows = False
        self._busy = True
        self._due = 0.0

    def start(self) -> None:
        """Start the parse."""
        self._screen.run_worker(self._parse, name="parse", group="parse", thread=True)

    def _parse(self) -> None:
        """Parse, in a thread."""
        worker = get_current_worker()
        try:
            log = self.session.parse(self._report, self._arrive, lambda: worker.is_cancelled)
        except ForensicsError as error:
            self._screen.post_message(Failed(error))
        else:
            if log is not None:
                self._prepare(log)
                self._screen.post_message(Parsed(log))

    def _report(self, progress: Progress) -> None:
        self._screen.post_message(Progressed(progress))

    def _arrive(self, log: BuildLog) -> None:
        self._screen.post_message(Arrived(log))

    def judge(self, log: BuildLog) -> None:
        """Start the rules. Without a description, Textual would write out the whole log as one."""
        judge = partial(self._judge, log)
        self._screen.run_worker(judge, name="judge", group="judge", description="rules", thread=True)

    def _judge(self, log: BuildLog) -> None:
        """Run the rules, in a thread."""
        try:
            self._screen.post_message(Judged(self.session.judge(log)))
        except ForensicsError as error:
            self._screen.post_message(Judged(None, str(error)))

    def follow(self) -> None:
        """Look at the file from now on, and parse it again when it changed."""
        if not self._follows:
            self._screen.set_interval(PERIOD_S, self._look)
        self._follows = True
        self._busy = False

    def reload(self) -> None:
        """Parse the file again now."""
        if self._busy:
            self._screen.say("the log is still being read")
        elif not self.session.is_file:
            self._screen.say("standard input cannot be read again")
        else:
            self._begin()

    def _look(self) -> None:
        if self._busy or not self.session.is_file or time.monotonic() < self._due:
            return
        change = self.session.change()
        if change == "gone":
            self._screen.say("the file is gone; these are its last lines")
        elif change:
            self._begin()

    def _begin(self) -> None:
        self._busy = True
        self._screen.run_worker(self._reparse, name="reparse", group="parse", thread=True)

    def _reparse(self) -> None:
        """Parse again, in a thread."""
        began = time.monotonic()
        try:
            newer = self.session.again()
            log = newer.parse(lambda _: None, lambda _: None, lambda: not self._screen.is_running)
        except ForensicsError as error:
            self._screen.post_message(Reparsed(self.session, None, f"not read again: {error}"))
        else:
            if log is not None:
                self._screen.post_message(Reparsed(newer, log))
        now = time.monotonic()
        self._due = now + _PAUSE * (now - began)

    def reparsed(self, event: Reparsed) -> None:
        """Take what the file holds by now; a file that could not be read is asked only once it changes."""
        if event.log is None:
            event.session.note_change()
        self.session = event.session
        self.follow()
