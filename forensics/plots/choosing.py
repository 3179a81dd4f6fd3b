"""Which figures there are, which of them sources give, and those of two engines."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from pathlib import PurePath

from trtforensics.comparison.times import LayerDelta, LayerTimes, compare_times
from trtforensics.comparison.views import of_log
from trtforensics.engines.facts import EngineFacts
from trtforensics.errors import UsageError
from trtforensics.knowledge.table import rows
from trtforensics.model.log import BuildLog
from trtforensics.plots.engine_figures import blocks, layers, margins, memory, roofline, tuning, types
from trtforensics.plots.figure import NAME_LENGTH, BarPart, BarRow, Figure, bar_row, barred
from trtforensics.render.names import shortened

_LABEL = 30
"""Characters of an engine's name beside its bar."""
NEEDS = {row["figure"]: row["needs"] for row in rows("figures", "trtforensics.plots")}
"""What each figure needs, in words; its keys are the names of all figures."""


def figures_of(engine: EngineFacts) -> list[Figure]:
    """Return the figures that one engine's sources give, in order."""
    of_layers = (draw(engine) for draw in (layers, types, blocks, memory, roofline))
    of_build = (draw(engine.build) for draw in (margins, tuning))
    return [figure for figure in (*of_layers, *of_build) if figure is not None]


def named(made: Iterable[Figure], name: str, where: str) -> Figure:
    """Return one of the figures that files give, or an error that says what it needs; ``where`` is its file.

    Raises:
        UsageError: the files do not give it; the error says what it needs.
    """
    by_name = {figure.name: figure for figure in made}
    if name not in by_name:
        raise UsageError(where, f"does not give the figure {name}", f"It needs {NEEDS.get(name, 'another name')}")
    return by_name[name]


def figures_of_two(first: BuildLog, second: BuildLog) -> list[Figure]:
    """Return the figures of two engines; none where their layers have no times of one source."""
    views = [view for log in (first, second) if (view := of_log(log)) is not None]
    times = compare_times(views[:1], views[1:]).layers if len(views) > 1 else None
    if times is None:
        return []
    left, right = (shortened(PurePath(log.source.path).name, _LABEL) for log in (first, second))
    names = (left, right) if left != right else (f"first {left}", f"second {right}")
    return [waterfall(times, *names), side_by_side(times, *names)]


_GOOD, _BAD, _SLOWER, _FASTER, _WHOLE = "#3b78b5", "#d1603d", "#d1603d", "#3b78b5", "#8a8f9c"
_STEPS = 24


def side_by_side(times: LayerTimes, first: str, second: str) -> Figure:
    """Return the time of each type in both engines, which have these names."""
    shown = [kind for kind in times.types if kind.good_ms or kind.bad_ms]
    rows = [
        BarRow(
            kind.type or "type unknown",
            f"{kind.good_ms:.4g} -> {kind.bad_ms:.4g} ms",
            (
                (BarPart(kind.good_ms, _GOOD, f"{first} {kind.good_ms:.4g} ms"),),
                (BarPart(kind.bad_ms, _BAD, f"{second} {kind.bad_ms:.4g} ms"),),
            ),
        )
        for kind in shown
    ]
    canvas = barred([(first, _GOOD), (second, _BAD)], rows)
    alt = f"Time by type of two engines, {times.time_is}: {times.good_ms:.4g} ms and {times.bad_ms:.4g} ms in all."
    header = ("type", "first_layers", "second_layers", "first_ms", "second_ms", "delta_ms")
    data = tuple((o.type, o.good_layers, o.bad_layers, o.good_ms, o.bad_ms, o.delta_ms) for o in shown)
    return canvas.figure("compare", "Two engines by type", alt, header, data)


def waterfall(times: LayerTimes, first: str, second: str) -> Figure:
    """Return the way from the first engine's time to the second's, the largest steps one by one; both have names."""
    steps = [row for row in times.rows if row.delta_ms]
    shown, rest = steps[:_STEPS], steps[_STEPS:]
    base = _base(times.good_ms, [row.delta_ms for row in shown])
    at = times.good_ms
    rows = [bar_row(first, f"{at:.4g} ms", at, _WHOLE)]
    for row in shown:
        rows.append(_step(_name(row), row.delta_ms, at))
        at += row.delta_ms
    if rest:
        change = sum(row.delta_ms for row in rest)
        rows.append(_step(f"{len(rest)} smaller differences", change, at))
    rows.append(bar_row(second, f"{times.bad_ms:.4g} ms", times.bad_ms, _WHOLE))
    canvas = barred([("slower", _SLOWER), ("faster", _FASTER), ("sum of layers", _WHOLE)], rows, base)
    largest = (
        f" The largest step: {shortened(_name(shown[0]), NAME_LENGTH)}, {shown[0].delta_ms:+.4g} ms." if shown else ""
    )
    alt = f"From {times.good_ms:.4g} ms to {times.bad_ms:.4g} ms by layers, {times.time_is}.{largest}"
    header = ("layer", "matched_by", "first_ms", "second_ms", "delta_ms", "noise_ms")
    data = tuple((_name(o), o.how, o.good.ms, o.bad.ms, o.delta_ms, o.noise_ms) for o in times.rows)
    note = f"The scale begins at {base:.4g} ms." if base else ""
    return canvas.figure("waterfall", "Where the difference comes from", alt, header, data, note=note)


def _base(start: float, changes: Sequence[float]) -> float:
    """Return where the scale begins: above 0 where the steps would be slivers at the end of long bars."""
    levels = [start, *accumulate(changes, initial=start)]
    low, high = min(levels), max(levels)
    return low - (high - low) / 4 if high - low < low / 2 else 0.0


def _step(name: str, change: float, at: float) -> BarRow:
    return bar_row(name, f"{change:+.4g} ms", change, _SLOWER if change > 0 else _FASTER, at)


def _name(row: LayerDelta) -> str:
    return (row.bad.layers or row.good.layers or (row.name,))[0]
