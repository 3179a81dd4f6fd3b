"""Tables of whole logs: runs and builds with what they came to, and the comparisons of runs."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from types import SimpleNamespace
from typing import Any

from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.run import Run, RunResult
from trtforensics.render.headline import allowed_types, joined_types
from trtforensics.tables.catalogue import PLACE, LogRow
from trtforensics.tables.columns import TableColumn, columns_of
from trtforensics.tables.table import Table


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


_NAMED: Mapping[str, Callable[..., Any]] = {
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
    what: (columns_of(what, _NAMED), rows)
    for what, rows in (("runs", _runs), ("builds", _builds), ("passes", _passes), ("comparisons", _comparisons))
}
"""Their columns and rows, by the words that name them. The build of a run is its last."""
