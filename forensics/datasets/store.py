"""A dataset on disk: a folder for each source, with a Parquet file for each table that has rows of it.

``DIR/dataset.json`` says what it is, and the version of its tables. ``DIR/parts/ID`` is the part of a source; ``ID`` is
the digest of its absolute path, so that no source is there twice. A part is written under a name that begins with a dot
and renamed when it is whole. One that replaces another takes its place under a lock; between the two renames, readers
here take the old part under its other name, so that a kill loses nothing.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import sys
import time
from contextlib import contextmanager
from hashlib import sha256
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtforensics.console.output import explained, write_bytes
from trtforensics.console.own_files import flush_tree, read_own
from trtforensics.datasets.judged_sources import TABLES
from trtforensics.errors import SourceError, UsageError
from trtforensics.findings.forms.table import finding_table
from trtforensics.render.json_text import dumps
from trtforensics.tables import forms
from trtforensics.tables.catalogue import TABLE_NAMES, table_of
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.runs import RUN_TABLES, run_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.tables.table import Table

SCHEMA = 1
"""The version of the tables: raised when a column is renamed or dropped. A new column is null in older parts."""
MANIFEST = "dataset.json"
_NEW, _OLD = ".new-", ".old-"
_STALE_S = 24 * 3600.0
"""Seconds after which a part that is being written is taken for one that a kill left behind."""

_ENCODINGS = {Sort.INTEGER: "DELTA_BINARY_PACKED", Sort.NUMBER: "BYTE_STREAM_SPLIT"}
_ZSTD = 9
"""The level, with which writing takes little longer and the files are a tenth smaller than as Arrow writes them."""
SOURCE_COLUMNS = tuple(
    TableColumn(name, methodcaller("get", name), sort)
    for sort, names in (
        (Sort.TEXT, ("source", "kind", "status", "why", "sha256")),
        (Sort.INTEGER, ("bytes", "lines", "builds", "runs")),
        (Sort.TEXT, ("modified",)),
        (Sort.INTEGER, ("modified_ns", "ingested_ns")),
        (Sort.TEXTS, ("labels",)),
        (Sort.TEXT, ("version",)),
    )
    for name in names
)
LABEL_COLUMNS = tuple(TableColumn(name, itemgetter(place)) for place, name in enumerate(("source", "label", "value")))


def word_of(table: str) -> str:
    """Return the name of a table of the catalogue in a dataset and in SQL: ``engine_layers``, ``cache_keys``."""
    return "engine_layers" if table == "layers" else table.replace("-", "_")


def columns() -> dict[str, tuple[TableColumn, ...]]:
    """Return the columns of every table of a dataset, by its name."""
    tables = {name: table_of(name, ()) for name in TABLE_NAMES} | {name: run_table(name, ()) for name in RUN_TABLES}
    known = {word_of(name): tables[name].header for name in TABLES if name in tables}
    return {"sources": SOURCE_COLUMNS, "labels": LABEL_COLUMNS, **known, "findings": finding_table(None).header}


def is_dataset(path: str) -> bool:
    """Whether a path is the folder of a dataset."""
    return Path(path, MANIFEST).is_file()


class Dataset:
    """A dataset in a folder."""

    def __init__(self, folder: str) -> None:
        self.folder = Path(folder)
        self._parts = self.folder / "parts"

    @classmethod
    def opened(cls, folder: str) -> Dataset:
        """Open a dataset to read it.

        Raises:
            SourceError: there is none, or it is damaged.
            UsageError: another version of this program wrote it, whose tables differ.
        """
        path = Path(folder, MANIFEST)
        try:
            manifest = json.loads(read_own(path))
            schema = manifest["schema"]
        except FileNotFoundError as error:
            raise SourceError(folder, "is no dataset", "`trtforensics ingest LOGS --into DIR` makes one") from error
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise SourceError(str(path), "is damaged", "Ingest the sources into a new folder") from error
        if schema != SCHEMA:
            what = f"has tables of version {schema}; this program reads {SCHEMA}"
            raise UsageError(folder, what, "Ingest the sources into a new folder")
        return cls(folder)

    @classmethod
    def made(cls, folder: str) -> Dataset:
        """Open a dataset to add to it; make it where the folder is empty or missing.

        Raises:
            SourceError: it is damaged.
            UsageError: the folder holds something else, or another version wrote the dataset.
            OutputError: the folder cannot be written to.
        """
        path = Path(folder)
        with explained(folder):
            path.mkdir(parents=True, exist_ok=True)
            others = [each for each in path.iterdir() if not each.name.startswith(".")]
        if not is_dataset(folder):
            if others and others != [path / "parts"]:
                raise UsageError(folder, "holds other files and is no dataset", "Name an empty folder")
            with explained(folder):
                (path / "parts").mkdir(exist_ok=True)
            text = dumps({"kind": "dataset", "schema": SCHEMA, "tables": list(columns())}, indent=1)
            write_bytes(path / MANIFEST, f"{text}\n".encode())
        dataset = cls.opened(folder)
        dataset.sweep()
        return dataset

    def _parts_by_id(self) -> dict[str, Path]:
        try:
            names = [each.name for each in os.scandir(self._parts)]
        except OSError as error:
            raise SourceError(str(self._parts), (error.strerror or str(error)).lower()) from error
        whole = {name: self._parts / name for name in names if not name.startswith(".")}
        replaced = {name.removeprefix(_OLD): self._parts / name for name in names if name.startswith(_OLD)}
        return replaced | whole

    def table(self, name: str) -> Any:  # noqa: ANN401 - a pyarrow.dataset.Dataset
        """Return a table of all parts; its files are read when its rows are.

        Raises:
            SourceError: the dataset cannot be read.
            UsageError: pyarrow is not installed.
        """
        schema = forms.arrow_schema(columns()[name])
        import pyarrow.dataset as ds  # noqa: PLC0415 - an extra, which is installed

        places = (path / f"{name}.parquet" for _, path in sorted(self._parts_by_id().items()))
        return ds.dataset([str(path) for path in places if path.is_file()], schema=schema, format="parquet")

    def sources(self) -> dict[str, dict[str, Any]]:
        """Return the rows of ``sources`` by the path of the source.

        Raises:
            SourceError: the dataset cannot be read.
            UsageError: pyarrow is not installed.
        """
        return {row["source"]: row for row in self.table("sources").to_table().to_pylist()}

    def put(self, source: str, tables: Mapping[str, Table]) -> None:
        """Write the part of a source; it replaces the one that is there.

        Raises:
            OutputError: the folder cannot be written to; the dataset is as before.
            ForensicsError: a table cannot be made.
        """
        name = sha256(source.encode("utf-8", "surrogateescape")).hexdigest()[:32]
        new = self._parts / f"{_NEW}{name}-{secrets.token_hex(4)}"
        try:
            with explained(str(new)):
                new.mkdir()
            for word, table in tables.items():
                _write(table, new / f"{word}.parquet")
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
        descriptor = os.open(self.folder / ".lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
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


def _write(table: Table, path: Path) -> None:
    """Write a table, some rows at a time; no file where it has none.

    Raises:
        OutputError: the file cannot be written.
    """
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
