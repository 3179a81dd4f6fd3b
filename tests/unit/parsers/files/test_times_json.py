"""Times of inferences as JSON, and what is no such thing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.errors import NotEngineInfoError
from trtforensics.parsers.files.profile_json import read_times_json
from trtforensics.parsers.text.document import read_document
from trtforensics.sources.kinds import Kind, sniff_kind

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.timings import InferenceTimes

NEW = """[
  { "startEnqMs" : 1, "endD2hMs" : 3, "computeMs" : 1.5, "latencyMs" : 2 }
, { "startEnqMs" : 3, "endD2hMs" : 6, "computeMs" : 2.5, "latencyMs" : 3 }
]
"""
SEVEN = '[ { "startEnqMs" : 1, "endOutMs" : 2, "computeMs" : 0.5, "latencyMs" : 1, "endToEndMs" : 1 } ]'


def read(folder: Path, text: str) -> InferenceTimes:
    (folder / "times.json").write_text(text)
    return read_times_json(read_document(str(folder / "times.json")))


@pytest.mark.parametrize(
    ("text", "latency", "compute", "elapsed"), [(NEW, (2, 3), (1.5, 2.5), 5), (SEVEN, (1,), (0.5,), 1)]
)
def test_versions(
    tmp_path: Path, text: str, latency: tuple[float, ...], compute: tuple[float, ...], elapsed: float
) -> None:
    (run,) = read(tmp_path, text).runs
    assert (run.latency_ms, run.compute_ms, run.elapsed_ms, run.span.line) == (latency, compute, elapsed, 1)
    assert sniff_kind(text.encode()) is Kind.TIMES


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("[]", "is no list of inferences"),
        ("", "the file is empty"),
        (NEW[:-20], "the JSON ends too early|this is no JSON"),
        (NEW.replace('"latencyMs" : 3', '"latencyMs" : "3"'), "inference 2 of the list has no number latencyMs"),
        (NEW.replace("endD2hMs", "x"), "inference 2 of the list has no number endD2hMs"),
    ],
)
def test_what_is_no_times_file_is_refused(tmp_path: Path, text: str, what: str) -> None:
    with pytest.raises(NotEngineInfoError, match=what):
        read(tmp_path, text)


@pytest.mark.corpus
def test_appended_runs_are_all_there(corpus: Path) -> None:
    path = corpus / "layerinfo" / "jetson-resnet50-times-trt7x.json"
    assert len(read_times_json(read_document(str(path))).runs) > 1
