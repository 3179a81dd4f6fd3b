"""The first line of everything about a run: how it ended, of what, on what, how fast; unknown parts are left out.

``PASSED · trtexec 10.9 · RTX 4090 · INT8+FP32 allowed, 71 % computes INT8 · built in 2.7 s (660 cached)``
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

from trtforensics.console.counting import MEBIBYTE, counted, grouped, listed
from trtforensics.console.terminal import visible
from trtforensics.knowledge.table import rows
from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.layer_types import COMPUTES_NOTHING
from trtforensics.model.ledger import TimedUnit, TimeLedger, ledger_of
from trtforensics.model.log import Build, BuildLog, Outcome, Tool
from trtforensics.model.run import ComparedOutput, Ending, Program, Run, RunResult, furthest
from trtforensics.render.names import shortened
from trtforensics.render.stated_rows import figure, first_stated

SEPARATOR = " · "
_NAMES = {row["program"]: row["name"] for row in rows("programs", "trtforensics.render")}
_WORDS = {Ending.NONE: "ENDED WITHOUT A VERDICT"}
_OF_THE_LOG = {"TF701", "TF702", "TF705"}
"""Findings about what a log does not hold, which is no error of its run."""
_OF_COMPILERS, _RESULTS = {"compilation failed", "linking failed"}, 3
"""What fails before any program runs; the figures behind an error that show that a program went on."""
_ENDINGS = {Outcome.PASSED: Ending.PASSED, Outcome.FAILED: Ending.FAILED, Outcome.TRUNCATED: Ending.NONE}
_VENDOR = re.compile(r"^(?:NVIDIA )?(?:GeForce )?")
TYPES = {element.name: element.option for element in ELEMENT_TYPES.values() if element.option}
FULL = "FP32"
UNKNOWN_TYPE = "type unknown"
_TENTH = 0.1
_SHOWN = 12
"""Runs of a log that are named, those that did not pass first."""
_NAME = 40
_EACH = 3
"""Builds whose times are named one by one, and options that tell a run's command from others."""
_OPTION = re.compile(
    r"(?<!\S)--(?!(?:save|export|dump|load|timingCache)\w*[= ]|(?:onnx|fp16|int8|fp8|bf16|best)\b|\S*/)\S{1,40}(?!\S)"
)


TARGET = re.compile(r"^target of .*\bqps ([0-9.]+)")
"""What MLPerf's run is to reach, among the facts of a run."""


@dataclass(frozen=True, slots=True)
class Headline:
    """How a run ended and the parts behind that; ``first_line`` and ``last_line`` are the run's.

    ``ending`` is None for files of an engine without a run. ``at`` says where the reason of a failure stands; the line
    of the outcome, where no finding is its root. ``line`` is the line of the outcome. ``root`` is the code of that
    finding; ``release``, ``gpu`` and ``latency_ms``, the median or else the mean, are of the run's builds.
    """

    ending: Ending | None
    at: str
    parts: tuple[str, ...]
    first_line: int
    last_line: int
    index: int = 0
    line: int | None = None
    reached: str = ""
    """What the run came to, or what failed in it, where the program gives no verdict."""
    is_verdict: bool = True
    """Whether the program itself says how it ended."""
    stated: tuple[int, ...] = ()
    """The lines of what the program states."""
    root: str = ""
    release: str = ""
    gpu: str = ""
    latency_ms: float | None = None

    @property
    def passed(self) -> bool:
        """Whether the run passed."""
        return self.ending is Ending.PASSED

    @property
    def word(self) -> str:
        """How the run ended, in capitals; where no line tells, what it came to."""
        if self.reached:
            what, mark, names = self.reached.partition(": ")
            return f"{what.upper()}{mark}{names}"
        return "NO RUN" if self.ending is None else _WORDS.get(self.ending, self.ending.name)

    @property
    def outcome(self) -> str:
        """How the run ended, and where the reason stands."""
        return self.word + self.at

    @property
    def text(self) -> str:
        """The line."""
        return visible(SEPARATOR.join((self.outcome, *self.parts)))


