"""Opens a source on its screen and returns when the user quits.

Each function imports the screen that it opens, so that no source waits for the imports of another source's screen.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from trtforensics.console.diagnostics import ExitCode
from trtforensics.errors import ForensicsError
from trtforensics.tui.detours import Detour, DiffDetour
from trtforensics.tui.sessions import BisectionSession, DiffSession, JoinedSession, LogSession, SourceSession

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from trtforensics.parsers.text.source import Source
    from trtforensics.sources.kinds import Kind
    from trtforensics.tui.terminal_app import Outcome, TerminalApp


_SWITCH_S = 0.0005
"""Seconds that a thread which parses may keep the interpreter while a key waits; Python's own 0.005 add up."""


def browse_log(source: Source) -> int:
    """Show a build log.

    Raises:
        ForensicsError: The source cannot be read or is not a build log.
    """
    from trtforensics.tui.log.app import LogApp

    return _run(LogApp(LogSession(source)))


def browse_joined(source: Source, files: Sequence[str], *, has_log: bool) -> int:
    """Show files about one engine; ``source`` is the log, or the first of the files where there is none.

    Raises:
        ForensicsError: A file cannot be read, or is about another engine.
    """
    from trtforensics.tui.log.app import LogApp

    return _run(LogApp(JoinedSession(source, files, has_log=has_log)))


def browse_diff(good: str, bad: str, *, kind: Kind | None, max_bytes: int) -> int:
    """Show two sources side by side.

    Raises:
        ForensicsError: A source cannot be used.
    """
    from trtforensics.tui.diff.app import DiffApp

    return _run(DiffApp(DiffSession(good, bad, kind=kind, max_bytes=max_bytes)))


def browse_source(path: str, *, kind: Kind, max_bytes: int) -> int:
    """Show a replay, an engine-layer file or a timing cache.

    Raises:
        ForensicsError: The source cannot be used.
    """
    from trtforensics.tui.source.app import SourceApp

    return _run(SourceApp(SourceSession(path, kind=kind, max_bytes=max_bytes)))


def browse_bisection(path: Path, *, max_bytes: int) -> int:
    """Show the artifacts directory of a bisection, and meanwhile the logs of its probes that the user asks for.

    Raises:
        ForensicsError: The directory cannot be read.
    """
    from trtforensics.tui.bisection.app import BisectionApp

    session = BisectionSession(path)
    session.look()  # an invalid directory is refused before the screen is taken
    probe, note = None, ""
    while True:
        sys.setswitchinterval(_SWITCH_S)
        app = BisectionApp(session, probe, note)
        outcome = app.run()
        if not isinstance(outcome, Detour):
            return _end(app, outcome)
        probe, note = outcome.probe, _visit(outcome, max_bytes)


def _visit(detour: Detour, max_bytes: int) -> str:
    """Show something meanwhile; return why that was not possible, or ""."""
    from trtforensics.parsers.text.source import open_source

    try:
        if isinstance(detour, DiffDetour):
            browse_diff(detour.good, detour.bad, kind=None, max_bytes=max_bytes)
        else:
            with open_source(detour.path, max_bytes=max_bytes) as source:
                browse_log(source)
    except ForensicsError as error:
        return str(error)
    return ""


def _run(app: TerminalApp) -> int:
    sys.setswitchinterval(_SWITCH_S)
    return _end(app, app.run())


def _end(app: TerminalApp, outcome: Outcome | None) -> int:
    if isinstance(outcome, ForensicsError):
        raise outcome
    return ExitCode.BUG if app.return_code else ExitCode.OK  # Textual has shown the traceback by then
