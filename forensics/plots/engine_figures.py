"""Figures of one engine: time by layer, by type and precision, by ONNX block; memory; roofline."""

from __future__ import annotations

from math import log10
from pathlib import PurePath
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.plots.bars import BarPart, BarRow, draw_bars
from trtforensics.plots.figure import WIDTH, Box, Canvas, Figure, fitting, width_of, wrapped
from trtforensics.plots.treemap import squarified
from trtforensics.render import colours
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.engines.facts import EngineFacts, LayerFacts, LayerGroup
    from trtforensics.plots.treemap import Tile

MOST_ROWS = 25
"""Layers that a figure shows, so that it can be read on one printed page; its table has all of them."""

_WEIGHTS, _ACTIVATIONS = "#7a63b0", "#2f9e6e"
_TREE_HEIGHT, _ROOF_HEIGHT = 320.0, 280.0
_LINE = 14.0
_DEEPEST, _HALF = 7, 0.5
_SAID = 100
_READABLE = 8
"""Characters of a name that is cut; fewer say nothing."""
_NO_BLOCK = "no block"
_MEBIBYTE, _GIBIBYTE = 1 << 20, 1 << 30


def layers(engine: EngineFacts) -> Figure | None:
    """Return the time by layer, coloured by what the layers compute in; None where no layer has a time."""
    timed = _timed(engine)
    if not timed:
        return None
    canvas = Canvas()
    canvas.legend(_precisions(timed))
    rows = [
        BarRow(one.name, _time(one), ((BarPart(one.time_ms or 0.0, colours.of_precision(one.precision)),),))
        for one in timed[:MOST_ROWS]
    ]
    draw_bars(canvas, rows)
    whole = sum(one.time_ms or 0.0 for one in timed)
    alt = (
        f"Time of {_some(len(timed))} of {PurePath(engine.source).name}, {engine.time_is}, {whole:.4g} ms in all. "
        f"The slowest: {shortened(timed[0].name, _SAID)} with {_time(timed[0])}."
    )
    header = ("layer", "type", "compute_precision", "time_ms", "share", "file", "line")
    data = tuple(
        (one.name, one.kind, one.precision, one.time_ms, one.share, one.span.file, one.span.line_in_file)
        for one in timed
    )
    return Figure("layers", "Time by layer", alt, canvas.finished("Time by layer", alt), header, data, _rest(timed))


def types(engine: EngineFacts) -> Figure | None:
    """Return the time by operation, each bar parted by precision; None where no layer has a time."""
    timed = _timed(engine)
    if not timed:
        return None
    canvas = Canvas()
    canvas.legend(_precisions(timed))
    rows, data = [], []
    for group in engine.by_kind():
        if not group.time_ms:
            continue
        parts = {one.precision: 0.0 for one in group.layers}
        for one in group.layers:
            parts[one.precision] += one.time_ms or 0.0
        ordered = sorted(parts.items(), key=lambda pair: -pair[1])
        segments = tuple(BarPart(ms, colours.of_precision(name), f"{_word(name)} {ms:.4g} ms") for name, ms in ordered)
        text = f"{group.time_ms:.4g} ms, {counted(len(group.layers), 'layer')}"
        rows.append(BarRow(group.name or "type unknown", text, (segments,)))
        data += [(group.name, name, ms) for name, ms in ordered]
    draw_bars(canvas, rows)
    alt = f"Time by type of layer and precision. Most: {rows[0].label} with {rows[0].text}."
    title = "Time by type and precision"
    return Figure(
        "types", title, alt, canvas.finished(title, alt), ("type", "compute_precision", "time_ms"), tuple(data)
    )


