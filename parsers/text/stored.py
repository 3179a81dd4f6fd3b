"""Reads the stored bytes of a source, counts and hashes them, and refuses paths that cannot be read to an end."""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from trtforensics.errors import SourceError

if TYPE_CHECKING:
    from _hashlib import HASH
    from collections.abc import Callable, Iterator, Sequence

    from typing_extensions import Self

STANDARD_INPUT = "<stdin>"
"""How ``-`` is shown."""

_FIRST_CHUNK = 256 << 10
_LINE_SEARCH = 64 << 10
_STDIN = 0
_PATIENCE_MS = 50
"""How long bytes of a pipe are gathered to a chunk: too short for a person to notice, enough for `cat` to fill it."""

_ATTENTION_MS = 100
"""How often ``on_wait`` is called: a person who stops the reading does not notice the delay."""

_PIPE_IN = "Pipe a log in (trtexec … 2>&1 | trtforensics parse -) or name a file"
_TERMINAL = r"/dev/(?:tty|pts/)"
_READABLE_DEVICE = r"/dev/(?:stdin|fd/\d+)|/proc/self/fd/\d+"


class StoredBytes:
    """A file, FIFO or standard input (``-``) as chunks of at most ``chunk_bytes``, yielded once; ``with`` closes it.

    A regular file is read up to the size it had when it was opened. It is not mapped into memory: that is no faster,
    and it kills the process where the file is truncated meanwhile. ``chunk_bytes`` may be raised while reading. It
    starts small, because the first chunk shows the encoding and the first lines. ``on_wait`` is called ten times a
    second while a pipe brings nothing (on Windows never); an exception from it ends the reading. ``hashes`` are updated
    with the bytes too.

    Opening a FIFO waits for its writer.

    Raises:
        SourceError: the path is missing, a directory, not permitted, a socket, a device, or a terminal as input.
    """

    def __init__(self, path: str, chunk_bytes: int, *, hashes: Sequence[HASH] = ()) -> None:
        self.path = STANDARD_INPUT if path == "-" else path
        self.chunk_bytes = min(chunk_bytes, _FIRST_CHUNK)
        self.position = 0
        """Stored bytes read so far."""
        self.on_wait: Callable[[], None] = lambda: None
        self._hash = hashlib.sha256()
        self._hashes = (self._hash, *hashes)
        with _explained(self.path):
            self._file = _open(path)
            try:
                status = os.fstat(self._file.fileno())
            except OSError:
                self._file.close()
                raise
        self.size = status.st_size if stat.S_ISREG(status.st_mode) and path != "-" else None
        """Stored bytes in all; None for a FIFO and standard input."""

    @property
    def sha256(self) -> str:
        """Lower-case hex digest of what was read so far."""
        return self._hash.hexdigest()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._file.close()

    def chunks(self, begin: int = 0, end: int | None = None) -> Iterator[bytes]:
        """Yield the bytes in order; of a regular file perhaps only those from ``begin`` to ``end``.

        Raises:
            SourceError: the system cannot read on, or a regular file became shorter.
        """
        is_whole = begin == self.position and end is None  # a part has no digest of its own
        for chunk in self._parts(begin, end) if self.size else self._streamed():
            self.position += len(chunk)
            for digest in self._hashes if is_whole else ():
                digest.update(chunk)
            yield chunk

    def peek(self, begin: int, size: int) -> bytes:
        """Return bytes of a regular file, not counted as read.

        Raises:
            SourceError: the system cannot read them.
        """
        with _explained(self.path):
            self._file.seek(begin)
            try:
                return self._file.read(size)
            finally:
                self._file.seek(0)

    def _parts(self, begin: int, end: int | None) -> Iterator[bytes]:
        """Read a regular file, in whole lines as far as those are short."""
        start, limit = begin, (self.size or 0) if end is None else end
        while start < limit:
            stop = min(start + self.chunk_bytes, limit)
            if stop < limit:
                stop = self._line_end(start, stop)
            chunk = self.peek(start, stop - start)
            if len(chunk) < stop - start:
                raise SourceError(self.path, "became shorter while it was read", "Copy it and read the copy")
            yield chunk
            start = stop

    def _line_end(self, start: int, stop: int) -> int:
        """Return where the last line before ``stop`` ends, so that chunks hold whole lines."""
        near = max(start, stop - _LINE_SEARCH)
        line_feed = self.peek(near, stop - near).rfind(b"\n")
        return near + line_feed + 1 if line_feed >= 0 else stop

    def _streamed(self) -> Iterator[bytes]:
        with _explained(self.path):
            while chunk := self._gather():
                yield chunk

    def _gather(self) -> bytes:
        """Wait for bytes, then gather for a moment those that follow; empty at the end of the stream."""
        import select  # noqa: PLC0415 - a file does without

        descriptor = self._file.fileno()
        if not hasattr(select, "poll"):  # Windows: one read gives what a pipe holds
            return os.read(descriptor, self.chunk_bytes)
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        while not poller.poll(_ATTENTION_MS):
            self.on_wait()
        parts = [os.read(descriptor, min(self.chunk_bytes, _FIRST_CHUNK))]
        missing = self.chunk_bytes - len(parts[0])
        deadline = time.monotonic() + _PATIENCE_MS / 1000
        while parts[-1] and missing and poller.poll(max(0, deadline - time.monotonic()) * 1000):
            parts.append(os.read(descriptor, min(missing, _FIRST_CHUNK)))
            missing -= len(parts[-1])
        return b"".join(parts)


def _open(path: str) -> io.FileIO:
    if path == "-":
        file = io.FileIO(os.dup(_STDIN))  # the TUI puts the keyboard in its place
    else:
        _refuse_special(path)
        file = io.FileIO(path)
    if file.isatty() and not re.match(_TERMINAL, path):
        file.close()
        shown = STANDARD_INPUT if path == "-" else path
        raise SourceError(shown, "nothing is piped in, it is a terminal", _PIPE_IN)
    return file


def _refuse_special(path: str) -> None:
    """Refuse special files before opening: opening a device can have effects, and a socket's error says little.

    Raises:
        SourceError: what the path names cannot be read to an end.
        OSError: the path cannot be looked at.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 - Path("") would be the current folder
    if stat.S_ISREG(mode) or stat.S_ISFIFO(mode) or path == os.devnull:
        return
    if stat.S_ISDIR(mode):
        raise SourceError(path, "is a directory", "Name a file in it")
    if not stat.S_ISCHR(mode):
        kind = "a socket" if stat.S_ISSOCK(mode) else "a block device"
        raise SourceError(path, f"is {kind}, neither a file nor a pipe", "Name a file, or pipe the log in and name `-`")
    if not (re.fullmatch(_READABLE_DEVICE, path) or re.match(_TERMINAL, path)):
        raise SourceError(path, "is a device that may never end", "Name a file, or pipe the log in and name `-`")


@contextmanager
def _explained(path: str) -> Iterator[None]:
    """Turn the system's refusal of a block (OSError) into a sentence about the source (SourceError)."""
    try:
        yield
    except (FileNotFoundError, NotADirectoryError) as error:
        raise SourceError(path, "there is no such file", "Check the path; `-` names standard input") from error
    except PermissionError as error:
        next_step = "Ask its owner for the right to read it, or copy it"
        raise SourceError(path, "permission denied", next_step) from error
    except OSError as error:
        next_step = _PIPE_IN if path == STANDARD_INPUT else "Copy it to a local disk and read the copy"
        raise SourceError(path, f"cannot be read ({error.strerror or error})", next_step) from error
