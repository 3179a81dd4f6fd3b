"""What a report says of a log's builds and runs before its findings: times, comparisons, what the facts mean."""

from __future__ import annotations

import re
from collections import Counter
from operator import itemgetter
from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.console.secrets import masked
from trtforensics.knowledge.table import rows
from trtforensics.model.ledger import ledger_of
from trtforensics.model.profile import TimeSource
from trtforensics.model.run import Ending, PhaseName, Program
from trtforensics.render.build_facts import device_fact, engine_facts, tuning_facts
from trtforensics.render.headline import FULL, allowed_types
from trtforensics.render.names import shortened
from trtforensics.render.runs import compared, result_name, result_text
from trtforensics.render.stated_rows import figure
from trtforensics.render.time_rows import TimeRow, mean_of, time_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.model.log import Build, BuildLog, Message
    from trtforensics.model.run import Run

_MOST_BUILDS = 8
_ROWS = [*rows("meanings", "trtforensics.render")]
_MEANINGS = {row["when"]: row["text"] for row in _ROWS if not row["in"]}
_OF_EVERY_RUN = {row["when"]: row["text"] for row in _ROWS if row["in"]}
"""What holds of every inference by its program, so that only ``report -v`` says it."""
_MOST_WORDS, _WARNED = 48, 200
"""Lines of programs' own that are shown of a log, and characters of a warning."""
_TYPES_OF_LAYERS = re.compile(r"--(?:layerPrecisions|layerOutputTypes)\b")
_TINY_MS = 0.02
"""Times below this are mostly those of launches."""
_SET_UP, _LABEL = "set-up", 8
_NOT_TIMED = re.compile(r"--(?:skipInference|buildOnly)\b")
_HELD = 0.5
"""The part of the GPU's time from which enqueueing is worth a CUDA graph, and for copies half of it of the latency."""
_LONGER, _TIMES = "takes {} times as long as", "has {} times that of"
_OVER = {
    "gpu_compute_ms": ("GPU time", "ms", _LONGER),
    "latency_ms": ("latency", "ms", _LONGER),
    "build_s": ("time to build", "s", _LONGER),
    "throughput_qps": ("throughput", "qps", _TIMES),
}
"""Results that are compared over the builds of a log."""
_FAST_FP16 = 7.0
"""The compute capability from which FP16 is faster than FP32."""
_FEWEST, _ALIKE = 2, 1.05
"""Builds from which on times are compared; up to this ratio figures of several runs are alike."""


def rows_of_builds(log: BuildLog) -> list[TimeRow]:
    """Return the rows of a log's build; of a few, those of each that say something of it, and how they compare."""
    builds = log.builds if len(log.builds) <= _MOST_BUILDS else ()
    if len(builds) == 1:
        return [*time_rows(log, builds[0]), *_about_run(log, builds[0]), *_meanings(log, _MEANINGS)]
    of_each = ((build, row) for build in builds for row in (*time_rows(log, build), *_about_run(log, build)))
    told = [
        TimeRow(row.label, f"{_place(log, build)}: {row.cited}", ())
        for build, row in of_each
        if row.spans or row.label == _SET_UP
    ]
    return [*told, *_over_builds(log), *_meanings(log, _MEANINGS)]


