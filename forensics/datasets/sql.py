"""Asks a dataset in SQL through DuckDB, which can read nothing but the dataset's tables and write nothing.

DuckDB's access to other files and to the network is off, and its settings are locked. The tables are views of the
Parquet files, which DuckDB reads itself in a folder, PyArrow in a store; those that a statement names are looked up
before it runs.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from importlib.resources import files
from math import isfinite
from typing import Any

from trtforensics.datasets.store import Dataset, columns
from trtforensics.errors import UsageError
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import Table

_READING = {"SELECT", "EXPLAIN", "MULTI"}
"""DuckDB's types of statements that read; a PIVOT is several."""
_WORD = re.compile(r"\w+")
_OF_CATALOGUE = re.compile(r"show|describe|information_schema|sqlite_\w+|(?:duckdb|pragma|query)\w*")
"""Words whose statements may name tables by other means."""
_TYPES = {Sort.TEXT: "VARCHAR", Sort.TEXTS: "VARCHAR[]", Sort.INTEGER: "BIGINT", Sort.NUMBER: "DOUBLE"}
_PATTERN = re.compile(r"[*?\[\]{}]")
"""What DuckDB takes in a path for a pattern."""
_NUMBER = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT|INTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)")


class Questions:
    """A dataset that can be asked in SQL."""

    def __init__(self, dataset: Dataset) -> None:
        try:
            import duckdb  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError("query", "duckdb is not installed", "`pip install 'trtforensics[sql]'`") from error
        self._error = duckdb.Error
        self._dataset = dataset
        self._connection = duckdb.connect(":memory:")
        self._registered: set[str] = set()
        self._united = False  # whether the columns of every file are looked at
        folder = dataset.parts.folder
        self._reads_files = folder is not None and _PATTERN.search(folder) is None
        for setting in (
            f"allowed_directories = [{_quoted(f'{folder}/') if self._reads_files else ''}]",
            f"VARIABLE near_tie_ratio = {NEAR_TIE_RATIO}",
            "temp_directory = ''",
            "python_enable_replacements = false",
            "enable_external_access = false",
            "lock_configuration = true",
        ):
            self._connection.execute(f"SET {setting}")

    def _register(self, text: str | None) -> None:
        """Register the tables and views that a statement names; where it is None, all of them, without their rows."""
        tables, views = columns(), _views()
        words = set(_WORD.findall((text or "show").lower()))
        if any(map(_OF_CATALOGUE.fullmatch, words)):
            words = {*tables, *views}
        named = {view: made for view, made in views.items() if view in words}
        words |= {word for made in named.values() for word in _WORD.findall(made)}
        for name in tables.keys() & words - self._registered:
            if text is None or self._reads_files:
                rows = self._view(tables[name], [] if text is None else self._dataset.parts.files(f"{name}.parquet"))
                self._connection.execute(f"CREATE OR REPLACE VIEW {name} AS {rows}")
            else:
                self._connection.register(name, self._dataset.table(name))
        for view in named.keys() - self._registered:
            self._connection.execute(named[view])
        if text is not None:
            self._registered |= words

    def _view(self, header: Sequence[TableColumn], files: Sequence[str]) -> str:
        """Return the query for a table of these columns; one that a file of an older version lacks is null there."""
        names = ", ".join(f'"{column.name}"' for column in header)
        types = (f'NULL::{_TYPES.get(column.sort, "BOOLEAN")} AS "{column.name}"' for column in header)
        empty = f"SELECT {', '.join(types)} WHERE false"
        if not files:
            return empty
        paths = ", ".join(map(_quoted, files))
        first = self._connection.read_parquet(files[0]).columns
        united = self._united or not {column.name for column in header} <= set(first)
        every = f"SELECT * FROM read_parquet([{paths}], union_by_name = {united})"  # noqa: S608 - quoted
        return f"SELECT {names} FROM ({empty} UNION ALL BY NAME {every})"  # noqa: S608 - names of ours

    def _run(self, text: str, run: Callable[[str], Any]) -> Any:  # noqa: ANN401 - DuckDB's result
        """Run a statement that reads; where a file lacks a column of the first one, again with the columns of all."""
        with self._explained():
            query = self._reading(text).query
            try:
                return run(query)
            except self._error as error:
                if self._united or not self._reads_files or "schema mismatch" not in str(error).lower():
                    raise
                self._united = True
                self._registered.clear()
                return run(self._reading(text).query)

    def ask(self, text: str) -> Table:
        """Run a statement that reads, or ``.tables`` or ``.schema [TABLE]``; rows come as they are taken."""
        if text.split()[:1] in ([".tables"], [".schema"]):
            return self._about(text.split())
        result = self._run(text, self._connection.execute)
        described = [(name, str(kind)) for name, kind, *_ in result.description]
        return _table(described, self._rows(result))

    def arrow(self, text: str) -> Any:  # noqa: ANN401 - a pyarrow.Table
        """Run a statement that reads and return its result with DuckDB's types."""
        return self._run(text, lambda query: self._connection.sql(query).to_arrow_table())

    def _reading(self, text: str) -> Any:  # noqa: ANN401 - DuckDB's statement
        statements = self._connection.extract_statements(text)
        if len(statements) != 1 or statements[0].type.name not in _READING:
            raise UsageError("the query", "is not one statement that reads", "Begin with SELECT or WITH")
        self._register(text)
        return statements[0]

    def _rows(self, result: Any) -> Iterator[tuple[Any, ...]]:  # noqa: ANN401 - DuckDB's cursor
        with self._explained():
            yield from iter(result.fetchone, None)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            what = str(error).strip().splitlines()[0].rstrip(".!")
            raise UsageError("the query", what, "`.tables` and `.schema` say what there is") from error

    def _about(self, words: list[str]) -> Table:
        self._register(None)
        rows = self._connection.execute(
            "SELECT table_name, column_name, lower(data_type) FROM information_schema.columns "
            "ORDER BY table_name, ordinal_position"
        ).fetchall()
        if words[0] == ".tables":
            return _table([("table", "VARCHAR")], ((name,) for name in dict.fromkeys(row[0] for row in rows)))
        chosen = [row for row in rows if row[0] in (words[1:] or [row[0]])]
        if not chosen:
            raise UsageError(words[-1], "is no table", "`.tables` names them all")
        return _table([(name, "VARCHAR") for name in ("table", "column", "type")], chosen)


def _views() -> dict[str, str]:
    """Return the statements that make the views, by their names."""
    _, *views = (files("trtforensics.datasets") / "views.sql").read_text("utf-8").split("CREATE VIEW ")
    return {view.split(maxsplit=1)[0]: f"CREATE OR REPLACE VIEW {view}" for view in views}


def _quoted(text: str) -> str:
    """Return a text as SQL spells it."""
    return "'" + text.replace("'", "''") + "'"


def _table(described: list[tuple[str, str]], rows: Iterable[tuple[Any, ...]]) -> Table:
    """Return the rows of a result under columns whose numbers are known as such."""

    def column(place: int, name: str, kind: str) -> TableColumn:
        return TableColumn(name, lambda row: _value(row[place]), Sort.NUMBER if _NUMBER.fullmatch(kind) else Sort.TEXT)

    return Table(tuple(column(place, name, kind) for place, (name, kind) in enumerate(described)), rows)


def _value(value: Any) -> Any:  # noqa: ANN401 - what DuckDB returns
    if isinstance(value, Decimal | float):
        return float(value) if isfinite(value) else None
    if isinstance(value, list):
        return tuple(map(str, value))
    return value if value is None or isinstance(value, str | int | float) else str(value)
