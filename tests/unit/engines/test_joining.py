"""Files about one engine join."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from onnx import helper

from tests.support.engine_files import DETAILED, NAMES, PROFILE
from tests.support.repository import LOGS
from trtforensics.engines.joining import goes_together, is_engine_file, join_files, load_joined
from trtforensics.errors import UsageError
from trtforensics.graph.build import build_graph
from trtforensics.model.profile import TimeSource
from trtforensics.render.log_json import to_json
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path

LOG = LOGS / "emulated-trtexec-8.6.log"
FOREIGN = '{ "name" : "{ForeignNode[a...b]}", "timeMs" : 2, "averageMs" : 0.2, "percentage" : 40 }'
TIMED = f"{PROFILE.rstrip().removesuffix(']')}, {FOREIGN}\n]\n"
TIMES = '[{"startEnqMs": 1, "computeMs": 2, "endD2hMs": 4, "latencyMs": 3}]'


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    for name, text in {"layers": DETAILED, "names": NAMES, "profile": TIMED, "times": TIMES}.items():
        (tmp_path / f"{name}.json").write_text(text)
    node = helper.make_node("Conv", ["x", "w"], ["y"], name="conv1")
    graph = helper.make_graph([node], "g", [], [])
    (tmp_path / "m.onnx").write_bytes(helper.make_model(graph).SerializeToString())
    return {name: str(tmp_path / f"{name}.json") for name in ("layers", "names", "profile", "times")} | {
        "model": str(tmp_path / "m.onnx")
    }


def test_engine_files_without_a_log_are_a_build(files: dict[str, str]) -> None:
    joined = load_joined([files["profile"], files["layers"], files["times"], files["model"]])
    assert not joined.has_log
    (build,) = joined.log.builds
    first, foreign = joined.engine().layers
    assert (first.time_ms, first.time_is, first.share) == (0.25, TimeSource.MEASURED, 2.5 / 5)
    assert foreign.time_ms == 0.2
    assert first.operators == ("Conv",)
    assert build.coverage.times is TimeSource.MEASURED
    assert [str(one).partition(": ")[2] for one in joined.unjoined] == [
        "names no layer of the engine in 1 row (fc)",
        "lacks 1 ONNX node (relu1) of the engine",
    ]
    assert joined.times_files[0].runs[0].latency_ms == (3.0,)


def test_a_profile_alone_names_the_layers(files: dict[str, str]) -> None:
    joined = load_joined([files["profile"]])
    assert [layer.name for layer in joined.engine().layers] == ["conv1 + relu1", "fc", "{ForeignNode[a...b]}"]
    assert not joined.unjoined


def test_detailed_layers_take_the_place_of_the_logs_and_keep_their_origins(tmp_path: Path) -> None:
    log = load_build_log([str(LOG)])
    printed = log.builds[-1].engine_layers
    described = [
        '{"Name": "%s", "LayerType": "%s", "Inputs": [], "Outputs": [], "ParameterType": "P"}' % (one.name, one.type)  # noqa: UP031 - braces
        for one in printed[1:]
    ]
    path = tmp_path / "layers.json"
    path.write_text(f'{{"Layers": [{", ".join(described)}], "Bindings": []}}')
    joined = join_files(log, [str(path)])
    build = joined.build()
    assert [layer.choice for layer in build.engine_layers] == [layer.choice for layer in printed[1:]]
    assert any(layer.choice is not None for layer in build.engine_layers)
    assert all(layer.fields == {"ParameterType": "P"} for layer in build.engine_layers)
    assert len(joined.unjoined) == 1
    assert printed[0].name in joined.unjoined[0].what


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["layers", "layers"], "is named twice"),
        (["model"], "tells of no engine by itself"),
        (["layers", "model", "model2"], "is a second ONNX model"),
        (["log", "layers"], "most of which"),
        (["log", "profile"], "most of which"),
        (["replay"], "holds no engine's layers: it is of the kind replay"),
    ],
)
def test_files_that_do_not_go_together_are_refused(
    files: dict[str, str], names: list[str], said: str, tmp_path: Path
) -> None:
    replay = tmp_path / "replay.json"
    replay.write_text('{"replay": {}}')
    second = tmp_path / "model2.onnx"
    second.write_bytes((tmp_path / "m.onnx").read_bytes())
    paths = files | {"log": str(LOG), "replay": str(replay), "model2": str(second)}
    with pytest.raises(UsageError, match=said):
        load_joined([paths[name] for name in names])


def test_a_layer_from_another_file_names_it_in_the_documents_and_in_the_graph(files: dict[str, str]) -> None:
    joined = load_joined([files["profile"], files["layers"]])
    head, own = replace(joined.log, source=replace(joined.log.source, path="build.log")), joined.log
    for log, file in ((head, files["layers"]), (own, None if own.source.path == files["layers"] else files["layers"])):
        layer = json.loads(to_json(log))["builds"][0]["engine_layers"][0]
        assert (layer["file"], layer["line"]) == (file, joined.build().engine_layers[0].span.line)
    nodes = build_graph(joined.build()).graph.nodes
    assert nodes["engine:conv1 + relu1"]["file"] == files["layers"]


def test_a_build_is_chosen_by_its_number(files: dict[str, str]) -> None:
    joined = load_joined([files["layers"]])
    assert joined.build(1) is joined.build()
    with pytest.raises(UsageError, match="has no build 2"):
        joined.build(2)


def test_files_of_one_engine_are_told_from_two_to_compare(files: dict[str, str]) -> None:
    assert goes_together([str(LOG), files["layers"], files["profile"], files["model"]])
    assert not goes_together([files["layers"], files["names"]])
    assert not goes_together([str(LOG)])
    assert goes_together([files["layers"], files["profile"], files["model"]])
    assert not goes_together([files["model"], files["model"]])
    assert is_engine_file(files["times"])
    assert not is_engine_file(str(LOG))
