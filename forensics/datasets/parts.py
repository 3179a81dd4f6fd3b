"""Where the parts of a dataset are: folders, or versions of them in an object store. A kill loses nothing in either.

A folder: ``DIR/parts/ID``. It is written under a name that begins with a dot and renamed when it is whole. One that
replaces another takes its place under a lock; between the two renames, readers here take the old part under its other
name.

A store (``s3://BUCKET/DIR``) renames nothing at once: ``DIR/parts/ID/VERSION/TABLE.parquet``, ``sources.parquet`` last.
A version without it is none; readers take the newest. Nothing is locked: of two writers the later one counts.
"""

import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from trtforensics.console.output import explained, write_bytes
from trtforensics.console.own_files import flush_tree, read_own
from trtforensics.errors import SourceError, UsageError

MANIFEST = "dataset.json"
_NEW, _OLD = ".new-", ".old-"
_STALE_S = 24 * 3600.0
"""Seconds after which an unfinished part was left by a kill, and an old version has no reader any more."""
_LAST = "sources.parquet"
"""The file of a part in a store that is written last; every part has it."""


def is_dataset(path: str) -> bool:
    """Whether a path is the folder of a dataset, or a URL, which can be nothing else."""
    return "://" in path or Path(path, MANIFEST).is_file()


