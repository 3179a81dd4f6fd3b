"""What the threads of the build log's screen tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.message import Message

if TYPE_CHECKING:
    from trtforensics.console.progress import Progress
    from trtforensics.errors import ForensicsError
    from trtforensics.findings.finding import Report
    from trtforensics.model.log import BuildLog


class Parsed(Message):
    """The whole log is parsed."""

    def __init__(self, log: BuildLog) -> None:
        super().__init__()
        self.log = log


class Arrived(Message):
    """The log is still being written; its part so far is parsed."""

    def __init__(self, log: BuildLog) -> None:
        super().__init__()
        self.log = log


class ParseFailed(Message):
    """The source cannot be parsed."""

    def __init__(self, error: ForensicsError) -> None:
        super().__init__()
        self.error = error


class Judged(Message):
    """The rules have run. ``report`` is None if they could not run; ``problem`` says why."""

    def __init__(self, report: Report | None, problem: str = "") -> None:
        super().__init__()
        self.report = report
        self.problem = problem


class Progressed(Message):
    """The parse has read more."""

    def __init__(self, progress: Progress) -> None:
        super().__init__()
        self.progress = progress

    def can_replace(self, message: Message) -> bool:
        """Let the newest message replace older ones, so that a fast parse does not queue work for the screen."""
        return isinstance(message, Progressed)


class SearchEnded(Message):
    """A search ended; ``line`` is None without a match."""

    def __init__(self, needle: str, line: int | None, *, wrapped: bool) -> None:
        super().__init__()
        self.needle = needle
        self.line = line
        self.wrapped = wrapped
