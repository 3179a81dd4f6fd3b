"""The tables of builds and runs, by the words that name them; those of what a build did have their columns here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter, itemgetter
from types import SimpleNamespace
from typing import Any, NamedTuple

from trtforensics.engines.alternatives import Alternatives, tuned_type
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import UsageError
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Build, BuildLog, Choice
from trtforensics.model.run import Run, RunResult
from trtforensics.render.headline import allowed_types, joined_types
from trtforensics.tables.columns import TableColumn, columns_of
from trtforensics.tables.layers import layer_table
from trtforensics.tables.table import Table


class LogRow(NamedTuple):
    """A record of a build, and where it stands; the build's number counts from 1. ``more`` is what joins it."""

    build: int | None
    item: Any
    file: str
    line: int
    more: Any = None


PLACE = columns_of("place")
"""Where a row stands: the last columns of every table of logs."""


def _row(build: Build, item: Any, more: Any = None) -> LogRow:  # noqa: ANN401 - any record with a span
    return LogRow(build.index + 1, item, item.span.file, item.span.line_in_file, more)


def _choices(build: Build) -> Iterator[LogRow]:
    alternatives = Alternatives(build)
    for result in sorted(build.tuned_results, key=lambda result: result.span.line):
        margin = alternatives.margin(result)
        yield _row(build, result, None if margin is None else margin - 1)


def _candidates(build: Build) -> Iterator[LogRow]:
    for choice in build.choices:
        for candidate in build.candidates(choice):
            span = choice.span
            yield LogRow(build.index + 1, candidate, span.file, candidate.line - span.before, choice)


def _profile(build: Build) -> Iterator[LogRow]:
    for row in build.profile:
        layer = None if row.engine_layer is None else build.engine_layers[row.engine_layer]
        yield _row(build, row, layer)


def _results(build: Build) -> Iterator[LogRow]:
    for result in build.results:
        values = result.value.items() if isinstance(result.value, Mapping) else ((None, result.value),)
        yield from (_row(build, result, statistic) for statistic in values)


def _slower(row: LogRow) -> float | None:
    """Return how much slower a candidate is than the choice of its block."""
    chosen, time_ms = row.more.time_ms, row.item.time_ms
    return time_ms / chosen - 1 if chosen and time_ms is not None else None


_ROWS: dict[str, Callable[[Build], Iterable[LogRow]]] = {
    "choices": _choices,
    "candidates": _candidates,
    "fusions": lambda build: (_row(build, record) for record in build.fusions),
    "profile": _profile,
    "messages": lambda build: (_row(build, record) for record in build.messages),
    "cache-keys": lambda build: (_row(build, record) for record in build.timing_cache_keys),
    "results": _results,
    "options": lambda build: (_row(build, fact, block) for block, facts in build.options.items() for fact in facts),
    "ledger": lambda build: (_row(build, unit) for unit in ledger_of(build).units),
}
_NAMED: dict[str, Callable[..., Any]] = {
    "tuned_type": tuned_type,
    "of_choice": lambda field: lambda row: getattr(row.item, field, None),
    "cached": lambda row: not isinstance(row.item, Choice),
    "slower": _slower,
    "chosen": lambda row: row.item.tactic == row.more.tactic,
    "share": lambda row: row.item.percentage / 100,
    "first": itemgetter(0),
    "second": itemgetter(1),
    "numbers": lambda numbers: tuple(map(str, numbers)),
}
_COLUMNS = {what: (*columns_of(what, _NAMED), *PLACE) for what in _ROWS}
TABLE_NAMES = ("layers", *_ROWS)


def table_of(what: str, engines: Sequence[EngineFacts]) -> Table:
    """Return one of :data:`TABLE_NAMES` of engines and their builds. UsageError where there is no such table."""
    if what == "layers":
        return layer_table(engines)
    if what not in _ROWS:
        raise UsageError(f"table {what!r}", "does not exist", f"There are {', '.join(TABLE_NAMES)}")
    return Table(_COLUMNS[what], (row for engine in engines for row in _ROWS[what](engine.build)))


