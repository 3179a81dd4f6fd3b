"""The tables of builds, by the words that name them; those of what a build did have their columns here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from trtforensics.engines.alternatives import Alternatives, tuned_type
from trtforensics.errors import UsageError
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Choice
from trtforensics.model.timings import tactic_text
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.layers import layer_table
from trtforensics.tables.table import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from trtforensics.engines.facts import EngineFacts
    from trtforensics.model.log import Build

_N, _I, _T = Sort.NUMBER, Sort.INTEGER, Sort.TEXTS
_SEVERITIES = {"W": "warning", "E": "error"}


class LogRow(NamedTuple):
    """A record of a build, and where it stands; the build's number counts from 1. ``more`` is what joins it."""

    build: int | None
    item: Any
    file: str
    line: int
    more: Any = None


PLACE = (
    TableColumn("build", lambda row: row.build, _I),
    TableColumn("source", lambda row: row.file, plain=False),
    TableColumn("line", lambda row: row.line, _I),
)
"""Where a row stands: the last columns of every table of logs."""


def _table(columns: tuple[TableColumn, ...], rows: Callable[[Build], Iterable[LogRow]]) -> Callable[..., Table]:
    """Return what makes a table of builds: its own columns, and where each row stands."""
    return lambda builds: Table((*columns, *PLACE), (row for build in builds for row in rows(build)))


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


def _ratio(row: LogRow) -> float | None:
    """Return how much slower a candidate is than the choice of its block."""
    chosen, time_ms = row.more.time_ms, row.item.time_ms
    return time_ms / chosen - 1 if chosen and time_ms is not None else None


_LOG_TABLES: dict[str, Callable[..., Table]] = {
    "choices": _table(
        (
            TableColumn("layer", lambda row: row.item.layer, aliases=("name",)),
            TableColumn("runner", lambda row: row.item.runner),
            TableColumn("type", lambda row: tuned_type(row.item), types=True),
            TableColumn("tactic", lambda row: tactic_text(row.item.tactic)),
            TableColumn("kernel", lambda row: row.item.kernel or None),
            TableColumn("time_ms", lambda row: row.item.time_ms, _N, "ms", ("time",)),
            TableColumn("runner_up_ms", lambda row: getattr(row.item, "runner_up_ms", None), _N, "ms"),
            TableColumn("margin", lambda row: row.more, _N, "ratio"),
            TableColumn("candidates", lambda row: getattr(row.item, "candidates", None), _I),
            TableColumn("input_formats", lambda row: row.item.inputs, _T),
            TableColumn("output_formats", lambda row: row.item.outputs, _T),
            TableColumn("final", lambda row: row.item.final, Sort.FLAG),
            TableColumn("cached", lambda row: not isinstance(row.item, Choice), Sort.FLAG),
            TableColumn("pass", lambda row: row.item.pass_index, _I),
        ),
        _choices,
    ),
    "candidates": _table(
        (
            TableColumn("layer", lambda row: row.more.layer, aliases=("name",)),
            TableColumn("runner", lambda row: row.item.runner or None),
            TableColumn("tactic", lambda row: tactic_text(row.item.tactic)),
            TableColumn("kernel", lambda row: row.item.kernel or None),
            TableColumn("time_ms", lambda row: row.item.time_ms, _N, "ms", ("time",)),
            TableColumn("slower", _ratio, _N, "ratio"),
            TableColumn("chosen", lambda row: row.item.tactic == row.more.tactic, Sort.FLAG),
            TableColumn("type", lambda row: tuned_type(row.more), types=True),
            TableColumn("input_formats", lambda row: row.more.inputs, _T),
            TableColumn("output_formats", lambda row: row.more.outputs, _T),
            TableColumn("pass", lambda row: row.more.pass_index, _I),
        ),
        _candidates,
    ),
    "fusions": _table(
        (
            TableColumn("kind", lambda row: row.item.kind),
            TableColumn("layers", lambda row: row.item.inputs, _T),
            TableColumn("pass", lambda row: row.item.pass_index, _I),
        ),
        lambda build: (_row(build, record) for record in build.fusions),
    ),
    "profile": _table(
        (
            TableColumn("layer", lambda row: row.item.name, aliases=("name",)),
            TableColumn("total_ms", lambda row: row.item.total_ms, _N, "ms"),
            TableColumn("average_ms", lambda row: row.item.average_ms, _N, "ms", ("time",)),
            TableColumn("median_ms", lambda row: row.item.median_ms, _N, "ms"),
            TableColumn("share", lambda row: row.item.percentage / 100, _N, "ratio"),
            TableColumn("type", lambda row: row.more.type if row.more else None, types=True),
            TableColumn("engine_layer", lambda row: row.item.engine_layer, _I),
        ),
        _profile,
    ),
    "messages": _table(
        (
            TableColumn("severity", lambda row: _SEVERITIES.get(row.item.severity, row.item.severity)),
            TableColumn("text", lambda row: row.item.text),
        ),
        lambda build: (_row(build, record) for record in build.messages),
    ),
    "cache-keys": _table(
        (
            TableColumn("op", lambda row: row.item.op, aliases=("name",)),
            TableColumn("key", lambda row: row.item.key),
            TableColumn("selected", lambda row: tactic_text(row.item.selected)),
            TableColumn("time_ms", lambda row: row.item.time_ms, _N, "ms", ("time",)),
            TableColumn("candidates", lambda row: len(row.item.candidates), _I),
            TableColumn("foreign_node", lambda row: row.item.foreign_node or None),
            TableColumn("onnx_nodes", lambda row: row.item.onnx_nodes, _T, aliases=("fused",)),
            TableColumn("pass", lambda row: row.item.pass_index, _I),
        ),
        lambda build: (_row(build, record) for record in build.timing_cache_keys),
    ),
    "results": _table(
        (
            TableColumn("result", lambda row: row.item.key, aliases=("name",)),
            TableColumn("statistic", lambda row: row.more[0]),
            TableColumn("value", lambda row: row.more[1], _N),
        ),
        _results,
    ),
    "options": _table(
        (
            TableColumn("block", lambda row: row.more),
            TableColumn("option", lambda row: row.item.name, aliases=("name",)),
            TableColumn("value", lambda row: row.item.value),
        ),
        lambda build: (_row(build, fact, block) for block, facts in build.options.items() for fact in facts),
    ),
    "ledger": _table(
        (
            TableColumn("unit", lambda row: row.item.kind.value),
            TableColumn("name", lambda row: row.item.name),
            TableColumn("layers", lambda row: tuple(map(str, row.item.layers)), _T),
            TableColumn("time_ms", lambda row: row.item.time_ms, _N, "ms", ("time",)),
            TableColumn("time_is", lambda row: row.item.state),
            TableColumn("share", lambda row: row.item.share, _N, "ratio"),
        ),
        lambda build: (_row(build, unit) for unit in ledger_of(build).units),
    ),
}
TABLE_NAMES = ("layers", *_LOG_TABLES)


def table_of(what: str, engines: Sequence[EngineFacts]) -> Table:
    """Return one of :data:`TABLE_NAMES` of engines and their builds.

    Raises:
        UsageError: there is no such table.
    """
    if what == "layers":
        return layer_table(engines)
    if what not in _LOG_TABLES:
        raise UsageError(f"table {what!r}", "does not exist", f"There are {', '.join(TABLE_NAMES)}")
    return _LOG_TABLES[what]([engine.build for engine in engines])
