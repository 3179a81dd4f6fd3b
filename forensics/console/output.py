"""Writes a result whole or not at all.

A result goes to a temporary file in the folder of its destination, is flushed to the disk and renamed: a reader of the
destination sees the old content or all of the new. A destination that cannot be renamed over (a FIFO, a device,
``/dev/stdout``) is written to directly.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import sys
from contextlib import contextmanager, suppress
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, TypeVar

from trtforensics.console.own_files import is_there, require_no_link
from trtforensics.errors import OutputError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from typing import BinaryIO

_Form = TypeVar("_Form")
_OWN_STREAM = re.compile(r"/dev/(?:stdout|stderr|fd/(\d+))|/proc/self/fd/(\d+)")
_TEMPORARY = (".trtforensics-", ".tmp")
"""The beginning and the end of the names of temporary files."""

_NEXT_STEPS = {
    errno.ENOENT: "Create its folder first",
    errno.ENOSPC: "Free some space or name a file on another disk",
    errno.EACCES: "Name a file in a folder you may write to",
    errno.EISDIR: "Name a file inside it",
    errno.EROFS: "Name a place on another disk",
    errno.EEXIST: "A file or a broken link has this name; remove it or choose another name",
}


class Sink:
    """The destination of a result that is being written.

    It translates failures of its own writes only: an error in computing the result passes through unchanged.
    """

    def __init__(self, path: str, stream: BinaryIO) -> None:
        self._path = path
        self._stream = stream

    def write(self, data: bytes) -> None:
        """Write some bytes."""
        with explained(self._path):
            self._stream.write(data)

    def finish(self) -> None:
        """Flush everything to the destination; a regular file is flushed to the disk."""
        with explained(self._path):
            self._stream.flush()
            if stat.S_ISREG(os.fstat(self._stream.fileno()).st_mode):
                os.fsync(self._stream.fileno())


@contextmanager
def explained(path: str) -> Iterator[None]:
    """Turn the failure of a write, an OSError, into an :class:`OutputError` that says what to do.

    Raises:
        OutputError: The block raised an OSError.
    """
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        what = "its folder does not exist" if error.errno == errno.ENOENT else reason
        raise OutputError(path, f"cannot be written: {what}", _NEXT_STEPS.get(error.errno or 0, "")) from error


@contextmanager
def open_output(path: str | os.PathLike[str]) -> Iterator[Sink]:
    """Open a destination; the result appears there, whole, when the block ends without an exception.

    A symbolic link stays one, and its target is replaced; in an artifacts directory none is followed. An existing file
    keeps its permissions.
    """
    name = os.fspath(path)
    require_no_link(Path(name))
    with explained(name):
        straight = _open_straight(name)
        target = Path(os.path.realpath(name))  # Path.resolve calls a loop of links a bug
    if straight is not None:
        with _sink(name, straight) as sink:
            yield sink
        return
    temporary = target.with_name(f"{_TEMPORARY[0]}{secrets.token_hex(8)}{_TEMPORARY[1]}")
    try:
        with explained(name):
            stream = _open_temporary(temporary, target)
        with _sink(name, stream) as sink:
            yield sink
        with explained(name):
            temporary.replace(target)
    finally:
        with suppress(OSError):  # never made, renamed, or not ours to remove: no file is left either way
            temporary.unlink()


def is_temporary(name: str) -> bool:
    """Whether a file is one that a killed process was writing, by its name."""
    return name.startswith(_TEMPORARY[0]) and name.endswith(_TEMPORARY[1])


def write_bytes(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a whole result, or nothing."""
    with open_output(path) as sink:
        sink.write(data)


def form_of(path: str, forms: Mapping[str, _Form], otherwise: _Form | None = None) -> _Form:
    """Return the form of an output by the ending of its path (``.json``), whatever the case of its letters.

    Raises:
        UsageError: The ending is none of these, and there is no other form.
    """
    form = forms.get(PurePath(path).suffix.lower(), otherwise)
    if form is None:
        what = "this is written to a file, not to a stream" if path == "-" else "the ending does not name a form"
        *endings, last = forms
        raise UsageError(path, what, f"Name a file that ends in {', '.join(endings)} or {last}")
    return form


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a whole result as UTF-8, line endings as they are, or nothing."""
    write_pieces(path, (text,))


def write_pieces(path: str | os.PathLike[str], texts: Iterable[str]) -> None:
    """Write a result piece by piece, as it is computed; see :func:`write_text`."""
    with open_output(path) as sink:
        for text in texts:
            sink.write(text.encode())


@contextmanager
def _sink(path: str, stream: BinaryIO) -> Iterator[Sink]:
    sink = Sink(path, stream)
    try:
        yield sink
        sink.finish()
    finally:
        with suppress(OSError):  # closing repeats a failure that `finish` or `write` has raised already
            stream.close()


def _open_straight(path: str) -> BinaryIO | None:
    """Open a destination that cannot be renamed over; None if it is a regular file or does not exist."""
    stream = _OWN_STREAM.fullmatch(path)
    if stream is not None:
        number = stream[1] or stream[2] or {"/dev/stdout": "1", "/dev/stderr": "2"}[path]
        sys.stdout.flush()
        # A duplicate continues at the position of the stream; opening the path would truncate a redirected file.
        return os.fdopen(os.dup(int(number)), "wb")
    destination = Path(path)
    try:
        mode = destination.stat().st_mode
    except FileNotFoundError:
        return None
    return None if stat.S_ISREG(mode) else destination.open("wb")


def _open_temporary(temporary: Path, target: Path) -> BinaryIO:
    """Create the temporary file with the permissions that the target has, or that the umask gives a new file."""
    temporary.touch(exist_ok=False)
    if is_there(target):
        if not os.access(target, os.W_OK):  # a rename would replace a write-protected file without asking
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        temporary.chmod(stat.S_IMODE(target.stat().st_mode))
    return temporary.open("wb")