@dataclass(frozen=True)
class RunSummary:
    """What reading and judging tell of a run beside its record.

    ``started`` is the time of its first dated line, as printed; ``findings`` counts them by the severity's word;
    ``roots`` are codes of findings that follow from no other, worst first.
    """

    started: str | None = None
    findings: Mapping[str, int] = field(default_factory=dict)
    roots: tuple[str, ...] = ()


@dataclass(frozen=True)
class ToldRun:
    """A run with its builds and its summary."""

    run: Run
    builds: Sequence[Build]
    summary: RunSummary

    def stated(self, get: Callable[[Build], Any]) -> Any:  # noqa: ANN401 - what the caller's function returns
        """Return what the last build that states something states; None where none does."""
        return next((value for build in reversed(self.builds) if (value := get(build)) is not None), None)

    def result(self, key: str, statistic: str = "") -> float | None:
        """Return the last result of a key, or a statistic of it."""
        last: RunResult | None = self.stated(lambda build: build.result(key))
        if last is None:
            return None
        return last.figures.get(statistic) if statistic else last.number


def run_table(what: str, logs: Iterable[tuple[BuildLog, Sequence[RunSummary]]]) -> Table:
    """Return one of :data:`RUN_TABLES` of logs, which are taken one by one; a log has a summary for each run."""
    columns, rows = RUN_TABLES[what]
    return Table((*columns, *PLACE), (row for log, summaries in logs for row in rows(log, summaries)))


def model_of(build: Build) -> str | None:
    """Return the model's file: of the options, of the parser's header."""
    headers = (note for note in build.notes if note.kind == "onnx_header" and note.text("name") == "Input filename")
    return (build.option("model", "Model") or next((note.text("value") for note in headers), "")) or None


def _at(log: BuildLog, build: int | None, item: object, line: int, more: object = None) -> LogRow:
    part, before = log.source.part_of(line)
    return LogRow(build, item, part.path, line - before, more)


def _runs(log: BuildLog, summaries: Sequence[RunSummary]) -> Iterator[LogRow]:
    for run, summary in zip(log.runs, summaries, strict=True):
        builds = [log.builds[index] for index in run.builds]
        yield _at(log, builds[-1].index + 1 if builds else None, ToldRun(run, builds, summary), run.first_line)


def _builds(log: BuildLog, _: Sequence[RunSummary]) -> Iterator[LogRow]:
    for build in log.builds:
        run = ToldRun(log.run_of(build), [build], RunSummary())  # type: ignore[arg-type]  # no run: files alone
        yield _at(log, build.index + 1, run, build.first_line, ledger_of(build))


def _passes(log: BuildLog, _: Sequence[RunSummary]) -> Iterator[LogRow]:
    for build in log.builds:
        for place, each in enumerate(build.passes):
            yield _at(log, build.index + 1, each, each.first_line, place)


def _comparisons(log: BuildLog, _: Sequence[RunSummary]) -> Iterator[LogRow]:
    for run in log.runs:
        build = run.builds[-1] + 1 if run.builds else None
        for comparison in run.comparisons:
            for output in comparison.outputs:
                more = SimpleNamespace(run=run.index + 1, comparison=comparison)
                yield _at(log, build, output, output.span.line, more)


_OF_RUNS: Mapping[str, Callable[..., Any]] = {
    "stated": lambda path: lambda row: row.item.stated(attrgetter(path)),
    "counted": lambda path: lambda row: row.item.stated(lambda build: len(getattr(build, path))),
    "result": lambda key, statistic="": lambda row: row.item.result(key, statistic),
    "findings": lambda severity: lambda row: row.item.summary.findings.get(severity, 0),
    "gpu": lambda row: row.item.stated(lambda build: (build.option("device", "Selected Device") or "").strip() or None),
    "model": lambda row: row.item.stated(model_of),
    "precision": lambda row: row.item.stated(lambda build: joined_types(allowed_types(build)) or None),
    "root": lambda row: next(iter(row.item.summary.roots), None),
}
RUN_TABLES: Mapping[
    str, tuple[tuple[TableColumn, ...], Callable[[BuildLog, Sequence[RunSummary]], Iterator[LogRow]]]
] = {
    what: (columns_of(what, _OF_RUNS), rows)
    for what, rows in (("runs", _runs), ("builds", _builds), ("passes", _passes), ("comparisons", _comparisons))
}
"""Their columns and rows, by the words that name them. The build of a run is its last."""