class FolderParts:
    """Parts in a folder."""

    filesystem = None

    def __init__(self, folder: str) -> None:
        self._folder = Path(folder)
        self._parts = self._folder / "parts"

    @property
    def folder(self) -> str | None:
        """The absolute path below which the files are; None in a store."""
        return str(self._parts.absolute())

    def manifest(self) -> bytes:
        """Return what the dataset says of itself; a FileNotFoundError where there is none."""
        return read_own(self._folder / MANIFEST)

    def begin(self, manifest: bytes) -> None:
        """Make the dataset where there is none; a folder that holds something else is refused.

        Raises:
            UsageError: the folder holds something else.
            OutputError: the folder cannot be written to.
        """
        with explained(str(self._folder)):
            self._folder.mkdir(parents=True, exist_ok=True)
            others = [each for each in self._folder.iterdir() if not each.name.startswith(".")]
        if not is_dataset(str(self._folder)):
            if others and others != [self._parts]:
                raise UsageError(str(self._folder), "holds other files and is no dataset", "Name an empty folder")
            with explained(str(self._folder)):
                self._parts.mkdir(exist_ok=True)
            write_bytes(self._folder / MANIFEST, manifest)

    def files(self, name: str) -> list[str]:
        """Return the files of a name in all parts.

        Raises:
            SourceError: the folder cannot be read.
        """
        try:
            names = [each.name for each in os.scandir(self._parts)]
        except OSError as error:
            raise SourceError(str(self._parts), (error.strerror or str(error)).lower()) from error
        whole = {each: self._parts / each for each in names if not each.startswith(".")}
        replaced = {each.removeprefix(_OLD): self._parts / each for each in names if each.startswith(_OLD)}
        places = (path / name for _, path in sorted((replaced | whole).items()))
        return [str(path) for path in places if path.is_file()]

    @contextmanager
    def written(self, name: str) -> Iterator[Path]:
        """Give a folder for the files of a part, which takes the part's place when the block ends."""
        new = self._parts / f"{_NEW}{name}-{secrets.token_hex(4)}"
        try:
            with explained(str(new)):
                new.mkdir()
            yield new
            with explained(str(new)):
                flush_tree(new)
                with self._locked():
                    self._replace(name, new)
        finally:
            shutil.rmtree(new, ignore_errors=True)

    def _replace(self, name: str, new: Path) -> None:
        place, old = self._parts / name, self._parts / f"{_OLD}{name}"
        if place.exists():
            shutil.rmtree(old, ignore_errors=True)
            place.rename(old)
        new.rename(place)
        shutil.rmtree(old, ignore_errors=True)

    def sweep(self) -> None:
        """Give back the place of parts whose replacement was killed, and remove what killed runs were writing."""
        stale = time.time() - _STALE_S
        with explained(str(self._parts)), self._locked():
            for each in list(os.scandir(self._parts)):
                place = self._parts / each.name.removeprefix(_OLD)
                if each.name.startswith(_OLD) and not place.exists():
                    Path(each.path).rename(place)
                elif each.name.startswith(_OLD) or (each.name.startswith(_NEW) and each.stat().st_mtime < stale):
                    shutil.rmtree(each.path, ignore_errors=True)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        descriptor = os.open(self._folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
        try:
            if sys.platform == "win32":
                import msvcrt  # noqa: PLC0415 - Windows alone has it

                msvcrt.locking(descriptor, msvcrt.LK_LOCK, 1)
            else:
                import fcntl  # noqa: PLC0415 - Windows lacks it

                fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


class StoreParts:
    """Parts in an object store. Raises what :class:`FolderParts` does."""

    folder = None

    def __init__(self, url: str) -> None:
        self._url = url
        self.filesystem, path = _filesystem(url)
        self._folder = path.rstrip("/")

    def manifest(self) -> bytes:
        """Return what the dataset says of itself."""
        try:
            with self.filesystem.open_input_stream(f"{self._folder}/{MANIFEST}") as stream:
                return bytes(stream.read())
        except FileNotFoundError:
            raise
        except OSError as error:
            raise SourceError(self._url, f"cannot be read: {_reason(error)}") from error

    def begin(self, manifest: bytes) -> None:
        """Make the dataset where there is none."""
        try:
            self.manifest()
        except FileNotFoundError:
            if self._listed(""):
                raise UsageError(self._url, "holds other files and is no dataset", "Name an empty place") from None
            self._write(MANIFEST, manifest)

    def files(self, name: str) -> list[str]:
        """Return the files of a name in the newest whole version of each part."""
        files = self._listed("parts/")
        whole = _newest(files)
        of_name = (each for each in files if each[2] == name and whole.get(each[0]) == each[1])
        return [f"{self._folder}/parts/{'/'.join(each)}" for each in of_name]

    @contextmanager
    def written(self, name: str) -> Iterator[Path]:
        """Give a folder for the files of a part; the end of the block makes them its newest version."""
        with tempfile.TemporaryDirectory(prefix="trtforensics-") as folder:
            yield Path(folder)
            newest = max((int(each[0].split("-")[0]) for each in self._listed(f"parts/{name}/")), default=0)
            version = f"{max(time.time_ns(), newest + 1):020}-{secrets.token_hex(4)}"  # clocks of machines differ
            for file in sorted(Path(folder).iterdir(), key=lambda file: file.name == _LAST):
                self._write(f"parts/{name}/{version}/{file.name}", file.read_bytes())

    def sweep(self) -> None:
        """Remove versions that a newer one replaced a day ago, and what killed runs left then."""
        stale = f"{time.time_ns() - int(_STALE_S * 1e9):020}"
        files = [each for each in self._listed("parts/") if each[1] < stale]
        for part, version in {each[:2] for each in files} - _newest(files).items():
            with explained(self._url):
                self.filesystem.delete_dir(f"{self._folder}/parts/{part}/{version}")

    def _listed(self, below: str) -> list[tuple[str, ...]]:
        """Return the paths of all files below a place, in steps from it, in their order: of versions, of time."""
        from pyarrow import fs  # noqa: PLC0415 - an extra, which is installed

        place = f"{self._folder}/{below}".rstrip("/")
        try:
            every = self.filesystem.get_file_info(fs.FileSelector(place, allow_not_found=True, recursive=True))
        except OSError as error:
            raise SourceError(self._url, f"cannot be read: {_reason(error)}") from error
        return sorted(tuple(f.path[len(place) + 1 :].split("/")) for f in every if f.type == fs.FileType.File)

    def _write(self, path: str, data: bytes) -> None:
        with explained(self._url), self.filesystem.open_output_stream(f"{self._folder}/{path}") as stream:
            stream.write(data)


def _newest(files: Sequence[tuple[str, ...]]) -> dict[str, str]:
    """Return the newest whole version of each part, of files in the order of versions."""
    return {part: version for part, version, file in files if file == _LAST}


def _reason(error: Exception) -> str:
    return str(error).strip().splitlines()[0].rstrip(".")


def _filesystem(url: str) -> tuple[Any, str]:
    """Return the filesystem of a URL and the path in it: PyArrow's own, else fsspec's."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
        from pyarrow import fs  # noqa: PLC0415 - as above

        try:
            return fs.FileSystem.from_uri(url)  # type: ignore[no-any-return]  # pyarrow has no types
        except pa.ArrowInvalid:  # none of its own
            from fsspec.core import url_to_fs  # noqa: PLC0415 - as above

            filesystem, path = url_to_fs(url)
            return fs.PyFileSystem(fs.FSSpecHandler(filesystem)), path
    except (ImportError, ValueError, OSError) as error:
        what = f"cannot be opened: {_reason(error)}"
        raise UsageError(
            url, what, "`pip install 'trtforensics[table]'` for s3:// and gs://; others need fsspec"
        ) from error