def headlines(log: BuildLog) -> list[Headline]:
    """Return one headline for each run of a log; for files of an engine without a run, one for each build."""
    differing = _differing(log)
    return [_of_run(log, run, differing.get(run.index, "")) for run in log.runs] or list(map(_of_files, log.builds))


def _differing(log: BuildLog) -> dict[int, str]:
    """Return what the command of each run of a program has and others have not, but files that it writes."""
    options = {run.index: _OPTION.findall(run.command) for run in log.runs if run.command}
    if not options or len(options) < len(log.runs) or len({run.program for run in log.runs}) > 1:
        return {}
    common = set.intersection(*map(set, options.values()))
    return {index: " ".join([each for each in every if each not in common][:_EACH]) for index, every in options.items()}


def headline_of(log: BuildLog, build: Build) -> Headline:
    """Return the headline of the run that a build belongs to."""
    run = log.run_of(build)
    return _of_files(build) if run is None else _of_run(log, run)


def with_root(headline: Headline, code: str, line: int, text: str) -> Headline:
    """Say which finding is the root of what went wrong, in place of the line of the verdict, and what failed by it.

    ``text`` is the line that the finding cites first. A run that came to its end counts as passed where nothing went
    wrong; beside a root it only ended.
    """
    place = f", root {code} in line {line}"
    if not headline.passed:
        from trtforensics.parsers.builds.run_outcomes import SPOILED, failure_of  # noqa: PLC0415 - the first picture has no root

        failed = "" if code in _OF_THE_LOG else failure_of(text, code)[0] or "error"
        unended, parts = headline.ending is Ending.NONE, headline.parts
        reached = headline.reached or failed * (unended or failed in _OF_COMPILERS)
        if unended and failed and sum(at > line for at in headline.stated) >= _RESULTS:
            reached, parts = "went on after an error", tuple(part for part in parts if part not in SPOILED)
        return replace(headline, at=place, root=code, reached=reached, parts=parts)
    reached = headline.reached or "came to its end" * ((headline.line or 0) > line)
    ended = replace(headline, ending=Ending.NONE, at=f" AFTER AN ERROR{place}", root=code, reached=reached)
    return headline if headline.is_verdict else ended


def first_line(every: Sequence[Headline]) -> str:
    """Return the first line about a log: the headline of its run, or how its runs ended."""
    if len(every) == 1:
        return every[0].text
    ends = Counter(headline.word for headline in every)
    counts = ", ".join(f"{number} {outcome}" for outcome, number in ends.most_common())
    shared = [part for part in every[0].parts if all(part in headline.parts for headline in every)] if every else []
    return visible(SEPARATOR.join((f"{len(every)} RUNS: {counts}" if every else "NO RUN", *shared)))


def run_lines(every: Sequence[Headline]) -> Iterator[str]:
    """Give a line for each of several runs of a log; of many, for those that did not pass first."""
    shown = sorted(sorted(every, key=lambda headline: headline.passed)[:_SHOWN], key=lambda headline: headline.index)
    for headline in shown if len(every) > 1 else ():
        yield f"run {headline.index + 1}, lines {headline.first_line}-{headline.last_line}: {headline.text}"
    if len(every) > _SHOWN:
        yield f"and {counted(len(every) - _SHOWN, 'more run')}"


