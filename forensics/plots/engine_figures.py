"""Which figures there are, those that the sources of one engine give, and those of two engines."""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from math import ceil, floor, log10
from operator import attrgetter
from pathlib import PurePath

from trtforensics.comparison.times import LayerDelta, LayerTimes, compare_times
from trtforensics.comparison.views import of_log
from trtforensics.console.counting import MEBIBYTE, counted, grouped
from trtforensics.engines.facts import EngineFacts, LayerFacts, LayerGroup
from trtforensics.errors import UsageError
from trtforensics.knowledge.table import rows
from trtforensics.model.log import Build, BuildLog
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.plots import figure
from trtforensics.render import colours
from trtforensics.render.names import shortened

MOST_ROWS = 25
"""Layers that a figure shows, so that it can be read on one printed page; its table has all of them."""

_WEIGHTS, _ACTIVATIONS = "#7a63b0", "#2f9e6e"
_TREE_HEIGHT, _ROOF_HEIGHT = 320.0, 280.0
_LINE = 14.0
_DEEPEST, _HALF = 7, 0.5
_READABLE = 8
"""Characters of a name that is cut; fewer say nothing."""
_NO_BLOCK = "no block"
_GIBIBYTE = 1 << 30


def layers(engine: EngineFacts) -> figure.Figure | None:
    """Return the time by layer, coloured by what the layers compute in; None where no layer has a time."""
    timed = engine.timed
    if not timed:
        return None
    rows = [
        figure.bar_row(layer.name, _time(layer), layer.time_ms or 0.0, colours.of_precision(layer.precision))
        for layer in timed[:MOST_ROWS]
    ]
    canvas = figure.barred(_precisions(timed), rows)
    whole = engine.ledger.booked_ms or 0.0
    alt = (
        f"Time of the {counted(len(timed), 'layer')} of {PurePath(engine.source).name}, {engine.time_is}, "
        f"{whole:.4g} ms in all. "
        f"The slowest: {shortened(timed[0].name, figure.NAME_LENGTH)} with {_time(timed[0])}."
    )
    header = ("layer", "type", "compute_precision", "time_ms", "share", "file", "line")
    read = attrgetter("name", "kind", "precision", "time_ms", "share", "span.file", "span.line_in_file")
    data = tuple(map(read, timed))
    return canvas.figure("layers", "Time by layer", alt, header, data, note=_rest(timed))


def types(engine: EngineFacts) -> figure.Figure | None:
    """Return the time by operation, each bar parted by precision; None where no layer has a time."""
    timed = engine.timed
    if not timed:
        return None
    rows, data = [], []
    for group in engine.by_kind():
        if not group.time_ms:
            continue
        by_precision = grouped(group.layers, attrgetter("precision")).items()
        parts = [(name, sum(layer.time_ms or 0.0 for layer in of_name)) for name, of_name in by_precision]
        ordered = sorted(parts, key=lambda pair: -pair[1])
        segments = tuple(
            figure.BarPart(ms, colours.of_precision(name), f"{colours.precision_word(name)} {ms:.4g} ms")
            for name, ms in ordered
        )
        text = f"{group.time_ms:.4g} ms, {counted(len(group.layers), 'layer')}"
        rows.append(figure.BarRow(group.name or "type unknown", text, (segments,)))
        data += [(group.name, name, ms) for name, ms in ordered]
    canvas = figure.barred(_precisions(timed), rows)
    alt = f"Time by type of layer and precision. Most: {rows[0].label} with {rows[0].text}."
    header = ("type", "compute_precision", "time_ms")
    return canvas.figure("types", "Time by type and precision", alt, header, data)


