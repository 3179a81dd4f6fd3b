"""What a report says of a log's builds and runs before its findings: times, comparisons, what the facts mean."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from math import inf
from operator import itemgetter
from statistics import median

from trtforensics.console.counting import MEBIBYTE, grouped, listed
from trtforensics.knowledge.platforms import sm_of
from trtforensics.knowledge.table import rows
from trtforensics.model.deferred import regex
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.run import Ending, PhaseName, Program, Run
from trtforensics.model.timings import ProfileRun, TimeSource
from trtforensics.render.build_facts import device_fact, engine_facts, tuning_facts
from trtforensics.render.headline import FULL, allowed_types, joined_types, last_phase
from trtforensics.render.names import shortened
from trtforensics.render.runs import compared, result_name, result_text
from trtforensics.render.stated_rows import figure
from trtforensics.render.time_rows import TimeRow, busy_part, mean_of, time_rows

Values = Mapping[str, object]

_RENDER, _MOST_BUILDS = "trtforensics.render", 8
_SET_UP, _LABEL = "set-up", 8
_OVER = {row["key"]: (row["name"], row["unit"], row["most"]) for row in rows("compared_results", _RENDER)}
"""Results that are compared over the builds of a log."""
_TIMES = _OVER["throughput_qps"][2]
_BATCH = regex(r"--batch=([0-9]+)")
_FEWEST, _ALIKE, _UNLIKE = 2, 1.05, 100
"""Builds from which on times are compared; up to the first ratio figures of several runs are alike, above the second
they are not of the same thing: the build is in a first call, say.
"""


def rows_of_builds(log: BuildLog) -> list[TimeRow]:
    """Return the rows of a log's build; of a few, those of each that say something of it, and how they compare."""
    builds = log.builds if len(log.builds) <= _MOST_BUILDS else ()
    if len(builds) == 1:
        return [*time_rows(log, builds[0]), *_about_run(log, builds[0]), *_meanings(log)]
    of_each = ((build, row) for build in builds for row in (*time_rows(log, build), *_about_run(log, build)))
    told = [
        TimeRow(row.label, f"{_place(log, build)}: {row.cited}", ())
        for build, row in of_each
        if row.spans or row.label == _SET_UP
    ]
    return [*told, *_over_builds(log), *_meanings(log)]


def detail_rows(log: BuildLog) -> Iterator[TimeRow]:
    """Give what ``report -v`` adds: the GPU, layers and tactics, all figures, and what more they mean."""
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
    yield from _meanings(log, further=True)


def _about_run(log: BuildLog, build: Build) -> Iterator[TimeRow]:
    run = log.run_of(build)
    if run is not None and run.builds[0] == build.index:
        yield from (TimeRow("compared", text, (span,)) for text, span in compared(run))


def _over_builds(log: BuildLog) -> Iterator[TimeRow]:
    """Say how the times and rates of several builds compare, and figures that programs state, from the least on."""
    stated = Counter(
        key for build in log.builds for key in dict.fromkeys(each.key for each in build.results if each.stated)
    )
    texts = {key: (key.partition(" as stated")[0], "", _TIMES) for key, builds in stated.items() if builds > 1}
    for key, (name, unit, most_is) in (_OVER | dict([*texts.items()][:_MOST_BUILDS])).items():
        each = ((build.result(key), build) for build in log.builds[: 2 * _MOST_BUILDS])
        known = [(r.figures.get("median") or mean_of(r) or r.number or 0.0, b) for r, b in each if r is not None]
        is_told = key == "latency_ms" and any(build.result("gpu_compute_ms") for build in log.builds)
        if is_told or len(known) < _FEWEST or not all(value > 0 for value, _ in known):
            continue
        known.sort(key=itemgetter(0))
        (least, first), (most, last) = known[0], known[-1]
        if most > _UNLIKE * least:
            continue
        values = ", ".join(f"{figure(value)} ({_place(log, build)})" for value, build in known)
        ratio = f"{_place(log, last)} {most_is.format(figure(most / least))} {_place(log, first)}"
        ratio = ratio if most > _ALIKE * least else f"alike within {most / least - 1:.2%}"
        ratio = _by_batches(log, known) * (key == "throughput_qps") or ratio
        rest = f"; {others} more are not compared" if (others := len(log.builds) - 2 * _MOST_BUILDS) > 0 else ""
        yield TimeRow("runs", f"{name}{unit and f' in {unit}'}: {values}; {ratio}{rest}", ())