def _of_run(log: BuildLog, run: Run, differing: str = "") -> Headline:
    builds = [build for build in log.builds if build.index in run.builds]
    outcome = run.outcome
    error = outcome.survived
    is_plain = outcome.ending in {Ending.PASSED, Ending.NONE} and not outcome.reached
    failed = sum(build.outcome is Outcome.FAILED for build in builds)
    at = "" if outcome.span is None or is_plain else f" (line {outcome.span.line})"
    if error is not None:
        at = f"{'' if outcome.reached else ' AFTER AN ERROR'} (line {error.span.line})"
    processes = max((build.number("processes") or 0 for build in builds), default=0)
    name = f"{_NAMES.get(run.program, '')} {run.subcommand or run.version or ''}".strip()
    parts = (
        _with_version(name, builds) if run.uses_tensorrt else f"{name or 'a program'} without TensorRT",
        _agreed(_gpus(builds)),
        _agreed({*map(_types, builds)}),
        differing,
        ", ".join(word for word in run.setting.split(", ") if _VENDOR.sub("", word) not in _gpus(builds)),
        "engine " + shortened(re.split(r"[/\\]", run.loaded_file)[-1], _NAME) if run.loaded_file else "",
        *_compared(run),
        "written to " + shortened(re.split(r"[/\\]", run.engine_file)[-1], _NAME) if run.engine_file else "",
        f"{counted(len(builds), 'build')}{f' ({failed} failed)' if failed else ''}" if len(builds) > 1 else "",
        *_numbers(builds, samples=run.program is Program.MLPERF, offline="Offline" in run.setting),
        *(f"target of {rate} qps" for text, _ in run.set_up for rate in TARGET.findall(text)),
        f"{processes:.0f} processes" if processes > 1 else "",
        error.spoils if error is not None else "",
        last_phase(run),
    )
    stated = tuple(each.span.line for each in run.results if each.stated is not None)
    place = (run.first_line, run.last_line, run.index, outcome.span.line if outcome.span is not None else None)
    headline = Headline(outcome.ending, at, tuple(filter(None, parts)), *place, outcome.reached, outcome.is_verdict)
    release, gpu = _agreed(_releases(builds)), _agreed(_gpus(builds))
    known = next((figures for build in reversed(builds) if (figures := build.figures("latency_ms"))), {})
    latency = known.get("median", known.get("mean"))
    return replace(headline, release=release, gpu=gpu, latency_ms=latency, stated=stated)


def last_phase(run: Run) -> str:
    """Say in which phase the lines of a run end, where nothing else tells how it ended."""
    has_ended = run.outcome.ending is not Ending.NONE or run.outcome.reached or run.outcome.survived is not None
    last = None if has_ended else max(run.phases, key=lambda phase: phase.last_line, default=None)
    return "" if last is None else f"in the phase {last.name}"


def _agreed(values: set[str]) -> str:
    return next(iter(values)) if len(values) == 1 else ""


def _with_version(name: str, builds: Sequence[Build]) -> str:
    """Return a program's name with TensorRT's version, where all builds state the same; trtexec has the same number."""
    number = re.sub(r"^(\d+\.\d+)\.0$", r"\1", _agreed(_releases(builds)))
    if name == _NAMES[Program.TRTEXEC]:
        return f"{name} {number}".rstrip()
    rtx = any(build.tool is Tool.TENSORRT_RTX for build in builds)
    library = f"TensorRT{'-RTX' if rtx else ''} {number}".rstrip() if number or rtx else ""
    return SEPARATOR.join(filter(None, (name, library)))


def _releases(builds: Sequence[Build]) -> set[str]:
    return {build.tensorrt_version for build in builds if build.tensorrt_version}


def _gpus(builds: Sequence[Build]) -> set[str]:
    devices = (build.option("device", "Selected Device") or "" for build in builds)
    return {_VENDOR.sub("", device.strip()) for device in devices} - {""}


def _types(build: Build) -> str:
    """Return the allowed types, and those of most time; without times the layers' types, if all are known."""
    allowed = joined_types(allowed_types(build))
    share, most = max(((share, name) for name, share in _computed(build).items()), default=(0.0, UNKNOWN_TYPE))
    if most != UNKNOWN_TYPE:
        computed = f"computes {most}" if share == 1.0 else f"{100 * share:.0f} % computes {most}"
        return most if share == 1.0 and allowed == most else f"{allowed} allowed, {computed}" if allowed else computed
    known = [layer.compute_precision for layer in build.engine_layers if layer.type not in COMPUTES_NOTHING]
    words = {TYPES.get(precision.type, "") if precision is not None else "" for precision in known}
    if allowed:
        others = words - allowed_types(build) - {""}
        more = f" allowed, some layers compute {joined_types(others)}" if others else " allowed" * (allowed != FULL)
        return f"{allowed}{more}"
    return "" if not words or "" in words else f"computes {joined_types(words)}"


