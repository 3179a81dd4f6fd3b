"""The job of an artifacts directory: another job is refused, and so is a file that is no job."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

from trtforensics.bisection.runner.run_options import RunOptions
from trtforensics.bisection.runner.surroundings import Surroundings
from trtforensics.bisection.session.history import JobKey
from trtforensics.bisection.session.job import Job, check_directory, judge_of, read_job, write_job
from trtforensics.bisection.session.journal import read_journal
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.bisection.session.view import view_directory
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def job(**changes: object) -> Job:
    parts: dict[str, object] = {
        "mode": "items",
        "items": [DescribedItem("a")],
        "content": ["a"],
        "build": "make",
        "versions": {"t": "1"},
    }
    parts["surroundings"] = Surroundings("/here", {"./b.sh": "1"})
    return Job(**{**parts, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mode": "tactics"}, "another mode"),
        ({"content": ["b"]}, "other items"),
        ({"build": None}, "another build command"),
        ({"versions": {}}, "other tool versions"),
        ({"surroundings": None}, "another working directory"),
        ({"surroundings": Surroundings("/elsewhere", {"./b.sh": "1"})}, "another working directory"),
        ({"surroundings": Surroundings("/here", {"./b.sh": "2"})}, "b.sh of its build command changed"),
        ({"items": [DescribedItem("a"), DescribedItem("b")]}, "1 items, which an earlier trtforensics made"),
    ],
)
def test_another_job_is_told_apart(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    write_job(tmp_path, job(), RunOptions())
    check_directory(tmp_path, job(items=[DescribedItem("for readers only")]))
    with pytest.raises(UsageError, match=says):
        check_directory(tmp_path, job(**changes))


ODD_VALUES: tuple[object, ...] = (None, [], {}, "", 1.5, True)
ODD_JOBS = [
    json.dumps({"schema": 3, "kind": "bisection", name: value})
    for name in ("schema", "kind", "items", "sum")
    for value in ODD_VALUES
]
"""Jobs with a value of another type; lists and objects have no hash."""


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 99, "kind": "bisection"}', "\x00", *ODD_JOBS])
def test_a_job_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(SourceError, match=r"job\.json"):
        check_directory(tmp_path, job())


@pytest.mark.parametrize("hostile", ["[" * 100_000, '{"a":' + "[]," * 100_000 + "0}", '{"a":' + "9" * 100_000 + "}"])
def test_no_file_of_a_directory_becomes_far_more_than_its_size(tmp_path: Path, hostile: str) -> None:
    """Each is refused for what it holds, before a reader makes values of it; texts of commas are no values."""
    write_job(tmp_path, job(content=["," * 1_000_000]), RunOptions())
    read_job(tmp_path)
    (tmp_path / "result.json").write_text(hostile)
    with pytest.raises(SourceError, match=r"result\.json.* (containers|values|number)"):
        view_directory(tmp_path)
    event = f'"line":1,"job":"x",{hostile}'.encode()
    head = f'"length":{len(event)},"sum":"{hashlib.sha256(event).hexdigest()[:16]}"'
    (tmp_path / "journal.jsonl").write_bytes(f'{{"schema":2,{head},'.encode() + event + b"\n")
    with pytest.raises(SourceError, match=r"journal\.jsonl:1.* (containers|values|number)"):
        read_journal(tmp_path, JobKey("x", 1))
    (tmp_path / "job.json").write_text(hostile)
    with pytest.raises(SourceError, match=r"job\.json.* (containers|values|number)"):
        read_job(tmp_path)


def test_a_changed_digit_of_a_job_shows(tmp_path: Path) -> None:
    write_job(tmp_path, job(items=[DescribedItem("layer 17"), DescribedItem("\udcff")]), RunOptions(check="try"))
    path = tmp_path / "job.json"
    assert read_job(tmp_path)["items"] == [{"item": "layer 17"}, {"item": "\udcff"}]
    path.write_text(path.read_text().replace("layer 17", "layer 18"))
    with pytest.raises(SourceError, match="its checksum does not match"):
        read_job(tmp_path)


def test_what_a_killed_start_leaves_is_no_other_file(tmp_path: Path) -> None:
    for name in (".lock", ".trtforensics-0123.tmp"):
        (tmp_path / name).touch()
    check_directory(tmp_path, job())
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UsageError, match="holds files"):
        check_directory(tmp_path, job())


def test_a_check_is_its_command_its_folder_its_scripts_and_its_repetitions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folders = [tmp_path / name for name in ("one", "same", "other")]
    for folder in folders:
        folder.mkdir()
        (folder / "works.sh").write_text("exit 1" if folder.name == "other" else "exit 0")
    checks = [RunOptions(check=check, repeat=times) for check, times in (("sh works.sh", 1), ("sh works.sh", 2))]
    checks += [RunOptions(check=check) for check in ("sh works.sh x 2", "sh works.sh; sh works.sh", "sh works.sh 2")]
    judges = set()
    for folder in folders:
        monkeypatch.chdir(folder)
        judges |= {
            judge_of(settings, options, tmp_path / "out").name for options in checks for settings in ("", "limit 2")
        }
    assert len(judges) == len(folders) * len(checks) * 2
    (folders[2] / "works.sh").write_text("exit 2")
    assert judge_of("", checks[0], tmp_path / "out").name not in judges
    monkeypatch.chdir(folders[0])
    assert judge_of("", checks[0], tmp_path / "out").name in judges
