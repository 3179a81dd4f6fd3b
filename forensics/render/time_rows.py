"""Where the time of a build and of its engine goes, in a few lines, each number with the log line that states it.

Times of layers are the ledger's: what it leaves out is said, and shares are of its one basis. In what form the GPU's
times spread is read from their percentiles, their variance and their running averages.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from trtforensics.console.counting import MEBIBYTE, counted, grouped, ranges
from trtforensics.console.secrets import masked
from trtforensics.model.layer_types import REFORMATS, is_foreign_node, operation_of_type
from trtforensics.model.ledger import TimedUnit, TimeLedger, ledger_of
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.older_python import StrEnum
from trtforensics.model.run import PhaseName, RunResult
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import TimeSource
from trtforensics.parsers.notation import names
from trtforensics.render.build_facts import option_facts
from trtforensics.render.headline import UNKNOWN_TYPE, computed_type, is_mostly_timed
from trtforensics.render.names import by_options, shortened
from trtforensics.render.stated_rows import figure, stated_rows

_LONGER = 1.5
"""A profile's sum is called longer from this many times the GPU time on."""
_FRAGMENT = 0.5
"""Rows below this part of a profile's time tell neither its shares nor its slowest layers."""
_SHOWN = 3
_KINDS = 4
_NAME = 36
_FACT = 300
_OF_MEMORY = 0.02
"""The least part of the GPU's memory that is worth a word."""
_MEMORY = {f"{part}_mib": part for part in ("weights", "activations", "context")} | {"managed_mib": "all of TensorRT"}
_PLACE = re.compile(r"(?:_v)?[_.]?\d+$")
_FUSED_INTO = {"QuantizeLinear", "DequantizeLinear"}
"""Operators whose names stand before that of the one that they are fused into, which takes the time."""
_PARTS = {"h2d_ms": "H2D", "gpu_compute_ms": "GPU", "d2h_ms": "D2H"}
_OF_TOKENS = {"first_token_ms": "first token", "output_token_ms": "a token more"}
_WORTH = 0.25
"""The part of the GPU's time from which that of the host is worth a word."""
_BOUND = 0.8
"""The part of the GPU's time from which the host or the transfers hold it up: trtexec's own limit for the host."""
_ROUNDED = 0.02
"""The largest part of a latency that may lack in the sum of its parts."""


class TimeRow(NamedTuple):
    """A label, what the log says of it, and the lines that state it."""

    label: str
    text: str
    spans: tuple[SourceSpan, ...]

    @property
    def cited(self) -> str:
        """The text with its lines, where it does not name them itself."""
        lines = sorted({span.line for span in self.spans})
        words = f"line{'s' if len(lines) > 1 else ''} {', '.join(ranges(lines))}"
        return self.text if not lines or "(line" in self.text else f"{self.text} ({words})"


def time_rows(log: BuildLog, build: Build) -> list[TimeRow]:
    """Return where the time goes: by kinds of layers, the slowest, by types, in a run's latency, in the build."""
    ledger = ledger_of(build)
    run = log.run_of(build)
    latency = () if run is not None and "Offline" in run.setting else _latency(build)  # there it is a wait in a queue
    rows = [*_set_up(log, build), *_layers(log, build, ledger), *latency, *_making(log, build)]
    told = stated_rows(build.results)
    words = "; ".join(f"{text} (line {span.line})" for text, span in told)
    rows += [*_memory(build), TimeRow("stated", words, tuple(span for _, span in told))]
    return [row for row in rows if row.text]