def blocks(engine: EngineFacts) -> Figure | None:
    """Return a treemap of time by ONNX block; None where names of nodes have no blocks, or no layer has a time."""
    groups = _blocks(engine)
    if len(groups) <= 1:
        return None
    canvas = Canvas()
    whole = sum(group.time_ms or 0.0 for group in groups)
    names = [group.name.lstrip("/") or _NO_BLOCK for group in groups]
    shades = colours.of_names(names)
    labels = _within(names)
    for tile in squarified([group.time_ms or 0.0 for group in groups], WIDTH, _TREE_HEIGHT):
        name, ms = names[tile.item], groups[tile.item].time_ms or 0.0
        colour = colours.tint(shades.get(name, colours.neutral()), 0.6)
        said = f"{name}: {ms:.4g} ms, {ms / whole:.1%}"
        canvas.rectangle(Box(tile.x, tile.y, max(tile.width - 1.5, 0), max(tile.height - 1.5, 0)), colour, said)
        for line, text in enumerate(_label(labels[tile.item], f"{ms:.3g} ms", tile), 1):
            canvas.text(tile.x + 4, tile.y + _LINE * line, text, tone="dark")
    canvas.y = _TREE_HEIGHT
    most = (groups[0].time_ms or 0.0) / whole
    alt = f"Time by block of the model, {len(groups)} blocks. Most: {names[0]} with {most:.1%}."
    data = tuple((name, len(group.layers), group.time_ms) for name, group in zip(names, groups, strict=True))
    title = "Time by ONNX block"
    return Figure("blocks", title, alt, canvas.finished(title, alt), ("block", "layers", "time_ms"), data)


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


def _label(name: str, time: str, tile: Tile) -> list[str]:
    """Return the lines that name a tile; none where it is too small for a name that can be read."""
    room, height = tile.width - 8, int((tile.height - 4) / _LINE)
    lines = wrapped(name, room, room)
    lines = lines if len(lines) <= height else [fitting(name, room)]
    if not height or any(width_of(line) > room or ("…" in line and len(line) < _READABLE) for line in lines):
        return []
    return [*lines, *([time] if len(lines) < height and width_of(time) <= room else [])]


def memory(engine: EngineFacts) -> Figure | None:
    """Return weights and activations by layer; None where no size is known."""
    sized = [(one, one.weights_bytes or 0, one.activation_bytes or 0) for one in engine.running]
    sized = sorted((one for one in sized if one[1] or one[2]), key=lambda one: -(one[1] + one[2]))
    if not sized:
        return None
    canvas = Canvas()
    weighed = any(one.weights_bytes for one, _, _ in sized)
    kinds = [("weights", _WEIGHTS)] if weighed else []
    canvas.legend([*kinds, ("activations, read and written", _ACTIVATIONS)])
    rows = [
        BarRow(
            one.name,
            _size(weights + activations),
            (
                (
                    *((BarPart(weights, _WEIGHTS, f"weights {_size(weights)}"),) if weights else ()),
                    BarPart(activations, _ACTIVATIONS, f"activations {_size(activations)}"),
                ),
            ),
        )
        for one, weights, activations in sized[:MOST_ROWS]
    ]
    draw_bars(canvas, rows)
    data = tuple((one.name, one.weights_bytes, one.activation_bytes) for one, _, _ in sized)
    alt = (
        f"Memory of {_some(len(sized))}: {_weights([one for one, _, _ in sized])}, "
        f"{_size(sum(a for _, _, a in sized))} of activations, where a tensor between two layers counts at both."
    )
    unknown = len(engine.running) - len(sized)
    note = f"{counted(unknown, 'layer')} tell{'s' if unknown == 1 else ''} no size. " if unknown else ""
    header = ("layer", "weights_bytes", "activation_bytes")
    svg = canvas.finished("Memory by layer", alt)
    return Figure("memory", "Memory by layer", alt, svg, header, data, note + _rest(sized))


def roofline(engine: EngineFacts) -> Figure | None:
    """Return operations a second over operations a byte; None where fewer than two layers tell both."""
    known = [
        (one, one.intensity, one.tera_operations_s) for one in engine.running if one.intensity and one.tera_operations_s
    ]
    points = [(one, x, y) for one, x, y in known if x is not None and y is not None]
    if len(points) <= 1:
        return None
    canvas = Canvas()
    canvas.legend(_precisions([one for one, _, _ in points]))
    best_rate = max(y for _, _, y in points)
    best_bandwidth = max(y / x for _, x, y in points)
    _axes(canvas, points, best_rate, best_bandwidth)
    header = ("layer", "compute_precision", "operations_per_byte", "tera_operations_per_s", "time_ms")
    data = tuple((one.name, one.precision, x, y, one.time_ms) for one, x, y in points)
    alt = (
        f"Roofline of {_some(len(points))} whose work is known: at best {best_rate:.3g} tera-operations a second and "
        f"{best_bandwidth:.3g} TB/s."
    )
    note = "The roof is what this engine's own layers reach at best, not the peak of the GPU, which no file tells."
    return Figure("roofline", "Roofline", alt, canvas.finished("Roofline", alt), header, data, note)


