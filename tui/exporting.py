"""A pane as a file: CSV, Markdown or JSON, by the ending of the file's name."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.output import form_of, write_text
from trtforensics.console.terminal import visible
from trtforensics.errors import UsageError
from trtforensics.render.json_text import dumps
from trtforensics.tui.widgets.row_list import RowList

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.tui.rows.presentation import Value
    from trtforensics.tui.widgets.virtual_list import VirtualList


@dataclass(frozen=True, slots=True)
class PaneTable:
    """The columns of a pane and its rows, each with a value a column; None where a value is not known."""

    columns: tuple[str, ...]
    rows: Sequence[Sequence[Value]]


def table_of(pane: VirtualList) -> PaneTable:
    """Return a pane's rows in its own columns; of a pane without columns, each row's line and text.

    Layers have the values of ``table``, not the texts of the screen.
    """
    whole = pane.values_table()
    if whole is not None:
        names = tuple(column.name for column in whole.header)
        rows = ([", ".join(value) if isinstance(value, tuple) else value for value in row] for row in whole.values())
        return PaneTable(names, list(rows))
    if isinstance(pane, RowList) and pane.presentation.columns:
        return PaneTable(pane.presentation.columns, [pane.presentation.cells(row) for row in pane.rows])
    texts = [
        (pane.log_line(index), "".join(piece.text for piece in pane.row(index, 400)).strip())
        for index in range(pane.row_count())
    ]
    return PaneTable(("line", "text"), texts)


def proposed(source: str, pane: str | None) -> str:
    """Return a name for the file of a pane, in the working directory; no existing file's."""
    stem = Path(source).name.split(".")[0] or "trtforensics"
    names = (f"{stem}-{pane or 'pane'}{number}.csv" for number in ("", *(f"-{n}" for n in range(2, 1000))))
    return next((name for name in names if not Path(name).exists()), f"{stem}.csv")


def write(table: PaneTable, path: str) -> None:
    """Write a table to a new file.

    Raises:
        UsageError: The ending names no form, or there is such a file.
        OutputError: The file cannot be written.
    """
    target = Path(path).expanduser()
    form = form_of(path, _FORMS)
    if target.exists():
        raise UsageError(path, "is there already", "Give another name")
    clean = PaneTable(table.columns, [[_clean(value) for value in row] for row in table.rows])
    write_text(target, form(clean))


def _clean(value: Value) -> Value:
    """Return a value without secrets and control characters."""
    return visible(value) if isinstance(value, str) else value


def _csv(table: PaneTable) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(table.columns)
    writer.writerows(table.rows)
    return text.getvalue()


def _markdown(table: PaneTable) -> str:
    lines = [table.columns, ["---"] * len(table.columns), *table.rows]
    return "".join(f"| {' | '.join(map(_cell, line))} |\n" for line in lines)


def _cell(value: Value) -> str:
    text = "" if value is None else str(value)
    return text.replace("\\", "\\\\").replace("|", "\\|")


def _json(table: PaneTable) -> str:
    rows = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    return dumps(rows, indent=1) + "\n"


_FORMS: dict[str, Callable[[PaneTable], str]] = {".csv": _csv, ".md": _markdown, ".json": _json}
