"""The lines of a file that another process still writes: read on where it grew, read anew where it was replaced."""

import os
import re
from collections.abc import Iterator, Sequence
from io import BufferedReader
from pathlib import Path
from threading import Lock

import numpy as np
import numpy.typing as npt

from trtforensics.parsers.text.text import LogText, Matcher
from trtforensics.parsers.text.windows import Window

_CHUNK = 4 << 20
_NO_FOLLOW = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)


class LiveText:
    """A growing text, updated in one thread while another reads lines. ``state`` says why nothing more is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.state = ""
        self.lock = Lock()
        """Held by the thread that updates it."""
        self._begin_anew()

    def _begin_anew(self) -> None:
        self._text = LogText()
        self._rest = b""
        self._read = 0
        self._file: tuple[int, int] | None = None

    def update(self) -> bool:
        """Read what the file holds by now; return whether the lines changed."""
        before = (self._read, self._file, self.state)
        try:
            with os.fdopen(os.open(self.path, os.O_RDONLY | _NO_FOLLOW), "rb") as stream:
                self._read_on(stream)
        except OSError as error:
            gone = isinstance(error, FileNotFoundError)
            self.state = "the file is gone; these are its last lines" if gone else (error.strerror or str(error))
        return (self._read, self._file, self.state) != before

    def _read_on(self, stream: BufferedReader) -> None:
        stat = os.fstat(stream.fileno())
        file = (stat.st_dev, stat.st_ino)
        if self._file not in {None, file} or stat.st_size < self._read:
            self._begin_anew()
        self._file, self.state = file, ""
        stream.seek(self._read)
        while data := stream.read(_CHUNK):
            self._read += len(data)
            whole, feed, rest = data.rpartition(b"\n")
            if feed:
                first, offset = len(self._text) + 1, self._read - len(data) - len(self._rest)
                self._text.append(Window(first, offset, self._rest + whole + feed))
                self._rest = rest
            else:
                self._rest += data

    def __len__(self) -> int:
        """Lines known so far, a last one without a line feed included."""
        return len(self._text) + bool(self._rest)

    def line(self, number: int) -> str:
        """Return a line, from 1; an IndexError tells that there is none, or not yet."""
        if number == len(self._text) + 1 and self._rest:
            return self._rest.rstrip(b"\r").decode("utf-8", "replace")
        return self._text.line(number)

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:
        """Return the next line from ``start`` on (included) that holds ``needle``; see :class:`LogText`."""
        last = len(self._text) + 1
        flags = re.RegexFlag(0) if needle != needle.lower() else re.IGNORECASE
        in_last = self._rest and re.search(re.escape(needle), self.line(last), flags) is not None
        if backwards and in_last and start >= last:
            return last
        match = self._text.find(needle, start, backwards=backwards)
        return last if match is None and in_last and not backwards and start <= last else match

    def matches(self, matcher: Matcher) -> Iterator[Sequence[int] | npt.NDArray[np.int64]]:
        """Yield the numbers of the lines that match, in order; see :class:`LogText`."""
        rest, last = self._rest, len(self._text) + 1
        yield from self._text.matches(matcher)
        if rest and any(True for _ in matcher.places(rest)):
            yield (last,)
