"""Figures of measured inferences (``--exportTimes``): each run's latency in its order, and how it spreads."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import PurePath
from statistics import median

from trtforensics.console.counting import counted
from trtforensics.model.timings import InferenceSamples, InferenceTimes
from trtforensics.plots.figure import WIDTH, Box, Canvas, Cell, Figure
from trtforensics.render.times import spread

_MOST_RUNS = 8
"""Runs that a figure shows; its table has all of them."""

_MOST_NAMED = 3
_LEFT, _HEIGHT = 44.0, 110.0
_COLUMNS, _BINS, _TICKS = 198, 66, 4
_FAR = 3.0
"""Inferences slower than the 99th percentile by so many times its distance from the fastest are beyond the scale."""
_ALIKE = 1.5
"""How many times longer than another a run may take to be drawn on the same scale."""

_RANGE, _MIDDLE, _BEYOND = "#9dbddb", "#3b78b5", "#d1603d"


@dataclass(frozen=True)
class _Run:
    """A run's inferences: what to call it, its times in ms, and the figures that describe them."""

    name: str
    latency: tuple[float, ...]
    compute: tuple[float, ...]
    stated: dict[str, float]


@dataclass(frozen=True, slots=True)
class _Scale:
    """Latencies in ms that a picture shows; few that are far slower lie beyond it."""

    low: float
    high: float

    def part(self, value: float) -> float:
        """Return where a latency lies, from 0 to 1."""
        return (min(value, self.high) - self.low) / (self.high - self.low)

    def ticks(self) -> list[float]:
        rough = (self.high - self.low) / _TICKS
        unit = 10.0 ** floor(log10(rough))
        step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough)
        return [number * step for number in range(ceil(self.low / step), floor(self.high / step) + 1)]


def figures_of_times(files: Sequence[InferenceTimes]) -> list[Figure]:
    """Return the figures of the runs of times files; runs that take about as long have one scale, to be compared."""
    several = len(files) > 1
    runs = [_run(file, n, run, several=several) for file in files for n, run in enumerate(file.runs, 1)]
    return [_inferences(runs), _spread(runs)] if runs else []


def _run(file: InferenceTimes, number: int, samples: InferenceSamples, *, several: bool) -> _Run:
    path = PurePath(file.source.path).name
    place = f"run {number} of {len(file.runs)}" if len(file.runs) > 1 else ""
    name = ", ".join(filter(None, (path if several or not place else "", place)))
    return _Run(name, samples.latency_ms, samples.compute_ms, spread(samples.latency_ms))


def _inferences(runs: Sequence[_Run]) -> Figure:
    """Draw the latencies of each run in their order: the middle, and from the fastest to the slowest, of neighbours."""
    scales = _scales(runs)
    canvas = Canvas()
    crowded = any(len(run.latency) > _COLUMNS for run in runs)
    ranges = [("fastest to slowest of neighbours", _RANGE)] if crowded else []
    canvas.legend([("median" if crowded else "latency", _MIDDLE), *ranges])
    data: list[tuple[Cell, ...]] = []
    for place, (run, scale) in enumerate(zip(runs, scales, strict=True)):
        columns = _columns(run)
        data += [(run.name, *column) for column in columns]
        if place < _MOST_RUNS:
            canvas.heading(run.name, f"median {run.stated['median']:.4g} ms, p99 {run.stated['p99']:.4g} ms")
            _course(canvas, scale, columns)
    alt = f"Latency by inference. {_sentences(runs)}"
    header = ("run", "first_inference", "last_inference", "fastest_ms", "median_ms", "slowest_ms", "gpu_compute_ms")
    return canvas.figure("inferences", "Latency by inference", alt, header, data, note=_note(runs, scales))


def _spread(runs: Sequence[_Run]) -> Figure:
    """Draw how many inferences of each run took how long."""
    scales = _scales(runs)
    canvas = Canvas()
    beyond = any(max(run.latency) > scale.high for run, scale in zip(runs, scales, strict=True))
    canvas.legend([("inferences", _MIDDLE), *([("slower than the scale", _BEYOND)] if beyond else [])])
    data: list[tuple[Cell, ...]] = []
    for place, (run, scale) in enumerate(zip(runs, scales, strict=True)):
        width = (scale.high - scale.low) / _BINS
        counts, slower = _counted(run, scale)
        data += [
            (run.name, scale.low + at * width, scale.low + (at + 1) * width, count)
            for at, count in enumerate(counts)
            if count
        ]
        data += [(run.name, scale.high, max(run.latency), slower)] if slower else []
        if place < _MOST_RUNS:
            canvas.heading(run.name, f"median {run.stated['median']:.4g} ms, p99 {run.stated['p99']:.4g} ms")
            _histogram(canvas, scale, counts, slower)
    alt = f"How latencies spread. {_sentences(runs)}"
    header = ("run", "from_ms", "to_ms", "inferences")
    return canvas.figure("spread", "Spread of latency", alt, header, data, note=_note(runs, scales))


def _scales(runs: Sequence[_Run]) -> list[_Scale]:
    """Return each run's scale: the same for all, unless the medians of runs are far apart."""
    medians = [run.stated["median"] for run in runs]
    if max(medians) <= _ALIKE * min(medians):
        return [_scale(runs)] * len(runs)
    return [_scale([run]) for run in runs]


def _scale(runs: Sequence[_Run]) -> _Scale:
    values = sorted(value for run in runs for value in run.latency)
    low, most, high = values[0], spread(values)["p99"], values[-1]
    high = min(high, most + _FAR * (most - low)) if most > low else high
    return _Scale(low, high) if high > low else _Scale(low * 0.99, low * 1.01 or 1.0)


