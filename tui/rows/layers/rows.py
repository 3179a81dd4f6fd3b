"""Rows of the layer tree, laid out for a width."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from trtforensics.console.counting import milliseconds
from trtforensics.model.log import CachedResult, Choice
from trtforensics.model.timings import is_near_tie
from trtforensics.tui.rows.layers.columns import ColumnLayout, layer_pieces
from trtforensics.tui.rows.layers.index import RowKind
from trtforensics.tui.rows.pieces import Line, Piece, Role, clip, fit, fit_right

if TYPE_CHECKING:
    from trtforensics.tui.rows.layers.index import TreeRow

NOTE_FROM = 32
"""Width from which a row has room for its note."""


def row_pieces(row: TreeRow, layout: ColumnLayout, *, expanded: bool) -> Line:
    """Lay a row out in at most the layout's width."""
    width = layout.width
    if row.kind is RowKind.LAYER and row.entry is not None:
        return layer_pieces(row.text, row.entry, layout, expanded=expanded)
    if row.kind is RowKind.COMBINATION:
        return _combination_pieces(row, width, layout.tie)
    if row.kind is RowKind.SECTION:
        room = max(width - len(row.label) - 6, 1)
        return (Piece(f" ── {clip(row.text, room)} ", Role.TITLE), Piece(row.label, Role.DIM))
    if row.kind is RowKind.INNER:
        return _timed_pieces(row, width)
    label = "   " if row.kind is RowKind.NAME else f"     {row.label:<7}"
    return (Piece(label, Role.DIM), *_noted(row, max(width - len(label), 1)))


def _combination_pieces(row: TreeRow, width: int, tie: float) -> Line:
    """Lay out a tuned combination of formats: whether the engine uses it, the formats, the time."""
    result = row.subject
    final = result.final if isinstance(result, Choice | CachedResult) else None
    mark, role = {True: ("✔", Role.GOOD), False: ("✗", Role.DIM), None: ("?", Role.WARNING)}[final]
    time = fit_right(milliseconds(result.time_ms) if result else "", 8)
    near = isinstance(result, Choice) and is_near_tie(result.time_ms, result.runner_up_ms, tie)
    note = f" {row.note}" if row.note and width >= NOTE_FROM else ""
    return (
        Piece(f"     {mark} ", role),
        Piece(fit(row.text, max(width - 18 - len(note), 1)), Role.DIM if final is False else Role.PLAIN),
        Piece(note, Role.DIM),
        Piece(f" {time}"),
        Piece(" ≈" if near else "  ", Role.WARNING),
    )


def _timed_pieces(row: TreeRow, width: int) -> Line:
    """Lay out an operation inside a ForeignNode."""
    time = row.subject.time_ms if row.subject else None
    right = fit_right(milliseconds(time) if time is not None else "", 8)
    return (Piece("   ◇ ", Role.ACCENT), Piece(fit(row.text, max(width - 16, 1))), Piece(f" {right}  "))


def _noted(row: TreeRow, width: int) -> Line:
    """Lay out a text and its note. The note gets the room that the text leaves, at least a third of the width."""
    if not row.note:
        return (Piece(clip(row.text, width)),)
    note = clip(row.note, max(width - cell_len(row.text) - 2, width // 3))
    return (Piece(clip(row.text, max(width - cell_len(note) - 2, 1))), Piece(f"  {note}", Role.DIM))
