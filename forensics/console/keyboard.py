"""Keys are read from the terminal, even if standard input is a log."""

from __future__ import annotations

import os
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator

_STDIN = 0
_TERMINAL = "/dev/tty"
_UNFIT = frozenset({"dumb", "unknown"})
"""Names that mean a terminal without addressing of its cells (terminfo(5), "generic" types)."""
_INSTEAD = "Use `trtforensics parse` where there is none"


@contextmanager
def on_standard_input() -> Iterator[None]:
    """Connect descriptor 0, where Textual reads keys, to the terminal; restore it at the end.

    A source on standard input must be open by then: it keeps a descriptor of its own.

    Raises:
        UsageError: there is no terminal to draw on or to read keys from, or ``TERM`` says that it cannot be drawn on.
    """
    if os.environ.get("TERM") in _UNFIT:
        what = f"TERM={os.environ['TERM']} says that the terminal cannot move its cursor"
        raise UsageError("tui", what, "Set TERM to the terminal's type, or use `trtforensics parse` and `report`")
    if sys.stdin is None or sys.stderr is None or not sys.stderr.isatty():
        raise _no_terminal()
    if sys.stdin.isatty():
        yield
        return
    try:
        terminal = os.open(_TERMINAL, os.O_RDWR)
    except OSError as error:
        raise _no_terminal() from error
    before = os.dup(_STDIN)
    os.dup2(terminal, _STDIN)
    os.close(terminal)
    try:
        yield
    finally:
        os.dup2(before, _STDIN)
        os.close(before)


def _no_terminal() -> UsageError:
    return UsageError("tui", "it needs a terminal to draw on and to read keys from", _INSTEAD)