def _by_batches(log: BuildLog, rates: Sequence[tuple[float, Build]]) -> str:
    """Say that rates are alike but for ``--batch``, by which trtexec multiplies them; nothing if they are not."""
    commands = [run.command or "" for _, build in rates if (run := log.run_of(build))]
    batches = [int(found[1]) for command in commands if (found := _BATCH.search(command))]
    calls = [rate / batch for (rate, _), batch in zip(rates, batches, strict=False) if batch]
    if len(calls) < len(rates) or max(batches) < 2 * min(batches) or max(calls) > _ALIKE * min(calls):
        return ""
    calls_told = f"{figure(min(calls))} to {figure(max(calls))} calls a second"
    return f"divided by --batch {calls_told} each: an engine whose batch is fixed computes no more for a larger --batch"


_MEANINGS = [
    (row["when"].split(), regex(row["says"]), bool(row["in"]), row["text"]) for row in rows("meanings", _RENDER)
]
"""What must hold, what the command, the setting or the GPU's name says, whether only ``-v`` tells it, the words.

Words name values in braces, of those below, and groups of the pattern. What must hold are values (not, behind ``!``)
and comparisons of them: ``enqueue>=0.5*gpu``.
"""
_IMPORTER = regex(r"(?i:pars|onnx|importer)")
"""What an error of reading the model names."""
_OF_INFERENCE = {"gpu_compute_ms", "latency_ms", "throughput_qps"}
_NOT_TIMED = regex(r"(?i:load|buil[dt]|export|calib|pars)")
"""What tells the time of a step before the inferences."""
_OF_FACTS = [(row["name"], regex(row["pattern"], re.MULTILINE)) for row in rows("fact_numbers", _RENDER)]
"""The numbers of a run's set-up, and the words that they stand in."""
_GATE = regex(r"\[PASSED\] \w+: ([0-9.]+) \(Threshold=([0-9.]+)\)")
_OF_EXCERPT, _SILENT = 20, (PhaseName.IMPORT.value, PhaseName.BUILD.value)
"""Lines of a text that may stop where its owner cut it; the phases in which a program may die without a word."""
_ELSEWHERE = regex(
    r"(?i)\blog[ _-]?(?:file|path)?s?\b(?:\W+(?:is|are|written|saved|to|in|at|under))*\W*?([\w./~-]+\.(?:log|txt))\b"
)
"""A line that names the file that a program's own log goes to."""
_COMPARISON = regex(r"(\w+)(>=|<)(?:([0-9.]+)\*)?(\w[\w.]*)")


def _meanings(log: BuildLog, *, further: bool = False) -> Iterator[TimeRow]:
    """Say what the facts amount to, of all builds alike at once; ``further`` what only ``report -v`` says."""
    told: dict[str, list[Build]] = {}
    results = [result for build in log.builds for result in build.results]
    timed = any(
        not _NOT_TIMED.search(each.stated.name) if each.stated else each.key in _OF_INFERENCE for each in results
    )
    for build in log.builds:
        run = log.run_of(build)
        values = {
            **{each.key: each.number or bool(each.figures) for each in build.results},
            **_of_times(build),
            **_of_build(build),
        }
        values |= {**_of_run(build, run), **_of_room(build, run)} if run is not None else {}
        values["device"] = build.option("device", "Selected Device") or sm_of(run.setting if run else "")
        values["accurate"] = any(each.key.startswith("accuracy") for each in build.results)
        values["timeless"] = not timed and not any(each.profiles for each in log.builds)
        command = (run.command if run is not None else "") or build.command or ""
        command = command or (f"polygraphy {run.subcommand}" if run is not None and run.only_reads else "")
        device = build.option("device", "Selected Device") or ""
        said = "\n".join((command, run.setting if run is not None else "", device))
        for names, pattern, only_further, words in _MEANINGS:
            match = pattern.search(said) if only_further is further else None
            known = {**values, **match.groupdict()} if match else {}
            if match and all(_holds(name, known) for name in names):
                told.setdefault(words.format_map(known), []).append(build)
    for text, builds in told.items():
        place = "" if len(builds) == len(log.builds) else f"{listed([_place(log, each) for each in builds])}: "
        yield TimeRow("that is", f"{place}{text}", ())


def _holds(name: str, values: Values) -> bool:
    compared = _COMPARISON.fullmatch(name)
    if compared is None:
        return bool(values.get(name.lstrip("!"))) is not name.startswith("!")
    value, limit = _number(values.get(compared[1])), _number(values.get(compared[4], compared[4]))
    limit *= float(compared[3] or 1)
    return value < limit if compared[2] == "<" else value >= limit and value > 0


