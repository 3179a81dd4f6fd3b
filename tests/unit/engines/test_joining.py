"""Files about one engine join."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from onnx import helper

from tests.support.engine_files import DETAILED, NAMES, PROFILE
from tests.support.graph_builds import build, engine
from tests.support.graph_builds import log as log_of
from tests.support.repository import LOGS
from trtforensics.engines.facts import EngineFacts
from trtforensics.engines.joining import goes_together, join_files, load_joined, select_build
from trtforensics.errors import UsageError
from trtforensics.graphs.build import BuildGraph
from trtforensics.model.timings import TimeSource
from trtforensics.render.log_json import to_json
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.kinds import is_engine_file

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
    build = select_build(joined.log)
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
        (["log", "layers"], r"is of another engine: .* names 0 of its 2 layers"),
        (["log", "profile"], r"is of another engine: .* names 0 of the \d layers that it times"),
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
        assert (layer["file"], layer["line"]) == (file, select_build(joined.log).engine_layers[0].span.line)
    nodes = BuildGraph(EngineFacts(select_build(joined.log))).graph.nodes
    assert nodes["engine:conv1 + relu1"]["file"] == files["layers"]


def test_a_build_is_chosen_by_its_number(files: dict[str, str]) -> None:
    joined = load_joined([files["layers"]])
    assert select_build(joined.log, 1) is select_build(joined.log)
    with pytest.raises(UsageError, match="has no build 2"):
        select_build(joined.log, 2)


def test_files_of_one_engine_are_told_from_two_to_compare(files: dict[str, str]) -> None:
    assert goes_together([str(LOG), files["layers"], files["profile"], files["model"]])
    assert not goes_together([files["layers"], files["names"]])
    assert not goes_together([str(LOG)])
    assert goes_together([files["layers"], files["profile"], files["model"]])
    assert not goes_together([files["model"], files["model"]])
    assert is_engine_file(files["times"])
    assert not is_engine_file(str(LOG))


def test_the_last_build_with_engine_layers_counts_unless_another_is_asked_for() -> None:
    builds = (build(), build(index=1, engine_layers=(engine("a", "x", "y", 5),)), build(index=2))
    assert select_build(log_of(*builds)) is builds[1]
    assert select_build(log_of(*builds), 3) is builds[2]
    assert select_build(log_of(*builds), 1) is builds[0]
    assert select_build(log_of(builds[0], builds[2])) is builds[2]


def test_a_build_that_is_not_there_is_refused_with_a_list_of_those_that_are() -> None:
    with pytest.raises(UsageError, match=r"no build 7.*1 \(lines 1-999, 0 engine layers\); 2 \("):
        select_build(log_of(build(), build(index=1)), 7)
    with pytest.raises(UsageError, match="no build"):
        select_build(log_of())


def test_files_of_two_engines_of_one_model_are_told_apart_by_their_tactics(tmp_path: Path) -> None:
    log = load_build_log([str(LOG)])
    layers = [layer for layer in log.builds[0].engine_layers if layer.tactic]
    for change, refused in ((0, False), (1, True)):
        path = tmp_path / f"{change}.json"
        dumped = [{"Name": x.name, "LayerType": x.type, "TacticValue": hex((x.tactic or 0) ^ change)} for x in layers]
        path.write_text(json.dumps({"Layers": dumped}))
        if refused:
            with pytest.raises(UsageError, match="most with other tactics"):
                join_files(log, [str(path)])
        else:
            assert select_build(join_files(log, [str(path)]).log).engine_layers[0].span.file == str(path)


PROFILED = """&&&& RUNNING TensorRT.trtexec [TensorRT v8205] # trtexec --loadEngine=a.plan --dumpProfile
[05/26/2022-18:09:34] [I] === Profile (10 iterations ) ===
[05/26/2022-18:09:34] [I]   Layer   Time (ms)   Avg. Time (ms)   Time %
[05/26/2022-18:09:34] [I]    {}        5.00           0.5000     100.0
"""


@pytest.mark.parametrize("file", ["layers", "profile"])
def test_a_log_that_names_layers_only_in_its_profile_takes_no_files_of_another_engine(
    files: dict[str, str], file: str, tmp_path: Path
) -> None:
    path = tmp_path / "run.log"
    path.write_text(PROFILED.format("elsewhere"))
    with pytest.raises(UsageError, match="is of another engine"):
        load_joined([str(path), files[file]])
    path.write_text(PROFILED.format(select_build(load_joined([files[file]]).log).engine_layers[0].name))
    assert load_joined([str(path), files[file]]).has_log
