"""The builds of one side of a comparison are found in a file or a directory."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.build_views import rows
from tests.support.diff_samples import replay_text
from trtforensics.diff.compare import compare
from trtforensics.diff.loading import load_side
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path


def test_a_directory_is_searched_and_says_what_it_skipped(tmp_path: Path) -> None:
    folder = tmp_path / "good"
    (folder / "deep").mkdir(parents=True)
    (folder / "deep" / "a.json").write_text(replay_text({"a": 1}))
    (folder / "notes.txt").write_text("hello")
    (folder / "broken.json").write_text(replay_text({"a": 1})[:-20])
    (folder / "loop").symlink_to(tmp_path)
    (folder / "linked.json").symlink_to("deep/a.json")
    (folder / "nowhere.json").symlink_to("gone")
    side = load_side(str(folder), "good")
    assert [view.source.rpartition("/")[2] for view in side.builds] == ["linked.json", "a.json"]
    why = {one.path.rpartition("/")[2]: one.why for one in side.skipped}
    assert set(why) == {"notes.txt", "broken.json", "loop", "nowhere.json"}
    assert why["loop"] == "is a link to a directory, which is not followed"
    assert "no line carries a TensorRT or trtexec prefix" in why["notes.txt"]
    assert "JSON ends too early" in why["broken.json"]
    assert why["nowhere.json"] == "No such file or directory"


def test_a_directory_without_any_build_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.txt").write_text("hello")
    with pytest.raises(UsageError, match="holds no file that tells of a build"):
        load_side(str(tmp_path), "good")


def test_an_artifacts_directory_gives_its_side(tmp_path: Path) -> None:
    for side, tactic in {"good": 1, "bad": 2}.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "r.json").write_text(replay_text({"a": tactic}))
    found = compare(load_side(str(tmp_path), "good"), load_side(str(tmp_path), "bad"))
    assert rows(found) == [("tactic", "a")]
