"""Tables of builds: their rows, and the forms that they are written in."""

from __future__ import annotations

import csv
import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from tests.support.repository import LOGS
from trtforensics.engines.joining import load_joined
from trtforensics.errors import UsageError
from trtforensics.model.ledger import ledger_of
from trtforensics.tables import forms
from trtforensics.tables.catalogue import TABLE_NAMES, table_of
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import Table

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.engines.facts import EngineFacts
    from trtforensics.engines.joining import JoinedSources

CONTRACT = [
    "layer",
    "type",
    "compute_precision",
    "output_types",
    "time_ms",
    "time_is",
    "share",
    "weights_bytes",
    "input_bytes",
    "output_bytes",
    "activation_bytes",
    "macs",
    "onnx_nodes",
    "tactic",
    "kernel",
    "source",
    "line",
]
ODD = Table(
    (
        TableColumn("name", lambda row: row[0]),
        TableColumn("n_ms", lambda row: row[1], Sort.NUMBER, "ms", ("n",)),
        TableColumn("parts", lambda row: row[2], Sort.TEXTS),
        TableColumn("yes", lambda row: row[3], Sort.FLAG),
    ),
    [("a|b\x1b[31m", 2.5, ("x", 'y"'), True), (None, None, (), None), ("c", 1, ("z",), False)],
)


@pytest.fixture(scope="module")
def joined() -> JoinedSources:
    return load_joined([str(LOGS / "emulated-trtexec-8.6.log")])


def engines(joined: JoinedSources) -> list[EngineFacts]:
    return [joined.engine_of(build) for build in joined.log.builds]


@pytest.mark.parametrize("of", TABLE_NAMES)
def test_every_table_has_a_row_a_record_each_with_its_line(joined: JoinedSources, of: str) -> None:
    (build,) = joined.log.builds
    numbers = {
        "layers": len(build.engine_layers),
        "choices": len(build.choices) + len(build.cached),
        "candidates": sum(choice.candidates for choice in build.choices),
        "fusions": len(build.fusions),
        "profile": len(build.profile),
        "messages": len(build.messages),
        "cache-keys": len(build.timing_cache_keys),
        "results": sum(len(r.value) if isinstance(r.value, dict) else 1 for r in build.results),
        "options": sum(map(len, build.options.values())),
        "ledger": len(ledger_of(build).units),
    }
    table = table_of(of, [joined.engine_of(build)])
    rows: list[dict[str, Any]] = [
        dict(zip((column.name for column in table.header), values, strict=True)) for values in table.values()
    ]
    assert len(rows) == numbers[of]
    assert all(row["build"] == 1 and build.first_line <= row["line"] <= build.last_line for row in rows)


def test_the_columns_that_scripts_rely_on_come_first() -> None:
    assert [column.name for column in table_of("layers", []).header[: len(CONTRACT)]] == CONTRACT


def test_rows_are_filtered_sorted_and_cut_to_columns() -> None:
    assert [row[0] for row in ODD.sorted_by(["-n"]).rows] == ["a|b\x1b[31m", "c", None]
    assert [row[0] for row in ODD.sorted_by(["n_ms"]).rows] == ["c", "a|b\x1b[31m", None]
    assert list(ODD.filtered("n>2 yes:yes parts:x").selected(["n", "parts"]).values()) == [(2.5, ("x", 'y"'))]
    with pytest.raises(UsageError, match="Its columns are name, n_ms, parts, yes"):
        ODD.selected(["time"])


def test_csv_reads_back_and_holds_no_control_characters() -> None:
    text = "".join(forms.in_pieces(ODD, "csv"))
    assert list(csv.reader(io.StringIO(text))) == [
        ["name", "n_ms", "parts", "yes"],
        ["a|b␛[31m", "2.5", 'x; y"', "true"],
        ["", "", "", ""],
        ["c", "1", "z", "false"],
    ]


def test_markdown_has_its_bars_escaped_and_numbers_to_the_right() -> None:
    lines = "".join(forms.in_pieces(ODD, "markdown")).split("\n")
    assert lines[:3] == [
        "| name | n_ms | parts | yes |",
        "|---|---:|---|---|",
        '| a\\|b␛[31m | 2.5 | x; y" | true |',
    ]


def test_json_is_a_list_of_objects_with_nulls() -> None:
    rows = json.loads("".join(forms.in_pieces(ODD, "json")))
    assert rows[1] == {"name": None, "n_ms": None, "parts": [], "yes": None}
    assert rows[0]["parts"] == ["x", 'y"']
    assert json.loads("".join(forms.in_pieces(Table(ODD.columns, []), "json"))) == []


@for_each("form", ["csv", "markdown", "json", "table"])
def test_secrets_reach_no_form(form: str) -> None:
    secret = "AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMIK7MDENGbPxRfiCYzzzzzzzzzzzz"  # noqa: S105 - of nobody
    assert "wJalr" not in "".join(forms.in_pieces(Table(ODD.columns, [(secret, 1, (secret,), True)]), form))


def test_parquet_is_read_back_by_other_tools(joined: JoinedSources, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="writes Parquet; part of the extra `table`")
    from pyarrow import parquet  # noqa: PLC0415 - where it is installed

    table = table_of("layers", engines(joined))
    path = tmp_path / "layers.parquet"
    path.write_bytes(forms.parquet_of(forms.to_arrow(table)))
    expected = list(table_of("layers", engines(joined)).values())
    names = [column.name for column in table.header]
    assert [tuple(_plain(row[name]) for name in names) for row in parquet.read_table(path).to_pylist()] == expected


@pytest.mark.parametrize("reader", ["polars", "duckdb"])
def test_other_readers_of_parquet_see_the_same_times(joined: JoinedSources, tmp_path: Path, reader: str) -> None:
    pytest.importorskip("pyarrow", reason="writes Parquet; part of the extra `table`")
    module = pytest.importorskip(reader, reason=f"{reader} reads our files; part of the extra `readers`")
    path = tmp_path / "layers.parquet"
    path.write_bytes(forms.parquet_of(forms.to_arrow(table_of("layers", engines(joined)))))
    expected = [values[4] for values in table_of("layers", engines(joined)).values()]
    if reader == "polars":
        assert module.read_parquet(path)["time_ms"].to_list() == expected
    else:
        assert [row[0] for row in module.sql(f"select time_ms from '{path}' order by index").fetchall()] == expected  # noqa: S608 - a path of ours


def test_pandas_keeps_integers_and_what_is_not_known(joined: JoinedSources) -> None:
    pytest.importorskip("pandas", reason="makes data frames; part of the extra `readers`")
    frame = forms.to_pandas(table_of("layers", engines(joined)))
    assert str(frame.dtypes["line"]) == "Int64"
    assert frame["time_ms"].isna().sum() == sum(one.time_ms is None for one in joined.log.builds[0].engine_layers)


def _plain(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value
