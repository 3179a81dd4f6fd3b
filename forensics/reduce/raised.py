"""Where a command's output says that it stopped: a Python traceback, a debugger's or sanitizer's stack, an assertion.

Of a traceback the innermost frame outside of installed packages counts: it is the user's check that failed there,
whatever a library then called.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'[\s|]*File "(?P<file>[^"]+)", line \d+, in (?P<function>.+)')
_INSTALLED = re.compile(r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python\d|^<frozen ")
_STACK = re.compile(
    r"\s*#\d+\s+(?:0x[0-9a-f]+ in )?(?P<function>(?!__|raise\b|gsignal\b|abort\b)[\w:~<>]+).*?"
    r"(?:\bat |\s)(?P<file>[\w./+-]+\.(?:cpp|cc|cxx|cu|c|hpp|h)):\d+"
)
_ASSERTED = re.compile(r"\bwhat\(\):|Assertion .*failed")
_SUMMARY = re.compile(r"(?:FAILED|PASSED) \| Runtime: ")
"""Polygraphy's last line, which repeats its command."""


@dataclass(frozen=True, slots=True)
class Raised:
    """The frame that an output ends in, and its last words; "" where there are none.

    ``asserted``: the words are those of an exception or assertion, and not merely the last that were printed.
    """

    frame: str = ""
    words: str = ""
    asserted: bool = False


def raised_in(lines: Sequence[str]) -> Raised:
    """Return where the lines of an output say that the command stopped."""
    start = max((number for number, line in enumerate(lines) if line.endswith(_TRACEBACK)), default=None)
    if start is not None:
        return _of_traceback(lines[start + 1 :])
    stack = next((match for line in lines if (match := _STACK.match(line))), None)
    frame = f"{PurePath(stack['file']).name}: {stack['function']}" if stack else ""
    asserted = next((line for line in reversed(lines) if _ASSERTED.search(line)), "")
    last = (line for line in reversed(lines) if line.strip() and not _SUMMARY.search(line))
    return Raised(frame, asserted or next(last, ""), bool(asserted))


def _of_traceback(lines: Sequence[str]) -> Raised:
    frames = []
    for line in lines:
        match = _FRAME.fullmatch(line)
        if match:
            frames.append(match)
        elif line[:1].strip(" |"):
            error = line.strip()
            of_user = [frame for frame in frames if not _INSTALLED.search(frame["file"])] or frames
            kind = error.partition(":")[0]
            spots = [f"{PurePath(frame['file']).name}: {frame['function']}: {kind}" for frame in of_user[-1:]]
            return Raised("".join(spots), error, asserted=True)
    return Raised()
