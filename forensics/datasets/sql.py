"""Asks a dataset in SQL through DuckDB, which can read nothing but the dataset's tables and write nothing.

DuckDB's access to files and network is off and its settings are locked. The tables are views of Arrow datasets; those
that a statement names are looked up before it runs.
"""

from __future__ import annotations

import re
from contextlib import contextmanager
from decimal import Decimal
from importlib.resources import files
from math import isfinite
from typing import TYPE_CHECKING, Any

from trtforensics.datasets.store import columns
from trtforensics.errors import UsageError
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.tables import forms
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.datasets.store import Dataset

_READING = {"SELECT", "EXPLAIN", "MULTI"}
"""DuckDB's types of statements that read; a PIVOT is several."""
_WORD = re.compile(r"\w+")
_OF_CATALOGUE = re.compile(r"show|describe|information_schema|sqlite_\w+|(?:duckdb|pragma|query)\w*")
"""Words whose statements may name tables by other means."""
_NUMBER = re.compile(r"U?(?:TINY|SMALL|BIG|HUGE)?INT|INTEGER|FLOAT|DOUBLE|DECIMAL\(.*\)")


class Questions:
    """A dataset that can be asked in SQL.

    Raises:
        SourceError: the dataset cannot be read.
        UsageError: duckdb or pyarrow is not installed.
    """

    def __init__(self, dataset: Dataset) -> None:
        try:
            import duckdb  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise UsageError("query", "duckdb is not installed", "`pip install 'trtforensics[sql]'`") from error
        self._error = duckdb.Error
        self._dataset = dataset
        self._connection = duckdb.connect(":memory:")
        self._registered: set[str] = set()
        for setting in (
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
            rows = forms.arrow_schema(tables[name]).empty_table() if text is None else self._dataset.table(name)
            self._connection.register(name, rows)
        for view in named.keys() - self._registered:
            self._connection.execute(named[view])
        if text is not None:
            self._registered |= words

    def ask(self, text: str) -> Table:
        """Run a statement that reads, or ``.tables`` or ``.schema [TABLE]``; rows come as they are taken.

        Raises:
            UsageError: it cannot be run, is not one statement, or does more than read.
        """
        if text.split()[:1] in ([".tables"], [".schema"]):
            return self._about(text.split())
        with self._explained():
            result = self._connection.execute(self._reading(text))
        described = [(name, str(kind)) for name, kind, *_ in result.description]
        return _table(described, self._rows(result))

    def arrow(self, text: str) -> Any:  # noqa: ANN401 - a pyarrow.Table
        """Run a statement that reads and return its result with DuckDB's types.

        Raises:
            UsageError: as :meth:`ask`.
        """
        with self._explained():
            return self._connection.sql(self._reading(text).query).to_arrow_table()

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
