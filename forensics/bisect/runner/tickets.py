"""The ticket of a probe on a worker of a cluster: a file in the probe's folder, without which the probe ends.

A worker writes its claim there, and has a mark there while it runs the probe. Where a scheduler took a worker for lost
and gave its probe to another, the later claim counts: the earlier worker ends, and the later one waits for that.
"""

from __future__ import annotations

import secrets
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trtforensics.bisect.runner.command import GRACE_S
from trtforensics.console.output import write_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_TICKET = ".ticket"
_CLAIM = ".claim"
_MARK = ".runs-"
_PATIENCE_S = 3 * GRACE_S
"""How long the end of a probe without a ticket may take; a worker that takes longer was lost."""

_PAUSE_S = 0.1


def issue(folder: Path, word: str) -> Path:
    """Write the ticket of a probe that starts; return its path."""
    ticket = folder / _TICKET
    write_text(ticket, word)
    return ticket


def revoke(folder: Path) -> None:
    """Take the ticket of an earlier run back, and wait until no worker runs the probe any more."""
    (folder / _TICKET).unlink(missing_ok=True)
    _wait_for_others(folder)


@contextmanager
def claimed(folder: Path, word: str) -> Iterator[Callable[[], bool]]:
    """Claim a probe for this worker; yield a function that says whether it may go on."""
    mine = secrets.token_hex(8)
    write_text(folder / _CLAIM, mine)
    _wait_for_others(folder)
    mark = folder / f"{_MARK}{mine}"
    mark.touch()
    try:
        yield lambda: _read(folder / _TICKET) == word and _read(folder / _CLAIM) == mine
    finally:
        mark.unlink(missing_ok=True)


def _wait_for_others(folder: Path) -> None:
    deadline = time.monotonic() + _PATIENCE_S
    while marks := list(folder.glob(f"{_MARK}*")):
        if time.monotonic() >= deadline:
            for mark in marks:
                mark.unlink(missing_ok=True)
        time.sleep(_PAUSE_S)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError):
        return ""