def _set_up(log: BuildLog, build: Build) -> Iterator[TimeRow]:
    """Say how a run was set up, whichever program says so: its inputs and batch, the options that tell."""
    run = log.run_of(build)
    is_first = run is not None and run.builds[0] == build.index
    facts = run.set_up if run is not None and is_first else ()
    stated: list[tuple[str, int | None]] = [(text, span.line) for text, span in facts]
    if run is not None and is_first and run.command and run.command_span is not None:
        stated.insert(0, (f"command {run.command}", run.command_span.line))
    stated += [(f"{each.label} {each.text}", each.line) for each in option_facts(build) if each.label != "Precision"]
    shapes = [fact for fact in build.options.get("build", ()) if "shape (profile" in fact.name]
    stated += [(f"{each.name} {each.value}", each.span.line) for each in shapes if not build.loads_engine]
    first = dict(reversed(stated))
    words = "; ".join(f"{by_options(masked(text), _FACT)} (line {line})" for text, line in [*first.items()][::-1])
    yield TimeRow("set-up", words, tuple(span for _, span in facts))


def kind_of(unit: TimedUnit) -> str:
    """Return the kind of a unit: ForeignNodes, reformats, its operation, else the first operator's name in its own."""
    if is_foreign_node(unit.name):
        return "ForeignNodes"
    if unit.what in REFORMATS or names.is_reformat(unit.name) or unit.name.startswith("Reformatting"):
        return "reformats"
    if unit.what:
        return operation_of_type(unit.what)
    words = [_PLACE.sub("", member.rpartition("/")[2]) for member in names.members(unit.name) or (unit.name,)]
    operators = [word for word in words if word.isalpha()] or words[:1]  # constants stand first: 717_5, conv.weight
    return next((word for word in operators if word not in _FUSED_INTO), operators[0]) or unit.name


def shares(groups: Mapping[str, Sequence[TimedUnit]], most: int) -> str:
    """Spell the groups with the largest shares, and how many units each has: ``Convolution 61% (28), …``."""
    sums = sorted(((sum(u.share or 0.0 for u in group), kind) for kind, group in groups.items()), reverse=True)
    words = [f"{kind} {share:.0%} ({len(groups[kind])})" for share, kind in sums[:most]]
    if len(sums) > most:
        rest = sum(len(groups[kind]) for _, kind in sums[most:])
        words.append(f"others {sum(share for share, _ in sums[most:]):.0%} ({rest})")
    return ", ".join(words)


def _layers(log: BuildLog, build: Build, ledger: TimeLedger) -> Iterator[TimeRow]:
    units = ledger.slowest
    if not units or ledger.total_ms is None:
        if build.choices or build.cached or build.engine_layers:
            yield TimeRow("time", f"unknown by layer: {no_times(build)}", ())
        return
    note = ledger.note if build.engine_layers else counted(len(units), "row") + " of the profile"
    if (ledger.booked_ms or 0.0) < _FRAGMENT * ledger.total_ms:
        text = f"{figure(ledger.booked_ms or 0.0)} ms of about {figure(ledger.total_ms)} ms an inference ({note})"
        yield TimeRow("time", f"{text}; the rows that are not shown are not known", ())
        return
    left = f", {ledger.unknown_layers} have no time" if ledger.unknown_layers else ""
    how = "measured" if ledger.time_is is TimeSource.MEASURED else "as tuned, layer by layer"
    how += " without slow calls" if any(unit.average_ms is not None for unit in units) else ""
    is_most, gpu_ms = is_mostly_timed(ledger), mean_of(build.result("gpu_compute_ms"))
    if gpu_ms and ledger.time_is is TimeSource.MEASURED and ledger.total_ms >= _LONGER * gpu_ms:
        how += f", {ledger.total_ms / gpu_ms:.1f} times the run's GPU time, as the profiler waits behind each layer"
    parts = f": {shares(grouped(units, kind_of), _KINDS)}" if is_most else "; too few for shares"
    yield TimeRow("time", f"{figure(ledger.total_ms)} ms {how} ({note}{left}){parts}", ())
    if not is_most:
        return
    slowest = units[:_SHOWN]
    slow = [
        f"{shortened(u.name, _NAME)} {figure(u.time_ms or 0.0)} ms {u.share:.0%} ({log.place_of(u.span)})"
        for u in slowest
    ]
    yield TimeRow("slowest", "; ".join(slow), tuple(unit.span for unit in slowest))
    types = grouped(units, partial(computed_type, build))
    if types.keys() - {UNKNOWN_TYPE}:
        yield TimeRow("computes", f"{shares(types, len(types))} of the {ledger.time_is} time", ())


