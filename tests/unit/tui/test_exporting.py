"""A pane as a file."""

from __future__ import annotations

import csv
import json
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.screens import SIZE, ScreenText, log_app
from trtforensics.errors import UsageError
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import Table
from trtforensics.tui.screen import proposed_name, write_table

if TYPE_CHECKING:
    from pathlib import Path

TABLE = Table(
    (TableColumn("name", lambda row: row[0]), TableColumn("ms", lambda row: row[1], Sort.NUMBER)),
    [("a|b,\x1b", 0.5), ("token=hunter2hunter2A9", None)],
)


def read_csv(path: Path) -> list[list[str]]:
    return list(csv.reader(path.read_text(encoding="utf-8").splitlines()))


def records(table: Table) -> list[dict[str, object]]:
    """Return the rows of a table, each a value by column."""
    return [dict(zip((column.name for column in table.header), row, strict=True)) for row in table.values()]


def test_each_form_holds_the_rows_without_control_characters_and_secrets(tmp_path: Path) -> None:
    for ending in ("csv", "md", "json"):
        write_table(TABLE, str(tmp_path / f"out.{ending}"))
    assert read_csv(tmp_path / "out.csv")[:2] == [["name", "ms"], ["a|b,␛", "0.5"]]
    assert (tmp_path / "out.md").read_text(encoding="utf-8").splitlines()[:3] == [
        "| name | ms |",
        "|---|---:|",
        "| a\\|b,␛ | 0.5 |",
    ]
    rows = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert rows[0] == {"name": "a|b,\x1b", "ms": 0.5}, "escaped in the file"
    assert rows[1]["ms"] is None
    assert not any("\x1b" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())
    assert not any("hunter2" in path.read_text(encoding="utf-8") for path in tmp_path.iterdir())


def test_parquet_holds_values_of_their_types_and_nulls_for_what_is_not_known(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet", reason="PyArrow, the extra `table`, is not installed")
    rows = [("conv \x1b", 3, 0.0412, True, ("a", "b")), ("token=hunter2hunter2A9", None, None, None, None)]
    sorts = (Sort.TEXT, Sort.INTEGER, Sort.NUMBER, Sort.FLAG, Sort.TEXTS)
    header = tuple(TableColumn(sort, itemgetter(place), sort) for place, sort in enumerate(sorts))
    write_table(Table(header, rows), str(tmp_path / "Out.PARQUET"))
    read = parquet.read_table(tmp_path / "Out.PARQUET")
    assert [str(kind) for kind in read.schema.types] == ["string", "int64", "double", "bool", "list<element: string>"]
    first, second = read.to_pylist()
    assert first == dict(zip(sorts, ("conv \x1b", 3, 0.0412, True, ["a", "b"]), strict=True))
    assert second == {Sort.TEXT: second["text"]} | dict.fromkeys(sorts[1:])
    assert "hunter2" not in second["text"]


def test_no_file_is_replaced_and_no_other_ending_written(tmp_path: Path) -> None:
    (tmp_path / "out.csv").write_text("mine")
    with pytest.raises(UsageError, match="is there already"):
        write_table(TABLE, str(tmp_path / "out.csv"))
    with pytest.raises(UsageError, match="the ending does not name a form"):
        write_table(TABLE, str(tmp_path / "out.xls"))
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_the_proposed_name_is_free(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert proposed_name("logs/build.log.gz", "layers") == "build-layers.csv"
    (tmp_path / "build-layers.csv").write_text("")
    assert proposed_name("logs/build.log.gz", "layers") == "build-layers-2.csv"


@pytest.mark.slow
async def test_e_asks_for_a_name_and_writes_the_pane(
    session: Any, parsed: Any, screen_text: ScreenText, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = log_app(session)
    async with app.run_test(size=SIZE) as pilot:
        await parsed(pilot)
        await pilot.press("6", "E")
        assert "write this pane to: build-messages.csv" in screen_text(app)
        await pilot.press("enter")
        await pilot.pause()
        await pilot.press("E", "escape")
        assert app.focused is app.first._panes.messages
    rows = read_csv(tmp_path / "build-messages.csv")
    assert len(rows) == app.first._panes.messages.row_count() + 1
    assert rows[0] == ["line", "text"]


async def test_layers_are_written_with_the_values_of_the_table_in_the_order_of_the_list(
    session: Any, parsed: Any
) -> None:
    app = log_app(session)
    async with app.run_test(size=(80, 24)) as pilot:
        await parsed(pilot)
        await pilot.press("2", "s")
        tree = app.first._panes.layer_tree
        rows = records(tree.as_table())
        assert len(rows) == tree.shown_layers
        assert (rows[0]["layer"], rows[0]["time_ms"], rows[0]["tactic"]) == (
            "conv1 + relu1",
            0.0412,
            "0x0000000000000001",
        )
        await pilot.press("1")
        written = {row["name"]: row for row in records(app.first._panes.overview.as_table())}
        assert written["conv1 + relu1"]["time_ms"] == 0.0412
        assert str(written["GPU"]["value"]).startswith("NVIDIA A10G")
