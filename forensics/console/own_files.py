"""Files of an artifacts directory that only this program writes: regular ones, whole, and no links to elsewhere."""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trtforensics.errors import OutputError, SourceError

_BLOCK = 1 << 20
LARGEST = 128 << 20
"""Bytes; a longer file is none of ours."""

_CANNOT_FLUSH = {errno.EINVAL, errno.ENOTSUP, errno.EROFS}
"""What file systems answer that flush no directories."""


_OWNED: set[Path] = set()
"""The artifacts directories that this process has worked on."""


def owned(directory: Path) -> None:
    """Take a directory for our own from now on: nothing is written through a link in it."""
    _OWNED.add(directory.absolute())


def require_no_link(path: Path) -> None:
    """Refuse a path in a directory of our own that leads through a link.

    Raises:
        OutputError: it does.
    """
    whole = path.absolute()
    steps = [whole, *whole.parents]
    root = next((number for number, place in enumerate(steps) if place in _OWNED), 0)
    for place in steps[:root]:
        if place.is_symlink():
            raise OutputError(str(place), "is a symbolic link, which is not followed", "Remove it")


def open_own(path: Path, flags: int) -> int:
    """Open a regular file that is no link (an OSError where it cannot be); return its descriptor.

    Raises:
        OSError: it cannot be opened, or is no regular file.
    """
    try:
        descriptor = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, 0o666)
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise OSError(errno.ELOOP, "is a symbolic link, which is not followed") from error
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "is no regular file")
    return descriptor


def read_own(path: Path) -> bytes:
    """Return the content of a file that is no link; a FileNotFoundError where there is none.

    Raises:
        FileNotFoundError: there is none.
        SourceError: it cannot be read, is a link or no regular file, or is too long.
    """
    try:
        with os.fdopen(open_own(path, os.O_RDONLY), "rb") as file:
            data = file.read(LARGEST + 1)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise SourceError(str(path), (error.strerror or str(error)).lower()) from error
    if len(data) > LARGEST:
        raise SourceError(str(path), f"is longer than {LARGEST >> 20} MiB, so it is not from this program")
    return data


def flush_folder(folder: Path) -> None:
    """Flush a folder to the disk, so that the names in it are there too; some file systems cannot and need not."""
    with _opened(folder) as descriptor:
        try:
            os.fsync(descriptor)
        except OSError as error:
            if error.errno not in _CANNOT_FLUSH:
                raise


def flush_tree(path: Path) -> None:
    """Flush a file, or all files and folders below a folder, to the disk."""
    if path.is_symlink():
        return
    if path.is_dir():
        for below in path.iterdir():
            flush_tree(below)
        flush_folder(path)
    elif path.is_file():
        with _opened(path) as descriptor:
            os.fsync(descriptor)


def file_digest(path: Path | str) -> tuple[int, str]:
    """Return the bytes of a file, which may be of some GiB, and their SHA-256; raise OSError."""
    digest, size = hashlib.sha256(), 0
    with Path(path).open("rb") as file:
        while block := file.read(_BLOCK):
            digest.update(block)
            size += len(block)
    return size, digest.hexdigest()


def is_there(path: Path) -> bool:
    """Whether a file or folder exists; ``Path.exists`` takes for absence what is an OSError here."""
    try:
        path.stat()
    except FileNotFoundError:
        return False
    return True


def size_of(path: Path) -> int | None:
    """Return the bytes of a file, or of all files below a folder; None if there is neither."""
    if not is_there(path):
        return None
    if not path.is_dir():
        return path.stat().st_size
    return sum(below.stat().st_size for below in path.rglob("*") if below.is_file())


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        yield descriptor
    finally:
        os.close(descriptor)
