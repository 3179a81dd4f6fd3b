"""What goes to stderr, and which exit code says what."""

from __future__ import annotations

import sys
from contextlib import suppress
from enum import IntEnum

from trtforensics.console.streams import tell
from trtforensics.console.terminal import visible


class ExitCode(IntEnum):
    """The exit codes a script may rely on."""

    OK = 0
    NO = 1
    """The answer is "no": differences found, a level met, a replay that will be refused."""
    USAGE = 2
    """Bad usage or bad input."""
    BUG = 70
    """A bug of ours."""
    INTERRUPTED = 130


def error(message: str) -> None:
    """Print one paragraph on stderr, behind whatever stdout still holds."""
    with suppress(OSError, AttributeError):  # nobody reads stdout any more, or it is closed and thus None
        sys.stdout.flush()
    tell(f"trtforensics: error: {visible(message)}\n")


def show_traceback() -> None:
    """Print the traceback of the exception that is being handled; paths and names in it may hold anything."""
    import traceback  # noqa: PLC0415 - a command that ends well has no use for it

    tell("".join(f"{visible(line)}\n" for line in traceback.format_exc().splitlines()))
