"""Errors and remarks on stderr, and the exit codes of the program."""

import sys
from contextlib import suppress
from enum import IntEnum

from trtforensics.console.streams import tell
from trtforensics.console.terminal import visible


class ExitCode(IntEnum):
    """The exit codes a script may rely on."""

    OK = 0
    NO = 1
    """The answer is "no": there are differences, a level is reached, a replay will be refused."""
    USAGE = 2
    BUG = 70
    INTERRUPTED = 130


def error(message: str) -> None:
    """Print one paragraph on stderr, after the buffered text of stdout."""
    with suppress(OSError, AttributeError):  # the reader of stdout has gone, or stdout is closed and thus None
        sys.stdout.flush()
    tell(f"trtforensics: error: {visible(message)}\n")


def remark(sentence: str, *, quiet: bool) -> None:
    """Print a line beside the result, on stderr, unless the user wants none."""
    if not quiet:
        tell(f"{visible(sentence)}\n")


def show_traceback() -> None:
    """Print the traceback of the exception that is being handled; paths and names in it may hold anything."""
    import traceback  # noqa: PLC0415 - only for a command that fails

    tell("".join(f"{visible(line)}\n" for line in traceback.format_exc().splitlines()))