def detail_rows(log: BuildLog, cited: set[int]) -> Iterator[TimeRow]:
    """Give what ``report -v`` adds: the GPU, layers and tactics, all figures, and lines of the program's own.

    Of warnings those that no finding has ``cited``.
    """
    builds = log.builds if len(log.builds) <= _MOST_BUILDS else ()
    for build in builds:
        place = f"{_place(log, build)}: " if len(builds) > 1 else ""
        for fact in (device_fact(build), *engine_facts(build), *tuning_facts(build)):
            if fact.line is not None:
                yield TimeRow(fact.label[:_LABEL], f"{place}{fact.text} (line {fact.line})", ())
        for result in build.results:
            if result.figures:
                text = f"{place}{result_name(result)}: {result_text(result)} (line {result.span.line})"
                yield TimeRow("figures", text, ())
        yield from _warnings(log, build, cited)
    yield from _meanings(log, _OF_EVERY_RUN)
    shown = log.runs[:_MOST_BUILDS]
    for run in shown:
        for text, span in run.words[: _MOST_WORDS // len(shown)]:
            yield TimeRow("says", f"line {span.line}: {masked(text)}", ())


def _warnings(log: BuildLog, build: Build, cited: set[int]) -> Iterator[TimeRow]:
    """Give the warnings, one of a form, that no finding cites; where the run passed, that they did not hinder it."""
    forms: dict[str, Message] = {}
    for message in build.messages:
        if message.severity == "W" and message.text.strip():
            forms.setdefault(re.sub(r"[0-9]+", "#", message.text), message)
    run = log.run_of(build)
    passed = "; the run passed all the same" if run is not None and run.outcome.ending is Ending.PASSED else ""
    rest = [each for each in forms.values() if cited.isdisjoint({each.span.line, each.span.line - 1})]  # it may go on
    for message in rest[:_MOST_BUILDS]:
        text = shortened(masked(message.text.strip()), _WARNED)
        yield TimeRow("warned", f"line {message.span.line}: {text}{passed}", ())


def _place(log: BuildLog, build: Build) -> str:
    run = log.run_of(build)
    return f"run {run.index + 1}" if run is not None and len(run.builds) == 1 else f"build {build.index + 1}"


def _about_run(log: BuildLog, build: Build) -> Iterator[TimeRow]:
    run = log.run_of(build)
    if run is not None and run.builds[0] == build.index:
        yield from (TimeRow("compared", text, (span,)) for text, span in compared(run))


def _meanings(log: BuildLog, texts: Mapping[str, str]) -> Iterator[TimeRow]:
    """Say what the facts amount to, of all builds alike at once, in the words of ``texts``."""
    told: dict[str, list[Build]] = {}
    for build in log.builds:
        for text in _amounts_to(build, log.run_of(build), texts):
            told.setdefault(text, []).append(build)
    for text, builds in told.items():
        place = "" if len(builds) == len(log.builds) else f"{listed([_place(log, each) for each in builds])}: "
        yield TimeRow("that is", f"{place}{text}", ())


def _amounts_to(build: Build, run: Run | None, texts: Mapping[str, str]) -> Iterator[str]:
    """Give those of ``texts`` that hold of a build and of its run."""
    command, timed = build.command or "", build.result("gpu_compute_ms")
    means = {key: mean_of(build.result(key)) or 0.0 for key in ("gpu_compute_ms", "enqueue_ms", "latency_ms")}
    skipped, memory = _NOT_TIMED.search(command), build.option("device", "Device Global Memory") or ""
    ledger, allowed, compute = ledger_of(build), allowed_types(build), build.option("device", "Compute Capability")
    profiled = ledger.total_ms if ledger.time_is is TimeSource.MEASURED else None
    short = (timed.figures.get("median") if timed is not None else profiled) or _TINY_MS
    ended = run is not None and run.outcome.ending is not Ending.PASSED and run.uses_tensorrt
    infers = (
        run is not None and run.program is Program.TRTEXEC and any(each.name is PhaseName.INFER for each in run.phases)
    )
    runners = {each.stated.row for each in build.results if each.stated is not None and "-runner" in each.stated.row}
    one_runner = run is not None and run.program is Program.POLYGRAPHY and len(runners) == 1
    true = {
        "loaded": build.loads_engine and not build.engine_layers,
        "not timed": skipped is not None and timed is None and not ended,
        "performance": run is not None and "PerformanceOnly" in run.setting,
        "accuracy": run is not None and "AccuracyOnly" in run.setting,
        "graph": means["enqueue_ms"] >= _HELD * means["gpu_compute_ms"] > 0 and "--useCudaGraph" not in command,
        "copies": means["latency_ms"] * (1 - _HELD / 2) >= means["gpu_compute_ms"] > 0,
        "random": infers and "--loadInputs" not in command,
        "not compared": infers,
        "one runner": one_runner and run is not None and not run.comparisons,
        "nothing": ended and bool(build.command) and not build.results,
        "short": short < _TINY_MS,
        "constraints": "--precisionConstraints" in command and not _TYPES_OF_LAYERS.search(command),
        "workspace": _mebibytes(build.option("build", "Memory Pools") or "") > _mebibytes(memory) > 0,
        "fp32": allowed == {FULL} and (timed is not None or profiled is not None) and float(compute or 0) >= _FAST_FP16,
        "no fp16": allowed == {FULL, "INT8"} and run is not None and run.program is Program.POLYGRAPHY,
        "implicit": timed is not None
        and not build.loads_engine
        and (build.option("inference", "Batch") or "").strip().isdecimal(),
    }
    option = skipped[0] if skipped else ""
    yield from (texts[name].format(option) for name, holds in true.items() if holds and name in texts)


def _mebibytes(text: str) -> float:
    """Return the first size that a text names, in MiB; 0 where it names none."""
    size = re.search(r"([0-9.e+]+) MiB", text)
    return float(size[1]) if size else 0.0


def _over_builds(log: BuildLog) -> Iterator[TimeRow]:
    """Say how the times and rates of several builds compare, and figures that programs state, from the least on."""
    stated = Counter(key for build in log.builds for key in {each.key for each in build.results if each.stated})
    texts = {key: (key.partition(" as stated")[0], "", _TIMES) for key, builds in stated.items() if builds > 1}
    for key, (name, unit, most_is) in (_OVER | dict([*texts.items()][:_MOST_BUILDS])).items():
        each = ((build.result(key), build) for build in log.builds[:_MOST_BUILDS])
        known = [(r.figures.get("median") or mean_of(r) or r.number or 0.0, b) for r, b in each if r is not None]
        is_told = key == "latency_ms" and any(build.result("gpu_compute_ms") for build in log.builds)
        if is_told or len(known) < _FEWEST or not all(value > 0 for value, _ in known):
            continue
        known.sort(key=itemgetter(0))
        (least, first), (most, last) = known[0], known[-1]
        values = ", ".join(f"{figure(value)} ({_place(log, build)})" for value, build in known)
        ratio = f"{_place(log, last)} {most_is.format(figure(most / least))} {_place(log, first)}"
        ratio = ratio if most > _ALIKE * least else f"alike within {most / least - 1:.2%}"
        yield TimeRow("runs", f"{name}{unit and f' in {unit}'}: {values}; {ratio}", ())
