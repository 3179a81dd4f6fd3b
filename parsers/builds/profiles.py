"""The profiles of a log, the tables of ``--dumpProfile`` (TensorRT 7 to 10.16); and the times of an engine's layers.

A layer's time is its average in the last profile. Only where there is no profile, it is what the autotuner took for the
layer alone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from trtforensics.model.profile import LayerTime, ProfileRun, TimeSource
from trtforensics.parsers.notation.names import myelin_graph

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trtforensics.model.log import CachedResult, Choice, EngineLayer
    from trtforensics.model.span import SourceSpan
    from trtforensics.parsers.builds.views import LinesView, Log

_HEADINGS = ("profile_section", "profile_header")
_ROWS = ("profile_row", "profile_row_old")
_TOTAL = "Total"
"""The name in a table's last row."""


@dataclass(slots=True)
class _Table:
    """A table on its way to a profile; ``iterations`` is None where its heading is missing."""

    span: SourceSpan
    iterations: int | None = None
    rows: list[LayerTime] = field(default_factory=list)
    total_ms: float | None = None


def profiles(log: Log) -> Sequence[tuple[ProfileRun, ...]]:
    """Read the tables of each build, in the log's order."""
    if not log.has(*_ROWS):
        return [()] * log.size
    return [tuple(_profiles(view, log)) if view.has(*_ROWS) else () for view in log.views]


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
    table: _Table | None = None
    for line in view.lines(*_HEADINGS, *_ROWS):
        own = rows.get(line)
        goes_on = table is not None and line not in iterations and table.total_ms is None
        if table is None or not goes_on or (own is None and table.rows):
            yield from _read(table)
            table = _Table(log.spans.of(line), iterations.get(line))
        if own is not None and own.name == _TOTAL:
            table.total_ms = own.total_ms
        elif own is not None:
            table.rows.append(own)
    yield from _read(table)


def _read(table: _Table | None) -> Iterable[ProfileRun]:
    if table is not None and table.rows:
        yield ProfileRun(table.iterations, tuple(table.rows), table.span, table.total_ms)


def with_times(
    layers: Sequence[EngineLayer],
    runs: Sequence[ProfileRun],
    choices: Sequence[Choice],
    cached: Sequence[CachedResult],
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
