"""The journal: a line a start, a line an end, each on the disk before anything else happens.

A line is JSON and ends with a line feed. A last line without one was cut by a crash: it never happened.
"""

from __future__ import annotations

import errno
import json
import os
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Self

from trtforensics.bisect.session.history import History
from trtforensics.console.output import explained
from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from pathlib import Path

NAME = "journal.jsonl"


class Journal:
    """The journal of a directory whose lock is held; ``history`` is what it says, events of this run included."""

    def __init__(self, directory: Path) -> None:
        """Open it, or begin it.

        Raises:
            SourceError: a line of it cannot be read.
            OutputError: the directory does not take it.
        """
        self._path = directory / NAME
        self.history, whole = read_journal(self._path)
        with explained(str(self._path)):
            self._descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
            os.ftruncate(self._descriptor, whole)
            _flush_directory(directory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)

    def write(self, event: str, **fields: object) -> None:
        """Append an event and flush it to the disk.

        Raises:
            OutputError: the disk does not take it.
        """
        record: dict[str, object] = {
            "event": event,
            "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
            **fields,
        }
        data = f"{json.dumps(record, ensure_ascii=False)}\n".encode(errors="backslashreplace")
        with explained(str(self._path)):
            if os.write(self._descriptor, data) < len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            os.fdatasync(self._descriptor)
        self.history.apply(record)


def read_journal(path: Path) -> tuple[History, int]:
    """Read a journal, and how many of its bytes are whole lines; a missing one is empty.

    Raises:
        SourceError: a whole line of it is not an event of ours.
    """
    history = History()
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return history, 0
    except OSError as error:
        raise SourceError(str(path), (error.strerror or str(error)).lower()) from error
    whole = data.rfind(b"\n") + 1
    for number, line in enumerate(data[:whole].split(b"\n")[:-1], 1):
        try:
            history.apply(json.loads(line))
        except (KeyError, TypeError, ValueError) as error:
            what = f"is no line of a journal ({type(error).__name__}: {error})"
            raise SourceError(f"{path}:{number}", what, "Restore the file, or name a new `--artifacts-dir`") from error
    return history, whole


def _flush_directory(directory: Path) -> None:
    """Have the journal's name on the disk too; some file systems cannot flush a directory."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
