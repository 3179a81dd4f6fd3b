"""A bisection from its directory to its answer."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

from trtforensics.bisection.runner.surroundings import surroundings_of
from trtforensics.bisection.search import Status
from trtforensics.bisection.session.answer import SearchAnswer, answer_of, write_result
from trtforensics.bisection.session.artifacts import FIXED
from trtforensics.bisection.session.job import Job, tool_versions
from trtforensics.bisection.session.session import open_session
from trtforensics.console.counting import duration, listed
from trtforensics.console.output import explained

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from trtforensics.bisection.runner.options import RunOptions
    from trtforensics.bisection.search import Outlook, SetSearch
    from trtforensics.bisection.session.lever import Lever
    from trtforensics.bisection.session.session import Answer

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
        due, known = 0.0, -1

        def write() -> SearchAnswer:
            answer = answer_of(lever, search, session.answers)
            if answer.certified and (edited := session.edited()):
                why = f"{listed(edited)} changed while probes ran; run it again"
                answer = replace(answer, status=Status.NAMED.value, why=why)
            write_result(directory, answer.document())
            return answer

        def turn() -> str:
            nonlocal due, known
            now, answers = time.monotonic(), session.answers
            if len(answers) != known and now >= due:
                known = len(answers)
                write()
                due = time.monotonic() + _REST_S
            outlook = session.computed(search.outlook)
            standing = progress_text(outlook, answers, session.running, session.seconds)
            show(standing)
            return standing

        session.run(turn, write)
        return write(), _fix(directory, lever, search)


def job_of(lever: Lever, options: RunOptions, directory: Path) -> Job:
    """Return the job that a directory must belong to."""
    items = [lever.describe(index) for index in range(len(lever.items))]
    ours = options.build is None or options.build == lever.build
    where = None if ours else surroundings_of(options.build or "", directory)
    return Job(lever.mode, items, lever.content(), options.build, tool_versions(), where)


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
