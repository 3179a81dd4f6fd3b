"""What a log says of a build as a whole: the program, its options, the device, and how it ended."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model.log import Fact, MessageCounts, Outcome, Tool
from trtforensics.parsers.builds.views import latest
from trtforensics.parsers.text.numbers import LONGEST_WHOLE, is_whole

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.parsers.builds.views import Log

_BLOCKS = {
    "Model Options": "model",
    "Build Options": "build",
    "System Options": "system",
    "Inference Options": "inference",
    "Reporting Options": "reporting",
    "Device Information": "device",
}
_SECTIONS = {title: place for place, title in enumerate(_BLOCKS)}
_NUMBERS = r"\d{1,9}(?:\.\d{1,9})+"
_LIBRARY_VERSION = rf"libnvinfer\w*\.so\.({_NUMBERS})"
_MODULE_VERSION = rf"tensorrt +\| Version: ({_NUMBERS})"
_WRAPPERS = (
    ({"torch_tensorrt", "torch_tensorrt_python"}, Tool.TORCH_TENSORRT),
    ({"onnxruntime", "onnxruntime_site"}, Tool.ONNXRUNTIME),
)
"""Programs that pass TensorRT's messages on under their own name, by the dialect they do it in."""
_OF_RTX = ("strongly_typed", "convergence", "myelin_cpu")
"""Lines that only TensorRT-RTX prints."""
_OF_POLYGRAPHY = ("poly_run", "poly_verdict", "poly_module")
_PYTHON = {"python", "python_old", "custom"}
_FROM_10 = 100_000
_BENIGN = "catchCudaError"
"""TensorRT-RTX prints this error in every build on a machine without a GPU, also in those that succeed."""
_UNSAID = (Outcome.TRUNCATED, Outcome.PASSED, Outcome.FAILED, Outcome.TRUNCATED)
"""How a build without a verdict ended: where it was announced, has an engine, has an error, or was begun."""
_ENGINE = ("engine_generated", "engine_generated_old", "engine_built", "engine_layers", "engine_layers_detailed")


def tools(log: Log) -> list[Tool]:
    """Return which program drove each build. TensorRT-LLM and Triton have no name here: their dialects decide."""
    marks = (log.having("banner"), log.having(*_OF_RTX), log.having(*_OF_POLYGRAPHY))
    return list(map(_tool, log.in_force("dialect", "dialect"), *(mark.tolist() for mark in marks)))


@lru_cache(maxsize=64)
def _tool(dialects: tuple[str, ...], banner: bool, rtx: bool, polygraphy: bool) -> Tool:  # noqa: FBT001 - what a log has
    for names, wrapper in _WRAPPERS:
        if not names.isdisjoint(dialects) and not banner:
            return wrapper
    if rtx:
        return Tool.TENSORRT_RTX
    if banner:
        return Tool.TRTEXEC
    if polygraphy:
        return Tool.POLYGRAPHY
    if not _PYTHON.isdisjoint(dialects):
        return Tool.TENSORRT_PYTHON
    return Tool.TRTEXEC if "trtexec" in dialects else Tool.UNKNOWN


def tensorrt_versions(log: Log) -> list[str | None]:
    """Return the TensorRT versions: trtexec's line, the banner, a library's name or Polygraphy's list of modules."""
    found: dict[int, str] = {}
    for build, version in log.placed("tensorrt_version", "version"):
        if len(version) <= LONGEST_WHOLE:
            found.setdefault(build, version if "." in version else _decoded(int(version)))  # 8.0 prints 8003
    for build, printed in log.placed("banner", "version"):
        if printed is not None and is_whole(printed):
            found.setdefault(build, _decoded(int(printed)))
    for kind, pattern in (("library", _LIBRARY_VERSION), ("poly_module", _MODULE_VERSION)):
        for build, text in log.placed(kind, "text"):
            named = re.search(pattern, text or "") if build not in found else None
            if named:
                found[build] = named.group(1)
    return [found.get(build) for build in range(log.size)]


def _decoded(number: int) -> str:
    """Decode a banner's number: 101601 is 10.16.1, 8601 is 8.6.1, 8412 is 8.4.12 (samples/common, all releases)."""
    if number >= _FROM_10:
        return f"{number // 10_000}.{number // 100 % 100}.{number % 100}"
    return f"{number // 1000}.{number // 100 % 10}.{number % 100}"


def commands(log: Log) -> list[str | None]:
    """Return the command lines as the log prints them (trtexec joins its arguments with blanks, unquoted)."""
    found: dict[int, str] = {}
    for kind in ("banner", "poly_run"):
        for build, text in log.placed(kind, "command"):
            if text is not None:
                found.setdefault(build, text)
    return [found.get(build) for build in range(log.size)]


def outcomes(log: Log) -> list[Outcome]:
    """Return how each build ended: by its verdict, else by whether an engine followed."""
    line, severity, text = log.columns(("message",), "severity", "text")
    is_error = np.array(log.read_texts(severity, "E".__eq__), bool)
    counts = np.array(log.read_texts(text, lambda said: _BENIGN not in said), bool)
    failed = np.diff(log.limits(line[is_error & counts])) > 0
    announced, begun = log.having("banner", "poly_run"), log.having("stage_original")
    engines = log.having(*_ENGINE, "deserialization", "engine_size")
    signs = np.select([announced, engines, failed, begun], range(len(_UNSAID)), len(_UNSAID))
    ends = [(*_UNSAID, Outcome.UNKNOWN)[sign] for sign in signs.tolist()]
    for kind in ("poly_verdict", "banner"):
        for build, verdict in log.placed(kind, "verdict"):
            if verdict != "RUNNING":
                ends[build] = Outcome.FAILED if verdict == "FAILED" else Outcome.PASSED
    return ends


def message_counts(log: Log) -> list[MessageCounts]:
    """Count the warnings and the errors of each build."""
    line, severity = log.columns(("message",), "severity")
    errors = np.array(log.read_texts(severity, "E".__eq__), bool)
    counts = (np.diff(log.limits(line[~errors])), np.diff(log.limits(line[errors])))
    return list(map(MessageCounts, *(count.tolist() for count in counts)))


def options(log: Log) -> Sequence[Mapping[str, Sequence[Fact]]]:
    """Read trtexec's option blocks; every block is there, empty where the log prints none."""
    line, name, value = log.columns(("option", "device"), "name", "value")
    sections, title = log.columns(("section",), "section")
    places = np.array([_SECTIONS.get(text, -1) for text in log.texts(title)], np.int64)
    block = latest(sections, places, line, log.build_of(line))
    names = log.read_texts(name, lambda text: text.rstrip(" "))
    facts = list(map(Fact, names, log.texts(value), log.spans.of_each(line)))
    blocks: dict[str, Sequence[tuple[Fact, ...]]] = {}
    for place, kind in enumerate(_BLOCKS.values()):
        own = np.flatnonzero(block == place)
        of_kind = [facts[row] for row in own.tolist()]
        if kind == "device":
            blocks[kind] = log.divide_records((*of_kind, *_devices(log)))
        else:
            blocks[kind] = log.divide(line[own], of_kind)
    none: Mapping[str, Sequence[Fact]] = dict.fromkeys(blocks, ())
    return [
        dict(zip(blocks, of_build, strict=True)) if any(of_build) else none
        for of_build in zip(*blocks.values(), strict=True)
    ]


def _devices(log: Log) -> Iterator[Fact]:
    """Give the devices that there are."""
    for line, name, uuid in log.each("device_available", "name", "uuid"):
        yield Fact("Device", f"{name} ({uuid})", log.spans.of(line))
