"""The times of a comparison as lines of text: the answer, what was run otherwise, totals, then layers by Δms."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.diff.builds.runs import TOTALS
from trtforensics.diff.times.deltas import ONE_SIDE
from trtforensics.render.names import shortened

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.diff.times.comparing import OtherCircumstance, TimeComparison, TotalDelta
    from trtforensics.diff.times.deltas import LayerDelta, LayerTimes, TimedHalf
    from trtforensics.model.span import SourceSpan

SHOWN = 12
"""Layers and circumstances that are printed unless all are asked for."""

_TYPES = 6
_NAME = 84
_SMALLEST = 5e-5
"""ms that print as 0.0000 and make no row of their own."""


def answer(times: TimeComparison) -> str:
    """Say in one sentence whether bad is slower; empty where nothing was timed on both sides."""
    if times.totals:
        total = times.totals[0]
        if total.key == "throughput_qps":
            word = "slower" if total.delta < 0 else "faster"
        else:
            word = "slower" if total.delta > 0 else "faster"
        said = f"{TOTALS[total.key]} {_values(total)}"
        if total.within_noise:
            return f"no difference in speed beyond the spread of single inferences: {said}"
        return f"bad is {word}: {said}"
    if times.layers is None:
        return ""
    layers = times.layers
    word = "slower" if layers.bad_ms > layers.good_ms else "faster"
    said = f"{layers.good_ms:.4g} -> {layers.bad_ms:.4g} ms{_percent(layers.good_ms, layers.bad_ms)}"
    return f"the layers of bad are {word} in all: {said}, {layers.time_is}"


def lines(times: TimeComparison, *, limit: int | None) -> Iterator[str]:
    """Give the lines, without title; ``limit`` None prints every row."""
    if times.circumstances:
        yield "  built or run otherwise:"
        shown = times.circumstances[:limit]
        yield from (f"    {_circumstance(one)}" for one in shown)
        if len(shown) < len(times.circumstances):
            yield f"    {len(times.circumstances) - len(shown)} more (--all lists them)"
    for total in times.totals:
        yield f"  {TOTALS[total.key]}: {_values(total)}{_spread(total)}{_where((total.good.span,), (total.bad.span,))}"
    if times.layers is not None:
        yield from _layers(times.layers, limit)


def _circumstance(one: OtherCircumstance) -> str:
    sides = (", ".join(_word(c.value) for c in side[:3]) for side in (one.good, one.bad))
    spans = [[c.span for c in side[:1] if c.span is not None] for side in (one.good, one.bad)]
    return visible(f"{one.name}: {' -> '.join(sides)}") + _where(*spans)


def _word(value: str) -> str:
    return value or "(empty)"


def _values(total: TotalDelta) -> str:
    unit = total.key.rpartition("_")[2]
    median = "" if unit == "qps" else " (median)"
    good, bad = total.good.value, total.bad.value
    return f"{good:.4g} -> {bad:.4g} {unit}{median}{_percent(good, bad)}"


def _percent(good: float, bad: float) -> str:
    return f", {bad / good - 1:+.1%}" if good else ""


def _spread(total: TotalDelta) -> str:
    if total.noise is None:
        return ""
    said = f"; single inferences spread by {total.noise:.2g} {total.key.rpartition('_')[2]}"
    return said + (": not significant" if total.within_noise else "")


def _layers(layers: LayerTimes, limit: int | None) -> Iterator[str]:
    whole = layers.bad_ms - layers.good_ms
    how = "measured in a profile" if layers.time_is == "measured" else "as tuned"
    yield (
        f"  sum of layers, {how}: {layers.good_ms:.4g} -> {layers.bad_ms:.4g} ms, {whole:+.4g} ms"
        f"{_percent(layers.good_ms, layers.bad_ms)}"
    )
    for side, untimed in zip(("good", "bad"), layers.untimed, strict=True):
        if untimed:
            have = "has no such time and is" if untimed == 1 else "have no such time and are"
            yield f"    {counted(untimed, 'layer')} of {side} {have} left out"
    types = [one for one in layers.types if max(one.good_ms, one.bad_ms) >= _SMALLEST]
    yield ""
    yield f"  {'Δms':>9} {'good ms':>9} {'bad ms':>9}  by type"
    for one in types if limit is None else types[:_TYPES]:
        counts = f" ({one.good_layers:g} -> {one.bad_layers:g} layers)"
        yield visible(
            f"  {one.delta_ms:>+9.4f} {one.good_ms:>9.4f} {one.bad_ms:>9.4f}  {one.type or 'type unknown'}{counts}"
        )
    yield ""
    yield visible(f"  {'Δms':>9} {'good ms':>9} {'bad ms':>9}  by layer{_files(layers)}")
    rows = [row for row in layers.rows if abs(row.delta_ms) >= _SMALLEST and not row.within_noise]
    shown = rows[:limit]
    for row in shown:
        yield from _row(row)
    hidden = len(rows) - len(shown)
    yield from _rest(layers.rows, shown, hidden)


def _files(layers: LayerTimes) -> str:
    """Name the files whose lines the rows cite."""
    names = [{span.file for row in layers.rows for span in half(row).spans} for half in (_good, _bad)]
    found = [PurePath(min(of_side)).name for of_side in names if len(of_side) == 1]
    return f" (lines of {' -> '.join(dict.fromkeys(found))})" if len(found) == len(names) else ""


def _good(row: LayerDelta) -> TimedHalf:
    return row.good


def _bad(row: LayerDelta) -> TimedHalf:
    return row.bad


def _rest(rows: Sequence[LayerDelta], shown: Sequence[LayerDelta], hidden: int) -> Iterator[str]:
    """Sum up what is not listed, so that the column adds up to the whole."""
    listed = {id(row) for row in shown}
    rest = [row for row in rows if id(row) not in listed]
    if not rest:
        return
    noise = len(rest) - hidden
    said = [f"{hidden} more (--all lists them)"] if hidden else []
    said += [f"{noise} without a difference beyond chance"] if noise else []
    good, bad = sum(row.good.ms for row in rest), sum(row.bad.ms for row in rest)
    yield f"  {bad - good:>+9.4f} {good:>9.4f} {bad:>9.4f}  {' and '.join(said)}"


def _row(row: LayerDelta) -> Iterator[str]:
    names = dict.fromkeys((*row.good.layers, *row.bad.layers))
    if row.how == ONE_SIDE:
        side = "good" if row.good.layers else "bad"
        text = f"{_short(row.name)}  [in {side} only]"
    elif len(names) == 1:
        text = _short(row.name)
    else:
        text = f"{_joined(row.good.layers)} -> {_joined(row.bad.layers)}"
    yield visible(f"  {row.delta_ms:>+9.4f} {row.good.ms:>9.4f} {row.bad.ms:>9.4f}  {text}") + _where(
        row.good.spans, row.bad.spans
    )
    said = [*row.changes, *([f"matched by {row.how}"] if row.how in {"shape", "position"} else [])]
    if said:
        yield visible(f"  {'':30}{'; '.join(said)}")


def _joined(names: Sequence[str]) -> str:
    shown = "; ".join(map(_short, names[:2]))
    return shown if len(names) <= len(("one", "two")) else f"{shown}; {len(names) - 2} more"


def _short(name: str) -> str:
    """Cut the middle out of a long name."""
    return shortened(name, _NAME)


def _where(good: Iterable[SourceSpan], bad: Iterable[SourceSpan]) -> str:
    """Return the lines that state the values: ``(lines 3 -> 7)``."""
    first = [next((span.line for span in spans), None) for spans in (good, bad)]
    if first[0] is None and first[1] is None:
        return ""
    if first[0] is None or first[1] is None:
        return f"  (line {first[0] or first[1]})"
    return f"  (lines {first[0]} -> {first[1]})"
