"""The job of an artifacts directory: another job is refused, and so is a file that is no job."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.bisect.runner.options import RunOptions
from trtforensics.bisect.session.job import Job, check_directory, write_job
from trtforensics.errors import SourceError, UsageError

if TYPE_CHECKING:
    from pathlib import Path


def job(**changes: object) -> Job:
    parts: dict[str, object] = {"mode": "items", "items": [], "content": ["a"], "build": "make", "versions": {"t": "1"}}
    return Job(**{**parts, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"mode": "tactics"}, "another mode"),
        ({"content": ["b"]}, "other items"),
        ({"build": None}, "another build command"),
        ({"versions": {}}, "other tool versions"),
    ],
)
def test_another_job_is_told_apart(tmp_path: Path, changes: dict[str, object], says: str) -> None:
    write_job(tmp_path, job(), RunOptions())
    check_directory(tmp_path, job(items=[{"item": "for readers only"}]))
    with pytest.raises(UsageError, match=says):
        check_directory(tmp_path, job(**changes))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"schema": 99, "kind": "bisection"}', "\x00"])
def test_a_job_that_is_none_is_said(tmp_path: Path, text: str) -> None:
    (tmp_path / "job.json").write_text(text)
    with pytest.raises(SourceError, match=r"job\.json"):
        check_directory(tmp_path, job())
