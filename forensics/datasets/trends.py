"""What changed from run to run of a dataset: times, sizes, layers and findings, each with the run since when."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import erfc, exp, lgamma, sqrt
from statistics import NormalDist
from typing import Any, NamedTuple
from xml.etree import ElementTree as ET

import numpy as np
import numpy.typing as npt

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.datasets.store import Dataset
from trtforensics.errors import UsageError
from trtforensics.plots.figure import WIDTH, Canvas, Figure, element, stylesheet
from trtforensics.render import json_text
from trtforensics.render.markup import page, tag
from trtforensics.render.stated_rows import figure

MEASURES = {
    "latency_median_ms": 1,
    "latency_p99_ms": 1,
    "gpu_compute_median_ms": 1,
    "throughput_qps": -1,
    "engine_bytes": 1,
    "build_s": 1,
}
"""The columns of ``runs`` that are followed, and whether more is worse (1) or better (-1)."""
_LEAST = 0.01
"""The smallest relative change of a number that is told."""
_LOW, _HIGH = 10, 90
"""The percentiles that spreads are given by."""

Row = dict[str, Any]
Facts = dict[tuple[str, "int | None"], dict[tuple[str, str], str]]


@dataclass(frozen=True)
class Trend:
    """A change of a series. ``what`` is a measure, a finding's code, or a layer with ``of`` the fact of it.

    ``before`` and ``after`` are medians, or words. ``run`` is the first that is otherwise; with 95 % confidence it is
    one of those numbered ``earliest`` to ``latest``, from 1. ``worse`` is None where neither is worse.
    """

    of: str
    what: str
    before: float | str
    after: float | str
    run: Row
    number: int
    earliest: int
    latest: int
    chance: float
    worse: bool | None

    def text(self) -> str:
        """Return the change as a line."""
        sides = [figure(side) if isinstance(side, float) else side for side in (self.before, self.after)]
        if isinstance(self.before, float) and isinstance(self.after, float) and self.before:
            sides[1] += f" ({self.after / self.before - 1:+.1%})"
        between = "" if self.earliest == self.latest else f" (95 %: {self.earliest:,} to {self.latest:,})"
        mark = "worse: " if self.worse else ""
        since = f"since run {self.number:,}{between}, {self.run['dated']}, {self.run['source']}:{self.run['line']}"
        return visible(f"{mark}{self.of} {self.what}: {sides[0]} → {sides[1]} {since}")


@dataclass(frozen=True)
class Group:
    """Runs alike in ``keys``, in order of time, what changed among them, and number, median and spread of measures."""

    keys: Mapping[str, str | None]
    runs: Sequence[Row]
    trends: Sequence[Trend]
    levels: Mapping[str, Row]


def groups_of(dataset: Dataset, by: Sequence[str], order: str | None = None) -> list[Group]:
    """Return the runs of a dataset by columns of ``runs`` or labels, in order of a column or label.

    Without ``order`` it is the time in the logs if all have it, else the time of the files.

    Raises:
        SourceError: the dataset cannot be read.
        UsageError: there is no such column or label.
    """
    runs = _runs(dataset)
    dated = order or ("started" if all(run["started"] for run in runs) else "modified")
    for name in (*by, dated):
        if not any(name in run for run in runs):
            raise UsageError(
                name, "is no column of runs and no label", "`trtforensics query '.schema runs'` lists them"
            )
    parts: dict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for run in sorted(runs, key=lambda run: (_natural(run.get(dated)), run["source"], run["run"])):
        parts[tuple(run.get(name) for name in by)].append({**run, "dated": run.get(dated)})
    facts = _facts(dataset)
    return [_group(dict(zip(by, key, strict=True)), part, facts, len(parts)) for key, part in parts.items()]


def _natural(value: Any) -> tuple[bool, float, str]:  # noqa: ANN401 - a column's or a label's
    text = str(value or "")
    return value is None, float(text) if text.isdecimal() else 0.0, text


def _runs(dataset: Dataset) -> list[Row]:
    labels: dict[str, Row] = defaultdict(dict)
    for row in dataset.table("labels").to_table().to_pylist():
        labels[row["source"]][row["label"]] = row["value"]
    sources = dataset.sources()
    runs = dataset.table("runs").to_table().to_pylist()
    return [{**labels[run["source"]], "modified": sources[run["source"]]["modified"], **run} for run in runs]


def _facts(dataset: Dataset) -> Facts:
    """Return words about each build, by what they are of: layers, their types and tactics, warnings and errors."""
    facts: Facts = defaultdict(dict)
    names = ["source", "build", "layer", "index", "compute_precision", "tactic"]
    for batch in dataset.table("engine_layers").to_batches(columns=names):
        for row in batch.to_pylist():
            of = facts[row["source"], row["build"]]
            if row["index"] is not None:
                of["layer", row["layer"]] = "present"
                of |= {(f, row["layer"]): row[f] for f in ("compute_precision", "tactic") if row[f] is not None}
    for row in dataset.table("findings").to_table(columns=["source", "build", "code", "severity"]).to_pylist():
        if row["severity"] != "note":
            facts[row["source"], row["build"]]["finding", row["code"]] = "present"
    return facts


class _Series(NamedTuple):
    """Numbers of some runs by their places: a measure, or 1 where a fact, one of ``words``, is ``value``."""

    of: str
    what: str
    value: str
    places: Sequence[int]
    numbers: npt.NDArray[np.float64]
    words: Sequence[str] = ()


def _group(keys: Row, runs: Sequence[Row], facts: Facts, groups: int) -> Group:
    measures = list(_measures(runs))
    every = [*measures, *_words(runs, facts)]
    tested = groups * sum(len(np.unique(series.numbers)) > 1 for series in every)
    best: dict[tuple[str, str, int], Trend] = {}  # a fact's values change together
    for trend in (trend for series in every for trend in _trends(series, runs, tested)):
        place = trend.of, trend.what, trend.number
        best[place] = min(best.get(place, trend), trend, key=lambda each: each.chance)
    order = sorted(best.values(), key=lambda each: (not each.worse, each.number, each.of != "measure", each.what))
    return Group(keys, runs, order, {series.what: _level(series.numbers) for series in measures})


def _level(values: npt.NDArray[np.float64]) -> Row:
    low, middle, high = np.percentile(values, [_LOW, 50, _HIGH]).tolist()
    return {"runs": len(values), "median": middle, "p10": low, "p90": high}


def _measures(runs: Sequence[Row]) -> Iterator[_Series]:
    for name in MEASURES:
        places = [place for place, run in enumerate(runs) if run[name] is not None]
        if places:
            yield _Series("measure", name, "", places, np.array([runs[p][name] for p in places], np.float64))


def _words(runs: Sequence[Row], facts: Facts) -> Iterator[_Series]:
    """Give a series for each value of each fact that differs, over the runs of which it is known."""
    known = [(place, facts.get((run["source"], run["build"]), {})) for place, run in enumerate(runs)]
    with_layers = [(place, of) for place, of in known if any(of_what == "layer" for of_what, _ in of)]
    counts = Counter((key, value) for _, of in known for key, value in of.items())
    for (key, value), count in counts.items():
        among = known if key[0] == "finding" else with_layers
        if key[0] in {"compute_precision", "tactic"}:
            among = [(place, of) for place, of in among if key in of]
        if count < len(among):
            words = [of.get(key, "absent") for _, of in among]
            numbers = np.array([word == value for word in words], np.float64)
            yield _Series(*key, value, [place for place, _ in among], numbers, words)


def _trends(series: _Series, runs: Sequence[Row], tested: int) -> Iterator[Trend]:
    levels = changes(series.numbers, tested)
    bounds = [0, *(change.first for change in levels), len(series.numbers)]
    for change, begin, end in zip(levels, bounds, bounds[2:], strict=False):
        before, after = (_usual(series, *part) for part in ((begin, change.first), (change.first, end)))
        if isinstance(before, float) and isinstance(after, float):
            worse: bool | None = (after - before) * MEASURES[series.what] > 0
            if abs(after - before) < _LEAST * abs(before):
                continue
        else:
            worse = {"finding": after == "present", "compute_precision": after == "Float"}.get(series.of)
        if before == after:  # a value that became rarer or more frequent, and is not the usual one
            before, after, worse = "usual", f"{series.value} at times", None
        number, earliest, latest = (series.places[at] + 1 for at in (change.first, change.earliest, change.latest))
        words = (series.of, series.what, before, after)
        yield Trend(*words, runs[number - 1], number, earliest, latest, change.chance, worse)


def _usual(series: _Series, begin: int, end: int) -> float | str:
    """Return the median of some of the numbers, or the most frequent of the words."""
    if series.words:
        return Counter(series.words[begin:end]).most_common(1)[0][0]
    return float(np.median(series.numbers[begin:end]))


def text_of(group: Group) -> str:
    """Return what is known of a group as text."""
    keys = " · ".join(f"{value}" for value in group.keys.values() if value) or "all runs"
    ends = ", ".join(f"{n:,} {word}" for word, n in Counter(run["outcome"] for run in group.runs).most_common())
    lines = [
        f"{keys}: {counted(len(group.runs), 'run')} ({ends}), {group.runs[0]['dated']} to {group.runs[-1]['dated']}"
    ]
    for name, level in group.levels.items():
        spread = f"{figure(level['p10'])} to {figure(level['p90'])}"
        lines.append(f"    {name} {figure(level['median'])}, 80 % of runs {spread}")
    lines += [f"  {trend.text()}" for trend in group.trends]
    if not group.trends:
        lines.append(f"  no change that chance explains in fewer than {ALPHA:.0%} of such sets")
    return "\n".join(map(visible, lines)) + "\n"


_FORMS: json_text.Forms = {
    "since": lambda run: {key: run[key] for key in ("source", "run", "line", "dated")},
    "sure": lambda chance: 1 - chance,
}


def document_of(groups: Sequence[Group]) -> str:
    """Return the JSON document of groups, schema 1."""
    every = [
        {"keys": dict(group.keys), "runs": len(group.runs), "levels": dict(group.levels)}
        | {"changes": [json_text.document_of("trend", trend, _FORMS) for trend in group.trends]}
        for group in groups
    ]
    return json_text.dumps({"schema": 1, "kind": "trend", "alpha": ALPHA, "groups": every}, indent=1) + "\n"


_LEFT, _HEIGHT = 50.0, 110.0
_DOT, _WORSE = "#3b78b5", "#d1603d"
_FEWEST = 2
"""Fewest runs that are worth a picture."""


def page_of(groups: Sequence[Group]) -> str:
    """Return groups as one page, each with its text and a picture of every measure that its runs state."""
    return page("Trends", stylesheet(), tag("body", tag("h1", "Trends"), *map(_section, groups), cls="plots"))


def _section(group: Group) -> ET.Element:
    first, *lines = text_of(group).splitlines()
    items = tag("ul", *(tag("li", line) for line in lines))
    return tag("section", tag("h2", first), items, *map(element, figures_of(group)))


def figures_of(group: Group) -> Iterator[Figure]:
    """Give a picture of each measure that runs of a group state, in their order."""
    for measure in MEASURES:
        values = [(number, float(run[measure])) for number, run in enumerate(group.runs, 1) if run[measure] is not None]
        if len(values) >= _FEWEST:
            yield _figure(group, measure, values)


def _figure(group: Group, measure: str, values: Sequence[tuple[int, float]]) -> Figure:
    low, high = min(value for _, value in values), max(value for _, value in values)
    canvas = Canvas()
    unit = (WIDTH - _LEFT - 4) / max(len(group.runs) - 1, 1)

    def across(number: int) -> float:
        return _LEFT + (number - 1) * unit

    def down(value: float) -> float:
        return 6 + _HEIGHT * (high - value) / (high - low or 1.0)

    for value in dict.fromkeys((high, low)):
        canvas.rule(_LEFT, down(value), figure(value), gap=6)
    changes = [trend for trend in group.trends if trend.of == "measure" and trend.what == measure]
    for trend in changes:
        canvas.line((across(trend.number), 0.0), (across(trend.number), _HEIGHT + 12), strong=True)
    later = [trend.number for trend in changes if trend.worse]
    for number, value in values:
        colour = _WORSE if later and number >= later[0] else _DOT
        canvas.circle(
            across(number), down(value), 2, colour, f"run {number:,}: {value:g}, {group.runs[number - 1]['source']}"
        )
    canvas.y = _HEIGHT + 28
    canvas.text(_LEFT, canvas.y - 4, "run 1", tone="pale")
    canvas.text(WIDTH, canvas.y - 4, f"{len(group.runs):,}", anchor="end", tone="pale")
    alt = f"{measure} of {counted(len(values), 'run')}, {figure(low)} to {figure(high)}."
    rows = ((number, value, str(group.runs[number - 1]["source"])) for number, value in values)
    note = " ".join(trend.text() for trend in changes) or "No change."
    return canvas.figure(measure, measure, alt, ("run", measure, "source"), rows, note=note)


Series = npt.NDArray[np.float64]

ALPHA = 0.01
"""How likely one false change may be in a set of series without any."""
_LEAST_RUNS = 3
"""Runs on either side of a change."""
_HANSEN = 7.35
"""The 95 % quantile of the ratio: B. E. Hansen, Sample splitting and threshold estimation, Econometrica 68 (2000)."""


class LevelChange(NamedTuple):
    """A change between the values of a series at ``first - 1`` and ``first``.

    With 95 % confidence it is from ``earliest`` to ``latest`` (Hansen's likelihood ratio). ``chance`` is that of such a
    change where there is none.
    """

    first: int
    earliest: int
    latest: int
    chance: float


def changes(values: Series, series: int, alpha: float = ALPHA) -> list[LevelChange]:
    """Return the changes of a series without gaps, in order; ``series`` are tested together.

    A split is a two-sample test: of van der Waerden's normal scores for numbers, which a single slow run does not
    mislead, Fisher's exact test for what is there or not. The best split counts; its probability under "no change" is
    multiplied by the number of splits and series (Bonferroni), so that the chance of any false change is at most
    ``alpha``. Either side is searched again. Runs must be exchangeable: a slow drift is reported as changes.
    """
    levels = sorted(_within(values, 0, len(values), series, alpha))
    bounds = [0, *(change.first for change in levels), len(values)]
    exact = (_split(values, begin, end) for begin, end in zip(bounds, bounds[2:], strict=False))
    return [each._replace(chance=old.chance) for each, old in zip(exact, levels, strict=True) if each is not None]


def _within(values: Series, begin: int, end: int, series: int, alpha: float) -> Iterator[LevelChange]:
    change = _split(values, begin, end)
    if change is not None and (chance := min(1.0, change.chance * (end - begin - 1) * series)) <= alpha:
        yield change._replace(chance=chance)
        yield from _within(values, begin, change.first, series, alpha)
        yield from _within(values, change.first, end, series, alpha)


def _split(values: Series, begin: int, end: int) -> LevelChange | None:
    """Return the best split of a part, its chance that of this split alone; None where the part has none."""
    part = values[begin:end]
    if len(part) < 2 * _LEAST_RUNS or (part == part[0]).all():
        return None
    is_flag = bool(np.isin(part, (0.0, 1.0)).all())
    scores = part - part.mean() if is_flag else _normal_scores(part)
    lengths = np.arange(1, len(part))
    sums = np.cumsum(scores)[:-1]
    variance = (scores @ scores) / (len(part) - 1) * lengths * (len(part) - lengths) / len(part)
    z = np.abs(sums) / np.sqrt(variance)
    z[: _LEAST_RUNS - 1] = z[len(z) - _LEAST_RUNS + 1 :] = 0.0
    best = int(z.argmax())
    chance = _fisher(part, best + 1) if is_flag else erfc(float(z[best]) / sqrt(2))
    rest = 1.0 - z**2 / (len(part) - 1)  # the variance that a split leaves, of the whole
    likely = np.flatnonzero((z > 0) & (len(part) * (rest - rest[best]) <= _HANSEN * rest[best])) + begin + 1
    first = begin + best + 1
    return LevelChange(first, int(min([first, *likely])), int(max([first, *likely])), chance)


def _normal_scores(values: Series) -> Series:
    """Return the normal quantiles of ranks, equal for equal values."""
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    middles = np.cumsum(counts) - (counts - 1) / 2
    quantile = NormalDist().inv_cdf
    scores: Series = np.array([quantile(float(rank) / (len(values) + 1)) for rank in middles])[places]
    centred: Series = scores - scores.mean()
    return centred


def _fisher(flags: Series, split: int) -> float:
    """Return the two-sided probability of so uneven a number of ones in the first ``split`` values."""
    n, ones, seen = len(flags), int(flags.sum()), int(flags[:split].sum())
    possible = range(max(0, ones - (n - split)), min(ones, split) + 1)
    tail = possible[seen - possible[0] :] if seen * n > ones * split else possible[: seen - possible[0] + 1]
    logs = [_choose(ones, k) + _choose(n - ones, split - k) - _choose(n, split) for k in tail]
    return min(1.0, 2 * sum(map(exp, logs)))


def _choose(n: int, k: int) -> float:
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
