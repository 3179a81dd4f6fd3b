"""What stands below what in excerpts of programs around TensorRT."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.support.marked_logs import marked
from tests.unit.findings.rules.test_examples import report_on
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

ABSENT = "| WARNING: Deserialize engine failed because file path: /models/a.engine open error\n"
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
NODE = "| In node 12 (parseGraph): INVALID_NODE: Invalid Node - add_4\n"
BROADCAST = "| Error Code 9: Internal Error (add_4: broadcast dimensions must be conformable)\n"
KERNEL = "E Error[1]: Unexpected exception KTM assertion failure: convolutionTimingModel.cpp:7  shader != nullptr\n"
UNLOADED = "E Engine deserialization failed.\n"
CALIBRATOR = "E 1: [calibrator.cpp::add::758] Error Code 1: Cuda Runtime (an illegal memory access was encountered)\n"
NODE_DUMP = 'E ModelImporter.cpp:771: While parsing node number 9 [TopK -> "k"]:\n' + 20 * "|   dims: 1\n"
CONSTANT = "E This version of TensorRT only supports input K as an initializer.\n"
UNREGISTERED = (
    "I No importer registered for op: Sprout. Attempting to import as plugin.\n"
    "E 3: getPluginCreator could not find plugin: Sprout version: 1\n"
    '| [8] Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"\n'
)
NOT_FOUND = (
    'E ModelImporter.cpp:140: While parsing node number 3 [Sprout -> "s"]:\n'
    '| [8] Assertion failed: creator && "Plugin not found, are the plugin name, version, and namespace correct?"\n'
)
EXTERNAL = (
    "E WeightsContext.cpp:178: Failed to open file: head.onnx.data\nE (parseGraph): Failed to import initializer\n"
)
UNSET = (
    "W Unset previous flag because kREFIT, kREFIT_INDIVIDUAL and kREFIT_IDENTICAL are mutually exclusive.\n"
    "E Error Code 3: API Usage Error (Parameter check failed, condition: engine.isRefittable())\n"
)
REFUSED = (
    'E ModelImporter.cpp:140: While parsing node number 3 [Det -> "d"]:\n'
    "| Node name: /a/Det\nE ModelImporter.cpp:151: ERROR: onnxOpCheckers.cpp:1130 In function checkDet:\n| [8] false\n"
)
RESTATED = "E In node 3 with name: /a/Det and operator: Det (checkDet): UNSUPPORTED_NODE: false\n"
CHECK = "E Error[2]: [compiler.cpp::link::77] Error Code 2: Internal Error (Assertion count == 1 failed. )\n"
TORCH = "| RuntimeError: Building serialized network failed in TensorRT\n"


SHORT = "W Skipping tactic 0 due to Myelin error: autotuning: CUDA error 2 allocating 4096-byte buffer: \n"
OF_OPERATOR = (
    "| [8] No importer registered for op: ScatterND\n| getPluginCreator could not find plugin ScatterND version 1\n"
)


STATIC = (
    "| [E:onnxruntime:, tensorrt_execution_provider.h:90 log] [2026-11-27 04:27:57   ERROR] "
    "IExecutionContext::setInputShape: Error Code 3: API Usage Error (Parameter check failed, condition: "
    "engineDims.d[i] == dims.d[i]. Static dimension mismatch while setting input shape for image. "
    "Set dimensions are [3,3,8,8]. Expected dimensions are [1,3,8,8].)\n"
)
PASSED_ON = (
    "| [E:onnxruntime:, sequential_executor.cc:572 ExecuteKernel] Non-zero status code returned while running "
    "TRTKernel_graph_g_7_0 node. Name:'TRTKernel_graph_g_7_0_0' Status Message: TensorRT EP failed to set shape.\n"
)


@for_each(
    ("lines", "root", "below"),
    [
        (PLUGIN + NVINFER, "TF623", {"TF676"}),
        (TUNING + NO_TACTIC, "TF343", {"TF301", "TF302"}),
        (OUTPUT + NO_TACTIC, "TF345", {"TF301", "TF302"}),
        (SHORT + SHORT.replace("4096", "2048"), "TF343", {"TF302"}),
        (NOT_PARSED + PARSER, "TF150", set()),
        (OF_OPERATOR, "TF150", set()),
        (PARSER + NOT_PARSED, "TF150", {"TF162"}),
        (HEADER + UNUSED, "TF503", set()),
        (MATMUL + "E Error occurred during inference\n", "TF103", {"TF717"}),
        ("E     FAILED | Mismatched outputs: ['y']\n", "TF216", {"TF717"}),
        ("E Accuracy Summary | a vs. b | Passed: 0/1 iterations | Pass Rate: 0.0%\n", "TF216", {"TF717"}),
        (DLA + NO_ENGINE + TORCH, "TF452", {"TF717", "TF684"}),
        (NODE + BROADCAST, "TF141", {"TF163"}),
        (KERNEL + UNLOADED, "TF340", {"TF632", "TF717"}),
        (CALIBRATOR, "TF662", {"TF309"}),
        (NO_TACTIC + CHECK, "TF301", {"TF615"}),
        (REFUSED + RESTATED, "TF108", {"TF146"}),
        (NODE_DUMP + CONSTANT, "TF140", {"TF108", "TF156"}),
        (UNREGISTERED, "TF150", set()),
        (NOT_FOUND, "TF101", set()),
        (EXTERNAL, "TF131", {"TF132"}),
        (UNSET, "TF408", {"TF604"}),
        (STATIC + PASSED_ON, "TF643", {"TF691"}),
    ],
)
def test_what_follows_stands_below_its_root(lines: str, root: str, below: set[str], tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(marked(lines).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    findings = [one for one in judge(Inputs([log]), Suppression()).findings if one.code != "TF705"]
    assert {one.code for one in findings} == {root, *below}
    assert [one.code for one in findings if one.consequence_of is None] == [root]
    said = [one.title for one in findings if one.code == "TF717"]
    what = "The build gave no engine" if "engine" in lines.lower() else "The run failed"
    assert said in ([], ["The engine was not loaded" if UNLOADED in lines else what])


def test_a_plugin_that_up_to_10_was_searched_for_is_cited_beside_its_node(tmp_path: Path) -> None:
    searched = "I Searching for plugin: {}, plugin_version: 1, plugin_namespace:\n"
    lines = (
        searched.format("Leaf_TRT")
        + searched.format("Sprout_TRT")
        + (
            "E ModelImporter.cpp:773: While parsing node number 84 [Sprout_TRT]:\n"
            'E [8] Assertion failed: creator && "Plugin not found, are the plugin name, version correct?"\n'
        )
    )
    (found,) = [one for one in report_on(marked(lines).text, tmp_path).findings if one.code == "TF101"]
    assert [each.text.partition(",")[0].rpartition(" ")[2] for each in found.evidence if "Searching" in each.text] == [
        "Sprout_TRT"
    ]
    assert sum("--staticPlugins" in fix for fix in found.fixes) <= 1


@pytest.mark.parametrize(
    ("created", "missing", "codes"),
    [
        ("Sprout_TRT", ("Sprout_TRT",), {"TF716"}),
        ("Sprout_TRT", ("Sprout_TRT", "Leaf_TRT"), {"TF609"}),
        ("Leaf_TRT", ("Sprout_TRT",), {"TF609"}),
    ],
)
def test_a_plugin_that_was_created_refutes_that_its_library_is_missing(
    created: str, missing: tuple[str, ...], codes: set[str], tmp_path: Path
) -> None:
    lines = [f"E 3: getPluginCreator could not find plugin: {name} version: 1" for name in missing]
    findings = report_on(
        marked("\n".join((f"I Successfully created plugin: {created}", *lines))).text, tmp_path
    ).findings
    assert {one.code for one in findings if one.code != "TF705"} == codes
    assert not any(created in one.title for one in findings if one.code == "TF609")


@pytest.mark.parametrize(
    ("least", "title"), [("nan", "y is NaN in trt and onnxrt alike"), ("0.5", "y is NaN in TensorRT alone")]
)
def test_nan_in_both_runners_refutes_a_fault_of_tensorrt(least: str, title: str, tmp_path: Path) -> None:
    shown = [
        f"I         {runner}-runner-N0-1/2/26-10:00:01: y | Stats: mean={value}, std-dev=1, min={value} at (0,), "
        f"max={value} at (0,), avg-magnitude={value}"
        for runner, value in (("trt", "nan"), ("onnxrt", least))
    ]
    shown += ["E         FAILED | Output: 'y' | Difference exceeds tolerance (rel=1e-05, abs=1e-05)"]
    (found,) = [one for one in report_on(marked("\n".join(shown)).text, tmp_path).findings if one.code == "TF216"]
    assert found.title.startswith(title)


def test_an_engine_file_that_deepstream_is_to_build_is_no_root(tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(marked(ABSENT + "| a.cpp:7: void build(): Assertion `network' failed.\n").text)
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    first = judge(Inputs([log]), Suppression()).findings[0]
    assert (first.code, first.consequence_of) == ("TF633", None)
