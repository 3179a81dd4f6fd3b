"""What a log says of a build as a whole: who drove it, with what, on what, and how it ended."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model import Fact, Outcome, Tool
from trtforensics.parsers.views import latest

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping

    from trtforensics.model import Message, SourceSpan
    from trtforensics.parsers.passes import Passes
    from trtforensics.parsers.views import Log, View

_BLOCKS = {
    "Model Options": "model",
    "Build Options": "build",
    "System Options": "system",
    "Inference Options": "inference",
    "Reporting Options": "reporting",
    "Device Information": "device",
}
_LIBRARY_VERSION = re.compile(r"libnvinfer\w*\.so\.(\d+(?:\.\d+)+)")
_MODULE_VERSION = re.compile(r"tensorrt +\| Version: (\d+(?:\.\d+)+)")
_WRAPPERS = (
    ({"torch_tensorrt", "torch_tensorrt_python"}, Tool.TORCH_TENSORRT),
    ({"onnxruntime", "onnxruntime_site"}, Tool.ONNXRUNTIME),
)
"""Programs that pass TensorRT's messages on under their own name, by the dialect they do it in."""
_PYTHON = {"python", "python_old", "custom"}
_FROM_10 = 100_000
_BENIGN = "catchCudaError"
"""TensorRT-RTX prints this error in every build on a machine without a GPU, also in those that succeed."""
_ENGINE = ("engine_generated", "engine_generated_old", "engine_built", "engine_layers", "engine_layers_detailed")


def tool(view: View, dialects: Collection[str]) -> Tool:
    """Say who drove the build; of TensorRT-LLM and Triton, which have no name here, what their dialects tell."""
    for names, wrapper in _WRAPPERS:
        if not names.isdisjoint(dialects) and not view.has("banner"):
            return wrapper
    if view.has("strongly_typed", "convergence", "myelin_cpu"):
        return Tool.TENSORRT_RTX  # lines that only TensorRT-RTX prints
    if view.has("banner"):
        return Tool.TRTEXEC
    if view.has("poly_run", "poly_verdict", "poly_module"):
        return Tool.POLYGRAPHY
    if not _PYTHON.isdisjoint(dialects):
        return Tool.TENSORRT_PYTHON
    return Tool.TRTEXEC if "trtexec" in dialects else Tool.UNKNOWN


def tensorrt_version(view: View) -> str | None:
    """Return the TensorRT version: trtexec's line, the banner, a library's name or Polygraphy's list of modules."""
    for _, version in view.each("tensorrt_version", "version"):
        return version if "." in version else _decoded(int(version))  # 8.0 prints 8003
    for _, printed in view.each("banner", "version"):
        if printed is not None:
            return _decoded(int(printed))
    for kind, pattern in (("library", _LIBRARY_VERSION), ("poly_module", _MODULE_VERSION)):
        for _, text in view.each(kind, "text"):
            found = pattern.search(text or "")
            if found:
                return found.group(1)
    return None


def _decoded(number: int) -> str:
    """Decode a banner's number: 101601 is 10.16.1, 8601 is 8.6.1, 8412 is 8.4.12 (samples/common, all releases)."""
    if number >= _FROM_10:
        return f"{number // 10_000}.{number // 100 % 100}.{number % 100}"
    return f"{number // 1000}.{number // 100 % 10}.{number % 100}"


def command(view: View) -> str | None:
    """Return the command line as the log prints it (trtexec joins its arguments with blanks, unquoted)."""
    for kind in ("banner", "poly_run"):
        for _, text in view.each(kind, "command"):
            if text is not None:
                return str(text)
    return None


def outcome(view: View, messages: Iterable[Message]) -> Outcome:
    """Say how the build ended, from its verdict, else from whether an engine followed."""
    for kind in ("banner", "poly_verdict"):
        verdicts = [verdict for _, verdict in view.each(kind, "verdict") if verdict != "RUNNING"]
        if verdicts:
            return Outcome.FAILED if verdicts[-1] == "FAILED" else Outcome.PASSED
    if view.has("banner", "poly_run"):
        return Outcome.TRUNCATED
    if view.has(*_ENGINE, "deserialization", "engine_size"):
        return Outcome.PASSED
    if any(message.severity == "E" and _BENIGN not in message.text for message in messages):
        return Outcome.FAILED
    return Outcome.TRUNCATED if view.has("stage_original") else Outcome.UNKNOWN


def options(log: Log, span: Callable[[int], SourceSpan]) -> list[Mapping[str, tuple[Fact, ...]]]:
    """Read trtexec's option blocks; every block is there, empty where the log prints none."""
    sections = np.array(log.lines("section"), np.int64)
    blocks: dict[str, list[Fact]] = {block: [] for block in _BLOCKS.values()}
    of_sections = [blocks.get(_BLOCKS.get(name, "")) for _, name in log.each("section", "section")]
    of_sections.append(None)  # index -1 is before the first section
    for kind in ("option", "device"):
        lines = np.array(log.lines(kind), np.int64)
        places = latest(sections, np.arange(len(sections)), lines, log.build_of(lines)).tolist()
        for (line, name, value), place in zip(log.each(kind, "name", "value"), places, strict=True):
            facts = of_sections[place]
            if facts is not None:
                facts.append(Fact(name.rstrip(" "), value or "", span(line)))
    for line, name, uuid in log.each("device_available", "name", "uuid"):
        blocks["device"].append(Fact("Device", f"{name} ({uuid})", span(line)))
    return [dict(zip(blocks, facts, strict=True)) for facts in zip(*map(log.parted, blocks.values()), strict=True)]


def results(log: Log, passes: Passes, span: Callable[[int], SourceSpan]) -> list[tuple[Fact, ...]]:
    """Read the performance summary and the engine's build time and size, without those of discarded passes."""
    facts = [
        Fact(name, f"median {_number(median)} ms, min {_number(low)} ms, max {_number(high)} ms", span(line))
        for line, name, low, high, median in log.each("metric_latency", "name", "ms", "max_ms", "median_ms")
    ]
    units = {"Throughput": "qps"}
    for line, name, value in log.each("metric_total", "name", "number"):
        facts.append(Fact(name, f"{_number(value)} {units.get(name, 's')}", span(line)))
    for kind, name, field, unit in (
        ("engine_generated", "Engine generation", "seconds", "s"),
        ("engine_built", "Engine built in", "seconds", "s"),
        ("engine_created", "Engine size", "number", "MiB"),
    ):
        facts.extend(
            Fact(name, f"{_number(value)} {unit}", span(line))
            for line, value in log.each(kind, field)
            if not passes.discarded(line)
        )
    return log.parted(facts)


def _number(value: float | None) -> str:
    return "?" if value is None else f"{value:g}"