def no_times(build: Build) -> str:
    """Say why no time is known by layer: none was listed, none timed, or what was timed joins no layer."""
    if not build.engine_layers:
        return "the engine's layers are not listed"
    timed = sum(result.time_ms is not None for result in build.tuned_results)
    joined = f"no layer of the engine joins one of {counted(timed, 'tuned time')}"
    return joined if timed else "no layer of the engine has a time"


def _latency(build: Build) -> Iterator[TimeRow]:
    """Say what a query's latency is made of, how long the host enqueues, and what a batch makes of the throughput."""
    keys = (*_PARTS, "latency_ms", "enqueue_ms")
    results: dict[str, RunResult] = {key: result for key in keys if (result := build.result(key))}
    means = {key: mean for key, result in results.items() if (mean := mean_of(result))}
    gpu, whole, words = means.get("gpu_compute_ms"), means.get("latency_ms"), []
    if gpu and whole and means.keys() >= _PARTS.keys():
        moved = means["h2d_ms"] + means["d2h_ms"]
        is_sum = abs(whole - gpu - moved) <= _ROUNDED * whole
        parts = " + ".join(f"{name} {figure(means[key])}" for key, name in _PARTS.items())
        words.append(f"mean {figure(whole)} ms {'=' if is_sum else 'with'} {parts}: {moved / whole:.0%} transfers")
    elif gpu and whole and results.keys() >= _PARTS.keys() and not means.keys() & {"h2d_ms", "d2h_ms"}:
        words.append(f"mean {figure(whole)} ms, without transfers: copies of inputs and outputs were not measured")
    elif whole and not gpu:
        figures = results["latency_ms"].figures
        words.append(", ".join(f"{name} {figure(figures[name])}" for name in figures) + " ms")
    if gpu and means.get("enqueue_ms", 0.0) >= _WORTH * gpu:
        words.append(f"enqueue {figure(means['enqueue_ms'])} ms, {means['enqueue_ms'] / gpu:.0%} of the GPU's time")
    for key, name in _OF_TOKENS.items():
        if (token := build.result(key)) is not None:
            words.append(f"{name} {', '.join(f'{of} {figure(value)}' for of, value in token.figures.items())} ms")
    spans = [results[key].span for key in means] if words else []
    rate, size = (build.result(key) for key in ("throughput_qps", "first_dimension"))
    explicit = (build.option("inference", "Batch") or "").strip() == "Explicit"
    if explicit and rate is not None and size is not None and isinstance(rate.value, float) and size.value != 1.0:
        each = size.value if isinstance(size.value, float) else 1.0
        words.append(
            f"{figure(rate.value)} qps of {each:.0f} each, if that is the batch: {figure(rate.value * each)} a second"
        )
        spans += [rate.span, size.span]
    yield TimeRow("latency", "; ".join(words), tuple(spans))
    spread = spread_of(build)
    if spread is not None:
        yield TimeRow("spread", spread.text, spread.spans)


def enqueue_bound(build: Build) -> bool:
    """Whether the host takes about as long to enqueue as the GPU to compute, and as any copy, as where trtexec warns.

    A run with the layers' profiler on tells nothing: enqueueing waits there for the times of the layers.
    """
    if re.search(r"^(?!.*--separateProfileRun).*--(?:dump|export)Profile\b", build.command or ""):
        return False
    host, gpu, *copied = (mean_of(build.result(key)) for key in ("enqueue_ms", "gpu_compute_ms", "h2d_ms", "d2h_ms"))
    return host is not None and gpu is not None and host >= max(_BOUND * gpu, *(each or 0.0 for each in copied))


