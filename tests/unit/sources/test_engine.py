"""Engine layers and profiles as JSON, of every form seen, and what is no such thing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.errors import NotEngineInfoError, UsageError
from trtforensics.model.engine import layer_times
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.files.profile_json import read_profile_json
from trtforensics.parsers.text.document import read_document
from trtforensics.sources.engine import load_engine_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.engine import EngineInfo, ProfileInfo

DETAILED = """{"Layers": [{
  "Name": "conv1 + relu1",
  "LayerType": "CaskConvolution",
  "Inputs": [
  {
    "Name": "x",
    "Location": "Device",
    "Dimensions": [1,3,8,8],
    "Format/Datatype": "Row major linear FP32"
  }],
  "Outputs": [
  {
    "Name": "r",
    "Location": "Device",
    "Dimensions": [1,16,8,8],
    "Format/Datatype": "Channel major FP16 format where channel % 8 == 0"
  }],
  "ParameterType": "Convolution",
  "Kernel": [3,3],
  "Weights": {"Type": "Half", "Count": 432},
  "TacticName": "sm80_xmma_fprop",
  "TacticValue": "0x7e1e4d26cfa285f9",
  "StreamId": 0,
  "Metadata": "[ONNX Layer: conv1]\\u001e[ONNX Layer: relu1]"
},{
  "Name": "{ForeignNode[a...b]}",
  "LayerType": "Myelin",
  "Inputs": [],
  "Outputs": [],
  "TacticValue": "0x0000000000000000",
  "StreamId": 0,
  "Metadata": ""
}],
"Bindings": ["x"
,"y"
]}
"""
ELEVEN = """{"Layers": [{"Name": "k", "LayerType": "gemm", "Inputs": [{"Name": "a", "Dimensions": [1, 4],
 "Strides": [4, 1], "StrideOrder": [1, 0], "Datatype": "Half", "Format": "(Linear) Row major linear format"}],
 "Outputs": [], "TacticName": "sm90", "StreamId": 0, "Metadata": ""}],
"I/O Tensors": [{"Name": "a", "IOMode": "Input", "DataType": "Half", "Dimensions": [-1, 4], "Location": "Device"}]}
"""
NAMES = '{"Layers": ["conv1 + relu1"\n,"fc [profile 1]"\n],\n"Bindings": ["x"]}\n'
PROFILE = """[
  { "count" : 10 }
, { "name" : "conv1 + relu1", "timeMs" : 2.5, "averageMs" : 0.25, "medianMs" : 0.24, "percentage" : 80 }
, { "name" : "fc", "timeMs" : 0.5, "averageMs" : 0.05, "percentage" : 20 }
]
"""

Layers = "Callable[[str], EngineInfo]"


@pytest.fixture
def layers(tmp_path: Path) -> Callable[[str], EngineInfo]:
    def read(text: str) -> EngineInfo:
        (tmp_path / "layers.json").write_text(text, encoding="utf-8")
        return read_layer_json(read_document(str(tmp_path / "layers.json")))

    return read


@pytest.fixture
def profile(tmp_path: Path) -> Callable[[str], ProfileInfo]:
    def read(text: str) -> ProfileInfo:
        (tmp_path / "profile.json").write_text(text, encoding="utf-8")
        return read_profile_json(read_document(str(tmp_path / "profile.json")))

    return read


def test_a_detailed_layer_is_that_of_a_logs_engine_dump(layers: Any) -> None:
    (engine,) = layers(DETAILED).engines
    conv, foreign = engine.layers
    assert (conv.type, conv.tactic, conv.tactic_name) == ("CaskConvolution", 0x7E1E4D26CFA285F9, "sm80_xmma_fprop")
    assert (conv.precision, conv.onnx_nodes, conv.span.line) == (("Half",), ("conv1", "relu1"), 2)
    assert [(t.dtype, t.dims, t.components) for t in (*conv.inputs, *conv.outputs)] == [
        ("Float", (1, 3, 8, 8), 1),
        ("Half", (1, 16, 8, 8), 8),
    ]
    assert conv.fields["Weights"] == '{"Type":"Half","Count":432}'
    assert (foreign.span.line, foreign.tactic, engine.detailed, engine.split_formats) == (26, 0, True, False)
    assert [one.name for one in engine.io] == ["x", "y"]


def test_tensorrt_11_tells_type_and_format_apart(layers: Any) -> None:
    (engine,) = layers(ELEVEN).engines
    (tensor,) = engine.layers[0].inputs
    assert (tensor.dtype, tensor.format) == ("Half", "(Linear) Row major linear format")
    assert (engine.split_formats, engine.io[0].mode, engine.io[0].dims) == (True, "Input", (-1, 4))
    assert engine.layers[0].tactic is None


def test_layers_of_an_engine_without_detail_are_names(layers: Any) -> None:
    (engine,) = layers(NAMES).engines
    assert [(layer.name, layer.span.line) for layer in engine.layers] == [("conv1 + relu1", 1), ("fc [profile 1]", 2)]
    assert not engine.detailed
    assert engine.layers[0].onnx_nodes == ()


def test_several_documents_in_one_file_are_several_engines(layers: Any) -> None:
    info = layers(DETAILED + NAMES)
    assert [(len(engine.layers), engine.span.line) for engine in info.engines] == [(2, 1), (2, 37)]


@pytest.mark.parametrize(
    ("name", "read_as"),
    [
        ('say "hi" twice', 'say "hi" twice'),
        (r"C:\models\x", r"C:\models\x"),
        ('x["a"] + y', 'x["a"] + y'),
        ("a\x1eb", "a\x1eb"),
    ],
)
def test_a_name_that_is_not_escaped_is_read_as_it_stands(layers: Any, name: str, read_as: str) -> None:
    info = layers(DETAILED.replace("conv1 + relu1", name))
    assert [layer.name for layer in info.engines[0].layers] == [read_as, "{ForeignNode[a...b]}"]
    assert info.engines[0].layers[1].span.line == 26
    assert info.engines[0].layers[0].onnx_nodes == ("conv1", "relu1")
    repaired = [(one.span.line, name[:9] in one.what) for one in info.repairs]
    assert repaired == ([] if "\x1e" in name else [(2, True)])


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("", "layers.json", "the file is empty"),
        (DETAILED[:-30], ":32:", "the JSON ends too early"),
        (DETAILED[:300], ":15:", "the JSON ends too early"),
        ("[1]", ":1:1", 'holds no list of "Layers"'),
        ('{"Layers": [3]}', ":1:13", "a layer is neither a name nor an object with a Name"),
        (DETAILED.replace("0x7e1e4d26cfa285f9", "maxpool"), ":2:11", "'maxpool' is no tactic id"),
        (NAMES.replace(":", ";", 1), ":1:10", "':' should stand here"),
        ("[" * 100_000, ":1:", "too deep"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(layers: Any, text: str, where: str, what: str) -> None:
    with pytest.raises(NotEngineInfoError) as caught:
        layers(text)
    assert where in caught.value.where
    assert what in caught.value.what


def test_a_profile_gives_times_in_ms_and_joins_its_layers_by_name(layers: Any, profile: Any) -> None:
    (run,) = profile(PROFILE).runs
    assert (run.count, [(one.name, one.average_ms, one.median_ms, one.span.line) for one in run.layers]) == (
        10,
        [("conv1 + relu1", 0.25, 0.24, 3), ("fc", 0.05, None, 4)],
    )
    times = layer_times(layers(DETAILED).engines[0], run)
    assert [time and time.average_ms for time in times] == [0.25, None]


def test_layers_of_one_name_take_its_times_in_order(layers: Any, profile: Any) -> None:
    run = profile(PROFILE.replace('"fc"', '"conv1 + relu1"')).runs[0]
    engine = layers('{"Layers": ["conv1 + relu1", "conv1 + relu1", "conv1 + relu1"]}').engines[0]
    assert [time and time.average_ms for time in layer_times(engine, run)] == [0.25, 0.05, None]


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


def test_a_profile_of_another_engine_lends_no_times(tmp_path: Path) -> None:
    (tmp_path / "l.json").write_text(DETAILED)
    (tmp_path / "p.json").write_text(PROFILE.replace("conv1 + relu1", "other"))
    paths = [str(tmp_path / "l.json"), str(tmp_path / "p.json")]
    files = load_engine_files(paths, kind=None, max_bytes=1 << 20)
    assert files.times(files.layers[0].engines[0]) == (None, None)
    with pytest.raises(UsageError, match="of kind build-log"):
        load_engine_files([paths[0], __file__], kind=None, max_bytes=1 << 20)


@pytest.mark.corpus
def test_every_export_of_the_corpus_is_read_as_json_reads_it(corpus: Path) -> None:
    read = 0
    for path in sorted((corpus / "layerinfo").glob("*.json")):
        value = json.loads(path.read_text()) if "trt7x" not in path.name else None
        if not isinstance(value, dict) or "Layers" not in value:
            continue
        info = read_layer_json(read_document(str(path)))
        lines = path.read_text().split("\n")
        plain = [layer if isinstance(layer, str) else layer["Name"] for layer in value["Layers"]]
        assert [layer.name for layer in info.engines[0].layers] == plain
        for layer in info.engines[0].layers:
            assert json.dumps(layer.name)[1:-1] in lines[layer.span.line - 1]
        tactics = [one["TacticValue"] for one in value["Layers"] if isinstance(one, dict) and "TacticValue" in one]
        found = [layer.tactic for layer in info.engines[0].layers if layer.tactic is not None]
        assert found == [int(tactic, 16) for tactic in tactics]
        assert info.repairs == ()
        read += 1
    assert read == 22


@pytest.mark.corpus
def test_appended_runs_of_a_profile_are_all_there(corpus: Path) -> None:
    path = corpus / "layerinfo" / "jetson-resnet50-profile-trt7x.json"
    profile = read_profile_json(read_document(str(path)))
    assert [len(run.layers) for run in profile.runs] == [58] * 7
    first = profile.runs[3].layers[0]
    assert first.name in path.read_text().split("\n")[first.span.line - 1]