def _columns(run: _Run) -> list[tuple[int, int, float, float, float, float]]:
    """Part a run into neighbours, one inference or more a column: numbers from 1, and their times."""
    count = len(run.latency)
    step = ceil(count / _COLUMNS)
    columns = []
    for begin in range(0, count, step):
        near = run.latency[begin : begin + step]
        compute = median(run.compute[begin : begin + step])
        columns.append((begin + 1, begin + len(near), min(near), median(near), max(near), compute))
    return columns


def _counted(run: _Run, scale: _Scale) -> tuple[list[int], int]:
    """Return how many inferences fall into each bin, and how many are slower than the scale."""
    counts = [0] * _BINS
    within = [value for value in run.latency if value <= scale.high]
    for value in within:
        counts[min(int(scale.part(value) * _BINS), _BINS - 1)] += 1
    return counts, len(run.latency) - len(within)


def _course(canvas: Canvas, scale: _Scale, columns: Sequence[tuple[int, int, float, float, float, float]]) -> None:
    top, bottom = canvas.y + 4, canvas.y + 4 + _HEIGHT
    for tick in scale.ticks():
        canvas.rule(_LEFT, bottom - scale.part(tick) * _HEIGHT, f"{tick:.6g}")
    wide = (WIDTH - _LEFT) / len(columns)
    for at, (first, last, low, middle, high, _) in enumerate(columns):
        x = _LEFT + at * wide
        upper, lower = (bottom - scale.part(value) * _HEIGHT for value in (high, low))
        which = f"inference {first}" if first == last else f"inferences {first} to {last}"
        tip = f"{which}: median {middle:.4g} ms, slowest {high:.4g} ms"
        canvas.rectangle(Box(x, upper, wide, max(lower - upper, 1)), _RANGE, tip)
        canvas.rectangle(Box(x, bottom - scale.part(middle) * _HEIGHT - 1, wide, 2), _MIDDLE, tip)
    canvas.text(_LEFT, bottom + 13, "inference 1", tone="pale")
    canvas.text(WIDTH, bottom + 13, f"{columns[-1][1]:,}", anchor="end", tone="pale")
    canvas.text(_LEFT - 4, top + 4 if not scale.ticks() else bottom + 13, "ms", anchor="end", tone="pale")
    canvas.y = bottom + 30


def _histogram(canvas: Canvas, scale: _Scale, counts: Sequence[int], slower: int) -> None:
    top, bottom = canvas.y + 4, canvas.y + 4 + _HEIGHT
    most = max(*counts, slower)
    across = WIDTH - _LEFT - 10
    for value in (0, most):
        canvas.rule(_LEFT, bottom - value / most * _HEIGHT, f"{value:,}")
    wide = across / _BINS
    for at, count in enumerate(counts):
        begin = scale.low + (scale.high - scale.low) * at / _BINS
        tall = count / most * _HEIGHT
        tip = f"{count:,} from {begin:.5g} ms"
        if count:
            canvas.rectangle(
                Box(_LEFT + at * wide, bottom - max(tall, 1), max(wide - 1, 1), max(tall, 1)), _MIDDLE, tip
            )
    if slower:
        tall = max(slower / most * _HEIGHT, 1)
        canvas.rectangle(Box(WIDTH - 8, bottom - tall, 8, tall), _BEYOND, f"{slower:,} slower than {scale.high:.5g} ms")
    for tick in scale.ticks():
        x = _LEFT + scale.part(tick) * across
        canvas.line((x, bottom), (x, bottom + 3))
        canvas.text(x, bottom + 14, f"{tick:.6g}", anchor="middle", tone="pale")
    canvas.text(_LEFT - 4, bottom + 14, "ms", anchor="end", tone="pale")
    canvas.line((_LEFT, top), (_LEFT, bottom))
    canvas.y = bottom + 30


def _sentences(runs: Sequence[_Run]) -> str:
    """Describe runs in words: how many inferences, their middle and their slow end."""
    sentences = []
    for run in runs[:_MOST_NAMED]:
        stated = run.stated
        parts = ", ".join(f"{name} {stated[name]:.4g}" for name in ("median", "p90", "p95", "p99"))
        compute = median(run.compute)
        transfers = f", of which GPU compute {compute:.4g} (median)" if compute != stated["median"] else ""
        ends = f"from {stated['min']:.4g} to {stated['max']:.4g} ms"
        sentences.append(f"{run.name}: {counted(len(run.latency), 'inference')}, {parts}, {ends}{transfers}.")
    hidden = len(runs) - _MOST_NAMED
    return " ".join([*sentences, *([f"{hidden} more run{'' if hidden == 1 else 's'}."] if hidden > 0 else [])])


def _note(runs: Sequence[_Run], scales: Sequence[_Scale]) -> str:
    slower = sum(value > scale.high for run, scale in zip(runs, scales, strict=True) for value in run.latency)
    are = "inference is" if slower == 1 else "inferences are"
    shared = len({*scales}) == 1
    begin = f"The scale begins at {scales[0].low:.4g} ms." if shared else "Each run has a scale of its own."
    end = f"its end, {scales[0].high:.4g} ms" if shared else "the end of the scale"
    beyond = f" {slower:,} {are} slower than {end}." if slower else ""
    hidden = len(runs) - _MOST_RUNS
    more = f" {hidden} further run{' is' if hidden == 1 else 's are'} in the table only." if hidden > 0 else ""
    return f"{begin}{beyond}{more}"