TOTALS = ("gpu_compute_total_s", "host_walltime_s")
"""The results that tell what part of the time the GPU computes."""


def busy_part(build: Build) -> float | None:
    """Return the part of a run's time that the GPU computes, of several streams together; None where it is not told."""
    compute, wall = map(build.number, TOTALS)
    return compute / wall if compute and wall else None


def transfers_bound(build: Build) -> bool:
    """Whether copying inputs and outputs takes about as long as computing."""
    there, gpu, back = (mean_of(build.result(key)) for key in _PARTS)
    return there is not None and back is not None and gpu is not None and there + back >= _BOUND * gpu


def mean_of(result: RunResult | None) -> float | None:
    """Return the mean of a result of several figures, else the median; None where it has none, or zero."""
    return result.figures.get("mean", result.figures.get("median")) or None if result is not None else None


def _making(log: BuildLog, build: Build) -> Iterator[TimeRow]:
    """Say how long the phases of the build took, and what came from the timing cache."""
    run = log.run_of(build)
    phases = run.phases if run is not None and len(run.builds) == 1 else ()
    whole, passes = ([each for each in build.results if each.key == key] for key in ("build_s", "generation_s"))
    took, made = (sum(each.number or 0.0 for each in results) for results in (whole[-1:], passes))
    several = f" in {len(passes)} passes" if len(passes) > 1 else ""
    parts = [f"builder {figure(made)} s{several}"] if took and made else []
    parts += [f"import {figure(p.seconds)} s" for p in phases if p.seconds is not None and p.name is PhaseName.IMPORT]
    spans = [result.span for result in (*whole[-1:], *passes)]
    if build.tuning and not build.autotuning.cache_hits:
        slow = build.tuning[0]
        tuning, over = figure(sum(tuned.seconds for tuned in build.tuning)), counted(len(build.tuning), "layer")
        parts.append(f"tuning {tuning} s over {over}, longest {shortened(slow.layer, _NAME)} {figure(slow.seconds)} s")
        spans.append(slow.span)
    if build.autotuning.cache_hits:
        timed = counted(build.autotuning.tactics_timed, "tactic")
        source = "reused within this build" if build.has_own_cache else "from the timing cache"
        parts.append(f"{counted(build.autotuning.cache_hits, 'result')} {source} and {timed} timed")
    served = next((note for note in build.notes if note.kind == "cache_deleted"), None)
    if served is not None and not build.autotuning.cache_hits:
        hits, entries = (served.number(name) or 0 for name in ("hits", "count"))
        parts.append(f"the timing cache of {entries:.0f} entries served {counted(int(hits), 'hit')}")
        spans.append(served.span)
    seconds = f"{figure(took or made)} s: " if took or made else ""
    yield TimeRow("build", seconds + ", ".join(parts) if parts else "", tuple(spans))


def _memory(build: Build) -> Iterator[TimeRow]:
    """Say what the engine and its context take of the GPU's memory."""
    engine = "loaded_engine_mib" if build.result("loaded_engine_mib") else "engine_bytes"
    held = {key: result for key in (*_MEMORY, engine) if (result := build.result(key)) and result.number}
    used = next((note for note in build.notes if note.kind == "init_cuda" and note.number("count")), None)
    if not held.keys() - {engine} and not (used is not None and build.loads_engine):
        return
    sizes = {key: (result.number or 0.0) / (MEBIBYTE if key == "engine_bytes" else 1) for key, result in held.items()}
    words = ", ".join(f"{_MEMORY.get(key, 'engine')} {figure(size)} MiB" for key, size in sizes.items())
    spans = [result.span for result in held.values()]
    total, known = build.fact("device", "Device Global Memory"), build.result("device_mib")
    number = total.value.split()[0] if total is not None and total.value.strip().endswith("MiB") else ""
    number = f"{known.number:.0f}" if known is not None else number
    part = sizes.get("context_mib", sizes.get("activations_mib", 0.0)) + sizes.get(engine, 0.0)
    if (printed := known or total) is not None and number.isdecimal() and part >= _OF_MEMORY * int(number):
        both = "context and engine " * bool(held.keys() - {engine})
        words += f", {both}{part / int(number):.0%} of the GPU's {number} MiB"
        spans.append(printed.span)
    if used is not None:
        words += f"{words and '; '}{used.number('count'):,.0f} MiB were in use at the start"
        spans.append(used.span)
    yield TimeRow("memory", words, tuple(spans))


