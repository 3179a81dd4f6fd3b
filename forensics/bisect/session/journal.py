"""The journal: one line for each start and each end of a probe, flushed to the disk before the session goes on.

A line is JSON and ends with a line feed. A last line without a line feed was cut by a crash and does not count.
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
    """The journal of a directory whose lock is held; ``history`` holds its events, those of this run included."""

    def __init__(self, directory: Path) -> None:
        """Open the journal, or create it.

        Raises:
            SourceError: a line of it cannot be read.
            OutputError: the file cannot be written.
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
            OutputError: the file cannot be written.
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
    """Return a journal's history, and how many of its bytes are whole lines; a missing journal is empty.

    Raises:
        SourceError: a whole line of it is not a known event.
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
    """Flush the directory, so that the journal's name is on the disk too; some file systems cannot."""
    with suppress(OSError):
        descriptor = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
