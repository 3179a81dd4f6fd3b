"""The JSON Schemas that are shipped hold for what the commands print, and name every field of it."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest
from jsonschema import Draft202012Validator

from tests.support.for_each import for_each
from tests.support.repository import LOGS, ROOT
from tests.support.schemas import NAMES, problems, schema, validator
from trtforensics.cli import main
from trtforensics.datasets.judged_sources import TABLES
from trtforensics.findings.forms.table import finding_table
from trtforensics.tables.catalogue import RUN_TABLES, TABLE_NAMES, run_table, table_of

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from trtforensics.findings.finding import Report

GOLDEN = ROOT / "tests" / "golden"
GOLDEN_DOCUMENTS = {
    **dict.fromkeys(sorted((GOLDEN / "graph-json").glob("*.json")), "graph"),
    **dict.fromkeys(sorted((GOLDEN / "json").glob("*.json"))),
    **{GOLDEN / "replay" / name: None for name in ("lint.json", "show.json")},
}
SMALL = 40_000
"""Bytes of a file of the corpus that the schemas are tried on; larger ones have the same records, only more."""
LOG = str(min(LOGS.glob("*.log")))
TUNED = str(LOGS / "emulated-trtexec-10.16-three-passes.log")
REPLAY = str(ROOT / "testdata" / "replays" / "edited.json")
MODEL = str(ROOT / "testdata" / "models" / "convnet.onnx")
COMMANDS = {
    "doctor": ["doctor", "--json"],
    "record": ["record", MODEL, "--release", "10.3", "--json"],
    "parse": ["parse", "--json", LOG],
    "report": ["report", "--json", LOG, TUNED],
    "diff": ["diff", "--json", LOG, TUNED],
    "replay": ["replay", "show", "--json", REPLAY],
    "replay-lint": ["replay", "lint", "--json", REPLAY, "--log", TUNED],
    "replay-convert": ["replay", "convert", "--json", TUNED, "-o", "{out}"],
    "replay-mix": [
        "replay",
        "mix",
        "--json",
        "--good",
        "{made}",
        "--bad",
        "{made}",
        "--take",
        "{layer}",
        "-o",
        "{out}",
    ],
    "pin": ["pin", "--json", TUNED, "-o", "{out}"],
    "codes": ["explain", "--json"],
    "forecast": [
        "bisect",
        "items",
        "--items",
        "{items}",
        "--check",
        "true",
        "--artifacts-dir",
        "{out}",
        "--dry-run",
        "--json",
    ],
    "precision-forecast": ["bisect", "precision", MODEL, "--artifacts-dir", "{out}", "--dry-run", "--json"],
    "quantization": [
        *("bisect", "precision", MODEL, "--artifacts-dir", "{out}", "--precision", "int8", "--build", "none", "--json"),
    ],
    "repair": ["repair", "--json", MODEL, "--fold", "--casts", "-o", "{out}"],
}
ELSEWHERE = {"engine", "event", "graph", "pin-verification", "result", "table", "times", "timing-cache", "trend"}
"""Schemas whose documents other tests of this module, and those of whole commands, hold against them."""


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> Any:
    """Return what a command prints as JSON; None where it cannot read its source."""
    status = main(list(words))
    text = capsys.readouterr().out
    return json.loads(text) if status in {0, 1} else None


def objects(document: Any) -> Iterator[dict[str, Any]]:
    """Give the objects of a document, outer ones first."""
    if isinstance(document, dict):
        yield document
    for value in document.values() if isinstance(document, dict) else document if isinstance(document, list) else ():
        yield from objects(value)


@for_each("name", NAMES)
def test_every_schema_is_a_schema_and_leaves_no_field_unnamed(name: str) -> None:
    document = schema(name)
    Draft202012Validator.check_schema(document)
    open_ones = [one for one in objects(document) if "properties" in one and "additionalProperties" not in one]
    assert document["title"]
    assert not open_ones


def test_every_schema_is_tried() -> None:
    assert COMMANDS.keys() | ELSEWHERE == set(NAMES)


@pytest.mark.parametrize("name", COMMANDS)
def test_what_a_command_prints_is_as_its_schema_says(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    made, layer = tmp_path / "made.json", ""
    if "{made}" in COMMANDS[name]:
        printed(capsys, "replay", "convert", "--json", TUNED, "-o", str(made))
        layer = next(iter(json.loads(made.read_text(encoding="utf-8"))["replay"]))
    items = tmp_path / "items.txt"
    items.write_text("first\nsecond\n", encoding="utf-8")
    places = {"{out}": str(tmp_path / "out.json"), "{made}": str(made), "{layer}": layer, "{items}": str(items)}
    document = printed(capsys, *(places.get(word, word) for word in COMMANDS[name]))
    assert problems(document, name) == []
    accepts = validator(name).is_valid  # ends at the first problem
    for key in document:
        assert not accepts({other: value for other, value in document.items() if other != key}), key
    for one in objects(document):
        one["no field"] = 1
        if not accepts(document):
            break
        del one["no field"]
    else:
        pytest.fail("a field that the schema does not name passes")


def test_the_schema_of_tables_has_their_columns() -> None:
    tables = {name: table_of(name, ()) for name in TABLE_NAMES} | {name: run_table(name, ()) for name in RUN_TABLES}
    tables["findings"] = finding_table(cast("Report", SimpleNamespace(findings=())), frozenset())
    columns = {name: [column.name for column in table.columns] for name, table in tables.items()}
    assert {name: list(one["properties"]) for name, one in schema("table")["$defs"].items()} == columns


@pytest.mark.slow
@for_each("what", TABLES)
def test_the_rows_of_a_table_are_as_its_schema_says(what: str, capsys: pytest.CaptureFixture[str]) -> None:
    rows = printed(capsys, "table", TUNED, "--of", what, "--json")
    assert problems(rows, "table") == []
    assert problems([{**row, "no field": 1} for row in rows] or [{"no field": 1}], "table")


@for_each("path", GOLDEN_DOCUMENTS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_golden_document_is_as_its_schema_says(path: Path) -> None:
    assert problems(json.loads(path.read_text(encoding="utf-8")), GOLDEN_DOCUMENTS[path]) == []


def test_a_pin_and_its_verification_are_as_their_schemas_say(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pinned = str(tmp_path / "pinned.json")
    assert problems(printed(capsys, "pin", TUNED, "-o", pinned, "--json"), "pin") == []
    verification = printed(capsys, "pin", "--verify", pinned, TUNED, "--json")
    assert problems(verification) == []
    assert verification["items"]


@pytest.mark.slow
@pytest.mark.corpus
def test_real_files_are_printed_as_the_schemas_say(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kinds = set()
    found: list[str] = []
    for path in sorted(path for path in corpus.rglob("*") if path.is_file() and path.stat().st_size < SMALL):
        for command in ("parse", "report"):
            document = printed(capsys, command, str(path), "--json")
            if document is not None:
                kinds.add(document["kind"])
                found += [f"{path.name}: {problem}" for problem in problems(document)]
        graph = tmp_path / "graph.json"
        if main(["graph", str(path), "-o", str(graph)]) == 0:
            found += [f"{path.name}: {one}" for one in problems(json.loads(graph.read_text("utf-8")), "graph")]
    assert not found[:5]
    assert {"build-log", "report", "engine", "replay"} <= kinds