class SpreadForm(StrEnum):
    """How the times of a run's calls lie."""

    STEP = "step"  # first on one level, then on another
    DRIFT = "drift"  # faster and faster, or slower and slower
    LEVELS = "levels"  # to and fro between two levels
    BROAD = "broad"  # far apart on both sides of the median
    TAIL = "tail"  # some of a hundred calls are far slower than the others
    FEW = "few"  # at most one of a hundred calls is far slower, the others are alike
    NARROW = "narrow"  # alike


@dataclass(frozen=True, slots=True)
class TimeSpread:
    """The form, what the log says of it, and the lines that state it.

    ``is_doubtful`` where mean and median say little of a call, ``is_wide`` where a finding is worth it without a
    warning of trtexec.
    """

    form: SpreadForm
    text: str
    spans: tuple[SourceSpan, ...]
    is_doubtful: bool
    is_wide: bool


_FAR = 1.25
"""How many times the median a percentile must be to be far from it."""
_WIDE = 1.5
_FAR_CALL = 3.0
"""How many times the median a call must be to be far slower."""
_SIDES = 0.15
"""How far the fastest call, and a tenth of the calls, must be from the median where the spread is broad."""
_OFF = 0.1
"""From where the mean is no figure of a usual call: its distance from the median, as a part of the median."""
_EXPLAINED = 0.5
"""The part of the variance, or of a slow call, that must be explained by what is named as its reason."""
_ONE_CALL = 1.5
"""Up to how many calls a percentile is that of the slowest."""
_PART = 0.02
"""The least part of the calls on each side of a change, where the log has no variance."""
_TINY_MS = 0.02
"""Times below this spread because of launches and of the timer's resolution, about half a microsecond."""


def spread_of(build: Build) -> TimeSpread | None:
    """Return in what form the times of a build's calls spread; None where the log has no median and percentile."""
    run = build.result("gpu_compute_ms")
    values = run.figures if run is not None else {}
    percentiles = sorted((float(name[1:]), ms) for name, ms in values.items() if name[0] == "p")
    median, mean = values.get("median", 0.0), values.get("mean", 0.0)
    if run is None or not (median and mean) or not percentiles or percentiles[-1][1] < median:
        return None
    form, text, spans = _change(build, values, percentiles[-1][1]) or _by_percentiles(build, values, percentiles)
    slow = 100 - next((percent for percent, ms in percentiles if ms >= _FAR * median), 100)
    is_off = abs(mean - median) >= _OFF * median
    doubtful = is_off or form is SpreadForm.BROAD or (form is SpreadForm.TAIL and slow > 1)
    if median < _TINY_MS and form in {SpreadForm.BROAD, SpreadForm.TAIL}:
        doubtful, text = False, f"{text}; calls this short are near the timer's resolution"
    elif is_off:
        text += f"; the mean is {figure(mean)}"
    return TimeSpread(form, text, (run.span, *spans), doubtful, doubtful or percentiles[-1][1] >= _WIDE * median)


_Told = tuple[SpreadForm, str, "tuple[SourceSpan, ...]"]
_CHANGES = {
    SpreadForm.STEP: "step from {} to {} ms (line {}) after {:.0%} of the calls, as where a clock changes",
    SpreadForm.DRIFT: "go from {} to {} ms (from line {} on), as where the clock follows heat or load",
    SpreadForm.LEVELS: "go to and fro between {} and {} ms (line {}), {:.0%} of them on the higher level",
}


