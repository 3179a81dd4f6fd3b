"""Figures of a build: how close the tactics were, where its own time went."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.plots.bars import BarPart, BarRow, draw_bars
from trtforensics.plots.engine_figures import MOST_ROWS
from trtforensics.plots.figure import Canvas, Figure

if TYPE_CHECKING:
    from trtforensics.model.log import Build

_NEAR, _CLEAR, _TUNING, _REST = "#d1603d", "#3b78b5", "#3b78b5", "#b9bdc6"
_MOST_MARGIN = 0.5


def margins(build: Build) -> Figure | None:
    """Return how much slower the runner-up of each of the engine's choices was; None where no choice has one."""
    found = [
        (one, one.runner_up_ms / one.time_ms - 1)
        for one in build.choices
        if one.final and one.time_ms and one.runner_up_ms is not None
    ]
    found.sort(key=lambda pair: pair[1])
    if not found:
        return None
    near = sum(one.near_tie for one, _ in found)
    canvas = Canvas()
    canvas.legend([(f"near tie: within {NEAR_TIE_RATIO - 1:.0%}", _NEAR), ("clear", _CLEAR)])
    rows = [
        BarRow(
            one.layer,
            f"runner-up {margin:.1%} slower",
            ((BarPart(min(margin, _MOST_MARGIN), _NEAR if one.near_tie else _CLEAR),),),
        )
        for one, margin in found[:MOST_ROWS]
    ]
    draw_bars(canvas, rows)
    alt = f"Margins of {len(found)} choices that the engine uses: {near} are near ties, which a rebuild may flip."
    data = tuple((one.layer, one.time_ms, one.runner_up_ms, margin, one.span.line) for one, margin in found)
    header = ("layer", "time_ms", "runner_up_ms", "margin", "line")
    hidden = f"{len(found) - MOST_ROWS} clearer ones are in the table only. " if len(found) > MOST_ROWS else ""
    note = f"{hidden}Bars end at {_MOST_MARGIN:.0%}."
    svg = canvas.finished("Margins of the chosen tactics", alt)
    return Figure("margins", "Margins of the chosen tactics", alt, svg, header, data, note)


def tuning(build: Build) -> Figure | None:
    """Return the build's own time: engine generation, and the layers whose tactics took longest to time."""
    layers = [(one.layer, one.seconds, one.span.line) for one in build.tuning]
    stages = [
        (name, float(result.value), result.span.line)
        for key, name in (("build_s", "whole build"), ("generation_s", "engine generation"))
        if (result := build.result(key)) is not None and isinstance(result.value, int | float)
    ]
    if not layers and not stages:
        return None
    tuned = sum(seconds for _, seconds, _ in layers)
    canvas = Canvas()
    canvas.legend([("stages", _REST), ("timing a layer's tactics", _TUNING)])
    whole = [*stages, *([("timing of tactics, all layers", tuned, layers[0][2])] if layers else [])]
    rows = [BarRow(name, f"{s:.3g} s", ((BarPart(s, _REST),),)) for name, s, _ in whole]
    rows += [BarRow(name, f"{s:.3g} s", ((BarPart(s, _TUNING),),)) for name, s, _ in layers[:MOST_ROWS]]
    draw_bars(canvas, rows)
    said = [f"{name} {s:.3g} s" for name, s, _ in whole]
    alt = f"The build's own time: {'; '.join(said)}."
    header = ("what", "layer", "seconds", "line")
    data = (*(("stage", *one) for one in whole), *(("tuning", *one) for one in layers))
    svg = canvas.finished("Time of the build itself", alt)
    hidden = len(layers) - MOST_ROWS
    note = f"{hidden} quicker layers are in the table only." if hidden > 0 else ""
    return Figure("build", "Time of the build itself", alt, svg, header, data, note)
