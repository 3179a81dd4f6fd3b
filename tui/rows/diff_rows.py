"""Rows of a comparison: differences with their effects, suspicious pairs, and the places of a row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.diff.differences import Difference, DifferenceType, PairHalf, SideValue, SuspiciousPair
from trtforensics.tui.rows.pieces import Line, Piece, Role, fit, fit_right

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.diff.differences import Comparison
    from trtforensics.model.span import SourceSpan

ROLES = {
    DifferenceType.FUSION: Role.ERROR,
    DifferenceType.PRECISION: Role.WARNING,
    DifferenceType.FORMAT: Role.ACCENT,
    DifferenceType.TACTIC: Role.PLAIN,
    DifferenceType.MISSING: Role.DIM,
    DifferenceType.ADDED: Role.DIM,
}
NEAR_TIE = "≈"
_TYPE = 12
_SCORE = 6


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A difference or a suspicious pair; a row of ``depth`` 1 is an effect of the last row of depth 0 above it."""

    subject: Difference | SuspiciousPair
    depth: int = 0

    @property
    def layer(self) -> str:
        """The layer, or both layers of a pair."""
        if isinstance(self.subject, Difference):
            return self.subject.layer
        return " & ".join(half.layer for half in self.subject.halves)


@dataclass(frozen=True, slots=True)
class DiffPlace:
    """A line of either side that a row is about, with its text. ``span`` is None and ``good`` is None for a remark."""

    text: str
    span: SourceSpan | None
    good: bool | None = None


def rows_of(comparison: Comparison, type_: DifferenceType | None, needle: str = "") -> list[DiffRow]:
    """Return the rows of one type; without a type all rows, causes first, each followed by its effects."""
    differences = comparison.differences
    if type_ is not None:
        rows = [DiffRow(difference) for difference in differences if difference.type is type_]
    else:
        effects: dict[int, list[DiffRow]] = {}
        for difference in differences:
            if difference.cause is not None:
                effects.setdefault(difference.cause, []).append(DiffRow(difference, 1))
        rows = [DiffRow(pair) for pair in comparison.pairs]
        for index, difference in sorted(enumerate(differences), key=lambda pair: pair[1].type.rank):
            if difference.cause is None:
                rows += [DiffRow(difference), *effects.get(index, ())]
    wanted = needle.lower()
    return [row for row in rows if wanted in row.layer.lower()]


def header(width: int, *, scored: bool) -> Line:
    """Return the names of the columns."""
    name, value = _widths(width, scored=scored)
    score = Piece(fit_right("score ", _SCORE) if scored else "")
    return (score, Piece(fit(" type", _TYPE)), Piece(fit("layer", name)), Piece(fit("│ good", value)), Piece("│ bad"))


def row_pieces(row: DiffRow, width: int, *, scored: bool) -> Line:
    """Lay a row out in columns: good beside bad."""
    name, value = _widths(width, scored=scored)
    subject = row.subject
    score = Piece(f"{subject.suspicion:5.2f} " if scored else "", Role.DIM)
    if isinstance(subject, SuspiciousPair):
        counts = subject.counts
        seen = f"together in {counts.bad} of {counts.of_bad} bad builds, no good one"
        return (score, Piece(fit(" pair", _TYPE), Role.ERROR), Piece(fit(row.layer, name)), Piece(f"│ {seen}"))
    label = Piece(fit(f"{' └' if row.depth else ' '}{subject.type}", _TYPE), ROLES[subject.type])
    tied = subject.type is DifferenceType.TACTIC
    good, bad = (_values(entries, tied=tied) for entries in (subject.good, subject.bad))
    return (
        score,
        label,
        Piece(fit(f"{'  ' * row.depth}{subject.layer}", name - 1) + " "),
        Piece("│ ", Role.DIM),
        Piece(fit(good, value - 2), Role.PLAIN),
        Piece("│ ", Role.DIM),
        Piece(fit(bad, value - 2), Role.STRONG),
    )


def _widths(width: int, *, scored: bool) -> tuple[int, int]:
    """Split a row's width into the width of the layer's name and of each side's value."""
    rest = max(width - _TYPE - (_SCORE if scored else 0), 12)
    name = max(rest * 2 // 5, 4)
    return name, max((rest - name) // 2, 4)


def _values(entries: Sequence[SideValue], *, tied: bool) -> str:
    """Return a side's most frequent value, the number of other values, and with ``tied`` the mark of a near tie."""
    if not entries:
        return "not told"
    near = tied and any(entry.layer is not None and entry.layer.near_tie for entry in entries)
    tie = f" {NEAR_TIE}" if near else ""
    others = f" (+{len(entries) - 1})" if len(entries) > 1 else ""
    return f"{entries[0].text or 'not told'}{others}{tie}"


def places(row: DiffRow) -> list[DiffPlace]:
    """Return the lines that a row is about, the good side's first, then the remarks."""
    subject = row.subject
    if isinstance(subject, SuspiciousPair):
        return [DiffPlace(_half(half), half.span, good=False) for half in subject.halves]
    lines = [
        DiffPlace(entry.text or "not told", span, good)
        for entries, good in ((subject.good, True), (subject.bad, False))
        for entry in entries
        for span in (entry.spans or (None,))
    ]
    return [*lines, *(DiffPlace(why, None) for why in subject.why)]


def _half(half: PairHalf) -> str:
    return f"{half.layer}: {half.text} (alone: {half.counts.bad} bad, {half.counts.good} good)"


def place_pieces(place: DiffPlace) -> Line:
    """Lay a place out: its side, its position, its text."""
    side = {True: Piece(" good ", Role.GOOD), False: Piece(" bad  ", Role.ERROR), None: Piece("      ")}[place.good]
    where = Piece(f"{place.span.file}:{place.span.line}  " if place.span else "", Role.DIM)
    return (side, where, Piece(place.text))
