"""A source as windows of text lines: a file, a FIFO or standard input, plain or compressed, in any usual encoding."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from trtforensics.errors import SourceError
from trtforensics.model.log import SourceInfo
from trtforensics.parsers.text.decoding import COMPRESSED, decompress, is_encoded, sniff, to_utf8
from trtforensics.parsers.text.stored import StoredBytes
from trtforensics.parsers.text.windows import Window, WindowCutter

if TYPE_CHECKING:
    from _hashlib import HASH
    from collections.abc import Callable, Iterator, Sequence

__all__ = ["Source", "Window", "open_source"]

MAX_BYTES = 64 << 30
"""Text beyond this is refused unless the caller says otherwise: a few kilobytes of zeros compress to nothing."""

WINDOW_BYTES = 4 << 20

_LONGEST_MARK = 4
_LINE_SEARCH = 4 << 20


class Source:
    """A readable source, opened; a context manager. Make one with :func:`open_source`."""

    def __init__(self, stored: StoredBytes, max_bytes: int, window_bytes: int) -> None:
        self.path = stored.path
        self._stored = stored
        self._max_bytes = max_bytes
        self._window_bytes = window_bytes
        self._cutter = WindowCutter()
        self._started = False
        self._finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file; standard input stays open."""
        self._stored.close()

    @property
    def position(self) -> int:
        """Stored bytes read so far."""
        return self._stored.position

    @property
    def size(self) -> int | None:
        """Stored bytes in all; None for a FIFO and standard input."""
        return self._stored.size

    def while_waiting(self, on_wait: Callable[[], None]) -> None:
        """Have a function called ten times a second while a pipe brings nothing; what it raises ends the reading."""
        self._stored.on_wait = on_wait

    def line_at(self, near: int) -> int | None:
        """Return the byte where a line with a prefix begins, at or soon after ``near``.

        None where there is none, and where bytes of the source are not bytes of its text.
        """
        if self.size is None or self.size > self._max_bytes or is_encoded(self._stored.head(_LONGEST_MARK)):
            return None
        found = self._stored.find(b"\n[", near, _LINE_SEARCH)
        return found + 1 if found >= 0 else None

    def windows(self, begin: int = 0, end: int | None = None) -> Iterator[Window]:
        """Give the text as windows of whole lines, once; none for an empty source.

        A window holds about ``window_bytes`` of a file, and of a pipe what has arrived, so that lines flow while the
        writer still runs. ``begin`` and ``end`` are for a file that is read in parts, cut at :meth:`line_at`.

        Raises:
            SourceError: compressed data is damaged or truncated, the text is larger than ``max_bytes``, or the system
                cannot read on. The lines before that were given.
            RuntimeError: called a second time.
        """
        if self._started:
            raise RuntimeError("a source gives its windows once")
        self._started = True
        return self._windows(begin, end)

    def skip_rest(self) -> None:
        """Hash the bytes behind the last window, which somebody else reads; their lines are still to be counted."""
        last = b""
        for chunk in self._stored.chunks(begin=self._stored.position):
            last = chunk
        self._cutter.cut = not last.endswith(b"\n")

    def count_skipped(self, lines: int) -> None:
        """Take in how many lines the bytes are that were skipped."""
        self._cutter.skip(lines)

    def info(self) -> SourceInfo:
        """Return what the source was, once its windows were all given.

        Raises:
            RuntimeError: called earlier.
        """
        if not self._finished:
            raise RuntimeError("a source is known only after its last window")
        return self.so_far()

    def so_far(self) -> SourceInfo:
        """Return what the source was up to the last window; the bytes may be ahead of the lines."""
        stored = self._stored
        return SourceInfo(self.path, stored.position, self._cutter.lines, stored.sha256, self._cutter.cut)

    def _windows(self, begin: int, end: int | None) -> Iterator[Window]:
        self._cutter = WindowCutter(begin)
        form, chunks = sniff(self._stored.chunks(begin, end), COMPRESSED)
        if not form:
            self._stored.chunk_bytes = self._window_bytes
        text = to_utf8(decompress(form, chunks, self.path, self._window_bytes))
        yield from self._cutter.windows(self._bounded(text, compressed=bool(form)))
        self._finished = True

    def _bounded(self, blocks: Iterator[bytes], *, compressed: bool) -> Iterator[bytes]:
        total = 0
        for block in blocks:
            total += len(block)
            if total > self._max_bytes:
                after = " after decompression" if compressed else ""
                raise SourceError(
                    self.path,
                    f"is larger than {self._max_bytes} bytes{after}",
                    "If it is meant to be, allow more with `--max-bytes`",
                )
            yield block


def open_source(
    path: str, *, max_bytes: int = MAX_BYTES, window_bytes: int = WINDOW_BYTES, hashes: Sequence[HASH] = ()
) -> Source:
    """Open a file, a FIFO or standard input (``-``) for reading.

    ``max_bytes`` bounds the decoded text. ``window_bytes`` (at least 1) is the aim for a window: a longer line makes a
    larger one. ``hashes`` are given the stored bytes too, for who wants one of several files.

    Raises:
        SourceError: the path is missing, a directory, not permitted, a socket, a device that may never end, or
            standard input is a terminal.
    """
    return Source(StoredBytes(path, window_bytes, hashes=hashes), max_bytes, window_bytes)
