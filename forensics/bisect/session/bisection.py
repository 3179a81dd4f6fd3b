"""A bisection from its directory to its answer."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.scripts import surroundings_of
from trtforensics.bisect.runner.stopping import stoppable
from trtforensics.bisect.session.artifacts import FIXED
from trtforensics.bisect.session.job import Job, tool_versions
from trtforensics.bisect.session.report import progress_text
from trtforensics.bisect.session.result import bisection_result, write_result
from trtforensics.bisect.session.session import open_session
from trtforensics.console.output import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence
    from pathlib import Path

    from trtforensics.bisect.runner.options import RunOptions
    from trtforensics.bisect.session.lever import Lever
    from trtforensics.bisect.session.plan import SetSearch
    from trtforensics.bisect.session.session import Session

_REST_S = 1.0
"""The least time between two writes of ``result.json``: quick probes would otherwise take less time than the writes."""


def bisect(
    directory: Path, lever: Lever, search: SetSearch, options: RunOptions, show: Callable[[str], None]
) -> tuple[dict[str, object], Sequence[str]]:
    """Run a bisection to its end; return ``result.json`` and what was written into ``fixed/``.

    ``show`` gets a line of progress after each turn.

    Raises:
        KeyboardInterrupt: the user stopped it; the directory holds everything up to now.
        ForensicsError: see :func:`trtforensics.bisect.session.session.open_session` and ``Session.run``.
    """
    with open_session(directory, job_of(lever, options), _SearchPlan(search), lever, options) as session:
        writer = _ResultWriter(directory, lever, search, session, show)
        with stoppable(session) as stopper:
            try:
                session.run(stopper, writer.turn)
            finally:
                writer.write()
        return writer.write(), _fix(directory, lever, search)


def job_of(lever: Lever, options: RunOptions) -> Job:
    """Return the job that a directory must belong to."""
    items = [lever.describe(index) for index in range(len(lever.items))]
    ours = options.build is None or options.build == lever.build
    where = None if ours else surroundings_of(options.build or "")
    return Job(lever.mode, items, lever.content(), options.build, tool_versions(), where)


class _SearchPlan:
    """A search as a session's plan."""

    def __init__(self, search: SetSearch) -> None:
        self._search = search
        self.asks = search.asks
        self.tell = search.tell

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        return self._search.done

    def suspects(self) -> Collection[int]:
        """Return the items that may still belong to a culprit set."""
        return self._search.outlook().suspects


class _ResultWriter:
    """Keeps ``result.json`` and the progress line up to date."""

    def __init__(
        self, directory: Path, lever: Lever, search: SetSearch, session: Session, show: Callable[[str], None]
    ) -> None:
        self._directory = directory
        self._lever = lever
        self._search = search
        self._session = session
        self._show = show
        self._due = 0.0
        self._known = -1

    def turn(self) -> str:
        """Show and return progress; write ``result.json`` if there are new verdicts and the last write is long ago."""
        now, answers = time.monotonic(), self._session.answers
        if len(answers) != self._known and now >= self._due:
            self._known = len(answers)
            self.write()
            self._due = time.monotonic() + _REST_S
        standing = progress_text(self._search.outlook(), answers, self._session.running, self._session.seconds)
        self._show(standing)
        return standing

    def write(self) -> dict[str, object]:
        """Write ``result.json``, and return it."""
        document = bisection_result(self._lever, self._search, self._session.answers)
        write_result(self._directory, document)
        return document


def _fix(directory: Path, lever: Lever, search: SetSearch) -> Sequence[str]:
    culprits = search.result().culprits
    if not culprits:
        return ()
    with explained(str(directory)):
        (directory / FIXED).mkdir(exist_ok=True)
        return lever.fix(culprits, directory / FIXED)
