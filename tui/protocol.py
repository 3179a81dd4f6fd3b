"""What the TUI asks of the core: a text that may still grow, and one parse that reports as it goes.

The TUI knows nothing else about where a log comes from, so that tests replay sessions and the core
stays free of Textual.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from trtforensics.bisect.session.view import DirectoryView
    from trtforensics.diff.differences import Comparison
    from trtforensics.diff.views import BuildView
    from trtforensics.findings.finding import Report
    from trtforensics.model.log import BuildLog


@dataclass(frozen=True, slots=True)
class ParseProgress:
    """How far a parse is: bytes read of ``bytes_total`` (None: a pipe does not tell), and lines seen."""

    bytes_done: int
    bytes_total: int | None
    lines: int


class ParseCancelledError(Exception):
    """A parse that stopped because it was asked to; nobody is told, the user is leaving."""


class LogText(Protocol):
    """The lines of a log for display. It may grow while another thread reads the source."""

    def __len__(self) -> int:
        """Return how many lines can be shown now."""
        ...

    def line(self, number: int) -> str:
        """Return a line, counted from 1, without its ending; control characters as they are."""
        ...

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:
        """Return the first line from ``start`` on (included) that holds ``needle``, or None; it never wraps.

        Case counts only where the needle has a capital letter. Called in a thread.
        """
        ...


class LogSession(Protocol):
    """A log that was opened: what to call it, its text, and its parse."""

    @property
    def name(self) -> str:
        """What the title shows, usually the path."""
        ...

    @property
    def text(self) -> LogText:
        """The lines, readable before, while and after :meth:`parse` runs."""
        ...

    def parse(
        self,
        on_progress: Callable[[ParseProgress], None],
        on_log: Callable[[BuildLog], None],
        cancelled: Callable[[], bool],
    ) -> BuildLog:
        """Parse the source; blocks, called once, in a thread.

        A source that is still being written may hand out now and then what it says so far, through ``on_log``.

        Raises:
            ForensicsError: The source cannot be read or is not a build log.
            ParseCancelledError: ``cancelled()`` was true; it is asked several times a second.
        """
        ...

    def judge(self, log: BuildLog) -> Report:
        """Say what is wrong with the parsed log; blocks, called once after :meth:`parse`, in a thread.

        Raises:
            ForensicsError: The settings of the project cannot be used, or a rule cannot be loaded.
        """
        ...


class TextSession(Protocol):
    """Sources whose files are shown beside what was made of them."""

    @property
    def name(self) -> str:
        """What the title shows."""
        ...

    def text(self, path: str) -> LogText:
        """Return a file's lines; blocks, called in a thread.

        Raises:
            ForensicsError: The file cannot be read.
        """
        ...


class CompareSession(TextSession, Protocol):
    """Two sides to compare."""

    def compare(self, on_file: Callable[[str], None], cancelled: Callable[[], bool]) -> Comparison:
        """Read both sides and compare them; blocks, called once, in a thread. ``on_file`` is told each file.

        Raises:
            ForensicsError: A source cannot be used.
            ParseCancelledError: ``cancelled()`` was true; it is asked before each file.
        """
        ...


class BuildSession(TextSession, Protocol):
    """One source that is no log: a replay, engine layers, a timing cache."""

    def builds(self) -> Sequence[BuildView]:
        """Read the source; blocks, called once, in a thread.

        Raises:
            ForensicsError: It cannot be used.
        """
        ...


class BisectionSession(Protocol):
    """An artifacts directory that was opened: what it says now, and its probes' logs."""

    def look(self) -> DirectoryView:
        """Read the directory again; called in a thread, several times a second.

        Raises:
            ForensicsError: It cannot be read.
        """
        ...

    def log(self, path: Path) -> LogText:
        """Return a log of a probe as it is now."""
        ...