def _number(value: object) -> float:
    return float(value) if isinstance(value, float | int | str) and value else 0.0


def _place(log: BuildLog, build: Build) -> str:
    """Name the run of a build, or the build where its run has several."""
    run = log.run_of(build)
    return f"run {run.index + 1}" if run is not None and len(run.builds) == 1 else f"build {build.index + 1}"


def _of_run(build: Build, run: Run) -> Values:
    """Return what holds of a run: its program, what it did and what not."""
    ended = run.outcome.ending is not Ending.PASSED and run.uses_tensorrt
    stated = [each.stated for each in build.results if each.stated is not None]
    runners = {each.row for each in stated if "-runner" in each.row}
    phases = {each.name for each in run.phases}
    errors = [message for message in build.messages if message.severity == "E"]
    last_import = max((each.last_line for each in run.phases if each.name is PhaseName.IMPORT), default=inf)
    levels = {message.severity for message in build.messages} | {note.level for note in build.notes}
    is_log = "E" not in levels and run.phases and run.last_line - run.first_line >= _OF_EXCERPT
    stopped = last_phase(run) if is_log and last_phase(run).endswith(_SILENT) else ""
    named = [found[1] for each in build.own_lines if (found := _ELSEWHERE.search(each.text))] if stopped else []
    return {
        **dict.fromkeys((run.program.value, run.outcome.ending.value, *(each.value for each in phases)), True),
        "ended": ended,
        "phased": bool(phases),
        "compares": any(comparison.right for comparison in run.comparisons),
        "outputs": max((len(each.outputs) for each in run.comparisons), default=0),
        "one_runner": run.program is Program.POLYGRAPHY and len(runners) == 1 and not run.comparisons,
        "nothing": ended and bool(build.command) and not build.results and not run.comparisons,
        "file": run.engine_file,
        "headless": run.command_span is not None and run.command_span == run.outcome.span,
        "unended": is_log and run.outcome.reached == "engine loaded",
        "stopped": stopped,
        "elsewhere": named[-1] if named else "",
        "first_calls": any(each.name.startswith("time of one first call") for each in stated),
        "uses": run.uses_tensorrt and not run.only_reads,
        "imported": errors
        and last_import < errors[0].span.line
        and not any(_IMPORTER.search(each.text) for each in errors),
        "clean": phases and build.coverage.own_lines and not levels & {"E", "W"},
    }


def _of_room(build: Build, run: Run) -> Values:
    """Return limits and targets, and what a run comes to beside them: latency, rate, accuracy, errors, cache."""
    facts, p99 = "\n".join(text for text, _ in run.facts), build.figures("latency_ms").get("p99", 0.0)
    known = {name: max(map(float, pattern.findall(facts)), default=0.0) for name, pattern in _OF_FACTS}
    limit = known["limit_ns"] / 1e6
    outputs = [each for comparison in run.comparisons for each in comparison.outputs]
    errors = [(each.max_abs or 0.0) / each.atol for each in outputs if each.passed and each.atol]
    loads = Counter(result.number for result in build.results if result.key == "loaded_engine_mib")
    return {
        **known,
        "p99": p99,
        "p999": build.figures("latency_ms").get("p99.9", 0.0),
        "limit": limit,
        "room": 1 - p99 / (limit or p99 or 1.0),
        "tight": min((float(is_) / float(least) - 1 for is_, least in _GATE.findall(facts)), default=0.0),
        "within": max(errors) if errors and len(errors) == len(outputs) else 0.0,
        "kv_need": (build.number("most_sequences") or 0) * (build.number("most_tokens") or 0) * (known["beams"] or 1),
        "again": max(loads.values(), default=0),
    }


_SIBLINGS = 5
"""A layer stands out among at least so many of its kind."""
_LONG_TIMES, _LONG_PERCENT = 25, 5
"""How many times the median of its kind a layer takes at least that stands out, and of the profile."""
_KEYS = {"gpu": "gpu_compute_ms", "enqueue": "enqueue_ms", "whole": "latency_ms", "h2d": "h2d_ms", "d2h": "d2h_ms"}
_NAME = 60
_IDLE = 93
"""The GPU waits between calls where it computes for less than this part of the time, in percent."""


