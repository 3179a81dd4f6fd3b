"""What a log says of a build as a whole: the program, options, device, how it ended, and what can be judged of it."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from trtforensics.model.log import CachedResult, Choice, Coverage, EngineLayer, Fact, MessageCounts, Outcome, Tool
from trtforensics.model.run import Ending, Run
from trtforensics.model.timings import ProfileRun, TimeSource
from trtforensics.parsers.builds.run_outcomes import BENIGN, CLEANING
from trtforensics.parsers.builds.views import ENGINE, Log, latest
from trtforensics.parsers.text.numbers import LONGEST_WHOLE, is_whole

_BLOCKS = ("model", "build", "system", "inference", "reporting", "device")
_SECTIONS = {f"{kind.title()} Options": place for place, kind in enumerate(_BLOCKS[:-1])} | {"Device Information": 5}
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
COMMANDS = ("banner", "poly_run", "poly_verdict")
_PYTHON = {"python", "python_old", "custom"}
_FROM_10 = 100_000
_UNSAID = (Outcome.TRUNCATED, Outcome.PASSED, Outcome.FAILED, Outcome.TRUNCATED)
"""How a build without a verdict ended: where it was announced, has an engine, has an error, or was begun."""


def tools(log: Log) -> list[Tool]:
    """Return which program drove each build. TensorRT-LLM and Triton have no name here: their dialects decide."""
    of_trtexec = {build for build, program in log.placed("banner", "program") if "trtexec" in (program or "trtexec")}
    marks = (log.having(*_OF_RTX), log.having(*_OF_POLYGRAPHY))
    banners = (build in of_trtexec for build in range(log.size))
    return list(map(_tool, log.in_force("dialect", "dialect"), banners, *(mark.tolist() for mark in marks)))


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
    versions: dict[int, str] = {}
    for build, version in log.placed("tensorrt_version", "version"):
        if len(version) <= LONGEST_WHOLE:
            versions.setdefault(build, version if "." in version else decoded_version(int(version)))  # 8.0 prints 8003
    for build, printed in log.placed("banner", "version"):
        if printed is not None and is_whole(printed):
            versions.setdefault(build, decoded_version(int(printed)))
    for build, loaded in chain(log.placed("tftrt_version", "version"), log.placed("own_tensorrt", "version")):
        if names_version(loaded):
            versions.setdefault(build, ".".join(re.findall(r"[0-9]+", loaded)))
    for kind, pattern in (("library", _LIBRARY_VERSION), ("poly_module", _MODULE_VERSION)):
        for build, text in log.placed(kind, "text"):
            named = re.search(pattern, text or "") if build not in versions else None
            if named:
                versions[build] = named.group(1)
    return [versions.get(build) for build in range(log.size)]


def names_version(printed: str) -> bool:
    """Whether what TensorFlow prints names a version of TensorRT: without TensorRT it prints zeros."""
    return re.search(r"[1-9]", printed) is not None


def decoded_version(number: int) -> str:
    """Decode a banner's number: 101601 is 10.16.1, 8601 is 8.6.1, 8412 is 8.4.12 (samples/common, all releases)."""
    if number >= _FROM_10:
        return f"{number // 10_000}.{number // 100 % 100}.{number % 100}"
    return f"{number // 1000}.{number // 100 % 10}.{number % 100}"


def commands(log: Log) -> list[str | None]:
    """Return the command lines as the log prints them (trtexec joins its arguments with blanks, unquoted).

    Polygraphy prints its command at its end too, with the verdict.
    """
    lines: dict[int, str] = {}
    for kind in COMMANDS:
        for build, text in log.placed(kind, "command"):
            if text is not None:
                lines.setdefault(build, text)
    return [lines.get(build) for build in range(log.size)]


def outcomes(log: Log, runs: Sequence[Run]) -> list[Outcome]:
    """Return how each build ended: by its run, else by whether an engine followed.

    A run that tells how it ended speaks for its only build, and for the build that holds the line which says so. What
    ended the process early says nothing of an engine that was there by then.
    """
    line, severity, text = log.columns(("message",), "severity", "text")
    is_error = np.array(log.read_texts(severity, "E".__eq__), bool)
    harmless = log.read_texts(text, lambda message: bool(BENIGN.search(message) or CLEANING.search(message)))
    failed = np.diff(log.limits(line[is_error & ~np.array(harmless, bool)])) > 0
    announced, begun = log.having("banner", "poly_run"), log.having("stage_original")
    engines = log.having(*ENGINE, "engine_built", "deserialization", "engine_size")
    signs = np.select([announced, engines, failed, begun], range(len(_UNSAID)), len(_UNSAID))
    ends = [(*_UNSAID, Outcome.UNKNOWN)[sign] for sign in signs.tolist()]
    for run in runs:
        ending, span, survived = run.outcome.ending, run.outcome.span, run.outcome.survived
        if survived is not None and survived.spoils and not survived.stops_build:
            (build,) = log.places([survived.span.line])
            ends[build] = Outcome.UNKNOWN if ends[build] is Outcome.FAILED else ends[build]
        if ending is Ending.NONE or span is None:
            continue
        (build,) = log.places([span.line])
        if run.outcome.is_verdict or ends[build] in {Outcome.TRUNCATED, Outcome.UNKNOWN}:
            ends[build] = Outcome.PASSED if ending is Ending.PASSED else Outcome.FAILED
    return ends