def _change(build: Build, values: Mapping[str, float], high: float) -> _Told | None:
    """Say where the running averages change, if that makes the spread; a few averages at the start do not."""
    deviation = (build.number("gpu_compute_cv_percent") or 0.0) / 100 * values["mean"]
    for form, words in _CHANGES.items():
        result = build.result(f"gpu_{form}_ms")
        held = result.figures if result is not None else {}
        part = held.get("part", 0.5 if form is SpreadForm.DRIFT else 0.0)
        if result is None or not part or (form is SpreadForm.LEVELS and high > (1 + _PART) * held["after"]):
            continue
        explained = (held["after"] - held["before"]) ** 2 * part * (1 - part) / (3 if form is SpreadForm.DRIFT else 1)
        if explained >= _EXPLAINED * deviation**2 if deviation else _PART <= part <= 1 - _PART:
            text = words.format(figure(held["before"]), figure(held["after"]), result.span.line, part)
            return form, f"the running averages {text}", (result.span,)
    return None


def _by_percentiles(build: Build, values: Mapping[str, float], percentiles: Sequence[tuple[float, float]]) -> _Told:
    """Tell the form by how far the percentiles and the slowest call are from the median."""
    (percent, high), median, slowest = percentiles[-1], values["median"], values.get("max", 0.0)
    tenth, fastest = dict(percentiles).get(90.0), values.get("min", median)
    wide = f"from {figure(fastest)} to {figure(high)} ms for {percent:g}% of the calls, median {figure(median)}"
    wide += f", single ones up to {figure(slowest)}" if slowest >= _FAR_CALL * median else ""
    if tenth is not None and fastest <= (1 - _SIDES) * median and tenth >= (1 + _SIDES) * median:
        return SpreadForm.BROAD, f"{wide}, a tenth of them at {figure(tenth)} or more", ()
    if tenth is None and high >= _FAR * median and abs(values["mean"] - median) >= _OFF * median:
        return SpreadForm.BROAD, wide, ()
    most = f"{percent:g}% of the calls take at most {figure(high)} ms"
    if slowest >= _FAR_CALL * median and high < _WIDE * median:
        where, spans = _slowest(build, median, slowest)
        text = f"the median is {figure(median)}; the slowest took {figure(slowest)}, {slowest / median:.3g} times that"
        return SpreadForm.FEW, f"{most}, {text}{where}", spans
    if high >= _FAR * median:
        low, least = next((percent, ms) for percent, ms in percentiles if ms >= _FAR * median)
        calls = (100 - low) / 100 * (build.number("queries") or 0.0)
        who = f"{100 - low:g}% of the calls take" if not calls or calls >= _ONE_CALL else "one call takes"
        text = f"{who} {figure(least)} ms or more, {least / median:.2g} times the median of "
        return SpreadForm.TAIL, f"{text}{figure(median)}", ()
    far = f"{high / median:.3g} times" if high >= 1.005 * median else "as much as"
    return SpreadForm.NARROW, f"{most}, {far} the median", ()


def _slowest(build: Build, median: float, slowest: float) -> tuple[str, tuple[SourceSpan, ...]]:
    """Say where the slowest call is, if it makes the slowest of the printed averages."""
    peak = build.result("gpu_peak_ms")
    held = peak.figures if peak is not None else {}
    excess = (held["average"] - median) * held["calls"] / (slowest - median) if held else 0.0
    if peak is None or not _EXPLAINED <= excess <= 1 / _EXPLAINED:
        return "", ()
    calls = f"{held['calls']:.0f} calls"
    place = f"the first {calls}" if not held["part"] else f"{calls} after {held['part']:.0%} of them"
    return f", in {place} (line {peak.span.line})", (peak.span,)
