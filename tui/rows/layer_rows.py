"""Rows of the layer tree, laid out for a width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from trtforensics.model.log import CachedResult, Choice, MyelinOperation
from trtforensics.tui.rows.layer_index import RowKind
from trtforensics.tui.rows.pieces import Line, Piece, Role, clip, fit, fit_right, milliseconds

if TYPE_CHECKING:
    from trtforensics.tui.rows.layer_index import LayerEntry, TreeRow

TYPE_COLUMN_FROM = 70
"""Width from which a layer's row has room for its type."""

TWO_PRECISIONS_FROM = 90
"""Width from which a layer's row has room for two types of outputs."""

PRECISION_COLUMN_FROM = 32
"""Width from which a layer's row has room for its precision."""

UNTUNED = {"Reformat", "NoOp", "Constant", "TrainStation", "signal", "wait", "shape_call"}
"""Types of layers that compute nothing; they are dimmed."""


def row_pieces(row: TreeRow, width: int, *, expanded: bool) -> Line:
    """Lay a row out in at most ``width`` cells."""
    if row.kind is RowKind.LAYER and row.entry is not None:
        return _layer_pieces(row.text, row.entry, width, expanded=expanded)
    if row.kind is RowKind.COMBINATION:
        return _combination_pieces(row, width)
    if row.kind is RowKind.SECTION:
        room = max(width - len(row.label) - 6, 1)
        return (Piece(f" ── {clip(row.text, room)} ", Role.TITLE), Piece(row.label, Role.DIM))
    if row.kind in {RowKind.INNER, RowKind.FOREIGN}:
        return _timed_pieces(row, width)
    label = "   " if row.kind is RowKind.NAME else f"     {row.label:<7}"
    return (Piece(label, Role.DIM), *_noted(row, max(width - len(label), 1)))


def _layer_pieces(name: str, entry: LayerEntry, width: int, *, expanded: bool) -> Line:
    """Lay out a layer: name, type and precision if there is room, time, near tie."""
    layer, subject = entry.layer, entry.subject
    kind = f" {fit(layer.type, 16)}" if layer and width >= TYPE_COLUMN_FROM else ""
    precision = (
        f" {_precision(entry, 10 if width >= TWO_PRECISIONS_FROM else 6)}" if width >= PRECISION_COLUMN_FROM else ""
    )
    time = fit_right(milliseconds(entry.time_ms) if entry.time_ms is not None else "", 8)
    tie = "≈" if isinstance(subject, Choice) and subject.near_tie and not entry.inside else " "
    arrow = " ▾ " if expanded else " ▸ "
    mark = "◈ " if entry.foreign else "│ " if entry.inside else ""
    room = max(width - len(arrow) - len(mark) - len(kind) - len(precision) - 11, 1)
    role = Role.DIM if layer and layer.type in UNTUNED else Role.PLAIN
    return (
        Piece(arrow, Role.DIM),
        Piece(mark, Role.ACCENT),
        Piece(fit(name, room), role),
        Piece(kind, Role.DIM),
        Piece(precision, Role.ACCENT),
        Piece(f" {time}", role),
        Piece(f" {tie}", Role.WARNING),
    )


def _precision(entry: LayerEntry, width: int) -> str:
    """Spell what a layer computes in and, behind an arrow, what else it writes: ``Int8→Float``, ``→Half``.

    Types that do not fit become ``mixed``, or are left out behind what it computes in.
    """
    layer = entry.layer
    if layer is None:
        return " " * (width + 1)
    computes = layer.compute_precision.type if layer.compute_precision else ""
    outputs = "/".join(layer.output_types)
    text = computes if outputs == computes else f"{computes}→{outputs}" if outputs else computes
    return " " + fit(text if cell_len(text) <= width else computes or "→mixed", width)


def _combination_pieces(row: TreeRow, width: int) -> Line:
    """Lay out a tuned combination of formats: whether the engine uses it, the formats, the time."""
    result = row.subject
    final = result.final if isinstance(result, Choice | CachedResult) else None
    mark, role = {True: ("✔", Role.GOOD), False: ("✗", Role.DIM), None: ("?", Role.WARNING)}[final]
    time = fit_right(milliseconds(result.time_ms) if result else "", 8)
    tie = "≈" if isinstance(result, Choice) and result.near_tie else " "
    note = f" {row.note}" if row.note and width >= PRECISION_COLUMN_FROM else ""
    return (
        Piece(f"     {mark} ", role),
        Piece(fit(row.text, max(width - 18 - len(note), 1)), Role.DIM if final is False else Role.PLAIN),
        Piece(note, Role.DIM),
        Piece(f" {time}"),
        Piece(f" {tie}", Role.WARNING),
    )


def _timed_pieces(row: TreeRow, width: int) -> Line:
    """Lay out a ForeignNode, or an operation inside a ForeignNode."""
    mark = "◇" if isinstance(row.subject, MyelinOperation) else "◈"
    time = row.subject.time_ms if row.subject else None
    right = fit_right(milliseconds(time) if time is not None else "", 8)
    note = f" {row.note}" if row.note and width >= PRECISION_COLUMN_FROM else ""
    return (
        Piece(f"   {mark} ", Role.ACCENT),
        Piece(fit(row.text, max(width - 16 - len(note), 1)), Role.STRONG if row.note else Role.PLAIN),
        Piece(note, Role.DIM),
        Piece(f" {right}  "),
    )


def _noted(row: TreeRow, width: int) -> Line:
    """Lay out a text and its note. The note gets the room that the text leaves, at least a third of the width."""
    if not row.note:
        return (Piece(clip(row.text, width)),)
    note = clip(row.note, max(width - cell_len(row.text) - 2, width // 3))
    return (Piece(clip(row.text, max(width - cell_len(note) - 2, 1))), Piece(f"  {note}", Role.DIM))
