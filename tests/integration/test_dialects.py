"""A log says the same whoever wrote it down: re-prefixed into each dialect it gives the same builds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.documents import document
from trtforensics.model import Tool
from trtforensics.parsers.dialects import DIALECTS, prefix_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model import BuildLog

    Load = Callable[[str], BuildLog]

STAMP = "[11/21/2026-07:52:04] "
ISO = "2026-11-21 07:52:04"
WORD = {"V": "VERBOSE", "I": "INFO", "W": "WARNING", "E": "ERROR"}
DEBUG = {**WORD, "V": "DEBUG"}
UNKNOWN = {**WORD, "V": "UNKNOWN"}
POLYGRAPHY = {"V": "X", "I": "V", "W": "W", "E": "E"}
GLOG = {"V": "I", "I": "I", "W": "W", "E": "E"}
GSTREAMER = {"V": "LOG", "I": "INFO", "W": "WARN", "E": "ERROR"}
SITE = "tensorrt_execution_provider.h:88"
COLOUR = "\x1b[38;5;104m"

FORMS: dict[str, Callable[[str, str], str]] = {
    "trtexec": lambda level, text: f"{STAMP}[{level}] [TRT] {text}",
    "trtexec, two timestamps": lambda level, text: f"{STAMP * 2}[{level}] [TRT] {text}",
    "trtexec, three timestamps": lambda level, text: f"{STAMP * 3}[{level}] [TRT] {text}",
    "trtexec, quoted": lambda level, text: f"> {STAMP}[{level}] [TRT] {text}",
    "trtexec 6.0": lambda level, text: f"[00/15/2020-10:38:48] [{level}] [TRT] {text}",
    "python": lambda level, text: f"{STAMP}[TRT] [{level}] {text}",
    "python, cut": lambda level, text: f"[TRT] [{level}] {text}",
    "python_old": lambda level, text: f"[TensorRT] {WORD[level]}: {text}",
    "bare": lambda level, text: f"[{level}] [TRT] {text}",
    "bare, ROS 2": lambda level, text: f"[planner_node-1] [{level}] [TRT] {text}",
    "bare, Polygraphy": lambda level, text: f"[{POLYGRAPHY[level]}] {text}",
    "bare, Polygraphy -v": lambda level, text: f"[{POLYGRAPHY[level]}] (07:52:04) [backend/trt/util.py:72] {text}",
    "bare, Polygraphy in colour": lambda level, text: f"{COLOUR}[{POLYGRAPHY[level]}] {text}\x1b[0m",
    "bare_word": lambda level, text: f"[{WORD[level]}] {text}",
    "custom": lambda level, text: f"My Logger: Severity.{WORD[level]} {text}",
    "tensorrt_llm": lambda level, text: f"{STAMP}[TRT-LLM] [MPI_Rank 0] [{level}] {text}",
    "tensorrt_llm_cpp": lambda level, text: f"[TensorRT-LLM][{DEBUG[level]}][0] {text}",
    "torch_tensorrt": lambda level, text: f"{DEBUG[level]}: [Torch-TensorRT TorchScript Conversion Context] - {text}",
    "torch_tensorrt_python": lambda level, text: f"{DEBUG[level]}:torch_tensorrt [TensorRT Conversion Context]:{text}",
    "onnxruntime": lambda level, text: (
        f"{ISO}.123456789 [W:onnxruntime:, {SITE} log] [{ISO} {UNKNOWN[level]:>7}] {text}"
    ),
    "onnxruntime_site": lambda level, text: (
        f"E onnxruntime: [{ISO} {UNKNOWN[level]:>7}] {text} [{SITE} x::Logger::log]"
    ),
    "dated": lambda level, text: f"[{ISO} {WORD[level]}] {text}",
    "dated_tags": lambda level, text: f"[{ISO}][{WORD[level].title()}][TRT] {text}",
    "triton": lambda level, text: f"{GLOG[level]}1121 07:52:04.123456 123 logging.cc:49] {text}",
    "triton, ISO": lambda level, text: f"2026-11-21T07:52:04Z {GLOG[level]} 123 logging.cc:49] {text}",
    "triton_json": lambda level, text: f"{GLOG[level]}1121 07:52:04.123456 123 logging.cc:49] {json.dumps(text)}",
    "triton_json, ISO": lambda level, text: f"2026-11-21T07:52:04Z {GLOG[level]} 123 logging.cc:46] {json.dumps(text)}",
    "deepstream": lambda level, text: f"{WORD[level]}: [TRT]: {text}",
    "gstreamer": lambda level, text: (
        f"0:00:01.234 123 0x7f3c {GSTREAMER[level]} nvinfer gst.cpp:638:log:<p> [TRT]: {text}"
    ),
    "word_site": lambda level, text: f"{WORD[level]} TRT: {text} trt_utils.cpp:252",
    "tagged": lambda _, text: f"[TRT]    {text}",
    "other": lambda _, text: f"{ISO} [My Logger] [TRT] {text}",
}
"""How each dialect writes a message of a level; the dialect's name comes first."""