def message_counts(log: Log) -> list[MessageCounts]:
    """Count the warnings and the errors of each build."""
    line, severity = log.columns(("message",), "severity")
    errors = np.array(log.read_texts(severity, "E".__eq__), bool)
    counts = (np.diff(log.limits(line[~errors])), np.diff(log.limits(line[errors])))
    return list(map(MessageCounts, *(count.tolist() for count in counts)))


def options(log: Log) -> Sequence[Mapping[str, Sequence[Fact]]]:
    """Read the option blocks of trtexec and Polygraphy; every block is there, empty where the log prints none."""
    line, name, value = log.columns(("option", "device"), "name", "value")
    sections, title = log.columns(("section",), "section")
    places = np.array([_SECTIONS.get(text, -1) for text in log.texts(title)], np.int64)
    block = latest(sections, places, line, log.build_of(line))
    names = log.read_texts(name, lambda text: text.rstrip(" "))
    facts = list(map(Fact, names, log.texts(value), log.spans.of_each(line)))
    blocks: dict[str, Sequence[tuple[Fact, ...]]] = {}
    for place, kind in enumerate(_BLOCKS):
        of_block = np.flatnonzero(block == place)
        of_kind = [facts[row] for row in of_block.tolist()]
        if kind == "device":
            each = log.each("device_available", "name", "uuid")
            available = (Fact("Device", f"{name} ({uuid})", log.spans.of(line)) for line, name, uuid in each)
            blocks[kind] = log.divide_records((*of_kind, *available))
        elif kind == "build":
            blocks[kind] = log.divide_records((*of_kind, *_of_polygraphy(log)))
        else:
            blocks[kind] = log.divide(line[of_block], of_kind)
    none: Mapping[str, Sequence[Fact]] = dict.fromkeys(blocks, ())
    return [
        dict(zip(blocks, of_build, strict=True)) if any(of_build) else none
        for of_build in zip(*blocks.values(), strict=True)
    ]


_FLAG = re.compile(r"\b(FP16|BF16|INT8|FP8|INT4)(?:: True\b|(?=[,\]]))")


def _of_polygraphy(log: Log) -> Iterator[Fact]:
    """Give Polygraphy's configuration in trtexec's names and words, where trtexec has the option (0.33 to 0.49)."""
    for line, name, value in log.each("poly_option", "name", "value"):
        fact = name.rstrip(), value
        if fact[0] in {"Flags", "Precision"}:
            typed = "STRONGLY_TYPED" in value
            fact = "Precision", "Strongly Typed" if typed else "+".join(("FP32", *_FLAG.findall(value)))
        elif fact[0] == "Memory Pools":
            fact = fact[0], value.strip("[]").replace("WORKSPACE", "workspace")
        elif fact[0] == "Tactic Sources":
            fact = "Tactic sources", value.strip("[]")
        yield Fact(*fact, log.spans.of(line))


_MODEL_FILE = re.compile(r"\.(?:onnx|uff|caffemodel|prototxt)\b")
_VERDICTS = frozenset({Outcome.PASSED, Outcome.FAILED})
_NO_ENGINE = False, False, None

_shared = lru_cache(maxsize=1 << 10)(Coverage)
"""Thousands of builds of a log have the same coverage."""


def coverages(log: Log, columns: Mapping[str, Sequence[Any]]) -> list[Coverage]:
    """Return the coverage of each build; ``columns`` holds what was read of the builds, by the name of the field."""
    blank, other = log.counts("blank"), log.counts("other")
    engines = map(_engine, *(columns[name] for name in ("engine_layers", "choices", "cached", "profiles")))
    runs = zip(columns["outcome"], columns["command"], columns["options"], strict=True)
    models = zip(log.having("onnx_header").tolist(), columns["onnx_nodes"], strict=True)
    lines = zip((np.diff(log.edges) - blank - other).tolist(), other.tolist(), strict=True)
    return [
        _shared(
            outcome in _VERDICTS,
            *engine,
            bool(command) or any(options.values()),
            named or bool(nodes) or (command is not None and _MODEL_FILE.search(command) is not None),
            *counts,
        )
        for engine, (outcome, command, options), (named, nodes), counts in zip(
            engines, runs, models, lines, strict=True
        )
    ]


def _engine(
    layers: Sequence[EngineLayer],
    choices: Sequence[Choice],
    cached: Sequence[CachedResult],
    profiles: Sequence[ProfileRun],
) -> tuple[bool, bool, TimeSource | None]:
    """Return whether a build has engine layers and tactics, and what its times are."""
    if not (layers or choices or cached or profiles):
        return _NO_ENGINE
    tuned: tuple[Choice | CachedResult, ...] = (*choices, *cached)
    has_tactics = bool(tuned) or any(layer.tactic is not None for layer in layers)
    times = TimeSource.TUNED if any(record.time_ms is not None for record in tuned) else None
    return bool(layers), has_tactics, TimeSource.MEASURED if profiles else times
