"""Engine layers as JSON, of every form seen, and what is no such thing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.engine_files import DETAILED, ELEVEN, NAMES
from tests.support.for_each import for_each
from trtforensics.errors import ForensicsError
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.text.document import read_document

if TYPE_CHECKING:
    from pathlib import Path


def test_a_detailed_layer_is_that_of_a_logs_engine_dump(layers: Any) -> None:
    (engine,) = layers(DETAILED).engines
    conv, foreign = engine.layers
    assert (conv.type, conv.tactic, conv.tactic_name) == ("CaskConvolution", 0x7E1E4D26CFA285F9, "sm80_xmma_fprop")
    assert (conv.output_types, conv.onnx_nodes, conv.span.line) == (("Half",), ("conv1", "relu1"), 2)
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


@for_each(
    ("text", "where", "what"),
    [
        ("", "layers.json", "the file is empty"),
        (DETAILED[:-30], ":32:", "the JSON ends too early"),
        (DETAILED[:300], ":15:", "the JSON ends too early"),
        ("[1]", ":1:1", 'holds no list of "Layers"'),
        ('{"Layers": [3]}', ":1:13", "a layer is neither a name nor an object with a Name"),
        (DETAILED.replace("0x7e1e4d26cfa285f9", "maxpool"), ":2:11", "'maxpool' is no tactic id"),
        (NAMES.replace(":", ";", 1), ":1:10", "a colon should stand before"),
        ('{"Layers": [{"Name": "a", "Name": "b"}]}', ":1:27", "the key 'Name' twice"),
        ('{"Layers": [{"Name": "a", "Weights": {"Type": 1, "Type": 2}}]}', ":1:38", "the key 'Type' twice"),
        ("[" * 60_000, ":1:65", "nests more than 64"),
        ('{"Layers": [],\n"I/O Tensors": [[{"a": [1]}]]}', ":2:17", "an I/O tensor is neither a name nor an object"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(layers: Any, text: str, where: str, what: str) -> None:
    with pytest.raises(ForensicsError) as caught:
        layers(text)
    assert where in caught.value.where
    assert what in caught.value.what


@pytest.mark.corpus
@pytest.mark.slow
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
