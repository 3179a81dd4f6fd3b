"""What a build or its run came to, in numbers.

That is trtexec's performance summary (TensorRT 7 to 11), times and sizes; and its profiles, the tables of
``--dumpProfile`` (TensorRT 7 to 10.16), with the times of an engine's layers. A layer's time is its average in the last
profile. Only where there is no profile, it is what the autotuner took for the layer alone.
"""

from __future__ import annotations

import re
from itertools import pairwise
from math import isfinite
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.console.counting import grouped
from trtforensics.knowledge.table import rows
from trtforensics.model.run import RunResult, StatedName
from trtforensics.model.timings import LayerTime, ProfileRun, TimeSource
from trtforensics.parsers.builds.averages import levels
from trtforensics.parsers.builds.stated import labels_of, number_of, of_titles, stated, titles_of
from trtforensics.parsers.lines.events import duration, duration_or_none
from trtforensics.parsers.notation.clocks import clock_in, seconds_of
from trtforensics.parsers.notation.names import myelin_graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trtforensics.model.log import CachedResult, Choice, EngineLayer
    from trtforensics.parsers.builds.passes import Passes
    from trtforensics.parsers.builds.views import LinesView, Log

_PACKAGE = "trtforensics.parsers.builds"
_METRICS = [*rows("metrics", _PACKAGE)]
_LATENCIES = {row["name"]: row["key"] for row in _METRICS if row["spread"] == "yes"}
_TOTALS = {row["name"]: row["key"] for row in _METRICS if row["spread"] == "no"}
_OLD_SUMMARY = ("summary_old", "summary_value_old")
_SINGLE = [(row["kind"], row["field"], row["key"], float(row["factor"])) for row in rows("single_results", _PACKAGE)]
"""Kind of line, its field, the key of the result, and how many of its unit the field's unit is."""
_PERCENTILE = re.compile(r"([0-9.]+)%\) = (\S+) ms")
_OLD_PERCENTILE = re.compile(r"at ([0-9.]+)%")
_OLD_END_TO_END = re.compile(r"end to end (\S+) ms")


def results(log: Log, passes: Passes) -> Sequence[tuple[RunResult, ...]]:
    """Read the results of each build in the log's order, but of discarded passes and calibration's graph."""
    rows = log.each("metric_total", "name", "number")
    totals = ((line, _TOTALS[name], number) for line, name, number in rows if number is not None)
    readings = [*_latencies(log), *totals, *_of_mlperf(log), *_context_memory(log)]
    for view in log.views:
        readings += [*levels(view), *_batch(view), *_by_the_clock(view)]
        readings += [] if view.has("metric_latency", *_OLD_SUMMARY) else _means(view)
    if log.has(*_OLD_SUMMARY):
        readings += [result for view in log.views if view.has(*_OLD_SUMMARY) for result in _old_summary(view)]
    owned: dict[str, list[int]] = {}
    for kind, name, key, factor in _SINGLE:
        rows = ((line, number) for line, number in log.each(kind, name) if number is not None)
        scale = round if factor > 1 else float
        read = [(line, key, scale(number * factor)) for line, number in rows if not passes.discarded(line)]
        owned.setdefault(key, []).extend(line for line, *_ in read)
        readings += read
    both = zip(log.lines("calibration_graph"), log.lines("calibration_started"), strict=False)
    calibrating = [range(graph, started) for graph, started in both]
    everything: list[tuple[int, str, float | Mapping[str, float], StatedName | None]]
    everything = [(*reading, None) for reading in readings if not any(reading[0] in lines for lines in calibrating)]
    known = {line for kind in _KNOWN for line in log.lines(kind)}
    of_texts = [*stated(log, known)]
    of_rules = [*_by_rules(log, {line for line, *_ in of_texts})]
    everything += [(line, name.key, number, name) for line, number, name in of_titles(log, of_texts, of_rules)]
    titles = titles_of(log, known) if any(len(each) > 1 for each in owned.values()) else []
    of_each = ((key, labels_of(titles, each, of_engines=True).items()) for key, each in owned.items())
    owners = {(line, key): owner for key, labels in of_each for line, owner in labels}
    everything.sort(key=itemgetter(0))
    lines = np.array([line for line, *_ in everything], np.int64)
    spans = log.spans.of_each(lines)
    told = zip(everything, spans, strict=True)
    return log.divide(lines, [RunResult(*read[1:3], span, read[3], owners.get(read[:2], "")) for read, span in told])


_Found = tuple[int, str, "float | Mapping[str, float]"]


