"""What stands below what in excerpts of programs around TensorRT."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from trtforensics.findings.engine import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

ABSENT = "| WARNING: Deserialize engine failed because file path: /models/a.engine open error\n"
NOT_LOADED = "| deserialize engine from file :/models/a.engine failed\n"
PLUGIN = (
    "E 2: [pluginV2DynamicExtRunner.cpp::execute::115] Error Code 2: Internal Error (Assertion status == 0 failed.)\n"
)
NVINFER = "| ERROR: Infer context enqueue buffer failed, nvinfer error:NVDSINFER_TENSORRT_ERROR\n"
TUNING = "W Skipping tactic 0 due to Myelin error: autotuning: CUDA error 3 allocating 0-byte buffer:\n"
NO_TACTIC = "E 10: Error Code 10: Internal Error (Could not find any implementation for node {ForeignNode[a...b]}.)\n"
MATMUL = "E Error Code 7: Internal Error (m: attempt to multiply two matrices with mismatching dimensions)\n"
DLA = "E 1: [nvdlaUtils.cpp::submit::198] Error Code 1: DLA (Failure to submit program to DLA engine.)\n"
NO_ENGINE = "E 2: [builder.cpp::build::620] Error Code 2: Internal Error (Assertion engine != nullptr failed. )\n"
OUTPUT = 'W Skipping tactic 0 due to Myelin error: Formal output tensor "bias" is also a data tensor.\n'
HEADER = "E 1: [stdArchiveReader.cpp::Init::36] Error Code 1: Serialization (Magic tag does not match)\n"
UNUSED = "E 4: The timing cache will not be used!\n"
NOT_PARSED = "| [!] Could not parse ONNX correctly\n"
PARSER = (
    "E In node 0 with name: a and operator: B (Plugin not found, are the plugin name, version, and namespace correct)\n"
)
TORCH = "| RuntimeError: Building serialized network failed in TensorRT\n"


@pytest.mark.parametrize(
    ("lines", "root", "below"),
    [
        (ABSENT + NOT_LOADED, "TF634", {"TF632"}),
        (PLUGIN + NVINFER, "TF623", {"TF676"}),
        (TUNING + NO_TACTIC, "TF343", {"TF301", "TF302"}),
        (OUTPUT + NO_TACTIC, "TF345", {"TF301", "TF302"}),
        (NOT_PARSED + PARSER, "TF150", set()),
        (PARSER + NOT_PARSED, "TF150", {"TF162"}),
        (HEADER + UNUSED, "TF503", set()),
        (MATMUL + "E Error occurred during inference\n", "TF103", {"TF717"}),
        ("E     FAILED | Mismatched outputs: ['y']\n", "TF216", {"TF717"}),
        (DLA + NO_ENGINE + TORCH, "TF452", {"TF717", "TF684"}),
    ],
)
def test_what_follows_stands_below_its_root(lines: str, root: str, below: set[str], tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(marked(lines).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    findings = [one for one in judge(Inputs([log]), Suppression()).findings if one.code != "TF705"]
    assert {one.code for one in findings} == {root, *below}
    assert [one.code for one in findings if one.consequence_of is None] == [root]
    said = [one.title for one in findings if one.code == "TF717"]
    assert said in ([], ["The build gave no engine" if "engine" in lines else "The run failed"])
