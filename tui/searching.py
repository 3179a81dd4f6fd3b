"""Search in a text: the next match, how many there are, and only the lines that match; threads read. Search in rows."""

from __future__ import annotations

import re
from array import array
from bisect import bisect_left, bisect_right
from functools import partial
from typing import TYPE_CHECKING, Generic

from textual.worker import get_current_worker

from trtforensics.console.counting import counted
from trtforensics.parsers.text.text import LineMatcher, LogText, Matcher
from trtforensics.tui.rows.pieces import Row
from trtforensics.tui.widgets.work import in_thread

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.tui.live_text import LiveText
    from trtforensics.tui.widgets.log_view import LogView
    from trtforensics.tui.widgets.virtual_list import VirtualList

SEVERITIES = (("errors", "E"), ("errors and warnings", "EW"), ("lines above verbose", "EWI"))
"""What ``v`` goes through: the lines of these levels."""


NOTHING = "nothing to search for; type / and a text"


class RowSearch(Generic[Row]):
    """What is searched for in the rows of a list; ``text_of`` returns what a row says."""

    def __init__(self, view: VirtualList[Row], text_of: Callable[[Row], str], say: Callable[[str], None]) -> None:
        self.view = view
        self.text = ""
        self._text_of = text_of
        self._say = say

    def begin(self, text: str, *, regex: bool) -> None:  # noqa: ARG002 - rows are searched for texts alone
        self.text = text
        self.next(backwards=False)

    def next(self, *, backwards: bool) -> None:
        rows, wanted = self.view.rows, self.text.lower()
        start, step = self.view.cursor, -1 if backwards else 1
        order = ((start + step * turn) % len(rows) for turn in range(1, len(rows) + 1)) if wanted else ()
        place = next((place for place in order if wanted in self._text_of(rows[place]).lower()), None)
        if place is not None:
            self.view.go_to(place, center=True)
        else:
            self._say(f"{self.text!r} is in no {self.view.presentation.noun}" if wanted else NOTHING)


class LogSearch:
    """What is searched for in a text. ``say`` shows a sentence in the status line."""

    def __init__(self, view: LogView, say: Callable[[str], None]) -> None:
        self.view = view
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
            self.view.mark(text, regex=regex)
        except re.error as error:
            at = "" if error.pos is None else f" at column {error.pos + 1}"
            self._say(f"{text!r} is no regular expression{at}: {error.msg}")
            return
        self._lines = None
        self._matcher = LineMatcher(text, regex) if text else None
        self.next(backwards=False, here=True)
        if self._matcher is not None:
            self._count(self._matcher)

    def next(self, *, backwards: bool, here: bool = False) -> None:
        """Go to the next match, or the previous one; ``here`` includes the current line."""
        matcher = self._matcher
        if matcher is None:
            self._say(NOTHING)
        elif self._lines is not None:
            self._ended(matcher, _around(self._lines, self.view.current_line, backwards=backwards, here=here))
        elif not matcher.regex:
            find = partial(_find_around, self.view.text, matcher.text, self.view.current_line)
            find = partial(find, backwards=backwards, here=here)
            in_thread(self.view, find, partial(self._ended, matcher), group="search")

    def keep(self, text: str, *, regex: bool) -> None:
        """Show only the lines that hold a text or match a regular expression that can be read; "" shows all."""
        self._severity = len(SEVERITIES)
        if not text:
            self.show_all()
            return
        self._keep(LineMatcher(text, regex), repr(text))

    def next_severity(self) -> None:
        """Show only errors, then warnings too, then all but verbose lines, then all lines."""
        self._severity = (self._severity + 1) % (len(SEVERITIES) + 1)
        if self._severity == len(SEVERITIES):
            self.show_all()
        else:
            from trtforensics.parsers.lines.prefixes import LevelMatcher

            label, levels = SEVERITIES[self._severity]
            self._keep(LevelMatcher(levels), label)

    def show_all(self) -> bool:
        """Show all lines again, and return whether some were hidden."""
        was, self.only = self.only, ""
        if was:
            self._severity = len(SEVERITIES)
            self.view.show_only(None)
            self._say("all lines")
        return bool(was)

    def renew(self) -> None:
        if self._matcher is not None:
            self._count(self._matcher)

    def _ended(self, matcher: LineMatcher, match: tuple[int | None, bool]) -> None:
        """Show a match, and whether the search wrapped, unless another search has begun."""
        line, wrapped = match
        if matcher != self._matcher:
            return
        if line is None:
            hints = not matcher.regex and re.escape(matcher.text) != matcher.text
            hint = "; Ctrl+R in the prompt searches regular expressions" if hints else ""
            self._say(f"{matcher.text!r} is nowhere in the lines read{hint}")
            return
        if not self.view.shows(line):
            self.show_all()
        self.view.show_match(line)
        self._say(self._place(line) + (", from the other end again" if wrapped else ""))

    def _show_only(self, label: str, lines: Sequence[int]) -> None:
        if lines:
            self.only = label
            self.view.show_only(lines)
            self._say(f"{counted(len(lines), 'line')}: {label}; Esc shows all")
        else:
            self._say(f"no line: {label}")

    def _counted(self, matcher: LineMatcher, lines: Sequence[int]) -> None:
        """Take the lines that match, unless another search has begun."""
        if matcher != self._matcher:
            return
        waiting = self._lines is None and matcher.regex
        self._lines = lines
        if waiting:
            self.next(backwards=False, here=True)
        elif lines:
            self._say(self._place(self.view.current_line))

    def _place(self, line: int) -> str:
        """Spell which match stands on a line: ``3/214``."""
        text = f"{self.text!r}"
        if self._lines is None:
            return text
        return f"{text} {bisect_left(self._lines, line) + 1:,}/{len(self._lines):,}"

    def _keep(self, matcher: Matcher, label: str) -> None:
        in_thread(self.view, partial(self._matches, matcher), partial(self._show_only, label), group="keep")

    def _count(self, matcher: LineMatcher) -> None:
        in_thread(self.view, partial(self._matches, matcher), partial(self._counted, matcher), group="count")

    def _matches(self, matcher: Matcher) -> Sequence[int] | None:
        """Collect all lines that match, in a thread; None once newer work has begun."""
        worker = get_current_worker()
        lines = array("q")
        for some in self.view.text.matches(matcher):
            if worker.is_cancelled:
                return None
            lines.extend(map(int, some))
        return lines


def _around(lines: Sequence[int], line: int, *, backwards: bool, here: bool) -> tuple[int | None, bool]:
    """Return the next match after a line (``here``: or in it), and whether the search wrapped at the end."""
    if not lines:
        return None, False
    if backwards:
        at = bisect_right(lines, line) - 1 if here else bisect_left(lines, line) - 1
        return (lines[at], False) if at >= 0 else (lines[-1], True)
    at = bisect_left(lines, line) if here else bisect_right(lines, line)
    return (lines[at], False) if at < len(lines) else (lines[0], True)


def _find_around(
    text: LogText | LiveText, needle: str, line: int, *, backwards: bool, here: bool
) -> tuple[int | None, bool]:
    """Search a text for what :func:`_around` looks for in lines that are known."""
    start = line if here else line - 1 if backwards else line + 1
    match = text.find(needle, start, backwards=backwards) if 1 <= start <= len(text) else None
    if match is not None:
        return match, False
    return text.find(needle, len(text) if backwards else 1, backwards=backwards), True
