"""A dataset: a part for each source, with a Parquet file for each table that has rows of it.

``dataset.json`` has the version of its tables. The name of a part is the digest of its source's absolute path, so that
no source is there twice. A kill loses nothing, in a folder or in an object store.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import sha256
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import Any

from trtforensics.console.output import explained, write_bytes
from trtforensics.console.own_files import flush_tree, read_own
from trtforensics.errors import SourceError, UsageError
from trtforensics.findings.forms.table import finding_table
from trtforensics.render.json_text import dumps
from trtforensics.tables import forms
from trtforensics.tables.catalogue import RUN_TABLES, TABLE_NAMES, run_table, table_of
from trtforensics.tables.columns import Sort, TableColumn, columns_of
from trtforensics.tables.table import Table

SCHEMA = 1
"""The version of the tables: raised when a column is renamed or dropped. A new column is null in older parts."""

_ENCODINGS = {Sort.INTEGER: "DELTA_BINARY_PACKED", Sort.NUMBER: "BYTE_STREAM_SPLIT"}
_ZSTD = 9
"""The level, with which writing takes little longer and the files are a tenth smaller than as Arrow writes them."""
SOURCE_COLUMNS = columns_of("sources", {"get": lambda name: methodcaller("get", name)})
LABEL_COLUMNS = columns_of("labels", {"at": lambda place: itemgetter(int(place))})


def word_of(table: str) -> str:
    """Return the name of a table of the catalogue in a dataset and in SQL: ``engine_layers``, ``cache_keys``."""
    return "engine_layers" if table == "layers" else table.replace("-", "_")


def columns() -> dict[str, tuple[TableColumn, ...]]:
    """Return the columns of every table of a dataset, by its name."""
    tables = {name: table_of(name, ()) for name in TABLE_NAMES} | {name: run_table(name, ()) for name in RUN_TABLES}
    known = {word_of(name): table.header for name, table in tables.items()}
    return {"sources": SOURCE_COLUMNS, "labels": LABEL_COLUMNS, **known, "findings": finding_table(None).header}


class Dataset:
    """A dataset in a folder, or in an object store by its URL."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.parts: FolderParts | StoreParts = (StoreParts if "://" in folder else FolderParts)(folder)

    @classmethod
    def opened(cls, folder: str) -> Dataset:
        """Open a dataset to read it.

        Raises:
            SourceError: there is none, or it is damaged.
            UsageError: another version of this program wrote it, whose tables differ; nothing opens such a URL.
        """
        dataset = cls(folder)
        try:
            manifest = json.loads(dataset.parts.manifest())
            schema = manifest["schema"]
        except FileNotFoundError as error:
            raise SourceError(folder, "is no dataset", "`trtforensics ingest LOGS --into DIR` makes one") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise SourceError(f"{folder}/{MANIFEST}", "is damaged", "Ingest the sources into a new folder") from error
        if schema != SCHEMA:
            what = f"has tables of version {schema}; this program reads {SCHEMA}"
            raise UsageError(folder, what, "Ingest the sources into a new folder")
        return dataset

    @classmethod
    def made(cls, folder: str) -> Dataset:
        """Open a dataset to add to it; make it where the folder is empty or missing."""
        text = dumps({"kind": "dataset", "schema": SCHEMA, "tables": list(columns())}, indent=1)
        cls(folder).parts.begin(f"{text}\n".encode())
        dataset = cls.opened(folder)
        dataset.parts.sweep()
        return dataset

    def table(self, name: str) -> Any:  # noqa: ANN401 - a pyarrow.dataset.Dataset
        """Return a table of all parts; its files are read when its rows are."""
        schema = forms.arrow_schema(columns()[name])
        import pyarrow.dataset as ds  # noqa: PLC0415 - an extra, which is installed

        files = self.parts.files(f"{name}.parquet")
        return ds.dataset(files, schema=schema, format="parquet", filesystem=self.parts.filesystem)

    def sources(self) -> dict[str, dict[str, Any]]:
        """Return the rows of ``sources`` by the path of the source."""
        return {row["source"]: row for row in self.table("sources").to_table().to_pylist()}

    def put(self, source: str, tables: Mapping[str, Table]) -> None:
        """Write the part of a source in place of the one that is there; after an error the dataset is as before."""
        name = sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        with self.parts.written(name) as new:
            for word, table in tables.items():
                _write(table, new / f"{word}.parquet")


def _write(table: Table, path: Path) -> None:
    """Write a table, some rows at a time; no file where it has none."""
    writer = None
    try:
        for batch in forms.arrow_batches(table):
            from pyarrow import parquet  # noqa: PLC0415 - an extra, which is installed

            with explained(str(path)):
                writer = writer or parquet.ParquetWriter(
                    path,
                    batch.schema,
                    compression="zstd",
                    compression_level=_ZSTD,
                    data_page_version="2.0",
                    use_dictionary=False,
                    column_encoding={c.name: _ENCODINGS[c.sort] for c in table.header if c.sort in _ENCODINGS},
                    write_statistics=False,
                    store_schema=False,
                )
                writer.write_batch(batch)
    finally:
        if writer is not None:
            with explained(str(path)):
                writer.close()


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
    """Parts in a folder: ``DIR/parts/ID``, written under a name that begins with a dot and renamed when it is whole.

    One that replaces another takes its place under a lock; between the two renames, readers here take the old part.
    """

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
        """Make the dataset where there is none. UsageError where the folder holds something else; OutputError."""
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
        """Return the files of a name in all parts. SourceError where the folder cannot be read."""
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
    """Parts in an object store, without renaming: ``DIR/parts/ID/VERSION/TABLE.parquet``, ``sources.parquet`` last.

    A version without it is none; readers take the newest. Nothing is locked. Raises what :class:`FolderParts` does.
    """

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