def joined_types(types: Iterable[str]) -> str:
    """Join types, the narrowest first."""
    return "+".join(sorted(types, key=lambda word: (int(re.sub(r"\D", "", word)), word)))


def allowed_types(build: Build) -> set[str]:
    """Return the types that a build was allowed to use; empty where the log does not tell."""
    if build.loads_engine:
        return set()
    allowed = build.option("build", "Precision")
    flags = re.findall(r"--(fp16|bf16|int8|fp8)(?=\s|$)", build.command or "") if allowed is None else ()
    return {FULL, *map(str.upper, flags)} if flags else set(re.findall(r"[A-Z]+\d+", (allowed or "").partition("(")[0]))


def _computed(build: Build) -> dict[str, float]:
    """Return the share of the engine's time in each type; empty where most layers have no time."""
    ledger = ledger_of(build)
    types = grouped(ledger.slowest if is_mostly_timed(ledger) else (), partial(computed_type, build))
    return {name: sum(unit.share or 0.0 for unit in units) for name, units in types.items()}


def is_mostly_timed(ledger: TimeLedger) -> bool:
    """Whether enough layers have a time for shares of it to mean something."""
    return ledger.unknown_layers <= max(sum(len(unit.layers) for unit in ledger.slowest), len(ledger.slowest))


def computed_type(build: Build, unit: TimedUnit) -> str:
    """Return the type that all layers of a unit compute in."""
    known = {build.engine_layers[place].compute_precision for place in unit.layers}
    types = {TYPES.get(precision.type, precision.type) if precision else UNKNOWN_TYPE for precision in known}
    return types.pop() if len(types) == 1 else UNKNOWN_TYPE


def _compared(run: Run) -> Iterator[str]:
    """Give what the comparisons of a run came to: failing outputs, the first of them, the pass rate."""
    outputs = [output for comparison in run.comparisons for output in comparison.outputs]
    two = any(comparison.right for comparison in run.comparisons)
    failed = [output for output in outputs if output.passed is False]
    single = len(outputs) == 1
    if failed:
        verb = ("differ" if two else "fail") + ("s" if single else "")
        what = f"the output {verb}:" if single else f"{len(failed)} of {len(outputs)} outputs {verb}, first"
        yield f"{what} {shortened(failed[0].name, _NAME)}{_error(furthest(failed) or failed[0], failed[0])}"
    elif outputs and all(output.passed for output in outputs):
        verb = ("agree" + "s" * single) if two else "is valid" if single else "are valid"
        largest = furthest(outputs) if two else None
        error = _error(largest, outputs[0]) if largest is not None and largest.max_abs else ""
        yield f"{'the output' if single else f'all {len(outputs)} outputs'} {verb}{error}"
    rates = {comparison.pass_rate for comparison in run.comparisons if comparison.pass_rate is not None}
    if len(rates) == 1:
        yield f"pass rate {rates.pop():g} %"


def _error(worst: ComparedOutput, named: ComparedOutput) -> str:
    """Give the largest error, of which output if not of the one named before, and what that holds."""
    kinds = [word for word, count in (("NaN", named.nan), ("Inf", named.inf)) if count]
    place = "" if worst.name == named.name else f" of {shortened(worst.name, _NAME)}"
    words = [f"largest error {worst.max_abs:.3g}{place}"] if worst.max_abs is not None else []
    words += [f"holds {' and '.join(kinds)}"] if kinds else []
    return f" ({', '.join(words)})" if words else ""


