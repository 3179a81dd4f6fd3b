"""A log whose file changes while it is on the screen: it is parsed again in the background, and the cursors stay."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from textual.message import Message

from trtforensics.errors import ForensicsError

if TYPE_CHECKING:
    from collections.abc import Callable

    from textual.app import App

    from trtforensics.model.log import BuildLog
    from trtforensics.tui.sessions import LogSession
    from trtforensics.tui.terminal_app import Outcome

PERIOD_S = 1.0
"""Seconds between two looks at the file."""

_PAUSE = 4
"""A growing file is parsed again after so many times as long as the last parse took, so that keys stay fast."""


class Reparsed(Message):
    """The file was parsed again; ``log`` is None if it is no build log any more, and ``problem`` says why."""

    def __init__(self, session: LogSession, log: BuildLog | None, problem: str = "") -> None:
        super().__init__()
        self.session = session
        self.log = log
        self.problem = problem


class Follower:
    """Looks at a session's file from time to time, and parses it again when it changed."""

    def __init__(self, app: App[Outcome], say: Callable[[str], None]) -> None:
        self._app = app
        self._say = say
        self._session: LogSession | None = None
        self._busy = False
        self._due = 0.0

    def follow(self, session: LogSession) -> None:
        """Begin to look at the file of a session that was parsed."""
        if self._session is None:
            self._app.set_interval(PERIOD_S, self._look)
        self._session = session
        self._busy = False

    def reload(self) -> None:
        """Parse the file again now."""
        if self._session is None or self._busy:
            self._say("the log is still being read")
        elif not self._session.is_file:
            self._say("standard input cannot be read again")
        else:
            self._begin(self._session)

    def _look(self) -> None:
        session = self._session
        if session is None or self._busy or not session.is_file or time.monotonic() < self._due:
            return
        change = session.change()
        if change == "gone":
            self._say("the file is gone; these are its last lines")
        elif change:
            self._begin(session)

    def _begin(self, session: LogSession) -> None:
        self._busy = True
        self._app.run_worker(lambda: self._parse(session), name="reparse", group="parse", thread=True)

    def _parse(self, session: LogSession) -> None:
        """Parse, in a thread; post the outcome as a message."""
        began = time.monotonic()
        try:
            newer = session.again()
            try:
                log = newer.parse(lambda _: None, lambda _: None, lambda: not self._app.is_running)
            finally:
                newer.close()
        except ForensicsError as error:
            self._app.post_message(Reparsed(session, None, f"not read again: {error}"))
        else:
            if log is not None:
                self._app.post_message(Reparsed(newer, log))
        now = time.monotonic()
        self._due = now + _PAUSE * (now - began)

    def ended(self, event: Reparsed) -> None:
        """Look at the file again from now on; a file that could not be read is asked only once it changes."""
        if event.log is None:
            event.session.note_change()
        self.follow(event.session)