LEVEL_LOST = ("tagged", "other")
WRAPPERS = {
    "torch_tensorrt": Tool.TORCH_TENSORRT,
    "torch_tensorrt_python": Tool.TORCH_TENSORRT,
    "onnxruntime": Tool.ONNXRUNTIME,
    "onnxruntime_site": Tool.ONNXRUNTIME,
}


def reprefixed(text: str, form: Callable[[str, str], str]) -> str:
    """Write every prefixed line of a log as another logger would."""
    lines = []
    for line in text.split("\n"):
        prefix = prefix_of(line.encode())
        lines.append(form(prefix.severity, line.encode()[prefix.end :].decode()) if prefix else line)
    return "\n".join(lines)


def facts(log: BuildLog, *, messages: bool) -> dict[str, Any]:
    """Return the document without what names the source and the tool."""
    whole = document(log)
    del whole["source"]
    for build in whole["builds"]:
        del build["tool"]
        if not messages:
            del build["messages"]
    return whole


def check_same(load: Load, text: str, name: str) -> BuildLog:
    written = reprefixed(text, FORMS[name])
    dialect = name.partition(",")[0].partition(" ")[0]
    read = {prefix.dialect for line in written.split("\n") if (prefix := prefix_of(line.encode()))}
    assert read == ({dialect} if "colour" not in name else set())
    kept = dialect not in LEVEL_LOST
    expected = load(text)
    log = load(written)
    assert expected.builds[0].choices
    assert facts(log, messages=kept) == facts(expected, messages=kept)
    return log


def test_every_dialect_is_tried() -> None:
    tried = {name.partition(",")[0].partition(" ")[0] for name in FORMS}
    assert set(DIALECTS) - tried == {"named"}  # which opens a few messages only


@pytest.mark.parametrize("name", FORMS)
def test_a_log_of_ours_gives_the_same_builds_in_every_dialect(load: Load, samples: list[Path], name: str) -> None:
    path = next(file for file in samples if file.name == "emulated-trtexec-10.16-three-passes.log")
    check_same(load, path.read_text(), name)


@pytest.mark.corpus
@pytest.mark.parametrize("name", FORMS)
def test_a_real_log_gives_the_same_builds_in_every_dialect(load: Load, corpus: Path, name: str) -> None:
    check_same(load, (corpus / "buildlog" / "hack-trtexec-fp32-trt8203.log").read_text(), name)


@pytest.mark.parametrize(("dialect", "tool"), WRAPPERS.items())
def test_the_tool_is_the_program_that_passed_the_messages_on(load: Load, dialect: str, tool: Tool) -> None:
    text = f"{STAMP}[V] [TRT] Original: 7 layers\n"
    assert [build.tool for build in load(reprefixed(text, FORMS[dialect])).builds] == [tool]