def _numbers(builds: Sequence[Build], *, samples: bool = False, offline: bool = False) -> Iterator[str]:
    """Give the numbers of a run; of several builds, those that it states once. MLPerf counts samples."""
    stated = list(chain.from_iterable(build.results for build in builds))
    counts = Counter(result.key for result in stated)
    values = {result.key: result.value for result in stated if counts[result.key] == 1 or len(builds) == 1}
    single = {key: value for key, value in values.items() if isinstance(value, float | int)}
    yield from _made(builds, stated, single)
    size = single["engine_bytes"] / MEBIBYTE if "engine_bytes" in single else single.get("loaded_engine_mib", 0.0)
    loads = Counter((result.owner, result.number or 0.0) for result in stated if result.key == "loaded_engine_mib")
    again = {each: f" (loaded {times} times)" * (times > 1) for each, times in loads.items()}
    if len(loads) > 1:
        yield f"engines of {listed([f'{of} {figure(each)} MiB{times}'.strip() for (of, each), times in again.items()])}"
    elif size:
        yield (f"{figure(size)} MiB" if size >= _TENTH else f"{figure(size * 1024)} KiB") + again.get(("", size), "")
    shown = ("p90", "p99") if samples else ("p99",)
    # offline, latency is the wait in a queue
    for key, name in () if offline else (("gpu_compute_ms", "GPU"), ("latency_ms", "latency")):
        value = values.get(key)
        figures = value if isinstance(value, Mapping) else {}
        percentiles = ", ".join(f"{word} {figure(figures[word])}" for word in shown if word in figures)
        middle = figures.get("median", figures.get("mean"))
        if middle is not None or percentiles:
            words = f"{figure(middle)} ms ({percentiles})" if middle is not None else f"{percentiles} ms"
            yield f"{name} {words.removesuffix(' ()')}"
            break
    if "throughput_qps" in single:
        rate = figure(single["throughput_qps"])
        yield f"{rate} samples/s" if samples else f"{rate} qps"
    if "kv_cache_mib" in single:
        yield f"KV cache {figure(single['kv_cache_mib'] / 1024)} GiB"
    if "most_sequences" in single and "most_tokens" in single:
        yield f"at most {counted(int(single['most_sequences']), 'sequence')} of {single['most_tokens']:.0f} tokens"
    if "throughput_tps" in single:
        yield f"{figure(single['throughput_tps'])} tokens/s"
    yield from first_stated(stated)


def _made(builds: Sequence[Build], stated: Sequence[RunResult], single: Mapping[str, float]) -> Iterator[str]:
    """Give how long the engine took to build or to load; of a few builds, each."""
    for key, word in (("build_s", "built"), ("generation_s", "engines generated")):
        each = [f"{result.owner} {figure(result.number or 0)}".strip() for result in stated if result.key == key]
        if 1 < len(each) <= _EACH and len(each) >= len(builds):
            yield f"{word} in {', '.join(each)} s"
            return
        if each:  # one whole build generates several engines: a pass each
            break
    if not any(build.loads_engine for build in builds) and "build_s" in single:
        hits = builds[0].autotuning.cache_hits if len(builds) == 1 else 0
        source = "reused" if builds[0].has_own_cache else "cached"
        yield f"built in {figure(single['build_s'])} s" + (f" ({hits:,} {source})" if hits else "")
    elif "build_clock_s" in single:
        yield f"built in about {figure(single['build_clock_s'])} s by its time stamps"
    elif "generation_s" in single:
        yield f"engine generated in {figure(single['generation_s'])} s"
    elif "load_s" in single:
        yield f"loaded in {figure(single['load_s'])} s"


def _of_files(build: Build) -> Headline:
    """Return the headline of a build of which no run is known, as of files of an engine alone."""
    layers = len(build.engine_layers) or len(build.layer_names) or len(build.profile)
    ending = _ENDINGS.get(build.outcome)
    name = "trtexec" if build.tool is Tool.TRTEXEC else ""
    what = f"files of an engine of {counted(layers, 'layer')}" if layers and ending is None else ""
    parts = (_with_version(name, [build]), what, _agreed(_gpus([build])), _types(build), *_numbers([build]))
    return Headline(ending, "", tuple(filter(None, parts)), build.first_line, build.last_line, build.index)