def blocks(engine: EngineFacts) -> figure.Figure | None:
    """Return a treemap of time by ONNX block; None where names of nodes have no blocks, or no layer has a time."""
    groups = _blocks(engine)
    if len(groups) <= 1:
        return None
    canvas = figure.Canvas()
    names = [group.name.lstrip("/") or _NO_BLOCK for group in groups]
    shades = colours.of_names(names)
    tiles = figure.squarified([group.time_ms or 0.0 for group in groups], figure.WIDTH, _TREE_HEIGHT)
    for tile, group, name, text in zip(tiles, groups, names, _within(names), strict=True):
        ms = group.time_ms or 0.0
        colour = colours.tint(shades.get(name, colours.NEUTRAL), 0.6)
        tip = f"{name}: {ms:.4g} ms, {group.share or 0:.1%}"
        canvas.rectangle(figure.Box(tile.x, tile.y, max(tile.width - 1.5, 0), max(tile.height - 1.5, 0)), colour, tip)
        for number, line in enumerate(_label(text, f"{ms:.3g} ms", tile), 1):
            canvas.text(tile.x + 4, tile.y + _LINE * number, line, tone="dark")
    canvas.y = _TREE_HEIGHT
    alt = f"Time by block of the model, {len(groups)} blocks. Most: {names[0]} with {groups[0].share or 0:.1%}."
    data = tuple((name, len(group.layers), group.time_ms) for name, group in zip(names, groups, strict=True))
    return canvas.figure("blocks", "Time by ONNX block", alt, ("block", "layers", "time_ms"), data)


def _blocks(engine: EngineFacts) -> list[LayerGroup]:
    """Return the blocks that take time, at the first depth at which none takes more than half, or else two deep."""
    by_depth = [[group for group in engine.by_block(depth) if group.time_ms] for depth in range(2, _DEEPEST)]

    def largest(groups: Sequence[LayerGroup]) -> float:
        times = [group.time_ms or 0.0 for group in groups if group.name]
        return max(times, default=0.0) / (sum(times) or 1.0)

    return next((groups for groups in by_depth if largest(groups) <= _HALF), by_depth[0])


def _within(names: Sequence[str]) -> list[str]:
    """Return the names of blocks without their first part where all share it."""
    outer = {name.partition("/")[0] for name in names if name != _NO_BLOCK}
    return [name.partition("/")[2] or name for name in names] if len(outer) == 1 else [*names]


def _label(name: str, time: str, tile: figure.Box) -> list[str]:
    """Return the lines that name a tile; none where it is too small for a name that can be read."""
    room, height = tile.width - 8, int((tile.height - 4) / _LINE)
    lines = figure.wrapped(name, room, room)
    lines = lines if len(lines) <= height else [figure.fitting(name, room)]
    if not height or any(figure.width_of(line) > room or ("…" in line and len(line) < _READABLE) for line in lines):
        return []
    return [*lines, *([time] if len(lines) < height and figure.width_of(time) <= room else [])]


def memory(engine: EngineFacts) -> figure.Figure | None:
    """Return weights and activations by layer; None where no size is known."""
    sized = [(layer, layer.weights_bytes or 0, layer.activation_bytes or 0) for layer in engine.running]
    sized = sorted((entry for entry in sized if entry[1] or entry[2]), key=lambda entry: -(entry[1] + entry[2]))
    if not sized:
        return None
    weighed = any(layer.weights_bytes for layer, _, _ in sized)
    kinds = [("weights", _WEIGHTS)] if weighed else []
    rows = []
    for layer, weights, activations in sized[:MOST_ROWS]:
        parts = [figure.BarPart(weights, _WEIGHTS, f"weights {_size(weights)}")] if weights else []
        parts.append(figure.BarPart(activations, _ACTIVATIONS, f"activations {_size(activations)}"))
        rows.append(figure.BarRow(layer.name, _size(weights + activations), (tuple(parts),)))
    canvas = figure.barred([*kinds, ("activations, read and written", _ACTIVATIONS)], rows)
    data = tuple((layer.name, layer.weights_bytes, layer.activation_bytes) for layer, _, _ in sized)
    alt = (
        f"Memory of the {counted(len(sized), 'layer')}: {_weights([layer for layer, _, _ in sized])}, "
        f"{_size(sum(a for _, _, a in sized))} of activations, where a tensor between two layers counts at both."
    )
    unknown = len(engine.running) - len(sized)
    note = f"{counted(unknown, 'layer')} tell{'s' if unknown == 1 else ''} no size. " if unknown else ""
    header = ("layer", "weights_bytes", "activation_bytes")
    return canvas.figure("memory", "Memory by layer", alt, header, data, note=note + _rest(sized))


