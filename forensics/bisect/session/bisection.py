"""A bisection from its directory to its answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from trtforensics.bisect.session.artifacts import FIXED
from trtforensics.bisect.session.job import Job, tool_versions
from trtforensics.bisect.session.report import progress_text
from trtforensics.bisect.session.result import bisection_result, write_result
from trtforensics.bisect.session.session import open_session
from trtforensics.bisect.session.stopping import stoppable
from trtforensics.console.output import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.session.finder import Finder
    from trtforensics.bisect.session.lever import Backend
    from trtforensics.bisect.session.session import Session

_REST_S = 1.0
"""How long an intermediate ``result.json`` stands at least: with many quick probes it would cost more than they do."""


def bisect(
    directory: Path, backend: Backend, search: Finder, options: RunOptions, show: Callable[[str], None]
) -> tuple[dict[str, object], Sequence[str]]:
    """Run a bisection to its end; return ``result.json`` and what was written into ``fixed/``.

    ``show`` gets a line of progress after each turn.

    Raises:
        KeyboardInterrupt: the user stopped it; the directory holds everything up to now.
        ForensicsError: see :func:`trtforensics.bisect.session.session.open_session` and ``Session.run``.
    """
    with open_session(directory, job_of(backend, options), _Asking(search), backend, options) as session:
        scribe = _Scribe(directory, backend, search, session, show)
        with stoppable(session.halt) as stopper:
            try:
                session.run(stopper, scribe.turn)
            finally:
                scribe.write()
        return scribe.write(), _fix(directory, backend, search)


def job_of(backend: Backend, options: RunOptions) -> Job:
    """Return what a directory is compared with."""
    items = [backend.describe(index) for index in range(len(backend.items))]
    return Job(backend.mode, items, backend.content(), options.build, tool_versions())


class _Asking:
    """A search as a session's plan."""

    def __init__(self, search: Finder) -> None:
        self._search = search
        self.asks = search.asks
        self.tell = search.tell

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        return self._search.done

    def suspects(self) -> Collection[int]:
        """Return the items that may still be members of the set that is looked for."""
        return self._search.outlook().suspects


class _Scribe:
    """Keeps ``result.json`` and the progress line up to date."""

    def __init__(
        self, directory: Path, backend: Backend, search: Finder, session: Session, show: Callable[[str], None]
    ) -> None:
        self._directory = directory
        self._backend = backend
        self._search = search
        self._session = session
        self._show = show
        self._due = 0.0
        self._known = -1

    def turn(self) -> None:
        """Show progress, and write what is new if the last time is long enough ago."""
        now, told = time.monotonic(), self._session.told
        if len(told) != self._known and now >= self._due:
            self._known = len(told)
            self.write()
            self._due = time.monotonic() + _REST_S
        self._show(progress_text(self._search.outlook(), told, self._session.running, self._session.seconds))

    def write(self) -> dict[str, object]:
        """Write ``result.json``, and return it."""
        document = bisection_result(self._backend, self._search, self._session.told)
        write_result(self._directory, document)
        return document


def _fix(directory: Path, backend: Backend, search: Finder) -> Sequence[str]:
    culprits = search.result().culprits
    if not culprits:
        return ()
    with explained(str(directory)):
        (directory / FIXED).mkdir(exist_ok=True)
        return backend.fix(culprits, directory / FIXED)
