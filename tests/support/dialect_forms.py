"""One log as each logger would have written it."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from trtforensics.parsers.lines.dialects import prefix_of

if TYPE_CHECKING:
    from collections.abc import Callable

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
    "ros": lambda level, text: f"[planner_node-1] [{level}] [TRT] {text}",
    "ros, GXF": lambda level, text: f"[container_mt-1] {ISO}.037 DEBUG gxf/trt.cpp@151: TRT {WORD[level]}: {text}",
    "bare, Polygraphy": lambda level, text: f"[{POLYGRAPHY[level]}] {text}",
    "bare, Polygraphy -v": lambda level, text: f"[{POLYGRAPHY[level]}] (07:52:04) [backend/trt/util.py:72] {text}",
    "bare, Polygraphy in colour": lambda level, text: f"{COLOUR}[{POLYGRAPHY[level]}] {text}\x1b[0m",
    "bare_word": lambda level, text: f"[{WORD[level]}] {text}",
    "custom": lambda level, text: f"My Logger: Severity.{WORD[level]} {text}",
    "tensorrt_llm": lambda level, text: f"{STAMP}[TRT-LLM] [MPI_Rank 0] [{level}] {text}",
    "tensorrt_llm_cpp": lambda level, text: f"[TensorRT-LLM][{DEBUG[level]}][0] {text}",
    "torch_tensorrt": lambda level, text: f"{DEBUG[level]}: [Torch-TensorRT TorchScript Conversion Context] - {text}",
    "torch_tensorrt_python": lambda level, text: f"{DEBUG[level]}:torch_tensorrt [TensorRT Conversion Context]:{text}",
    "tf_trt": lambda level, text: (
        f"{ISO}.123456: {GLOG[level]} tensorflow/compiler/tf2tensorrt/utils/trt_logger.cc:45] DefaultLogger {text}"
    ),
    "onnxruntime": lambda level, text: (
        f"{ISO}.123456789 [W:onnxruntime:, {SITE} log] [{ISO} {UNKNOWN[level]:>7}] {text}"
    ),
    "onnxruntime_site": lambda level, text: (
        f"E onnxruntime: [{ISO} {UNKNOWN[level]:>7}] {text} [{SITE} x::Logger::log]"
    ),
    "dated": lambda level, text: f"[{ISO} {WORD[level]}] {text}",
    "dated, Frigate": lambda level, text: f"{ISO}.037123456  [{ISO}] detector.tensorrt {DEBUG[level]:<7} : {text}",
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


def reprefixed(text: str, form: Callable[[str, str], str]) -> str:
    """Write every prefixed line of a log as another logger would."""
    lines = []
    for line in text.split("\n"):
        prefix = prefix_of(line.encode())
        lines.append(form(prefix.severity, line.encode()[prefix.end :].decode()) if prefix else line)
    return "\n".join(lines)
