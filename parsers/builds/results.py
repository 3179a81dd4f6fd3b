"""What a build or its run came to, in numbers: trtexec's performance summary (TensorRT 7 to 11), times and sizes."""

from __future__ import annotations

import re
from operator import itemgetter
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model.log import RunResult
from trtforensics.parsers.lines.events import duration, duration_or_none

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from trtforensics.parsers.builds.passes import Passes
    from trtforensics.parsers.builds.views import LinesView, Log

_LATENCIES = {
    "Latency": "latency_ms",
    "End-to-End Host Latency": "end_to_end_ms",
    "Enqueue Time": "enqueue_ms",
    "H2D Latency": "h2d_ms",
    "GPU Compute Time": "gpu_compute_ms",
    "D2H Latency": "d2h_ms",
    "Host Latency": "latency_ms",
    "GPU Compute": "gpu_compute_ms",
}
"""The last two are of 7.x."""
_TOTALS = {
    "Throughput": "throughput_qps",
    "Total Host Walltime": "host_walltime_s",
    "Total GPU Compute Time": "gpu_compute_total_s",
    "throughput": "throughput_qps",
    "walltime": "host_walltime_s",
    "total compute time": "gpu_compute_total_s",
}
"""The last three are of 7.x."""
_OLD_SUMMARY = ("summary_old", "summary_value_old")
_SINGLE = (
    ("engine_generated", "seconds", "generation_s", 1),
    ("engine_generated_old", "seconds", "generation_s", 1),
    ("engine_built", "seconds", "build_s", 1),
    ("poly_built", "seconds", "build_s", 1),
    ("engine_created", "number", "engine_bytes", 1 << 20),
    ("engine_size", "number", "loaded_engine_mib", 1),
)
"""Kind of line, its field, the key of the result, and how many of its unit the field's unit is."""
_PERCENTILE = re.compile(r"([0-9.]+)%\) = (\S+) ms")
_OLD_PERCENTILE = re.compile(r"at ([0-9.]+)%")
_OLD_END_TO_END = re.compile(r"end to end (\S+) ms")


def results(log: Log, passes: Passes) -> Sequence[tuple[RunResult, ...]]:
    """Read the results of each build, without those of discarded passes, in the log's order."""
    found = [*_latencies(log), *_totals(log)]
    if log.has(*_OLD_SUMMARY):
        found += [one for view in log.views if view.has(*_OLD_SUMMARY) for one in _old_summary(view)]
    for kind, field, key, factor in _SINGLE:
        rows = ((line, number) for line, number in log.each(kind, field) if number is not None)
        scale = round if factor > 1 else float
        found += [(line, key, scale(number * factor)) for line, number in rows if not passes.discarded(line)]
    found.sort(key=itemgetter(0))
    lines = np.array([line for line, _, _ in found], np.int64)
    spans = log.spans.of_each(lines)
    return log.divide(lines, [RunResult(key, value, span) for (_, key, value), span in zip(found, spans, strict=True)])


_Found = tuple[int, str, "float | Mapping[str, float]"]


def _latencies(view: LinesView) -> Iterator[_Found]:
    """Read ``Latency: min = 1.1 ms, max = …, percentile(99%) = 1.4 ms`` (since 8.0)."""
    names = ("ms", "max_ms", "mean_ms", "median_ms")
    for line, name, percentiles, *times in view.each("metric_latency", "name", "percentiles", *names):
        known = dict(zip(("min", "max", "mean", "median"), times, strict=True))
        known |= {f"p{percent}": _number(ms) for percent, ms in _PERCENTILE.findall(percentiles or "")}
        yield line, _LATENCIES[name], _stated(known)


def _totals(view: LinesView) -> Iterator[_Found]:
    for line, name, number in view.each("metric_total", "name", "number"):
        if number is not None:
            yield line, _TOTALS[name], number


def _old_summary(view: LinesView) -> Iterator[_Found]:
    """Read the summary of 7.x: a heading, then a line each for min, max, mean, median and one percentile."""
    headings = dict(view.each("summary_old", "name"))
    rows = {line: (name, number, text or "") for line, name, number, text in _old_rows(view)}
    groups: dict[tuple[int, str], dict[str, float | None]] = {}
    key, since = "", 0
    for line in view.lines(*_OLD_SUMMARY):
        if line in headings:
            key, since = _LATENCIES[headings[line]], line
            continue
        name, number, text = rows[line]
        if name in _TOTALS:
            if number is not None:
                yield line, _TOTALS[name], number
            continue
        percentile = _OLD_PERCENTILE.search(text)
        statistic = f"p{percentile[1]}" if percentile else name
        end_to_end = _OLD_END_TO_END.search(text)
        if key:
            groups.setdefault((since, key), {})[statistic] = number
        if key and end_to_end:
            groups.setdefault((since, "end_to_end_ms"), {})[statistic] = _number(end_to_end[1])
    for (line, own), values in groups.items():
        yield line, own, _stated(values)


def _old_rows(view: LinesView) -> Iterable[tuple[int, str, float | None, str | None]]:
    return view.each("summary_value_old", "name", "number", "text")


def _number(text: str) -> float | None:
    """Read a time in ms; None where it is not finite."""
    try:
        return duration_or_none(duration(text.encode()))
    except ValueError:
        return None


def _stated(values: Mapping[str, float | None]) -> Mapping[str, float]:
    return {name: value for name, value in values.items() if value is not None}