def _latencies(view: LinesView) -> Iterator[_Found]:
    """Read ``Latency: min = 1.1 ms, max = …, percentile(99%) = 1.4 ms`` (since 8.0)."""
    names = ("ms", "max_ms", "mean_ms", "median_ms")
    for line, name, percentiles, *times in view.each("metric_latency", "name", "percentiles", *names):
        known = dict(zip(("min", "max", "mean", "median"), times, strict=True))
        known |= {f"p{percent}": _number(ms) for percent, ms in _PERCENTILE.findall(percentiles or "")}
        yield line, _LATENCIES[name], _stated(known)


_AVERAGED = {"ms": "gpu_compute_ms", "host_ms": "latency_ms", "end_ms": "end_to_end_ms", "enqueue_ms": "enqueue_ms"}


def _means(view: LinesView) -> Iterator[_Found]:
    """Read the means of the running averages, where an excerpt or a run that ended has no summary."""
    lines, counts, *columns = view.columns(("average",), "count", *_AVERAGED)
    for key, times in zip(_AVERAGED.values(), columns, strict=True):
        known = (counts > 0) & ~np.isnan(times)
        if known.any():
            yield int(lines[known][0]), key, {"mean": round(float(np.average(times[known], weights=counts[known])), 6)}


def _context_memory(view: LinesView) -> Iterator[_Found]:
    """Read how much GPU memory TensorRT took when it made a context (before 10.0), and what it holds then."""
    for line, text in view.each("context_memory", "text"):
        for key, number in zip(("context_mib", "managed_mib"), re.findall(r"GPU \+?([0-9]+)", text), strict=False):
            if int(number):
                yield line, key, float(number)


_FIRST_DIMENSION = re.compile(r" with dimensions ([0-9]+)x")


def _batch(view: LinesView) -> Iterator[_Found]:
    """Read the first dimension that all inputs share."""
    rows = [row for kind in ("input_binding", "input_binding_old") for row in view.each(kind, "text")]
    sizes = [(line, size[1] if (size := _FIRST_DIMENSION.search(text)) else "") for line, text in rows]
    if len({size for _, size in sizes}) == 1 and sizes[0][1]:
        yield sizes[0][0], "first_dimension", float(sizes[0][1])


_DAY = 24 * 60 * 60


def _by_the_clock(view: LinesView) -> Iterator[_Found]:
    """Read how long a program built from the time stamps of its own lines, where nothing states it."""
    ends = view.lines("own_built") if not view.has("engine_built", "engine_generated") else []
    begins = np.array(view.lines("own_building") if ends else [], np.int64)
    wanted = {*begins.tolist(), *ends}
    texts = view.each("untyped", "text") if len(begins) else ()
    stamps = {line: seconds_of(clock) for line, text in texts if line in wanted and (clock := clock_in(text))}
    for end in ends:
        begin = int(begins[place - 1]) if (place := begins.searchsorted(end)) else 0
        if begin in stamps and end in stamps and stamps[begin] != stamps[end]:
            yield end, "build_clock_s", float((stamps[end] - stamps[begin]) % _DAY)


_RATES = {"mlperf_rate": "throughput_qps", "llm_requests": "throughput_qps", "llm_tokens": "throughput_tps"}
_OF_PERCENTILES = ("mlperf_latency", "mlperf_result", "mlperf_token")
_OF_TOKENS = {"first_token_ms": "first token", "output_token_ms": "output token"}
_MLPERF = re.compile(r"([0-9]+(?:\.[0-9]+)?)(?:th)?[ _](?:first token )?percentile.*")


def _of_mlperf(view: LinesView) -> Iterator[_Found]:
    """Read summaries of MLPerf and TensorRT-LLM: latencies in ns, a line each; samples, requests, tokens a second."""
    for kind, key in _RATES.items():
        yield from ((line, key, rate) for line, rate in view.each(kind, "number"))
    summaries = [*view.lines("mlperf_summary"), view.last_line + 1]
    # a query may hold many samples; its own latency comes first, and the limit is of that
    texts = view.each("untyped", "text") if view.has(*_OF_PERCENTILES) else ()
    of_samples = [line for line, text in texts if text.startswith("Per-sample latency")]
    groups: dict[tuple[int, str], tuple[int, dict[str, float]]] = {}
    for line, name, number in (row for kind in _OF_PERCENTILES for row in view.each(kind, "name", "number")):
        percentile = _MLPERF.fullmatch(name)
        since = max([first for first in summaries if first <= line], default=line)
        key = "sample_latency_ms" if any(since <= begin < line for begin in of_samples) else "latency_ms"
        key = next((of_tokens for of_tokens, words in _OF_TOKENS.items() if words in name.lower()), key)
        statistic = f"p{float(percentile[1]):g}" if percentile else name.lower().partition(" ")[0]
        groups.setdefault((since, key), (line, {}))[1]["median" if statistic == "p50" else statistic] = number / 1e6
    yield from ((line, key, values) for (_, key), (line, values) in groups.items())


