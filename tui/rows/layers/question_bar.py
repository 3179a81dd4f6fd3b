"""The question bar above the layers, and the line below them that says why the selected layer is as it is."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from trtforensics.console.terminal import visible
from trtforensics.tui.rows.pieces import Line, Piece, Role, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.engines.why import Reason
    from trtforensics.tui.rows.layers.questions import Question

ALL = "all"
MOST_LINES = 2


def question_lines(questions: Sequence[Question], chosen: str, total: int, width: int) -> tuple[Line, ...]:
    """Lay out the questions with their counts, on as many lines as they need, at most two."""
    cells = [_cell(ALL, total, chosen=not chosen)]
    cells += [_cell(question.title, len(question.kept), chosen=question.title == chosen) for question in questions]
    lines: list[list[Piece]] = [[]]
    used = 0
    for cell in cells:
        room = width_of(cell)
        if lines[-1] and used + room > width and len(lines) < MOST_LINES:
            lines.append([])
            used = 0
        lines[-1] += cell
        used += room
    return tuple(map(tuple, lines))


def question_at(
    questions: Sequence[Question], chosen: str, total: int, width: int, place: tuple[int, int]
) -> str | None:
    """Return the title of the question at a line and a column of the bar: empty for all layers, None beside them."""
    line, column = place
    lines = question_lines(questions, chosen, total, width)
    end = 0
    pieces = lines[line] if line < len(lines) else ()
    for title, count in zip(pieces[::2], pieces[1::2], strict=True):
        end += width_of((title, count))
        if column < end:
            name = title.text.strip()
            return "" if name == ALL else name
    return None


def _cell(title: str, count: int, *, chosen: bool) -> Line:
    role = Role.MATCH if chosen else Role.DIM if not count else Role.PLAIN
    return (
        Piece(f" {title} ", role),
        Piece(f"{count:,} ", Role.MATCH if chosen else Role.DIM if not count else Role.ACCENT),
    )


def why_lines(reasons: Sequence[Reason], width: int, lines: int) -> tuple[Line, ...]:
    """Spell the reasons in exactly ``lines`` lines, each reason with its line of the log; what is too long is cut."""
    if not reasons:
        return ((),) * lines
    texts = [f"{one.text} [{one.span.line:,}]" if one.span else one.text for one in reasons]
    wrapped = textwrap.wrap(visible(" · ".join(texts)), max(width - 6, 16), break_on_hyphens=False)
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], f"{wrapped[lines - 1][: max(width - 8, 15)]} …"]
    heads = [Piece(" why ", Role.TITLE), *(Piece("     ") for _ in wrapped[1:])]
    spelled = [(head, Piece(text)) for head, text in zip(heads, wrapped, strict=True)]
    return (*spelled, *(((),) * (lines - len(spelled))))