def roofline(engine: EngineFacts) -> figure.Figure | None:
    """Return operations a second over operations a byte; None where fewer than two layers tell both."""
    points = [(layer, x, y) for layer in engine.running if (x := layer.intensity) and (y := layer.tera_operations_s)]
    if len(points) <= 1:
        return None
    canvas = figure.Canvas()
    canvas.legend(_precisions([layer for layer, _, _ in points]))
    best_rate = max(y for _, _, y in points)
    best_bandwidth = max(y / x for _, x, y in points)
    _axes(canvas, points, best_rate, best_bandwidth)
    header = ("layer", "compute_precision", "operations_per_byte", "tera_operations_per_s", "time_ms")
    data = tuple((layer.name, layer.precision, x, y, layer.time_ms) for layer, x, y in points)
    alt = (
        f"Roofline of the {counted(len(points), 'layer')} whose work is known: at best {best_rate:.3g} tera-operations "
        f"a second and {best_bandwidth:.3g} TB/s."
    )
    note = "The roof is what this engine's own layers reach at best, not the peak of the GPU, which no file tells."
    return canvas.figure("roofline", "Roofline", alt, header, data, note=note)


def _axes(
    canvas: figure.Canvas, points: Sequence[tuple[LayerFacts, float, float]], best_rate: float, best_bandwidth: float
) -> None:
    """Draw both axes, the roof and the points, on logarithmic scales."""
    left, bottom = 44.0, canvas.y + _ROOF_HEIGHT
    xs, ys = [log10(x) for _, x, _ in points], [log10(y) for _, _, y in points]
    low_x, high_x = min(xs) - 0.1, max(xs) + 0.1
    low_y, high_y = min(ys) - 0.1, log10(best_rate) + 0.1

    def place(x: float, y: float) -> tuple[float, float]:
        across = left + (x - low_x) / (high_x - low_x) * (figure.WIDTH - left - 8)
        return across, bottom - (y - low_y) / (high_y - low_y) * _ROOF_HEIGHT

    for power in range(ceil(low_x), floor(high_x) + 1):
        x, _ = place(power, low_y)
        canvas.line((x, canvas.y), (x, bottom))
        canvas.text(x, bottom + 13, f"{10.0**power:g}", anchor="middle", tone="pale")
    for power in range(ceil(low_y), floor(high_y) + 1):
        _, y = place(low_x, power)
        canvas.rule(left, y, f"{10.0**power:g}")
    ridge = log10(best_rate / best_bandwidth)
    begin = max(low_x, low_y - log10(best_bandwidth))
    corner = min(max(ridge, low_x), high_x)
    canvas.line(place(begin, begin + log10(best_bandwidth)), place(corner, log10(best_rate)), strong=True)
    canvas.line(place(corner, log10(best_rate)), place(high_x, log10(best_rate)), strong=True)
    longest = max(layer.time_ms or 0.0 for layer, _, _ in points) or 1.0
    for layer, across, up in points:
        radius = 3 + 7 * ((layer.time_ms or 0.0) / longest) ** 0.5
        tip = f"{layer.name}: {across:.3g} operations a byte, {up:.3g} tera-operations/s, {_time(layer)}"
        canvas.circle(*place(log10(across), log10(up)), radius, colours.of_precision(layer.precision), tip)
    canvas.text(
        figure.WIDTH, bottom + 28, "across: operations a byte; up: tera-operations a second", anchor="end", tone="pale"
    )
    canvas.y = bottom + 36


def _precisions(shown: Sequence[LayerFacts]) -> list[tuple[str, str]]:
    names = sorted({layer.precision for layer in shown})
    return [(colours.precision_word(name), colours.of_precision(name)) for name in names]


