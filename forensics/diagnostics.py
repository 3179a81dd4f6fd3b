"""What goes to stderr, and which exit code says what."""

from __future__ import annotations

import sys
from enum import IntEnum

from trtforensics.terminal import visible


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
    sys.stdout.flush()
    print(f"trtforensics: error: {visible(message)}", file=sys.stderr)  # noqa: T201 - this is the place that prints errors
