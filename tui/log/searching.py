"""Search in the raw log: the next match, how many there are, and only the lines that match. Threads do the reading."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from textual.message import Message
from textual.worker import get_current_worker

from trtforensics.console.counting import counted
from trtforensics.parsers.lines.prefixes import LevelMatcher
from trtforensics.parsers.text.text import LineMatcher
from trtforensics.tui.widgets.search import find_around

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.parsers.text.text import Matcher
    from trtforensics.tui.widgets.log_view import LogView

SEVERITIES = (("errors", "E"), ("errors and warnings", "EW"), ("lines above verbose", "EWI"))
"""What ``v`` goes through: the lines of these levels."""


@dataclass(eq=False, repr=False)
class SearchEnded(Message):
    """A search ended; ``line`` is None without a match."""

    matcher: LineMatcher
    line: int | None
    wrapped: bool


@dataclass(eq=False, repr=False)
class MatchesKnown(Message):
    """All lines that match are known. ``label`` is set where only these lines are to be shown."""

    matcher: Matcher
    lines: Sequence[int]
    label: str = ""


class LogSearch:
    """What is searched for in a log. ``say`` shows a sentence in the status line."""

    def __init__(self, view: LogView, say: Callable[[str], None]) -> None:
        self._view = view
        self._say = say
        self._matcher: LineMatcher | None = None
        self._lines: Sequence[int] | None = None
        self._severity = len(SEVERITIES)
        self.only = ""
        """Which lines alone are shown, in words; empty for all."""

    @property
    def text(self) -> str:
        """What was searched for last."""
        return self._matcher.text if self._matcher else ""

    def begin(self, text: str, *, regex: bool) -> None:
        """Search for a text or a regular expression from the cursor on, and count its lines."""
        try:
            self._view.mark(text, regex=regex)
        except re.error as error:
            self._say(_no_regex(text, error))
            return
        self._lines = None
        self._matcher = LineMatcher(text, regex) if text else None
        self.next(backwards=False, here=True)
        if self._matcher is not None:
            self._collect(self._matcher)

    def next(self, *, backwards: bool, here: bool = False) -> None:
        """Go to the next match, or the previous one; ``here`` includes the current line."""
        matcher = self._matcher
        if matcher is None:
            self._say("nothing to search for; type / and a text")
        elif self._lines is not None:
            line, wrapped = _around(self._lines, self._view.current_line, backwards=backwards, here=here)
            self.ended(SearchEnded(matcher, line, wrapped=wrapped))
        elif not matcher.regex:
            find = partial(find_around, self._view.text, matcher.text, self._view.current_line)
            self._run(partial(self._find, matcher, partial(find, backwards=backwards, here=here)), "search")

    def keep(self, text: str, *, regex: bool) -> None:
        """Show only the lines that hold a text or match a regular expression; an empty text shows all."""
        self._severity = len(SEVERITIES)
        if not text:
            self.show_all()
            return
        matcher = LineMatcher(text, regex)
        try:
            _ = matcher.pattern
        except re.error as error:
            self._say(_no_regex(text, error))
            return
        self._collect(matcher, repr(text))

    def next_severity(self) -> None:
        """Show only errors, then warnings too, then all but verbose lines, then all lines."""
        self._severity = (self._severity + 1) % (len(SEVERITIES) + 1)
        if self._severity == len(SEVERITIES):
            self.show_all()
        else:
            label, levels = SEVERITIES[self._severity]
            self._collect(LevelMatcher(levels), label)

    def show_all(self) -> bool:
        """Show all lines again, and return whether some were hidden."""
        was, self.only = self.only, ""
        if was:
            self._severity = len(SEVERITIES)
            self._view.show_only(None)
            self._say("all lines")
        return bool(was)

    def renew(self) -> None:
        """Count again after more of the log was read."""
        if self._matcher is not None:
            self._collect(self._matcher)

    def ended(self, event: SearchEnded) -> None:
        """Show a match, unless another search has begun."""
        if event.matcher != self._matcher:
            return
        if event.line is None:
            hint = "" if event.matcher.regex else _regex_hint(event.matcher.text)
            self._say(f"{event.matcher.text!r} is nowhere in the lines read{hint}")
            return
        if not self._view.shows(event.line):
            self.show_all()
        self._view.show_match(event.line)
        self._say(self._place(event.line) + (", from the other end again" if event.wrapped else ""))

    def known(self, event: MatchesKnown) -> None:
        """Take the lines that match, and show only them if that was asked for."""
        if event.label:
            if len(event.lines):
                self.only = event.label
                self._view.show_only(event.lines)
                self._say(f"{counted(len(event.lines), 'line')}: {event.label}; Esc shows all")
            else:
                self._say(f"no line: {event.label}")
            return
        if event.matcher != self._matcher:
            return
        waiting = self._lines is None and event.matcher.regex
        self._lines = event.lines
        if waiting:
            self.next(backwards=False, here=True)
        elif len(event.lines):
            self._say(self._place(self._view.current_line))

    def _place(self, line: int) -> str:
        """Spell which match stands on a line: ``3/214``."""
        text = f"{self.text!r}"
        if self._lines is None:
            return text
        return f"{text} {bisect_left(self._lines, line) + 1:,}/{len(self._lines):,}"

    def _collect(self, matcher: Matcher, label: str = "") -> None:
        self._run(partial(self._match, matcher, label), "keep" if label else "count")

    def _run(self, work: Callable[[], None], group: str) -> None:
        self._view.screen.run_worker(work, group=group, thread=True, exclusive=True)

    def _find(self, matcher: LineMatcher, search: Callable[[], tuple[int | None, bool]]) -> None:
        """Search for one match, in a thread."""
        line, wrapped = search()
        self._view.post_message(SearchEnded(matcher, line, wrapped=wrapped))

    def _match(self, matcher: Matcher, label: str) -> None:
        """Collect all matches, in a thread."""
        worker = get_current_worker()
        lines = array("q")
        for some in self._view.text.matches(matcher):
            if worker.is_cancelled:
                return
            lines.extend(map(int, some))
        self._view.post_message(MatchesKnown(matcher, lines, label))


def _around(lines: Sequence[int], line: int, *, backwards: bool, here: bool) -> tuple[int | None, bool]:
    """Return the next match after a line (``here``: or in it), and whether the search wrapped at the end."""
    if not lines:
        return None, False
    if backwards:
        at = bisect_right(lines, line) - 1 if here else bisect_left(lines, line) - 1
        return (lines[at], False) if at >= 0 else (lines[-1], True)
    at = bisect_left(lines, line) if here else bisect_right(lines, line)
    return (lines[at], False) if at < len(lines) else (lines[0], True)


def _no_regex(text: str, error: re.error) -> str:
    at = "" if error.pos is None else f" at column {error.pos + 1}"
    return f"{text!r} is no regular expression{at}: {error.msg}"


def _regex_hint(text: str) -> str:
    return "; Ctrl+R in the prompt searches regular expressions" if re.escape(text) != text else ""
