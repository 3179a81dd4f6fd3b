"""The builds of one side of a comparison are found in a file or a directory."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.support.build_views import rows
from tests.support.diff_samples import replay_text
from tests.support.engine_files import DETAILED, PROFILE
from trtforensics.comparison.compare import compare
from trtforensics.comparison.loading import load_side, with_files
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
    why = {path.rpartition("/")[2]: reason for path, reason in side.skipped}
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


def _ignored(_: str) -> None:
    """Take the name of a file that is read."""


def test_more_files_of_an_engine_make_one_build(tmp_path: Path) -> None:
    (tmp_path / "layers.json").write_text(DETAILED)
    (tmp_path / "p.json").write_text(PROFILE.replace("fc", "{ForeignNode[a...b]}"))
    (tmp_path / "t.json").write_text('[{"startEnqMs": 0, "endD2hMs": 2, "computeMs": 1, "latencyMs": 2}]')
    side = load_side(str(tmp_path / "layers.json"), "good")
    (build,) = with_files(side, [str(tmp_path / "p.json"), str(tmp_path / "t.json")], on_file=_ignored).builds
    assert [layer.measured_ms for layer in build.layers or ()] == [0.25, 0.05]
    assert (build.layers or ())[0].time_span is not None
    assert build.run is not None
    assert build.run.totals["latency_ms"].value == 2
    assert any("p.json" in note for note in build.notes)
    # without files a side stays as it is
    assert with_files(side, [], on_file=_ignored) is side


@pytest.mark.parametrize(("path", "what"), [("", "is a directory, to which"), ("-", "is read once")])
def test_more_files_go_with_a_file_only(tmp_path: Path, path: str, what: str) -> None:
    (tmp_path / "a.json").write_text(DETAILED)
    side = replace(load_side(str(tmp_path), "good"), path=path or str(tmp_path))
    with pytest.raises(UsageError, match=what):
        with_files(side, ["p.json"], on_file=_ignored)
