"""A pane as a file: CSV, Markdown or JSON, by the ending of the file's name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.output import form_of, write_pieces
from trtforensics.errors import UsageError
from trtforensics.tables.forms import in_pieces

if TYPE_CHECKING:
    from trtforensics.tables.table import Table

_FORMS = {".csv": "csv", ".md": "markdown", ".json": "json"}


def proposed(source: str, pane: str | None) -> str:
    """Return a name for the file of a pane, in the working directory; no existing file's."""
    stem = Path(source).name.split(".")[0] or "trtforensics"
    names = (f"{stem}-{pane or 'pane'}{number}.csv" for number in ("", *(f"-{n}" for n in range(2, 1000))))
    return next((name for name in names if not Path(name).exists()), f"{stem}.csv")


def write(table: Table, path: str) -> None:
    """Write a table to a new file, as the command ``table`` does.

    Raises:
        UsageError: The ending names no form, or there is such a file.
        OutputError: The file cannot be written.
    """
    target = Path(path).expanduser()
    form = form_of(path, _FORMS)
    if target.exists():
        raise UsageError(path, "is there already", "Give another name")
    write_pieces(target, in_pieces(table, form))
