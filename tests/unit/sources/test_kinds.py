"""What a source is, is told by its content."""

from __future__ import annotations

import gzip
import os
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.replays import large, made
from tests.support.repository import LOGS
from trtforensics.errors import SourceError
from trtforensics.model.replay import ReplayForm
from trtforensics.replay.writing import to_text
from trtforensics.sources.kinds import Kind, kind_of, sniff_kind

if TYPE_CHECKING:
    from pathlib import Path

OPENINGS = {
    b'{"replay": {': Kind.REPLAY,
    b' \n{"other": 1, "replay": {"a": {"polygraphy_class": "Algorithm"}}}': Kind.REPLAY,
    b'[{"replay": {"a": {"polygraphy_class": "Algorithm"}}}]': Kind.REPLAY,
    b'{"schema": 1, "kind": "timing-cache", "keys": []}': Kind.TIMING_CACHE,
    b'{"Layers": [{"Name": "a"}]}': Kind.LAYER_INFO,
    b'{"Layers": ["a"], "Bindings": ["x"]}': Kind.LAYER_INFO,
    b'[{"count": 100}, {"name": "a", "timeMs": 1.0}]': Kind.PROFILE,
    b'[{"name": "output", "values": [1, 2]}]': None,
    b'{"a": 1}': None,
    b"[01/02/2026-03:04:05] [V] [TRT] Original: 3 layers": Kind.BUILD_LOG,
    b"[V] Original: 3 layers": Kind.BUILD_LOG,
    b"": Kind.BUILD_LOG,
    b"\x80\x04\x95": Kind.BUILD_LOG,
}


@for_each("opening", OPENINGS, ids=lambda opening: opening[:24].decode("latin-1"))
def test_the_first_bytes_tell(opening: bytes) -> None:
    assert sniff_kind(opening) is OPENINGS[opening]


@pytest.mark.parametrize("form", ReplayForm)
def test_a_replay_is_told_in_every_form_and_encoding(form: ReplayForm, tmp_path: Path) -> None:
    path = made(tmp_path, form)
    assert kind_of(str(path)) is Kind.REPLAY
    text = path.read_text()
    path.write_bytes(gzip.compress(text.encode()))
    assert kind_of(str(path)) is Kind.REPLAY
    path.write_text(text, encoding="utf-16")
    assert kind_of(str(path)) is Kind.REPLAY


def test_a_large_replay_is_told_by_its_opening(tmp_path: Path) -> None:
    path = tmp_path / "large.json"
    path.write_text(to_text(large(400)))
    assert kind_of(str(path)) is Kind.REPLAY


@for_each("path", sorted(LOGS.glob("*.log")), ids=lambda path: path.stem)
def test_a_log_is_a_log(path: Path) -> None:
    assert kind_of(str(path)) is Kind.BUILD_LOG


def test_a_pipe_is_taken_for_a_log_unread(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert kind_of(str(tmp_path / "pipe")) is Kind.BUILD_LOG
    assert kind_of("-") is Kind.BUILD_LOG


def test_directories_are_artifacts_or_refused(tmp_path: Path) -> None:
    with pytest.raises(SourceError, match=r"is a directory without `job\.json`"):
        kind_of(str(tmp_path))
    for side in ("good", "bad"):
        (tmp_path / side).mkdir()
    assert kind_of(str(tmp_path)) is Kind.ARTIFACTS
    job = tmp_path / "good"
    (job / "job.json").write_text("{}")
    assert kind_of(str(job)) is Kind.ARTIFACTS
    with pytest.raises(SourceError, match="no such file"):
        kind_of(str(tmp_path / "none"))


@pytest.mark.corpus
def test_every_file_of_the_corpus_is_told(corpus: Path) -> None:
    assert {kind_of(str(path)) for path in (corpus / "buildlog").iterdir()} == {Kind.BUILD_LOG}
    for path in (corpus / "layerinfo").iterdir():
        told = kind_of(str(path))
        if "profile" in path.name and path.suffix == ".json" and "metadata" not in path.name:
            assert told is Kind.PROFILE, path.name
        elif ".graph" in path.name or "layer_info" in path.name or "exportLayerInfo" in path.name:
            assert told is Kind.LAYER_INFO, path.name