_OWN = [(row["kind"], row["field"], row["name"]) for row in rows("own_figures", _PACKAGE)]
"""Kinds of line that are found in logs of any length: the field, and a name for the figure where the line has none."""
_OWN_FIGURE = re.compile(r"([0-9.,:]+) *([^\d\s]*)")
_SOURCE_RATE = re.compile(r"(?<![\w.'])([0-9]+(?:\.[0-9]+)?)(?= +\(|[,}])")
_KNOWN = ("own_perf", "own_layer_time", *_OF_PERCENTILES, "mlperf_setting", *_RATES, *(kind for kind, *_ in _SINGLE))


def _by_rules(log: LinesView, named: set[int]) -> Iterator[tuple[int, float, StatedName]]:
    """Give the figures that rules of the grammar read, in lines that state none ``named`` yet."""
    for line, runner, ms, calls in log.each("poly_average", "runner", "ms", "count"):
        name = "time of one first call" if calls == 1 else "average inference time"
        yield line, ms, StatedName(name, runner.partition("-N")[0], "ms")
    begun = {name: line for line, name in log.each("triton_loading", "name")}
    clocks = {line: clock_in(text, "exact") for line, text in log.each("untyped", "text")} if begun else {}
    for line, name in log.each("triton_loaded", "name"):
        since, until = clocks.get(begun.get(name, 0)), clocks.get(line)
        if since and until and since != until:
            seconds = (seconds_of(until, float) - seconds_of(since, float)) % _DAY
            yield line, seconds, StatedName("load time by stamps", name, "s")
    for line, told in log.each("own_perf", "text"):
        rates = [float(rate) for rate in _SOURCE_RATE.findall(str(told))]
        name = f"FPS of {len(rates)} sources, each" if len(rates) > 1 else "FPS"
        yield from ((line, rate, StatedName(name, "", "")) for rate in rates if rate)
    for kind, field, name in _OWN:
        for line, told in log.each(kind, field):
            figure = _OWN_FIGURE.match(str(told))
            if line not in named and figure is not None:
                number = seconds_of(figure[1], number_of)
                if isfinite(number) and (number or field != "text" or not figure[2].endswith("s")):
                    yield line, number, StatedName(name, "", figure[2] or "s" * (":" in figure[1]))


def _old_summary(view: LinesView) -> Iterator[_Found]:
    """Read the summary of 7.x: a heading, then a line each for min, max, mean, median and one percentile."""
    headings = dict(view.each("summary_old", "name"))
    columns = view.each("summary_value_old", "name", "number", "text")
    rows = {line: (name, number, text or "") for line, name, number, text in columns}
    groups: dict[tuple[int, str], dict[str, float | None]] = {}
    key, since = "", 0
    for line in view.lines(*_OLD_SUMMARY):
        if line in headings:
            key, since = _LATENCIES[headings[line]], line
            continue
        name, number, text = rows[line]
        if name in _TOTALS:
            if number:
                yield line, _TOTALS[name], number
            continue
        percentile = _OLD_PERCENTILE.search(text)
        statistic = f"p{percentile[1]}" if percentile else name
        end_to_end = _OLD_END_TO_END.search(text)
        if key:
            groups.setdefault((since, key), {})[statistic] = number
        if key and end_to_end:
            groups.setdefault((since, "end_to_end_ms"), {})[statistic] = _number(end_to_end[1])
    yield from ((line, result, _stated(values)) for (line, result), values in groups.items())


def _number(text: str) -> float | None:
    """Read a time in ms; None where it is not finite."""
    try:
        return duration_or_none(duration(text.encode()))
    except ValueError:
        return None


def _stated(values: Mapping[str, float | None]) -> Mapping[str, float]:
    return {name: value for name, value in values.items() if value is not None}


_HEADINGS = ("profile_section", "profile_header")
_ROWS = ("profile_row", "profile_row_old", "profile_row_json")
_TOTAL = "Total"
"""The name in a table's last row."""


def profiles(log: Log) -> Sequence[tuple[ProfileRun, ...]]:
    """Read the tables of each build, in the log's order."""
    if not log.has(*_ROWS, "sample_profile_row", "own_layer_time"):
        return [()] * log.size
    return [(*_profiles(view, log), *_of_samples(view, log), *_of_calls(view, log)) for view in log.views]


