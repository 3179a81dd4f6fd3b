"""The base of the build log's screen: it reads and judges the log in threads, and hands over what comes."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from trtforensics.console.counting import counted
from trtforensics.errors import ForensicsError
from trtforensics.tui.copying import CopyingApp
from trtforensics.tui.log.following import Follower, Reparsed
from trtforensics.tui.terminal_app import BAD_INPUT

if TYPE_CHECKING:
    from trtforensics.console.progress import Progress
    from trtforensics.findings.finding import Report
    from trtforensics.model.log import BuildLog
    from trtforensics.tui.sessions import LogSession


PROGRESS_S = 0.2
"""Least seconds between two looks at the progress: a fast parse reports more often, and each look paints the log."""


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


class ReadingApp(CopyingApp):
    """An app that parses a log while its lines are on the screen. A subclass shows what comes."""

    def __init__(self, session: LogSession) -> None:
        super().__init__()
        self.session = session
        self.progress: Progress | None = None
        """The progress of the parse; None before it begins, and after it."""
        self._progress_due = False
        """Whether a later progress waits to be shown."""
        self.reading = True
        """Whether the log may still get lines."""
        self.judgement: Report | None = None
        """The findings; None before the rules have run, and where they could not."""
        self._follower = Follower(self, self.say)

    def say(self, note: str) -> None:
        """Show a note until the next event."""
        raise NotImplementedError

    def text_replaced(self) -> None:
        """Show the lines of the session, which was read anew."""
        raise NotImplementedError

    def take(self, log: BuildLog) -> None:
        """Show the builds of the log so far, or of the whole log."""
        raise NotImplementedError

    def prepare(self, log: BuildLog) -> None:
        """Work out what :meth:`take` will show; called in the thread that parses, so that keys are answered."""
        raise NotImplementedError

    def lines_arrived(self) -> None:
        """Show the lines read so far, and the progress."""
        raise NotImplementedError

    def show_judgement(self, problem: str) -> None:
        """Show the findings, or the problem for which the rules could not run."""
        raise NotImplementedError

    def start(self) -> None:
        """Start the parse."""
        self.run_worker(self._parse, name="parse", group="parse", thread=True)

    def _parse(self) -> None:
        """Parse, in a thread; post the outcome as a message."""
        worker = get_current_worker()
        try:
            log = self.session.parse(self._report, self._arrive, lambda: worker.is_cancelled)
        except ForensicsError as error:
            self.post_message(ParseFailed(error))
        else:
            if log is not None:
                self.prepare(log)
                self.post_message(Parsed(log))

    def _report(self, progress: Progress) -> None:
        self.post_message(Progressed(progress))

    def _arrive(self, log: BuildLog) -> None:
        self.post_message(Arrived(log))

    def on_progressed(self, event: Progressed) -> None:
        """Keep the progress of the parse; show the first at once, and others when they are due."""
        first, self.progress = self.progress is None, event.progress
        if first:
            self.lines_arrived()
        elif not self._progress_due:
            self._show_progress_soon()

    def _show_progress_soon(self) -> None:
        self._progress_due = True
        self.set_timer(PROGRESS_S, self._show_progress)

    def _show_progress(self) -> None:
        """Show the progress, but not behind another screen, such as the help, which would be painted anew each time."""
        self._progress_due = False
        if self.progress is not None and len(self.screen_stack) > 1:
            self._show_progress_soon()
        elif self.progress is not None:
            self.lines_arrived()

    def on_parse_failed(self, event: ParseFailed) -> None:
        """Exit with the error; the command prints it."""
        self.exit(event.error, return_code=BAD_INPUT)

    def on_arrived(self, event: Arrived) -> None:
        """Hand over the builds of the log so far."""
        self.take(event.log)

    def on_parsed(self, event: Parsed) -> None:
        """Hand over the builds of the whole log, and start the rules."""
        self.progress = None
        self.reading = False
        self.take(event.log)
        self._follower.follow(self.session)
        self._start_judging(event.log)

    def on_reparsed(self, event: Reparsed) -> None:
        """Hand over what the file holds by now."""
        if not self.is_running:  # it ended after the screen was taken down
            return
        self._follower.ended(event)
        if event.log is None:
            self.say(event.problem)
            return
        self.session = event.session
        self.text_replaced()
        self.take(event.log)
        self.say(f"the file has {counted(len(event.session.text), 'line')} now")
        self._start_judging(event.log)

    def action_reload(self) -> None:
        """Read the file again; one that grows is followed anyway."""
        self._follower.reload()

    def _start_judging(self, log: BuildLog) -> None:
        """Start the rules. Without a description, Textual would write out the whole log as one."""
        self.run_worker(partial(self._judge, log), name="judge", group="judge", description="rules", thread=True)

    def _judge(self, log: BuildLog) -> None:
        """Run the rules, in a thread; post the outcome as a message."""
        try:
            self.post_message(Judged(self.session.judge(log)))
        except ForensicsError as error:
            self.post_message(Judged(None, str(error)))

    def on_judged(self, event: Judged) -> None:
        """Keep the findings."""
        self.judgement = event.report
        self.show_judgement(event.problem)
