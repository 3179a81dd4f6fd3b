"""Questions in SQL: they read tables and views, and nothing else; answers come in five forms."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from trtforensics.cli import main
from trtforensics.datasets.ingesting import Ingestion
from trtforensics.datasets.sql import Questions
from trtforensics.datasets.store import columns
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def dataset(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("set")
    list(Ingestion(str(folder), {}, None, 1 << 30).run([str(logs / "later.log")], 1, lambda _: None))
    return folder


@pytest.fixture
def questions(dataset: Path) -> Questions:
    from trtforensics.datasets.store import Dataset  # noqa: PLC0415 - a test of its own name

    return Questions(Dataset.opened(str(dataset)))


@pytest.mark.parametrize("older", ["0", "f"], ids=["the-first-file", "the-last-file"])
def test_a_column_that_an_older_part_lacks_is_null_there(older: str, dataset: Path, tmp_path: Path) -> None:
    from pyarrow import parquet  # noqa: PLC0415 - an extra

    from trtforensics.datasets.store import Dataset  # noqa: PLC0415 - a test of its own name

    folder = tmp_path / "it's"
    shutil.copytree(dataset, folder)
    (part,) = (folder / "parts").iterdir()
    shutil.copytree(part, folder / "parts" / (older * 32))
    table = folder / "parts" / (older * 32) / "candidates.parquet"
    parquet.write_table(parquet.read_table(table).drop(["time_ms"]), table)
    questions = Questions(Dataset.opened(str(folder)))
    assert list(questions.ask("SELECT count(DISTINCT source) FROM runs").values()) == [(1,)]
    half = questions.ask("SELECT count(*) > 0 AND count(*) = 2 * count(time_ms) FROM candidates")
    assert list(half.values()) == [(True,)]
    assert questions.arrow("SELECT time_ms FROM candidates WHERE time_ms IS NULL").num_rows


def test_no_pandas_is_imported_for_a_dataset_in_a_folder(dataset: Path) -> None:
    code = "import sys; from trtforensics.cli import main; main(); print({'pandas', 'pyarrow'} & {*sys.modules})"
    command = [sys.executable, "-c", code, "query", "SELECT source FROM runs", "--dataset", str(dataset)]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.endswith("set()\n")


FORBIDDEN = [
    "COPY runs TO '{folder}/out.csv'",
    "CREATE TABLE t AS SELECT 1",
    "DROP VIEW near_ties",
    "ATTACH '{folder}/x.db'",
    "SET enable_external_access = true",
    "INSTALL httpfs",
    "LOAD httpfs",
    "EXPORT DATABASE '{folder}/out'",
    "SELECT * FROM '{folder}/dataset.json'",
    "SELECT * FROM read_text('{folder}/parts/../dataset.json')",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_text('/etc/passwd')",
    "SELECT * FROM glob('/*')",
    "SELECT * FROM read_parquet('https://127.0.0.1:1/x.parquet')",
    "SELECT * FROM 'https://127.0.0.1:1/x.parquet'",
    "SELECT 1; DROP VIEW near_ties",
    "PRAGMA enable_profiling",
    "SELECT * FROM FORBIDDEN",
    "",
    "SELECT * FROM nowhere",
]


@pytest.mark.parametrize("text", FORBIDDEN)
def test_sql_reads_the_tables_and_nothing_else(text: str, questions: Questions, dataset: Path, tmp_path: Path) -> None:
    before = sorted(path for path in dataset.rglob("*"))
    with pytest.raises(UsageError):
        list(questions.ask(text.format(folder=dataset)).values())
    assert sorted(path for path in dataset.rglob("*")) == before
    assert not list(tmp_path.iterdir())


def test_tables_and_schemas_are_told(questions: Questions) -> None:
    views = {"layer_times", "final_choices", "near_ties", "node_precision", "build_history"}
    assert {name for (name,) in questions.ask(".tables").values()} == columns().keys() | views
    assert list(questions.ask(".schema labels").values()) == [
        ("labels", name, "varchar") for name in ("source", "label", "value")
    ]
    with pytest.raises(UsageError, match=r"`\.tables`"):
        questions.ask(".schema nowhere")


def test_answers_come_in_five_forms(dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sql = "SELECT program, release, 1.5 AS x, [1, 2] AS y, NULL AS z, 'nan'::double AS n FROM runs"
    words = ["query", sql, "--dataset", str(dataset)]
    printed = {}
    for form in ("table", "csv", "markdown", "json"):
        assert main([*words, "--format", form]) == 0
        printed[form] = capsys.readouterr().out
    row = {"program": "trtexec", "release": "8.6.1", "x": 1.5, "y": ["1", "2"], "z": None, "n": None}
    assert json.loads(printed["json"]) == [row]
    assert printed["table"] == "program  release    x  y     z  n\ntrtexec  8.6.1    1.5  1; 2\n"
    assert printed["csv"] == "program,release,x,y,z,n\ntrtexec,8.6.1,1.5,1; 2,,\n"
    assert main([*words, "-o", str(tmp_path / "out.parquet")]) == 0
    from pyarrow import parquet  # noqa: PLC0415 - an extra, which is installed here

    assert parquet.read_table(tmp_path / "out.parquet").to_pylist()[0]["y"] == [1, 2]
    assert main([*words, "--format", "parquet"]) == 2


def test_sources_are_asked_without_a_dataset(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["query", "SELECT count(*) AS n FROM runs", str(logs), "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == [{"n": 7}]
    assert "poem.txt: no line carries" in err
    assert main(["query", "SELECT 1", str(logs / "poem.txt")]) == 2
    assert main(["query", "SELECT 1"]) == 2
    assert main(["query", "SELECT 1", "--dataset", str(logs)]) == 2


def test_what_is_named_by_other_means_is_there(questions: Questions) -> None:
    assert list(questions.ask("SELECT 1").values()) == [(1,)]
    assert "runs" in {name for (name,) in questions.ask(".tables").values()}
    assert list(questions.ask('SELECT count(*) FROM "RUNS"').values()) == [(1,)]
    assert list(questions.ask("SELECT count(*) > 0 FROM NEAR_TIES").values()) == [(True,)]
    assert list(questions.ask("SELECT count(*) FROM query_table('so' || 'urces')").values()) == [(1,)]
    assert {name for (name, *_) in questions.ask("SHOW TABLES").values()} >= columns().keys()