def _time(layer: LayerFacts) -> str:
    share = f", {layer.share:.1%}" if layer.share is not None else ""
    return f"{layer.time_ms or 0:.4g} ms{share}"


def _weights(sized: Sequence[LayerFacts]) -> str:
    """Say how many bytes of weights the layers have, and of how many that is not told."""
    known = [layer.weights_bytes for layer in sized if layer.weights_bytes is not None]
    hidden = len(sized) - len(known)
    if hidden and not sum(known):
        return "weights that are not told"
    verb = "does not tell its own" if hidden == 1 else "do not tell theirs"
    without = f" ({counted(hidden, 'layer')} {verb})" if hidden else ""
    return f"{_size(sum(known))} of weights{without}"


def _size(size: float) -> str:
    return f"{size / MEBIBYTE:.3g} MiB" if size < _GIBIBYTE else f"{size / _GIBIBYTE:.3g} GiB"


def _rest(rows: Sequence[object], what: str = "smaller ones") -> str:
    hidden = len(rows) - MOST_ROWS
    return f"{hidden} {what} are in the table only." if hidden > 0 else ""


_NEAR, _CLEAR, _TUNING, _REST = "#d1603d", "#3b78b5", "#3b78b5", "#b9bdc6"
_MOST_MARGIN = 0.5


def margins(build: Build) -> figure.Figure | None:
    """Return how much slower the runner-up of each of the engine's choices was; None where no choice has one."""
    closest = [(c, margin - 1) for c in build.choices if c.final and (margin := c.margin) is not None]
    closest.sort(key=lambda pair: pair[1])
    if not closest:
        return None
    near = sum(choice.near_tie for choice, _ in closest)
    rows = []
    for choice, margin in closest[:MOST_ROWS]:
        colour = _NEAR if choice.near_tie else _CLEAR
        rows.append(figure.bar_row(choice.layer, f"runner-up {margin:.1%} slower", min(margin, _MOST_MARGIN), colour))
    canvas = figure.barred([(f"near tie: within {NEAR_TIE_RATIO - 1:.0%}", _NEAR), ("clear", _CLEAR)], rows)
    alt = f"Margins of {len(closest)} choices that the engine uses: {near} are near ties, which a rebuild may flip."
    data = tuple((row.layer, row.time_ms, row.runner_up_ms, margin, row.span.line) for row, margin in closest)
    header = ("layer", "time_ms", "runner_up_ms", "margin", "line")
    note = f"{_rest(closest, 'clearer ones')} Bars end at {_MOST_MARGIN:.0%}.".lstrip()
    return canvas.figure("margins", "Margins of the chosen tactics", alt, header, data, note=note)


def tuning(build: Build) -> figure.Figure | None:
    """Return the build's own time: engine generation, and the layers whose tactics took longest to time."""
    layers = [(tuned_layer.layer, tuned_layer.seconds, tuned_layer.span.line) for tuned_layer in build.tuning]
    stages = [
        (name, float(result.number), result.span.line)
        for key, name in (("build_s", "whole build"), ("generation_s", "engine generation"))
        if (result := build.result(key)) is not None and result.number is not None
    ]
    if not layers and not stages:
        return None
    tuned = sum(seconds for _, seconds, _ in layers)
    whole = [*stages, *([("timing of tactics, all layers", tuned, layers[0][2])] if layers else [])]
    rows = [figure.bar_row(name, f"{s:.3g} s", s, _REST) for name, s, _ in whole]
    rows += [figure.bar_row(name, f"{s:.3g} s", s, _TUNING) for name, s, _ in layers[:MOST_ROWS]]
    canvas = figure.barred([("stages", _REST), ("timing a layer's tactics", _TUNING)], rows)
    stated = [f"{name} {s:.3g} s" for name, s, _ in whole]
    alt = f"The build's own time: {'; '.join(stated)}."
    header = ("what", "layer", "seconds", "line")
    data = (*(("stage", *row) for row in whole), *(("tuning", *row) for row in layers))
    return canvas.figure("build", "Time of the build itself", alt, header, data, note=_rest(layers, "quicker layers"))


