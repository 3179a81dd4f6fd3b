"""Datasets: what is added, what is left, what a change, a kill, a full disk or a second run does to them."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
from contextlib import suppress
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from tests.support.repository import LOGS
from trtforensics.cli import main
from trtforensics.datasets.ingesting import Ingestion, label_pattern, sources_of
from trtforensics.datasets.store import Dataset, columns
from trtforensics.errors import OutputError, UsageError
from trtforensics.sources.replay import load_replay


def ingest(folder: Path, *words: str | Path) -> int:
    return main(["ingest", "--quiet", "--into", str(folder), *map(str, words)])


def rows(folder: Path) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of all tables, without when they were made."""
    dataset = Dataset.opened(str(folder))
    tables = {name: dataset.table(name).to_table().to_pylist() for name in columns()}
    for row in tables["sources"]:
        del row["ingested_ns"]
    return {name: sorted(each, key=repr) for name, each in tables.items()}


def copied(logs: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(logs, tmp_path / "logs"))


def test_all_files_of_a_folder_are_there_the_unreadable_one_with_its_reason(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ingest(tmp_path / "set", logs) == 0
    assert "7 read, 1 unreadable" in capsys.readouterr().out
    tables = rows(tmp_path / "set")
    assert {Path(row["source"]).name for row in tables["sources"]} == {each.name for each in logs.iterdir()}
    (poem,) = (row for row in tables["sources"] if row["status"] == "unreadable")
    assert "no line carries" in poem["why"]
    assert {row["source"] for row in tables["runs"]} == {row["source"] for row in tables["sources"]} - {poem["source"]}
    for name in columns().keys() - {"sources", "labels"}:
        assert all(row["source"] and row["line"] for row in tables[name]), name


def test_what_a_replay_pins_and_a_cache_holds_are_rows(tmp_path: Path) -> None:
    key = {"op": "mul", "key": f"0x{'1' * 32}", "selected": "0x0000000000000005", "time_ms": 0.5}
    cache = {"schema": 1, "kind": "timing-cache", "keys": [key]}
    (tmp_path / "cache.json").write_text(json.dumps(cache))
    replay = next((LOGS.parent / "replays").glob("*.json"))
    assert ingest(tmp_path / "set", replay, tmp_path / "cache.json") == 0
    tables = rows(tmp_path / "set")
    assert {(row["kind"], row["status"]) for row in tables["sources"]} == {("replay", "read"), ("timing-cache", "read")}
    assert [row["layer"] for row in tables["choices"]] == sorted(
        entry.layer for entry in load_replay(str(replay)).entries
    )
    assert {(row["time_ms"], row["final"], row["build"]) for row in tables["choices"]} == {(None, None, None)}
    (held,) = tables["cache_keys"]
    assert (held["op"], held["key"], held["selected"], held["time_ms"]) == tuple(key.values())
    assert held["line"] == 1


@pytest.mark.slow
def test_again_nothing_is_read_and_a_changed_file_replaces_its_rows(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied(logs, tmp_path)
    ingest(tmp_path / "set", folder)
    before = rows(tmp_path / "set")
    ingest(tmp_path / "set", folder)
    assert "8 unchanged" in capsys.readouterr().out.splitlines()[-1]
    assert rows(tmp_path / "set") == before
    log = folder / "later.log"
    log.write_text(log.read_text("utf-8").replace("&&&& PASSED", "&&&& FAILED"), "utf-8")  # of the same size
    ingest(tmp_path / "set", folder)
    assert "1 read, 7 unchanged" in capsys.readouterr().out
    after = rows(tmp_path / "set")
    assert [len(each) for each in after.values()] != []
    assert [row["outcome"] for row in after["runs"] if row["source"] == str(log)] == ["failed"]
    assert len(after["runs"]) == len(before["runs"])
    (folder / "poem.txt").write_bytes((folder / "later.log").read_bytes())
    ingest(tmp_path / "set", folder)
    assert len(rows(tmp_path / "set")["runs"]) == len(before["runs"]) + 1


@pytest.mark.slow
def test_a_touched_file_is_known_by_its_content(logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = copied(logs, tmp_path)
    ingest(tmp_path / "set", folder)
    for path in folder.iterdir():
        os.utime(path)
    ingest(tmp_path / "set", folder)
    assert "8 unchanged" in capsys.readouterr().out.splitlines()[-1]


def test_labels_are_of_the_command_and_the_path_and_stay(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "h100").mkdir()
    shutil.copy(logs / "later.log", tmp_path / "h100" / "3fa9c1.log")
    words = (tmp_path / "h100", "--label", "team=vision", "--labels-from", "{gpu}/{commit}.log")
    ingest(tmp_path / "set", *words)
    ingest(tmp_path / "set", *words)
    ingest(tmp_path / "set", tmp_path / "h100")
    assert [line.split(": ")[1] for line in capsys.readouterr().out.splitlines()] == [
        "1 read",
        "1 unchanged",
        "1 unchanged",
    ]
    found = {(row["label"], row["value"]) for row in rows(tmp_path / "set")["labels"]}
    assert found == {("team", "vision"), ("gpu", "h100"), ("commit", "3fa9c1")}
    ingest(tmp_path / "set", tmp_path / "h100", "--label", "team=audio")
    assert [(row["label"], row["value"]) for row in rows(tmp_path / "set")["labels"]] == [("team", "audio")]
    for bad in ("plain", "{a}/{a}"):
        with pytest.raises(UsageError):
            label_pattern(bad)
    assert ingest(tmp_path / "set", tmp_path / "h100", "--label", "no") == 2


def test_sources_are_files_folders_patterns_and_a_list_without_the_dataset_itself(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "set"
    files = sorted(str(path) for path in logs.iterdir())
    assert sorted(sources_of([str(logs)], own)) == files
    assert sources_of([f"{logs}/**/lat*.log", str(logs / "later.log")], own) == [str(logs / "later.log")]
    monkeypatch.setattr(sys, "stdin", StringIO(f"{files[0]}\n\n"))
    assert sources_of(["-"], own) == [files[0]]
    assert sources_of([str(logs)], logs) == []
    assert sources_of(["missing.log"], own) == [str(Path.cwd() / "missing.log")]


def test_another_folder_and_another_version_are_refused(logs: Path, tmp_path: Path) -> None:
    assert ingest(logs, logs) == 2
    ingest(tmp_path / "set", logs / "later.log")
    manifest = tmp_path / "set" / "dataset.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text("utf-8")), "schema": 99}), "utf-8")
    assert ingest(tmp_path / "set", logs) == 2
    manifest.write_text("{", "utf-8")
    assert ingest(tmp_path / "set", logs) == 2


@pytest.mark.slow
def test_several_processes_make_the_same_rows(logs: Path, tmp_path: Path) -> None:
    ingest(tmp_path / "one", logs)
    ingest(tmp_path / "two", logs, "--jobs", "2")
    assert rows(tmp_path / "one") == rows(tmp_path / "two")


def test_a_full_disk_leaves_what_was_there(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ingest(tmp_path / "set", logs / "later.log")
    before = rows(tmp_path / "set")
    monkeypatch.setattr("trtforensics.datasets.store.flush_tree", _full)
    ingestion = Ingestion(str(tmp_path / "set"), {"a": "b"}, None, 1 << 30)
    with pytest.raises(OutputError, match="no space left"):
        ingestion.add(str(logs / "later.log"))
    assert rows(tmp_path / "set") == before
    assert not list((tmp_path / "set" / "parts").glob(".*"))


def _full(_: Path) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.slow
def test_a_part_whose_replacement_was_killed_is_read_and_given_its_place_back(logs: Path, tmp_path: Path) -> None:
    ingest(tmp_path / "set", logs)
    before = rows(tmp_path / "set")
    part = next((tmp_path / "set" / "parts").iterdir())
    part.rename(part.with_name(f".old-{part.name}"))
    assert rows(tmp_path / "set") == before
    ingest(tmp_path / "set", logs)
    assert part.is_dir()
    assert rows(tmp_path / "set") == before


@pytest.mark.slow
def test_killed_runs_lose_nothing_and_the_next_goes_on(logs: Path, tmp_path: Path) -> None:
    ingest(tmp_path / "whole", logs)
    expected = rows(tmp_path / "whole")
    folder = tmp_path / "set"
    command = [sys.executable, "-m", "trtforensics", "ingest", str(logs), "--into", str(folder), "--quiet"]
    draw = random.Random(7)  # noqa: S311 - moments
    for number in range(20):
        with subprocess.Popen([*command, *(["--jobs", "2"] * (number % 2))], stdout=subprocess.DEVNULL) as process:
            with suppress(subprocess.TimeoutExpired):
                process.wait(draw.uniform(0.2, 2.5))
            process.kill()
        if (folder / "dataset.json").exists():
            now = rows(folder)
            for name, each in now.items():
                assert all(row in expected[name] for row in each), name
            sources = [row["source"] for row in now["sources"]]
            assert len(sources) == len(set(sources))
        if number % 5 == 4:
            shutil.rmtree(folder, ignore_errors=True)
    ingest(folder, logs)
    assert rows(folder) == expected


@pytest.mark.slow
def test_two_runs_at_once_make_one_dataset(logs: Path, tmp_path: Path) -> None:
    ingest(tmp_path / "whole", logs)
    command = [sys.executable, "-m", "trtforensics", "ingest", str(logs), "--into", str(tmp_path / "set"), "--quiet"]
    both = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait(120) for process in both] == [0, 0]
    assert rows(tmp_path / "set") == rows(tmp_path / "whole")


@pytest.mark.slow
def test_other_readers_read_the_files(logs: Path, tmp_path: Path) -> None:
    import duckdb  # noqa: PLC0415 - an extra, which is installed here

    ingest(tmp_path / "set", logs)
    pattern = f"{tmp_path}/set/parts/*/engine_layers.parquet"
    number = len(rows(tmp_path / "set")["engine_layers"])
    counted = duckdb.sql(f"SELECT count(*) FROM '{pattern}'")  # noqa: S608 - a path of ours
    assert counted is not None
    assert counted.fetchall() == [(number,)]
    pandas = pytest.importorskip("pandas", reason="part of the extra `readers`")
    polars = pytest.importorskip("polars", reason="as above")
    files = sorted((tmp_path / "set" / "parts").glob("*/engine_layers.parquet"))
    assert len(pandas.concat(map(pandas.read_parquet, files))) == number
    assert len(polars.read_parquet(pattern)) == number
