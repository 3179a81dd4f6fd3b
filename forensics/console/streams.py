"""The standard streams, also where they are closed, full, without a reader, or in a small encoding."""

import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress

from trtforensics.errors import OutputError

STANDARD_OUTPUT = "<stdout>"


def prepare() -> None:
    """Have stdout escape characters that its encoding lacks, and replace a closed stderr.

    Python sets a closed stream to None, and ``print`` to None writes to stdout.
    """
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: PTH123, SIM115 - it stays open as long as the process
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace", newline="\n")


def print_result(text: str) -> None:
    """Print a result on stdout, and flush it; a BrokenPipeError tells that the pipe's reader has gone."""
    print_pieces((text,))


def print_pieces(texts: Iterable[str]) -> None:
    """Print a result piece by piece, as it is computed; see :func:`print_result`."""
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


def deliver(texts: Iterable[str], path: str | None) -> None:
    """Write a result to a file, or print it where none is named, piece by piece as it is computed."""
    if path is None:
        print_pieces(texts)
        return
    from trtforensics.console.output import write_pieces  # noqa: PLC0415 - a result on stdout does without

    write_pieces(path, texts)


def discard_stdout() -> None:
    """Discard the buffered text of stdout: Python would try to write it again at its end, and complain."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, sys.stdout.fileno())
    os.close(null)


def tell(text: str) -> None:
    """Write to stderr and flush; a missing reader is no reason to stop."""
    with suppress(OSError):
        sys.stderr.write(text)
        sys.stderr.flush()
