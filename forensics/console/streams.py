"""The standard streams as scripts hand them over: closed, full, read by nobody, without our signs."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

from trtforensics.errors import OutputError

if TYPE_CHECKING:
    from collections.abc import Iterable

STANDARD_OUTPUT = "<stdout>"
"""How standard output is shown in an error."""


def prepare() -> None:
    """Let stdout take every sign, as an escape where its encoding lacks it, and give a closed stderr a place to go.

    Python sets a closed stream to None, and prints what is meant for None on stdout.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open as long as the process
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace", newline="\n")


def print_result(text: str) -> None:
    """Print a result on stdout, to its last byte.

    Raises:
        OutputError: Standard output does not take it.
        BrokenPipeError: Whoever read it has gone.
    """
    print_pieces((text,))


def print_pieces(texts: Iterable[str]) -> None:
    """Print a result that is made while it is printed, as :func:`print_result` does."""
    if sys.stdout is None:
        if any(texts):
            raise OutputError(STANDARD_OUTPUT, "is closed", "Leave it open or name a file with `-o`")
        return
    try:
        sys.stdout.writelines(texts)
        sys.stdout.flush()
    except BrokenPipeError:
        discard_stdout()
        raise
    except OSError as error:
        discard_stdout()
        reason = (error.strerror or str(error)).lower()
        raise OutputError(STANDARD_OUTPUT, f"cannot be written: {reason}", "Send it elsewhere") from error


def discard_stdout() -> None:
    """Send what stdout still holds nowhere: Python would try to write it once more when it ends, and complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def tell(text: str) -> None:
    """Write to stderr at once; that nobody reads it is no reason to stop."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
