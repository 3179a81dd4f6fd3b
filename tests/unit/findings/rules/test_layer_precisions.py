"""An exported engine beside the log tells the types that the log does not print."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from tests.emulator.engine.foreign import Transformer
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.text.document import read_document
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

NORM = "/layers.0/norm1/LayerNormalization"


def layer(name: str, kind: str) -> dict[str, Any]:
    """Return a kernel of the ForeignNode as trtexec --exportLayerInfo writes it."""
    tensor = {"Name": "t", "Dimensions": [2, 16, 64], "Format/Datatype": kind}
    made = {"Name": f"{name}_myl0_1", "LayerType": "kgen", "Inputs": [tensor], "Outputs": [tensor]}
    return {**made, "TacticName": "k", "StreamId": 0, "Metadata": f"[ONNX Layer: {name}]"}


@pytest.mark.parametrize(
    ("kind", "speaks"),
    [("Half", True), ("Row major linear FP16 format", True), ("Float", False), ("Row major linear FP32", False)],
)
def test_a_kernel_of_another_type_is_found_in_the_export(
    kind: str,
    speaks: bool,  # noqa: FBT001 - a column
    tmp_path: Path,
) -> None:
    log, exported = tmp_path / "build.log", tmp_path / "layers.json"
    log.write_text(Transformer(precisions=f"{NORM}:fp32", constraints="obey").log().text(), encoding="utf-8")
    exported.write_text(json.dumps({"Layers": [layer(NORM, kind)], "Bindings": ["x", "y"]}, indent=1), encoding="utf-8")
    info = read_layer_json(read_document(str(exported), max_bytes=1 << 30))
    read = read_log(str(log), max_bytes=1 << 30, on_progress=lambda _: None)
    found = [one for one in judge(Inputs([read], engine_info=info), Suppression()).findings if one.code == "TF218"]
    assert len(found) == speaks
    for one in found:
        assert one.onnx_nodes == (NORM,)
        assert {evidence.span.file for evidence in one.evidence} == {str(log), str(exported)}
        assert all(evidence.text.strip() for evidence in one.evidence)


@pytest.mark.parametrize(("kind", "found"), [("FLOAT", 1), ("BOOL", 0), ("INT64", 0)])
def test_casts_of_conditions_and_indices_say_nothing_of_precision(kind: str, found: int, tmp_path: Path) -> None:
    text = Transformer(casts=True).log().text()
    casts = re.sub(r"(?m)(\bcast_\w+ \[Cast\] outputs: .*)\[FLOAT\]", rf"\1[{kind}]", text)
    log = tmp_path / "build.log"
    log.write_text(casts, encoding="utf-8")
    read = read_log(str(log), max_bytes=1 << 30, on_progress=lambda _: None)
    assert len([one for one in judge(Inputs([read]), Suppression()).findings if one.code == "TF215"]) == found
