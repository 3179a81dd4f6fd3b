"""Reads a source as windows of lines: a file, a FIFO or standard input, plain or compressed, in any usual encoding."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.errors import SourceError
from trtforensics.model.span import SourceInfo
from trtforensics.parsers.text.decoding import COMPRESSED, decompress, is_encoded, sniff, to_utf8
from trtforensics.parsers.text.notebook import MAX_BYTES as MAX_NOTEBOOK
from trtforensics.parsers.text.notebook import NOTEBOOK, outputs_of
from trtforensics.parsers.text.stored import StoredBytes
from trtforensics.parsers.text.windows import Window, WindowCutter
from trtforensics.parsers.text.wrapping import HEAD, wrapping_of

if TYPE_CHECKING:
    from _hashlib import HASH
    from collections.abc import Callable, Iterator, Sequence
    from concurrent.futures import Future

__all__ = ["Source", "Window", "open_source"]

MAX_BYTES = 64 << 30
"""The largest text that is read unless the caller says otherwise: gigabytes of zeros compress to a small file."""

WINDOW_BYTES = 4 << 20

_OPENING = 256
"""Bytes that show whether the stored text is not that of the lines."""
_LINE_SEARCH = 4 << 20
_LINE_BEGINNING = 512


class Source(StoredBytes):
    """A source that was opened for its lines. :func:`open_source` makes one."""

    def __init__(self, path: str, max_bytes: int, window_bytes: int, hashes: Sequence[HASH]) -> None:
        super().__init__(path, window_bytes, hashes=hashes)
        self.max_bytes = max_bytes
        """The largest decoded text that is read."""
        self._window_bytes = window_bytes
        self._cutter = WindowCutter()
        self._started = False
        self._finished = False
        self._cells: dict[int, str] = {}
        self._rest: Future[None] | None = None
        """The hashing of a source that two processes read."""

    @property
    def holds_its_text(self) -> bool:
        """Whether this is a file whose bytes are its text: not compressed, without a byte order mark, no notebook."""
        opening = self.peek(0, _OPENING) if self.size is not None else b""
        return self.size is not None and not is_encoded(opening) and not NOTEBOOK.match(opening)

    def line_at(self, near: int, fits: Callable[[bytes], bool]) -> int | None:
        """Return the byte where the first line soon after ``near`` begins whose beginning ``fits``.

        None where there is no such line, and where the bytes of the source are not those of its lines: it is encoded,
        or something stands around its lines.
        """
        if not self.holds_its_text or (self.size or 0) > self.max_bytes:
            return None
        if wrapping_of(self.peek(0, HEAD)) is not None:
            return None
        text = self.peek(near, _LINE_SEARCH)
        ends = (end.end() for end in re.finditer(b"\n", text))
        return next((near + end for end in ends if fits(text[end : end + _LINE_BEGINNING])), None)

    def windows(self, begin: int = 0, end: int | None = None) -> Iterator[Window]:
        """Yield the text as windows of whole lines, once; no window for an empty source.

        A window holds about ``window_bytes`` of a file. Of a pipe it holds the bytes that have arrived, so that lines
        are shown while the writer still runs. ``begin`` and ``end`` are for a file that is read in parts, cut at
        :meth:`line_at`.

        Raises:
            SourceError: compressed data is damaged or truncated, the text is larger than ``max_bytes``, or the system
                cannot read on. The lines before that were yielded.
            RuntimeError: called a second time.
        """
        if self._started:
            raise RuntimeError("a source gives its windows once")
        self._started = True
        return self._windows(begin, end)

    def skip_rest(self, lines: int) -> None:
        """Count the lines behind the last window, which another process has read, and begin to hash all bytes.

        A thread does it while the caller goes on: once the lines are scanned, a processor is free.
        """
        self._cutter.skip(lines)
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415 - only a large file is read by two

        thread = ThreadPoolExecutor(1)
        self._rest = thread.submit(self._hash_all)
        thread.shutdown(wait=False)

    def _hash_all(self) -> None:
        self.position, last = 0, b""
        for chunk in self.chunks():
            last = chunk
        self._cutter.cut = not last.endswith(b"\n")

    def info(self) -> SourceInfo:
        """Return the facts of the source; to be called after its last window.

        Raises:
            RuntimeError: called earlier.
            SourceError: the bytes behind the last window cannot be read.
        """
        if not self._finished:
            raise RuntimeError("a source is known only after its last window")
        if self._rest is not None:
            self._rest.result()
        return self.so_far()

    def so_far(self) -> SourceInfo:
        """Return the facts of the source up to the last window; its bytes may be ahead of its lines."""
        wrapping = self._cutter.wrapping
        return SourceInfo(
            self.path,
            self.position,
            self._cutter.lines,
            self.sha256,
            self._cutter.cut,
            wrapped_in=wrapping.names if wrapping else (),
            cells=tuple(self._cells.items()),
        )

    def _windows(self, begin: int, end: int | None) -> Iterator[Window]:
        self._cutter = WindowCutter(begin)
        form, chunks = sniff(self.chunks(begin, end), COMPRESSED)
        if not form:
            self.chunk_bytes = self._window_bytes
        text = to_utf8(decompress(form, chunks, self.path, self._window_bytes))
        yield from self._cutter.windows(self._lines_of(self._bounded(text, compressed=bool(form))))
        self._finished = True

    def _lines_of(self, blocks: Iterator[bytes]) -> Iterator[bytes]:
        """Yield a text as it is, and of a notebook the outputs of its cells."""
        held: list[bytes] = []
        size = 0
        for block in blocks:
            if not held and not NOTEBOOK.match(block):
                yield block
                break
            held.append(block)
            size += len(block)
            if size > MAX_NOTEBOOK:
                break
        outputs = outputs_of(b"".join(held)) if held and size <= MAX_NOTEBOOK else None
        if outputs is not None:
            text, self._cells = outputs
            yield text
            return
        yield from held
        yield from blocks

    def _bounded(self, blocks: Iterator[bytes], *, compressed: bool) -> Iterator[bytes]:
        total = 0
        for block in blocks:
            total += len(block)
            if total > self.max_bytes:
                after = " after decompression" if compressed else ""
                raise SourceError(
                    self.path,
                    f"is larger than {self.max_bytes} bytes{after}",
                    "If it is meant to be, allow more with `--max-bytes`",
                )
            yield block


def open_source(
    path: str, *, max_bytes: int = MAX_BYTES, window_bytes: int = WINDOW_BYTES, hashes: Sequence[HASH] = ()
) -> Source:
    """Open a file, a FIFO or standard input (``-``) for reading.

    ``max_bytes`` limits the decoded text. ``window_bytes`` (at least 1) is about the size of a window; a longer line
    makes a larger window. ``hashes`` are updated with the stored bytes too, for one digest of several files.

    Raises:
        SourceError: the path is missing, a directory, not permitted, a socket, a device that may never end, or
            standard input is a terminal.
    """
    return Source(path, max_bytes, window_bytes, hashes)
