"""Remedies are those of the program that the log shows."""

from __future__ import annotations

import re
from importlib.resources import files
from itertools import chain
from typing import TYPE_CHECKING

import pytest

from tests.support.for_each import for_each
from tests.unit.findings.rules.test_examples import report_on
from trtforensics.findings.programs import behind, fitting, of_release, origins_of, unheld
from trtforensics.findings.registry import rules
from trtforensics.findings.rule import read_table
from trtforensics.findings.versions import Version

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.findings.rule import Rule

ONNX = r"onnx-graphsurgeon|onnx-simplifier|polygraphy surgeon|torch\.onnx|\bopset"
TRTEXEC = r"--(?:min|opt|max)Shapes|--\w+Compatible|--builderOptimizationLevel|trtexec"
TORCH = r"torch_executed_ops|torch_tensorrt\."
FOREIGN = {
    "torch-tensorrt": f"{ONNX}|{TRTEXEC}|min_subgraph_size",
    "paddle": f"{ONNX}|{TRTEXEC}|{TORCH}",
    "tf-trt": f"{ONNX}|{TRTEXEC}|{TORCH}|min_subgraph_size",
    "tensorrt-llm": f"{ONNX}|{TRTEXEC}|{TORCH}",
    "code": f"{ONNX}|{TRTEXEC}|{TORCH}",
    "onnxruntime": f"--(?:min|opt|max)Shapes|{TORCH}",
    "trtexec": f"{TORCH}|min_subgraph_size|exp_disable",
    "deepstream": f"{TORCH}|min_subgraph_size",
    "triton": f"{TORCH}|min_subgraph_size",
}
_OF_PROGRAMS = {
    rule.code
    for name in (
        "torch_tensorrt",
        "tensorflow",
        "tensorrt_llm",
        "onnxruntime",
        "deepstream",
        "triton",
        "openmmlab",
        "python",
    )
    for rule in read_table((files("trtforensics.findings.rules") / "tables" / f"{name}.rules").read_text("utf-8"))
}
"""Rules for lines that one program prints."""
_SOURCES = {"torch-tensorrt", "paddle", "tf-trt", "tensorrt-llm", "code"}
SHOWN = {
    "torch-tensorrt": 'File "site-packages/torch_tensorrt/dynamo/_compiler.py", line 7, in compile',
    "paddle": "paddle::inference::tensorrt::TensorRTEngine::FreezeNetwork()",
    "tf-trt": "tensorflow/compiler/tf2tensorrt/convert/convert_nodes.cc:7",
    "tensorrt-llm": "tensorrt_llm/runtime/session.py",
    "code": "loading weights from yolo.wts",
    "onnx": "ModelImporter.cpp:7",
}
MISFIT = "[TRT] [E] (Unnamed Layer* 5) [Shuffle]: dimensions of the tensor must match those of the other tensor"


def test_no_remedy_names_a_tool_or_format_that_its_reader_does_not_have() -> None:
    # What a sentence names is looked up once for all origins that follow each other.
    each = ((rule, origin) for rule in rules() if rule.code not in _OF_PROGRAMS for origin in FOREIGN)
    assert [(rule.code, origin, wrong) for rule, origin in each for wrong in _foreign_sentences(rule, origin)] == []


def _foreign_sentences(rule: Rule, origin: str) -> list[str]:
    fixes = [fix.text for fix in rule.explanation.fixes]
    rows = (case.fix for case in rule.cases) if origin in _SOURCES else ()  # those of a host's lines are its own
    special = [fix for fix in (*rows, *(fix for _, fix in rule.variants.values())) if fix]
    shown = fitting(rule.code, special, fixes, {origin}, of_any=rule.last)
    sentences = chain.from_iterable(re.split(r"(?<=\.) (?=[A-Z])", fix) for fix in shown)
    return [sentence for sentence in sentences if _is_foreign(sentence, origin)]


def _is_foreign(sentence: str, origin: str) -> bool:
    """Whether it names what the reader lacks, and nothing that is the reader's own: alternatives name several."""
    own = {"onnxruntime": r"trt_\w+|ONNX Runtime", "tf-trt": "TF-TRT|tf2onnx", "torch-tensorrt": TORCH}.get(
        origin, "$^"
    )
    return bool(re.search(FOREIGN[origin], sentence)) and not re.search(own, sentence)


def test_the_nearest_text_shows_where_the_network_comes_from() -> None:
    for origin, line in SHOWN.items():
        assert origins_of("", line, SHOWN["onnx"]) >= {origin}
    assert origins_of("triton", "a line", "another") == {"triton"}
    assert origins_of("", "a line", "another") == frozenset()


@pytest.mark.parametrize(
    ("origin", "first"),
    [("torch-tensorrt", "torch_executed_ops"), ("paddle", "exp_disable"), ("code", "program's code")],
)
def test_where_a_remedy_is_foreign_the_programs_own_goes_first(origin: str, first: str, tmp_path: Path) -> None:
    report = report_on(f"{SHOWN[origin]}\n{MISFIT}\n", tmp_path)
    (finding,) = (each for each in report.findings if each.fixes)
    assert first in finding.fixes[0]
    assert not any("polygraphy" in fix for fix in finding.fixes)


def test_where_nothing_shows_the_program_a_remedy_says_whose_it_is() -> None:
    fix = "Fold constants: polygraphy surgeon sanitize --fold-constants. Use a newer release."
    said = "Where the network comes from ONNX: fold constants: polygraphy surgeon sanitize --fold-constants."
    assert fitting("TF925", [], [fix], (), of_any=True) == [f"{said} Use a newer release."]
    assert fitting("TF140", [], [fix], (), of_any=False) == [fix]
    assert behind("Here: ", "TensorRT 10 has it.") == "Here: TensorRT 10 has it."


@for_each(
    ("fix", "command", "left"),
    [
        ("Build with --refit, and refit the names.", "trtexec --onnx=a.onnx --refit", []),
        (
            "Build with --refit, and refit the names.",
            "trtexec --onnx=a.onnx",
            ["Build with --refit, and refit the names."],
        ),
        ("Build it without --refit.", "trtexec --refit", ["Build it without --refit."]),
        ("Start with --gpus all. See nvidia-smi.", "docker run --gpus all x", ["See nvidia-smi."]),
    ],
)
def test_what_the_command_has_already_is_no_remedy(fix: str, command: str, left: list[str]) -> None:
    assert unheld([fix], command, "") == unheld([fix], "", f"$ {command}") == left


@for_each(
    ("fix", "release", "left"),
    [
        ("Give more: --memPoolSize=workspace:512.", "7.2", "Give more: --workspace=512."),
        ("Give more: --memPoolSize=workspace:512.", "10.3", "Give more: --memPoolSize=workspace:512."),
        ("Give more: --workspace=512 (MiB).", "10.3", "Give more: --memPoolSize=workspace:512."),
        ("From 8.5 on set_input_shape.", "8.2", "From 8.5 on set_input_shape."),
        ("Call set_input_shape first.", "8.2", "Call set_binding_shape first."),
        ("Free memory. Then --builderOptimizationLevel=3.", "8.2", "Free memory."),
        ("Then --builderOptimizationLevel=3.", "8.2", "Then --builderOptimizationLevel=3."),
        ("Free memory. Then polygraphy run --fp16.", "11.1", "Free memory. Then polygraphy run --fp16."),
    ],
)
def test_remedies_have_the_names_of_the_logs_release(fix: str, release: str, left: str) -> None:
    numbers = tuple(int(part) for part in release.split("."))
    assert of_release([fix], Version(numbers)) == [left]
    assert of_release([fix], None) == [fix]
