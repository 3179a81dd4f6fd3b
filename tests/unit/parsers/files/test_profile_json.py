"""Profiles as JSON, what is no such thing, and the times that they lend to the layers of an engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.engine_files import DETAILED, PROFILE
from trtforensics.errors import NotEngineInfoError
from trtforensics.parsers.files.profile_json import read_profile_json
from trtforensics.parsers.text.document import read_document

if TYPE_CHECKING:
    from pathlib import Path


def test_a_profile_gives_times_in_ms_and_joins_its_layers_by_name(layers: Any, profile: Any) -> None:
    (run,) = profile(PROFILE).runs
    assert (run.iterations, [(one.name, one.average_ms, one.median_ms, one.span.line) for one in run.layers]) == (
        10,
        [("conv1 + relu1", 0.25, 0.24, 3), ("fc", 0.05, None, 4)],
    )
    names = [layer.name for layer in layers(DETAILED).engines[0].layers]
    assert [row.engine_layer for row in run.joined(names).layers] == [0, None]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ('{"count": 1}', 'no list that begins with a "count"'),
        ('[{"count": 1}, {"timeMs": 1}]', "an entry has no name"),
        ('[{"count": 1}, {"name": "a", "timeMs": "x", "averageMs": 1}]', "no timeMs"),
    ],
)
def test_what_is_no_profile_is_refused(profile: Any, text: str, what: str) -> None:
    with pytest.raises(NotEngineInfoError, match=what):
        profile(text)


@pytest.mark.corpus
def test_appended_runs_of_a_profile_are_all_there(corpus: Path) -> None:
    path = corpus / "layerinfo" / "jetson-resnet50-profile-trt7x.json"
    profile = read_profile_json(read_document(str(path)))
    assert [len(run.layers) for run in profile.runs] == [58] * 7
    first = profile.runs[3].layers[0]
    assert first.name in path.read_text().split("\n")[first.span.line - 1]