def _axes(
    canvas: Canvas, points: Sequence[tuple[LayerFacts, float, float]], best_rate: float, best_bandwidth: float
) -> None:
    """Draw both axes, the roof and the points, on logarithmic scales."""
    left, bottom = 44.0, canvas.y + _ROOF_HEIGHT
    xs, ys = [log10(x) for _, x, _ in points], [log10(y) for _, _, y in points]
    low_x, high_x = min(xs) - 0.1, max(xs) + 0.1
    low_y, high_y = min(ys) - 0.1, log10(best_rate) + 0.1

    def place(x: float, y: float) -> tuple[float, float]:
        across = left + (x - low_x) / (high_x - low_x) * (WIDTH - left - 8)
        return across, bottom - (y - low_y) / (high_y - low_y) * _ROOF_HEIGHT

    for power in range(int(low_x) - 1, int(high_x) + 2):
        if low_x <= power <= high_x:
            x, _ = place(power, low_y)
            canvas.line((x, canvas.y), (x, bottom))
            canvas.text(x, bottom + 13, f"{10.0**power:g}", anchor="middle", tone="pale")
    for power in range(int(low_y) - 1, int(high_y) + 2):
        if low_y <= power <= high_y:
            _, y = place(low_x, power)
            canvas.line((left, y), (WIDTH, y))
            canvas.text(left - 4, y + 4, f"{10.0**power:g}", anchor="end", tone="pale")
    ridge = log10(best_rate / best_bandwidth)
    begin = max(low_x, low_y - log10(best_bandwidth))
    corner = min(max(ridge, low_x), high_x)
    canvas.line(place(begin, begin + log10(best_bandwidth)), place(corner, log10(best_rate)), strong=True)
    canvas.line(place(corner, log10(best_rate)), place(high_x, log10(best_rate)), strong=True)
    longest = max(one.time_ms or 0.0 for one, _, _ in points) or 1.0
    for one, across, up in points:
        radius = 3 + 7 * ((one.time_ms or 0.0) / longest) ** 0.5
        tip = f"{one.name}: {across:.3g} operations a byte, {up:.3g} tera-operations/s, {_time(one)}"
        canvas.circle(*place(log10(across), log10(up)), radius, colours.of_precision(one.precision), tip)
    canvas.text(
        WIDTH, bottom + 28, "across: operations a byte; up: tera-operations a second", anchor="end", tone="pale"
    )
    canvas.y = bottom + 36


def _timed(engine: EngineFacts) -> list[LayerFacts]:
    return sorted((one for one in engine.running if one.time_ms), key=lambda one: -(one.time_ms or 0.0))


def _precisions(shown: Sequence[LayerFacts]) -> list[tuple[str, str]]:
    names = sorted({one.precision for one in shown})
    return [(_word(name), colours.of_precision(name)) for name in names]


def _word(name: str) -> str:
    return colours.precision_word(name)


def _time(one: LayerFacts) -> str:
    share = f", {one.share:.1%}" if one.share is not None else ""
    return f"{one.time_ms or 0:.4g} ms{share}"


def _weights(sized: Sequence[LayerFacts]) -> str:
    """Say how many bytes of weights the layers have, and of how many that is not told."""
    told = [one.weights_bytes for one in sized if one.weights_bytes is not None]
    hidden = len(sized) - len(told)
    if hidden and not sum(told):
        return "weights that are not told"
    verb = "does not tell its own" if hidden == 1 else "do not tell theirs"
    without = f" ({counted(hidden, 'layer')} {verb})" if hidden else ""
    return f"{_size(sum(told))} of weights{without}"


def _size(size: float) -> str:
    return f"{size / _MEBIBYTE:.3g} MiB" if size < _GIBIBYTE else f"{size / _GIBIBYTE:.3g} GiB"


def _some(count: int) -> str:
    return f"the {counted(count, 'layer')}"


def _rest(rows: Sequence[object]) -> str:
    hidden = len(rows) - MOST_ROWS
    return f"{hidden} smaller ones are in the table only." if hidden > 0 else ""
