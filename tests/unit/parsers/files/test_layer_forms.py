"""Lists of layers under other programs' keys are recognised by their form."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.for_each import for_each
from trtforensics.engines.joining import load_joined, select_build
from trtforensics.errors import ForensicsError
from trtforensics.model.timings import TimeSource
from trtforensics.sources.kinds import Kind, kind_of

if TYPE_CHECKING:
    from pathlib import Path

TENSOR = {"Name": "x", "Dimensions": [1, 8], "Format/Datatype": "Half"}
SPELLINGS: dict[str, list[dict[str, Any]]] = {
    "the inspector's": [{"Name": n, "LayerType": "Conv", "TacticValue": "0x2", "Outputs": [TENSOR]} for n in "ab"],
    "snake": [{"layer_name": n, "layer_type": "Conv", "tactic_value": "0x2", "outputs": [TENSOR]} for n in "ab"],
    "plain": [{"name": n, "type": "Conv", "tactic": 2, "precision": "FP16", "outputs": ["x"]} for n in "ab"],
    "kernels": [{"LAYER": n, "kind": "Conv", "tactic": "sm80_xmma", "inputs": 3} for n in "ab"],
}


def load(folder: Path, document: object) -> Any:
    path = folder / "file.json"
    path.write_text(json.dumps(document))
    assert kind_of(str(path)) is Kind.LAYER_INFO
    return select_build(load_joined([str(path)]).log)


@for_each("spelling", SPELLINGS)
@for_each(
    "around",
    [
        pytest.param(lambda layers: {"Layers": layers}, id="as TensorRT"),
        pytest.param(lambda layers: {"layers": layers}, id="in lower case"),
        pytest.param(lambda layers: {"version": 1, "engine_layers": layers}, id="called otherwise"),
        pytest.param(lambda layers: {"run": {"gpu": "x", "engine": {"layers": layers}}}, id="deep"),
        pytest.param(lambda layers: [*layers], id="at the top"),
        pytest.param(lambda layers: {"rows": [{"name": "a", "ms": 1}], "layers": layers}, id="beside times"),
    ],
)
def test_a_list_of_layers_is_known_by_its_form(tmp_path: Path, spelling: str, around: Any) -> None:
    document = around(SPELLINGS[spelling])
    if spelling == "the inspector's" and isinstance(document, list):
        document = [{"precision": "FP16", **layer} for layer in document]  # TensorRT itself writes documents one by one
    build = load(tmp_path, document)
    assert [(layer.name, layer.type) for layer in build.engine_layers] == [("a", "Conv"), ("b", "Conv")]
    assert {layer.tactic for layer in build.engine_layers} == {None if spelling == "kernels" else 2}
    assert all(layer.span.line == 1 for layer in build.engine_layers)


@pytest.mark.parametrize(
    ("key", "ms"), [("ms", 0.5), ("avg_ms", 0.5), ("averageMs", 0.5), ("time_us", 500), ("Mean ms", 0.5)]
)
def test_times_under_other_names_are_a_profile(tmp_path: Path, key: str, ms: float) -> None:
    build = load(tmp_path, {"result": [{"name": name, key: ms} for name in "ab"]})
    assert [(layer.time_ms, layer.time_is) for layer in build.engine_layers] == [(0.5, TimeSource.MEASURED)] * 2


def test_times_join_the_layers_of_the_same_file(tmp_path: Path) -> None:
    listed = {"worst": [{"name": "b", "ms": 0.3}], "layers": [{"name": "b", "ms": 0.3}, {"name": "a", "ms": 0.1}]}
    build = load(tmp_path, listed | {"engine_layers": SPELLINGS["the inspector's"]})
    assert [(layer.name, layer.type, layer.time_ms) for layer in build.engine_layers] == [
        ("a", "Conv", 0.1),
        ("b", "Conv", 0.3),
    ]


def test_names_alone_are_layers_where_the_key_says_so(tmp_path: Path) -> None:
    assert [layer.name for layer in load(tmp_path, {"engine_layers": ["a", "b"]}).engine_layers] == ["a", "b"]


@pytest.mark.parametrize(
    "document",
    [
        {"people": [{"name": "a", "type": "cat"}]},
        [{"Name": "A100", "Memory": 1}],
        {"layers": []},
        {"layers": [1]},
        ["a"],
    ],
)
def test_other_json_is_refused(tmp_path: Path, document: object) -> None:
    path = tmp_path / "file.json"
    path.write_text(json.dumps(document))
    with pytest.raises(ForensicsError):
        load_joined([str(path)])
