"""Tables of whole logs: runs and builds with what they came to, and the comparisons of runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from trtforensics.model.ledger import ledger_of
from trtforensics.render.headline import allowed_types, joined_types
from trtforensics.tables.catalogue import PLACE, LogRow
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from trtforensics.model.log import Build, BuildLog
    from trtforensics.model.run import Run, RunResult

_N, _I, _T = Sort.NUMBER, Sort.INTEGER, Sort.TEXTS
_TIMES = {
    "latency_ms": ("min", "max", "mean", "median", "p90", "p95", "p99"),
    "gpu_compute_ms": ("mean", "median", "p99"),
}
"""The times of inferences that have columns of their own, each by its statistics; ``results`` has all."""


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
        told = ToldRun(log.run_of(build), [build], RunSummary())  # type: ignore[arg-type]  # no run: files alone
        yield _at(log, build.index + 1, told, build.first_line, ledger_of(build))


def _passes(log: BuildLog, _: Sequence[RunSummary]) -> Iterator[LogRow]:
    for build in log.builds:
        for place, each in enumerate(build.passes):
            yield _at(log, build.index + 1, each, each.first_line, place)


def _comparisons(log: BuildLog, _: Sequence[RunSummary]) -> Iterator[LogRow]:
    for run in log.runs:
        build = run.builds[-1] + 1 if run.builds else None
        for comparison in run.comparisons:
            for output in comparison.outputs:
                yield _at(log, build, output, output.span.line, (run, comparison))


def _stated(get: Callable[[Build], object]) -> Callable[[LogRow], Any]:
    return lambda row: row.item.stated(get)


def _result(key: str, statistic: str, row: LogRow) -> float | None:
    return row.item.result(key, statistic)  # type: ignore[no-any-return]  # a ToldRun's


def _count(severity: str, row: LogRow) -> int:
    return row.item.summary.findings.get(severity, 0)  # type: ignore[no-any-return]  # a ToldRun's


def _with_unit(key: str, statistic: str) -> str:
    """Return the name of a column: ``latency_median_ms``."""
    quantity, _, unit = key.rpartition("_")
    return f"{quantity}_{statistic}_{unit}"


_SETTING = (
    TableColumn("release", _stated(lambda build: build.tensorrt_version), aliases=("version",)),
    TableColumn("gpu", _stated(lambda build: (build.option("device", "Selected Device") or "").strip() or None)),
    TableColumn("model", _stated(model_of)),
    TableColumn("precision", _stated(lambda build: joined_types(allowed_types(build)) or None)),
    TableColumn("build_s", partial(_result, "build_s", ""), _N, "s"),
    TableColumn("engine_bytes", partial(_result, "engine_bytes", ""), _I, "bytes"),
    TableColumn("loaded_engine_mib", partial(_result, "loaded_engine_mib", ""), _N),
)
_RUN_COLUMNS = (
    TableColumn("run", lambda row: row.item.run.index + 1, _I),
    TableColumn("program", lambda row: row.item.run.program.value, aliases=("name",)),
    TableColumn("outcome", lambda row: row.item.run.outcome.ending.value),
    TableColumn("why", lambda row: row.item.run.outcome.why or None, plain=False),
    TableColumn("started", lambda row: row.item.summary.started),
    *_SETTING,
    *(
        TableColumn(_with_unit(key, statistic), partial(_result, key, statistic), _N, "ms")
        for key, statistics in _TIMES.items()
        for statistic in statistics
    ),
    TableColumn("throughput_qps", partial(_result, "throughput_qps", ""), _N, aliases=("qps",)),
    *(TableColumn(f"{word}s", partial(_count, word), _I) for word in ("error", "warning", "note")),
    TableColumn("root", lambda row: next(iter(row.item.summary.roots), None)),
    TableColumn("roots", lambda row: row.item.summary.roots, _T),
    TableColumn("builds", lambda row: len(row.item.builds), _I),
    TableColumn("command", lambda row: row.item.run.command, plain=False),
    TableColumn("last_line", lambda row: row.item.run.last_line, _I),
)
_BUILD_COLUMNS = (
    TableColumn("run", lambda row: None if row.item.run is None else row.item.run.index + 1, _I),
    TableColumn("tool", _stated(lambda build: build.tool.value), aliases=("name",)),
    TableColumn("outcome", _stated(lambda build: build.outcome.value)),
    *_SETTING,
    TableColumn("engine_layers", _stated(lambda build: len(build.engine_layers)), _I, aliases=("layers",)),
    TableColumn("engine_ms", lambda row: row.more.total_ms, _N, "ms", ("time",)),
    TableColumn("time_is", lambda row: row.more.time_is.value if row.more.time_is else None),
    TableColumn("unknown_layers", lambda row: row.more.unknown_layers, _I),
    TableColumn("passes", _stated(lambda build: len(build.passes)), _I),
    TableColumn("choices", _stated(lambda build: len(build.choices)), _I),
    TableColumn("tactics_timed", _stated(lambda build: build.autotuning.tactics_timed), _I),
    TableColumn("cache_hits", _stated(lambda build: build.autotuning.cache_hits), _I),
    TableColumn("warning_lines", _stated(lambda build: build.message_counts.warning), _I),
    TableColumn("error_lines", _stated(lambda build: build.message_counts.error), _I),
    TableColumn("last_line", _stated(lambda build: build.last_line), _I),
)
_COMPARISON_COLUMNS = (
    TableColumn("run", lambda row: row.more[0].index + 1, _I),
    TableColumn("left", lambda row: row.more[1].left),
    TableColumn("right", lambda row: row.more[1].right or None),
    TableColumn("output", lambda row: row.item.name, aliases=("name",)),
    TableColumn("passed", lambda row: row.item.passed, Sort.FLAG),
    *(
        TableColumn(name, lambda row, name=name: getattr(row.item, name), _N)  # type: ignore[misc]  # mypy: no type of a default
        for name in ("max_abs", "mean_abs", "max_rel", "atol", "rtol")
    ),
    TableColumn("nan", lambda row: row.item.nan, _I),
    TableColumn("inf", lambda row: row.item.inf, _I),
    TableColumn("dtype", lambda row: row.item.dtype, types=True),
    TableColumn("pass_rate_percent", lambda row: row.more[1].pass_rate, _N),
)
_PASS_COLUMNS = (
    TableColumn("pass", lambda row: row.more, _I),
    TableColumn("backend_strategy", lambda row: row.item.backend_strategy, _I),
    TableColumn("chosen", lambda row: row.item.chosen, Sort.FLAG),
    TableColumn("estimated_ms", lambda row: row.item.estimated_ms, _N, "ms"),
    TableColumn("last_line", lambda row: row.item.last_line, _I),
)

RUN_TABLES: Mapping[
    str, tuple[tuple[TableColumn, ...], Callable[[BuildLog, Sequence[RunSummary]], Iterator[LogRow]]]
] = {
    "runs": (_RUN_COLUMNS, _runs),
    "builds": (_BUILD_COLUMNS, _builds),
    "passes": (_PASS_COLUMNS, _passes),
    "comparisons": (_COMPARISON_COLUMNS, _comparisons),
}
"""Their columns and rows, by the words that name them. The build of a run is its last."""