def _of_calls(view: LinesView, log: Log) -> Iterable[ProfileRun]:
    """Give the profile of a program that prints each call of a layer."""
    calls = grouped(view.each("own_layer_time", "layer", "total_ms"), itemgetter(1))
    whole = sum(ms for each in calls.values() for *_, ms in each)
    layers = []
    for name, each in calls.items() if whole else ():  # all may take less than the program's last digit
        total = sum(ms for *_, ms in each)
        layers.append(LayerTime(name, total, total / len(each), None, 100 * total / whole, log.spans.of(each[0][0])))
    if layers:
        yield ProfileRun(max(map(len, calls.values())), tuple(layers), layers[0].span, whole)


def _of_samples(view: LinesView, log: Log) -> Iterable[ProfileRun]:
    """Give the tables of the profiler in TensorRT's samples, which counts the calls in each row."""
    begins, ends = view.lines("sample_profile"), [*view.each("sample_profile_end", "total_ms")]
    rows = [*view.each("sample_profile_row", "layer", "percent", "count", "total_ms")]
    for begin, behind in pairwise([*begins, view.last_line + 1]):
        of_table = [row for row in rows if begin < row[0] < behind and row[3]]
        total = next((total for line, total in ends if begin < line < behind), None)
        layers = tuple(
            LayerTime(name.strip(), ms, ms / calls, None, percent, log.spans.of(line))
            for line, name, percent, calls, ms in of_table
        )
        if layers:
            yield ProfileRun(max(row[3] for row in of_table), layers, log.spans.of(begin), total)


def _profiles(view: LinesView, log: Log) -> Iterable[ProfileRun]:
    """Give the tables of a build. One begins at its title, at a header without a title, or at rows without either."""
    iterations = dict(view.each("profile_section", "count"))
    rows = {
        line: LayerTime(name.strip(), total, average, median, percent, log.spans.of(line))
        for kind in _ROWS
        for line, name, total, average, median, percent in view.each(
            kind, "layer", "total_ms", "average_ms", "median_ms", "percent"
        )
    }
    tables: list[list[int]] = []
    has_rows, is_whole = False, True
    for line in view.lines(*_HEADINGS, *_ROWS):
        row = rows.get(line)
        if is_whole or line in iterations or (row is None and has_rows):
            tables.append([])
            has_rows = is_whole = False
        tables[-1].append(line)
        if row is not None:
            has_rows = has_rows or row.name != _TOTAL
            is_whole = row.name == _TOTAL and row.total_ms is not None
    for lines in tables:
        of_table = [rows[line] for line in lines if line in rows]
        totals = [row.total_ms for row in of_table if row.name == _TOTAL]
        layers = tuple(row for row in of_table if row.name != _TOTAL)
        if layers:
            yield ProfileRun(iterations.get(lines[0]), layers, log.spans.of(lines[0]), *totals[-1:])


def with_times(
    layers: Sequence[EngineLayer], runs: Sequence[ProfileRun], choices: Sequence[Choice], cached: Sequence[CachedResult]
) -> tuple[ProfileRun, ...]:
    """Give the layers of a build's engine their times, and return the profiles with their rows joined to layers.

    A profile none of whose rows is of these layers gives them no times.
    """
    if not (layers or runs):
        return ()
    names = [layer.name for layer in layers]
    joined = tuple(run.joined(names) for run in runs)
    timed = {row.engine_layer: place for place, row in enumerate(joined[-1].layers if joined else ())}
    is_measured = any(place is not None for place in timed)
    for place, layer in enumerate(layers):
        layer.profile = timed.get(place)
        if layer.profile is not None:
            layer.time_ms, layer.time_is = joined[-1].layers[layer.profile].average_ms, TimeSource.MEASURED
            continue
        origin = None if is_measured else _origin(layer, choices, cached)
        layer.time_ms = None if origin is None else origin.time_ms
        layer.time_is = None if layer.time_ms is None else TimeSource.TUNED
    return joined


def _origin(
    layer: EngineLayer, choices: Sequence[Choice], cached: Sequence[CachedResult]
) -> Choice | CachedResult | None:
    """Return what was tuned for a layer alone; None for a kernel of a ForeignNode that was tuned as a whole."""
    if myelin_graph(layer.name) is not None:
        return None
    if layer.choice is not None:
        return choices[layer.choice]
    return None if layer.cached is None else cached[layer.cached]