_LABEL = 30
"""Characters of an engine's name beside its bar."""
NEEDS = {row["figure"]: row["needs"] for row in rows("figures", "trtforensics.plots")}
"""What each figure needs, in words; its keys are the names of all figures."""


def figures_of(engine: EngineFacts) -> list[figure.Figure]:
    """Return the figures that one engine's sources give, in order."""
    of_layers = (draw(engine) for draw in (layers, types, blocks, memory, roofline))
    of_build = (draw(engine.build) for draw in (margins, tuning))
    return [drawn for drawn in (*of_layers, *of_build) if drawn is not None]


def named(made: Iterable[figure.Figure], name: str, where: str) -> figure.Figure:
    """Return one of the figures that files give. UsageError where they do not: it says of ``where`` what it needs."""
    by_name = {drawn.name: drawn for drawn in made}
    if name not in by_name:
        raise UsageError(where, f"does not give the figure {name}", f"It needs {NEEDS.get(name, 'another name')}")
    return by_name[name]


def figures_of_two(first: BuildLog, second: BuildLog) -> list[figure.Figure]:
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


def side_by_side(times: LayerTimes, first: str, second: str) -> figure.Figure:
    """Return the time of each type in both engines, which have these names."""
    shown = [kind for kind in times.types if kind.good_ms or kind.bad_ms]
    rows = [
        figure.BarRow(
            kind.type or "type unknown",
            f"{kind.good_ms:.4g} -> {kind.bad_ms:.4g} ms",
            (
                (figure.BarPart(kind.good_ms, _GOOD, f"{first} {kind.good_ms:.4g} ms"),),
                (figure.BarPart(kind.bad_ms, _BAD, f"{second} {kind.bad_ms:.4g} ms"),),
            ),
        )
        for kind in shown
    ]
    canvas = figure.barred([(first, _GOOD), (second, _BAD)], rows)
    alt = f"Time by type of two engines, {times.time_is}: {times.good_ms:.4g} ms and {times.bad_ms:.4g} ms in all."
    header = ("type", "first_layers", "second_layers", "first_ms", "second_ms", "delta_ms")
    data = tuple((o.type, o.good_layers, o.bad_layers, o.good_ms, o.bad_ms, o.delta_ms) for o in shown)
    return canvas.figure("compare", "Two engines by type", alt, header, data)


def waterfall(times: LayerTimes, first: str, second: str) -> figure.Figure:
    """Return the way from the first engine's time to the second's, the largest steps one by one; both have names."""
    steps = [row for row in times.rows if row.delta_ms]
    shown, rest = steps[:_STEPS], steps[_STEPS:]
    base = _base(times.good_ms, [row.delta_ms for row in shown])
    at = times.good_ms
    rows = [figure.bar_row(first, f"{at:.4g} ms", at, _WHOLE)]
    for row in shown:
        rows.append(_step(_name(row), row.delta_ms, at))
        at += row.delta_ms
    if rest:
        change = sum(row.delta_ms for row in rest)
        rows.append(_step(f"{len(rest)} smaller differences", change, at))
    rows.append(figure.bar_row(second, f"{times.bad_ms:.4g} ms", times.bad_ms, _WHOLE))
    canvas = figure.barred([("slower", _SLOWER), ("faster", _FASTER), ("sum of layers", _WHOLE)], rows, base)
    largest = (
        f" The largest step: {shortened(_name(shown[0]), figure.NAME_LENGTH)}, {shown[0].delta_ms:+.4g} ms."
        if shown
        else ""
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


def _step(name: str, change: float, at: float) -> figure.BarRow:
    return figure.bar_row(name, f"{change:+.4g} ms", change, _SLOWER if change > 0 else _FASTER, at)


def _name(row: LayerDelta) -> str:
    return (row.bad.layers or row.good.layers or (row.name,))[0]
