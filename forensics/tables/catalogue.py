"""The tables of builds, by the words that name them; those of what a build did have their columns here."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

from trtforensics.engines.alternatives import Alternatives, tuned_type
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import UsageError
from trtforensics.model.ledger import ledger_of
from trtforensics.model.log import Build, Choice
from trtforensics.tables.columns import columns_of
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
    """Return one of :data:`TABLE_NAMES` of engines and their builds.

    Raises:
        UsageError: there is no such table.
    """
    if what == "layers":
        return layer_table(engines)
    if what not in _ROWS:
        raise UsageError(f"table {what!r}", "does not exist", f"There are {', '.join(TABLE_NAMES)}")
    return Table(_COLUMNS[what], (row for engine in engines for row in _ROWS[what](engine.build)))
