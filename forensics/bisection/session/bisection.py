"""A bisection from its directory to its answer."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisection.runner.surroundings import surroundings_of
from trtforensics.bisection.session.answer import SearchAnswer, answer_of, write_result
from trtforensics.bisection.session.artifacts import FIXED
from trtforensics.bisection.session.job import Job, tool_versions
from trtforensics.bisection.session.session import open_session
from trtforensics.console.counting import duration
from trtforensics.console.output import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from trtforensics.bisection.runner.options import RunOptions
    from trtforensics.bisection.search import Outlook, SetSearch
    from trtforensics.bisection.session.lever import Lever
    from trtforensics.bisection.session.session import Answer, Session

_REST_S = 1.0
"""The least time between two writes of ``result.json``: quick probes would otherwise take less time than the writes."""


def bisect(
    directory: Path, lever: Lever, search: SetSearch, options: RunOptions, show: Callable[[str], None]
) -> tuple[SearchAnswer, Sequence[str]]:
    """Run a bisection to its end; return its answer and a line about each file of ``fixed/``.

    ``show`` gets a line of progress after each turn.

    Raises:
        KeyboardInterrupt: the user stopped it; the directory holds everything up to now.
        ForensicsError: see :func:`trtforensics.bisection.session.session.open_session` and ``Session.run``.
    """
    with open_session(directory, job_of(lever, options, directory), search, lever, options) as session:
        writer = _ResultWriter(directory, lever, search, session, show)
        session.run(writer.turn, writer.write)
        return writer.write(), _fix(directory, lever, search)


def job_of(lever: Lever, options: RunOptions, directory: Path) -> Job:
    """Return the job that a directory must belong to."""
    items = [lever.describe(index) for index in range(len(lever.items))]
    ours = options.build is None or options.build == lever.build
    where = None if ours else surroundings_of(options.build or "", directory)
    return Job(lever.mode, items, lever.content(), options.build, tool_versions(), where)


@dataclass(slots=True)
class _ResultWriter:
    """Keeps ``result.json`` and the progress line up to date."""

    directory: Path
    lever: Lever
    search: SetSearch
    session: Session
    show: Callable[[str], None]
    _due: float = 0.0
    _known: int = -1

    def turn(self) -> str:
        """Show and return progress; write ``result.json`` if there are new verdicts and the last write is long ago."""
        now, answers = time.monotonic(), self.session.answers
        if len(answers) != self._known and now >= self._due:
            self._known = len(answers)
            self.write()
            self._due = time.monotonic() + _REST_S
        standing = progress_text(
            self.session.computed(self.search.outlook), answers, self.session.running, self.session.seconds
        )
        self.show(standing)
        return standing

    def write(self) -> SearchAnswer:
        """Write ``result.json``, and return the answer."""
        answer = answer_of(self.lever, self.search, self.session.answers)
        write_result(self.directory, answer.document())
        return answer


def _fix(directory: Path, lever: Lever, search: SetSearch) -> Sequence[str]:
    culprits = search.result().culprits
    if not culprits:
        return ()
    with explained(str(directory)):
        (directory / FIXED).mkdir(exist_ok=True)
        return lever.fix(culprits, directory / FIXED)


def progress_text(outlook: Outlook, answers: Sequence[Answer], running: int, seconds: float) -> str:
    """Return the line of progress; ``seconds`` is the time since the run began."""
    builds = len({answer.probe.number for answer in answers})
    last = f"last {answers[-1].finished.verdict}" if answers else "nothing known yet"
    known = f", {len(outlook.culprits)} found" if outlook.culprits else ""
    suspects = f"suspects {len(outlook.suspects):,}{known}"
    return f"builds done {builds}, running {running}, {_left(outlook)}; {suspects}; {last}; {duration(seconds)}"


def _left(outlook: Outlook) -> str:
    if not outlook.worst:
        return "none left"
    about = round(outlook.expected)
    return f"{about} to {outlook.worst} left" if about < outlook.worst else f"{outlook.worst} left"
