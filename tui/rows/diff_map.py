"""Two builds as one map of time: each layer as a bar of its Δms, what explains the difference first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.comparison.report import left_out
from trtforensics.comparison.times import LayerDelta, LayerTimes
from trtforensics.console.counting import counted
from trtforensics.tui.rows.diff_rows import COLUMNS, DiffRow, change_role, sides_line, signed_ms
from trtforensics.tui.rows.pieces import UNNAMED, Line, Piece, Role, bar, broken, fit, fit_right
from trtforensics.tui.rows.presentation import Presentation
from trtforensics.tui.rows.time_map import WIDE

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.comparison.differences import Comparison

_MS = 9
_DELTA = 10
_MOST_HEADER = 4
"""Lines of what was run otherwise; a line of the screen is worth more to a bar than to a tenth option."""
_MARKS = {"slower": "▲", "faster": "▼", "added": "+", "missing": "-", "may be chance": "≈", "equal": " "}


def map_rows(times: LayerTimes, needle: str = "") -> list[DiffRow]:
    """Return the layers of both sides, the largest Δms first, behind all those whose Δms may be chance."""
    shown = (row for row in times.rows if needle.lower() in row.name.lower())
    ordered = sorted(shown, key=lambda row: (row.within_noise, -abs(row.delta_ms)))
    return [DiffRow(row, times=row, time_is=times.time_is) for row in ordered]


def _change(row: LayerDelta) -> str:
    """Return what became of a layer, one of ``_MARKS``."""
    if not row.good.layers or not row.bad.layers:
        return "added" if row.bad.layers else "missing"
    if not row.delta_ms:
        return "equal"
    if row.within_noise:
        return "may be chance"
    return "slower" if row.delta_ms > 0 else "faster"


def time_map(comparison: Comparison, times: LayerTimes) -> Presentation[DiffRow]:
    """Return how the map looks: what the sides differ in and what is left out above the bars."""
    scale = max((abs(row.delta_ms) for row in times.rows), default=0.0) or 1.0

    def pieces(row: DiffRow, width: int) -> Line:
        delta = row.subject
        return _bar_line(delta, scale, width) if isinstance(delta, LayerDelta) else ()

    def heading(_: Sequence[DiffRow], width: int) -> list[Line]:
        cells, name = _widths(width)
        sides = f"{fit_right('good ms', _MS)}{fit_right('bad ms', _MS)}"
        titles = f"   {fit('Δ', cells)}{fit_right('▼ Δms', _DELTA)}{sides} "
        changed = "what else changed" if width >= WIDE else ""
        otherwise = broken(sides_line(comparison), width)
        about = otherwise[:_MOST_HEADER]
        if len(otherwise) > _MOST_HEADER:
            about[-1] = (*about[-1], Piece(" …", Role.DIM))
        told = (*_counts(times), *_left_out(times))
        return [*about, *broken(told, width), (Piece(f"{titles}{fit('layer', name)} {changed}"),)]

    return Presentation(
        pieces=pieces, heading=heading, footing=_footing, key=lambda row: row.layer, columns=COLUMNS, noun="layer"
    )


def _widths(width: int) -> tuple[int, int]:
    """Return the cells of a bar and of a name."""
    cells = 20 if width >= WIDE else 10
    room = max(width - 3 - cells - _DELTA - 2 * _MS - 2, 8)
    return cells, room * 3 // 5 if width >= WIDE else room


def _bar_line(row: LayerDelta, scale: float, width: int) -> Line:
    cells, name = _widths(width)
    change = _change(row)
    role = Role.DIM if change in {"equal", "may be chance"} else change_role(row.delta_ms)
    sides = [signed_ms(side.ms).strip("+ ") if side.layers else "" for side in (row.good, row.bad)]
    words = ", ".join(row.changes) or (change if change in {"added", "missing"} else "")
    return (
        Piece(f" {_MARKS[change]} ", role),
        Piece(bar(abs(row.delta_ms) / scale, cells), role),
        Piece(fit_right(signed_ms(row.delta_ms), _DELTA), role),
        *(Piece(fit_right(text, _MS)) for text in sides),
        Piece(f" {fit(row.name or UNNAMED, name)} "),
        Piece(fit(words, width - cells - name - 5 - _DELTA - 2 * _MS) if width >= WIDE else "", Role.DIM),
    )


def _counts(times: LayerTimes) -> Iterator[Piece]:
    """Count what became of the layers, with the sum of their Δms: together that is the whole difference."""
    deltas: dict[str, list[float]] = {}
    for row in times.rows:
        deltas.setdefault(_change(row), []).append(row.delta_ms)
    for change, mark in _MARKS.items():
        if change in deltas:
            total = sum(deltas[change])
            role = Role.DIM if change in {"equal", "may be chance"} else change_role(total)
            yield Piece(f" {mark} {len(deltas[change]):,} {change} {signed_ms(total).strip()} ms", role)


def _left_out(times: LayerTimes) -> Iterator[Piece]:
    """Say what is in no bar: time that one side alone tells, and layers without any."""
    words = [*left_out(times)]
    for side, untimed in zip(("good", "bad"), times.untimed, strict=True):
        words += [f"{counted(untimed, 'layer')} of {side} without a time"] if untimed else []
    yield from (Piece(f" · {sentence}", Role.WARNING) for sentence in words)


def _footing(row: DiffRow | None, width: int, _height: int) -> tuple[Line, ...]:
    """Say what else differs in the layer under the cursor, and what of its Δms may be chance."""
    delta = row.subject if row is not None else None
    if not isinstance(delta, LayerDelta):
        return ((),)
    words = [*delta.changes]
    words += [f"up to {signed_ms(delta.noise_ms).strip('+ ')} ms may be chance"] if delta.noise_ms else []
    told = " · ".join(words) or "nothing else is known to differ"
    return ((Piece(" why ", Role.TITLE), Piece(fit(told, width - 6))),)
