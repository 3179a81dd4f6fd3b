"""Writes tables: as CSV, Markdown, JSON, Parquet, and as objects of pandas and Arrow."""

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from trtforensics.console.output import form_of, write_bytes
from trtforensics.console.secrets import masked
from trtforensics.console.streams import deliver
from trtforensics.console.terminal import visible
from trtforensics.errors import UsageError
from trtforensics.render.json_text import dumps
from trtforensics.render.names import shortened
from trtforensics.tables.columns import Sort, TableColumn, Value
from trtforensics.tables.table import Table

BINARY_FORMS = ("parquet",)
ENDINGS = {".csv": "csv", ".md": "markdown", ".json": "json", ".parquet": "parquet"}
_WIDEST = 60
"""Characters of a cell that a person is shown."""
_BATCH = 65_536
"""Rows that become columns at a time."""


def form_named(given: str | None, output: str | None, default: str) -> str:
    """Return the form asked for, else that of the output's ending. UsageError for a binary one without a file."""
    form = given or form_of(output or "", ENDINGS, default)
    if output is None and form in BINARY_FORMS:
        raise UsageError(form, "is no text for a terminal or a pipe", "Name a file with `-o`")
    return form


def write(table: Table, form: str, path: str | None) -> None:
    """Write a table to a file, or print it where none is named and the form is a text."""
    if form in BINARY_FORMS:
        write_bytes(path or "", parquet_of(to_arrow(table)))
    else:
        deliver(in_pieces(table, form), path)


def in_pieces(table: Table, form: str) -> Iterator[str]:
    """Give a table as text, piece by piece: as ``csv``, ``markdown``, ``json``, or ``table``, which needs all rows."""
    pieces = {"csv": _csv, "markdown": _markdown, "json": _json, "table": _aligned}
    return pieces[form](table)


def _csv(table: Table) -> Iterator[str]:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([column.name for column in table.header])
    for values in table.values():
        writer.writerow([_cell(value) for value in values])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
    yield buffer.getvalue()


def _markdown(table: Table) -> Iterator[str]:
    header = table.header
    yield f"| {' | '.join(column.name for column in header)} |\n"
    yield f"|{'|'.join('---:' if column.is_number else '---' for column in header)}|\n"
    for values in table.values():
        cells = (str(_cell(value)).replace("\\", "\\\\").replace("|", "\\|") for value in values)
        yield f"| {' | '.join(cells)} |\n"


def _aligned(table: Table) -> Iterator[str]:
    """Give columns for a reader: numbers to the right, texts cut to a width."""
    rows = [[column.name for column in table.header]]
    rows += [[shortened(str(_cell(value)), _WIDEST) for value in values] for values in table.values()]
    widths = [max(map(len, cells)) for cells in zip(*rows, strict=True)]
    sides = [">" if column.is_number else "<" for column in table.header]
    for cells in rows:
        padded = (f"{cell:{side}{width}}" for cell, side, width in zip(cells, sides, widths, strict=True))
        yield "  ".join(padded).rstrip() + "\n"


def _json(table: Table) -> Iterator[str]:
    names = [column.name for column in table.header]
    opening = "["
    for values in table.values():
        yield f"{opening}\n{dumps(dict(zip(names, values, strict=True)))}"
        opening = ","
    yield "[]\n" if opening == "[" else "\n]\n"


def _cell(value: Value) -> str | float:
    """Return a value as a cell: texts without control characters, several of them with ``; `` between."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return visible(value)
    return "; ".join(map(visible, value)) if isinstance(value, tuple) else value


def arrow_schema(columns: Iterable[TableColumn]) -> Any:  # noqa: ANN401 - a pyarrow.Schema, where that is installed
    """Return columns as a schema of strings, lists of strings, int64, double and bool. UsageError without pyarrow."""
    try:
        import pyarrow as pa  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("parquet", "pyarrow is not installed", "`pip install 'trtforensics[table]'`") from error
    types = {
        Sort.TEXT: pa.string(),
        Sort.TEXTS: pa.list_(pa.string()),
        Sort.INTEGER: pa.int64(),
        Sort.NUMBER: pa.float64(),
        Sort.FLAG: pa.bool_(),
    }
    return pa.schema([(column.name, types[column.sort]) for column in columns])


def arrow_batches(table: Table) -> Iterator[Any]:
    """Give a table as ``pyarrow.RecordBatch`` of some rows each; none where it has no rows."""
    schema, values = arrow_schema(table.header), table.values()
    import pyarrow as pa  # noqa: PLC0415 - an extra, which is installed

    while rows := list(islice(values, _BATCH)):
        columns = [[_plain(row[place]) for row in rows] for place in range(len(schema))]
        arrays = [pa.array(column, kind) for column, kind in zip(columns, schema.types, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def to_arrow(table: Table) -> Any:  # noqa: ANN401 - a pyarrow.Table, where that is installed
    """Return a table as a ``pyarrow.Table``; null is "not known"."""
    schema = arrow_schema(table.header)
    import pyarrow as pa  # noqa: PLC0415 - an extra, which is installed

    return pa.Table.from_batches(arrow_batches(table), schema=schema)


def _plain(value: Value) -> object:
    if isinstance(value, str):
        return masked(value)
    return [masked(part) for part in value] if isinstance(value, tuple) else value


def parquet_of(arrow: Any) -> bytes:  # noqa: ANN401 - a pyarrow.Table
    """Return a ``pyarrow.Table`` as a Parquet file."""
    import pyarrow as pa  # noqa: PLC0415 - an extra, which is installed
    from pyarrow import parquet  # noqa: PLC0415 - as above

    sink = pa.BufferOutputStream()
    parquet.write_table(arrow, sink)
    return bytes(sink.getvalue().to_pybytes())


def to_pandas(table: Table) -> Any:  # noqa: ANN401 - a pandas.DataFrame, where that is installed
    """Return a table as a ``pandas.DataFrame`` of nullable types: integers stay integers. UsageError without pandas."""
    try:
        import pandas as pd  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise UsageError("pandas", "pandas is not installed", "`pip install pandas`") from error
    rows = [tuple(map(_plain, values)) for values in table.values()]
    names = [column.name for column in table.header]
    frame = pd.DataFrame(rows, columns=names)
    return frame.astype({column.name: _pandas_type(column) for column in table.header})


def _pandas_type(column: TableColumn) -> str:
    kinds = {Sort.INTEGER: "Int64", Sort.NUMBER: "Float64", Sort.FLAG: "boolean", Sort.TEXTS: "object"}
    return kinds.get(column.sort, "string")
