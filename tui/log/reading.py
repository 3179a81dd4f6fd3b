"""Reads a log, judges it, and reads it again when its file changes: in threads.

The screen shows the lines of the log meanwhile.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from textual.worker import get_current_worker

from trtforensics.tui.widgets.work import in_thread, later

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.console.progress import Progress
    from trtforensics.errors import ForensicsError
    from trtforensics.findings.finding import Report
    from trtforensics.model.log import BuildLog
    from trtforensics.tui.screen import SourceScreen
    from trtforensics.tui.sessions import LogSession

PERIOD_S = 1.0
"""Seconds between two looks at the file."""

_PAUSE = 4
"""A growing file is parsed again after so many times as long as the last parse took, so that keys stay fast."""


class LogReader:
    """Reads a session for a screen; ``prepare`` is called with the parsed log in the thread that parses.

    ``reread`` takes what the file holds later.
    """

    def __init__(
        self,
        screen: SourceScreen,
        session: LogSession,
        prepare: Callable[[BuildLog], None],
        reread: Callable[[BuildLog], None],
    ) -> None:
        self.session = session
        self._screen = screen
        self._prepare = prepare
        self._reread = reread
        self._follows = False
        self._busy = True
        self._due = 0.0

    def start(
        self,
        progressed: Callable[[Progress], None],
        arrived: Callable[[BuildLog], None],
        parsed: Callable[[BuildLog], None],
    ) -> None:
        """Start the parse: ``arrived`` takes a log that is still being written, ``parsed`` the whole log."""
        on_progress, on_log = later(self._screen, progressed), later(self._screen, arrived)

        def parse() -> BuildLog | None:
            worker = get_current_worker()
            log = self.session.parse(on_progress, on_log, lambda: worker.is_cancelled)
            if log is not None:
                self._prepare(log)
            return log

        in_thread(self._screen, parse, parsed, group="parse", failed=self._screen.fail)

    def judge(self, log: BuildLog, judged: Callable[[Report], None], failed: Callable[[ForensicsError], None]) -> None:
        """Start the rules."""
        in_thread(self._screen, partial(self.session.judge, log), judged, group="judge", failed=failed)

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
        in_thread(self._screen, self._reparse, self._take, group="parse", failed=self._keep)

    def _reparse(self) -> tuple[LogSession, BuildLog] | None:
        """Parse again, in a thread."""
        began = time.monotonic()
        try:
            newer = self.session.again()
            log = newer.parse(lambda _: None, lambda _: None, lambda: not self._screen.is_running)
            return None if log is None else (newer, log)
        finally:
            now = time.monotonic()
            self._due = now + _PAUSE * (now - began)

    def _take(self, parsed: tuple[LogSession, BuildLog]) -> None:
        """Take what the file holds by now."""
        self.session, log = parsed
        self.follow()
        self._reread(log)

    def _keep(self, error: ForensicsError) -> None:
        """Say why the file could not be read again; it is asked only once it changes."""
        self.session.note_change()
        self.follow()
        self._screen.say(f"not read again: {error}")
