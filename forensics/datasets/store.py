"""A dataset: a part for each source, with a Parquet file for each table that has rows of it.

``dataset.json`` says what it is, and the version of its tables. The name of a part is the digest of its source's
absolute path, so that no source is there twice; :mod:`trtforensics.datasets.parts` keeps them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from operator import itemgetter, methodcaller
from pathlib import Path
from typing import Any

from trtforensics.console.output import explained
from trtforensics.datasets.parts import MANIFEST, FolderParts, StoreParts
from trtforensics.errors import SourceError, UsageError
from trtforensics.findings.forms.table import finding_table
from trtforensics.render.json_text import dumps
from trtforensics.tables import forms
from trtforensics.tables.catalogue import TABLE_NAMES, table_of
from trtforensics.tables.columns import Sort, TableColumn, columns_of
from trtforensics.tables.runs import RUN_TABLES, run_table
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
