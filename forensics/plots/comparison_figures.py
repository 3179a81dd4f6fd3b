"""Figures of two engines: their types side by side, and where the difference comes from."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from trtforensics.plots.figure import BarPart, BarRow, Canvas, Figure, draw_bars
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.comparison.times import LayerDelta, LayerTimes

_GOOD, _BAD, _SLOWER, _FASTER, _WHOLE = "#3b78b5", "#d1603d", "#d1603d", "#3b78b5", "#8a8f9c"
_STEPS = 24
_SAID = 100
"""Characters of a name in a sentence."""


def side_by_side(times: LayerTimes, first: str, second: str) -> Figure:
    """Return the time of each type in both engines, which have these names."""
    canvas = Canvas()
    canvas.legend([(first, _GOOD), (second, _BAD)])
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
    draw_bars(canvas, rows)
    alt = f"Time by type of two engines, {times.time_is}: {times.good_ms:.4g} ms and {times.bad_ms:.4g} ms in all."
    header = ("type", "first_layers", "second_layers", "first_ms", "second_ms", "delta_ms")
    data = tuple((o.type, o.good_layers, o.bad_layers, o.good_ms, o.bad_ms, o.delta_ms) for o in shown)
    return canvas.figure("compare", "Two engines by type", alt, header, data)


def waterfall(times: LayerTimes, first: str, second: str) -> Figure:
    """Return the way from the first engine's time to the second's, the largest steps one by one; both have names."""
    canvas = Canvas()
    canvas.legend([("slower", _SLOWER), ("faster", _FASTER), ("sum of layers", _WHOLE)])
    steps = [row for row in times.rows if row.delta_ms]
    shown, rest = steps[:_STEPS], steps[_STEPS:]
    base = _base(times.good_ms, [row.delta_ms for row in shown])
    at = times.good_ms
    rows = [BarRow(first, f"{at:.4g} ms", ((BarPart(at, _WHOLE),),))]
    for row in shown:
        rows.append(_step(_name(row), row.delta_ms, at))
        at += row.delta_ms
    if rest:
        change = sum(row.delta_ms for row in rest)
        rows.append(_step(f"{len(rest)} smaller differences", change, at))
    rows.append(BarRow(second, f"{times.bad_ms:.4g} ms", ((BarPart(times.bad_ms, _WHOLE),),)))
    draw_bars(canvas, rows, base)
    largest = f" The largest step: {shortened(_name(shown[0]), _SAID)}, {shown[0].delta_ms:+.4g} ms." if shown else ""
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
    colour = _SLOWER if change > 0 else _FASTER
    return BarRow(name, f"{change:+.4g} ms", ((BarPart(change, colour, start=at),),))


def _name(row: LayerDelta) -> str:
    return (row.bad.layers or row.good.layers or (row.name,))[0]