def _of_times(build: Build) -> Values:
    """Return the times of a run and of its layers, in ms."""
    means = {name: mean_of(build.result(key)) or 0.0 for name, key in _KEYS.items()}
    timed, ledger = build.result("gpu_compute_ms"), ledger_of(build)
    profiled = ledger.total_ms if ledger.time_is is TimeSource.MEASURED else None
    shares = [(unit.share or 0.0, unit.name) for unit in ledger.slowest] if not ledger.unknown_layers else []
    top, name = max(shares, default=(0.0, ""))
    busy = 100 * (busy_part(build) or 0.0)
    return {
        **means,
        "moved": means["h2d"] + means["d2h"],
        "timed": timed is not None,
        "profiled": bool(build.profiles),
        "one_call": bool(build.profiles) and build.profiles[-1].iterations == 1,
        "outlier": _outlier(build.profiles[-1]) if build.profiles else "",
        "short": timed.figures.get("median") if timed is not None else profiled,
        "busy": busy,
        "gaps": 0 < busy < _IDLE,
        "uncounted": build.number("queries") == 0 < means["whole"],
        "rate": 1e3 / (means["whole"] or 1e3),
        "warmed": build.number("warmup_queries") or 0.0,
        "shares": len(shares),
        "top": top,
        "slowest": shortened(name, _NAME),
    }


def _outlier(profile: ProfileRun) -> str:
    """Name the layer that takes many times as long as layers of its name but for numbers, and what they take."""
    for alike in grouped(profile.layers, lambda row: re.sub(r"\d+", "", row.name)).values():
        least, most = median(row.average_ms for row in alike), max(alike, key=lambda row: row.average_ms)
        far = len(alike) >= _SIBLINGS and most.average_ms >= _LONG_TIMES * least > 0
        if far and most.percentage >= _LONG_PERCENT:
            name, took = shortened(most.name, _NAME), f"{figure(most.average_ms)} ms (line {most.span.line})"
            return f"{name} takes {took}, and the other {len(alike) - 1} of its kind {figure(least)} ms in the median"
    return ""


def _of_build(build: Build) -> Values:
    """Return what holds of the build: its types, its shapes, its memory and its time; sizes in MiB."""
    allowed, kinds = allowed_types(build), Counter(layer.type for layer in build.engine_layers)
    size = build.number("loaded_engine_mib") or (build.number("engine_bytes") or 0.0) / MEBIBYTE
    held = build.number("activations_mib") or build.number("context_mib") or 0.0
    return {
        "release": build.tensorrt_version,
        "sms": build.option("device", "SMs"),
        "loads": build.loads_engine,
        "loaded": build.loads_engine and not build.engine_layers,
        "pool": _mebibytes(build.option("build", "Memory Pools") or build.option("build", "Workspace") or ""),
        "memory": _mebibytes(build.option("device", "Device Global Memory") or ""),
        "used": next((note.number("count") for note in build.notes if note.kind == "init_cuda"), 0.0),
        "full": allowed == {FULL},
        "int8_alone": allowed == {FULL, "INT8"},
        "narrow": joined_types(allowed - {FULL}),
        "capability": build.option("device", "Compute Capability"),
        "implicit": not build.loads_engine and (build.option("inference", "Batch") or "").strip().isdecimal(),
        "build_s": build.number("build_s") or build.number("generation_s"),
        "tuned": sum(each.seconds for each in build.tuning),
        "cached": build.autotuning.cache_hits,
        "size": size,
        "needs": size + held if size and held else 0.0,
        "held": held,
        "largest": _largest(build),
        "per_process": (build.number("throughput_tps") or 0.0) / (build.number("processes") or 1.0),
        "open": shortened(build.open_blocks[-1].layer, _NAME) if build.open_blocks else "",
        "reductions": kinds["Reduce"],
        "pointwise": kinds["ElementWise"] + kinds["PointWise"] + kinds["PointWiseV2"],
        "normalised": kinds["Normalization"],
    }


def _largest(build: Build) -> str:
    """Return the largest shapes that a build is for, where they are larger than the usual ones."""
    shapes = [fact for fact in build.options.get("build", ()) if fact.name.startswith("Input build shape")]
    ranges = [fact.value.split("+") for fact in shapes if fact.value.count("+") == 2]  # noqa: PLR2004 - three shapes
    return listed([f"{least.partition('=')[0]} {most.strip()}" for least, usual, most in ranges if most != usual])


def _mebibytes(text: str) -> float:
    """Return the first size that a text names, in MiB; 0 where it names none."""
    size = re.search(r"([0-9.e+]+) MiB", text)
    return float(size[1]) if size else 0.0
