"""Progress of long work on stderr: a line that rewrites itself on a terminal, a plain line now and then when piped."""

from __future__ import annotations

import sys
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.console.streams import tell
from trtforensics.console.terminal import visible

if TYPE_CHECKING:
    from typing_extensions import Self

_TERMINAL_PERIOD = 0.1
_PIPED_PERIOD = 5.0
_QUIET_START = 0.5
"""Shorter work shows no progress."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far reading a source is: stored bytes read and in total (None for a pipe), and lines read."""

    bytes_done: int
    bytes_total: int | None
    lines: int


class ProgressLine:
    """Shows how far work is; a context manager that clears the terminal's line at its end."""

    def __init__(self, *, quiet: bool) -> None:
        self._quiet = quiet
        self._terminal = sys.stderr.isatty()
        self._next = time.monotonic() + (_QUIET_START if self._terminal else _PIPED_PERIOD)
        self._shown = 0
        self._files = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._shown:
            tell("\r" + " " * self._shown + "\r")

    def __call__(self, progress: Progress) -> None:
        """Show how far reading a source is, if a new line is due."""
        self.show(_text(progress))

    def file(self, path: str) -> None:
        """Count the next of many sources, and show it if a new line is due."""
        self._files += 1
        self.show(f"reading file {self._files:,}: {visible(path)}")

    def keep(self, text: str) -> None:
        """Show a line at once, which stays."""
        if not self._quiet:
            tell(("\r" if self._shown else "") + f"trtforensics: {text}".ljust(self._shown) + "\n")

    def show(self, text: str) -> None:
        """Show a line if the last one is long enough ago."""
        now = time.monotonic()
        if self._quiet or now < self._next:
            return
        self._next = now + (_TERMINAL_PERIOD if self._terminal else _PIPED_PERIOD)
        if self._terminal:
            import shutil  # noqa: PLC0415 - for long work only; it imports every kind of archive

            text = text[: shutil.get_terminal_size().columns - 1]  # a line that wraps cannot rewrite itself
            tell("\r" + text.ljust(self._shown))
            self._shown = max(self._shown, len(text))
        else:
            tell(f"trtforensics: {text}\n")


def _text(progress: Progress) -> str:
    done = f"{progress.bytes_done / 1e6:,.0f} MB"
    if progress.bytes_total:
        share = progress.bytes_done / progress.bytes_total
        done = f"{share:4.0%} of {progress.bytes_total / 1e6:,.0f} MB"
    return f"reading: {done}, {progress.lines:,} lines"
