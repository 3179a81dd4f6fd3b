"""The questions about an engine's layers: saved filters with their counts, their bar, and why a layer is as it is."""

import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate

from trtforensics.console.terminal import visible
from trtforensics.engines.alternatives import tuned_type
from trtforensics.engines.facts import LayerFacts
from trtforensics.engines.why import Reason
from trtforensics.model.data_types import FULL, type_word
from trtforensics.model.layer_types import NO_KERNEL
from trtforensics.tables.layers import UNKNOWN, compute_text
from trtforensics.tui.rows.pieces import Line, Piece, Role, width_of

_REDUCED = frozenset({"Half", "BFloat16", "FP8"})
_MOST_OF_THE_TIME = 0.8


@dataclass(frozen=True, slots=True)
class Question:
    """A saved filter: its title, and the layers that it keeps, by ``id``."""

    title: str
    kept: frozenset[int]

    def keeps(self, entry: LayerFacts) -> bool:
        return id(entry) in self.kept


def questions(entries: Sequence[LayerFacts], asked: Iterable[str], tie: float) -> tuple[Question, ...]:
    """Return the questions about layers with their answers, as far as reduced types are ``asked`` for."""
    named: list[tuple[str, Callable[[LayerFacts], bool]]] = []
    reduced = [kind for kind in asked if kind in _REDUCED]
    if reduced:
        named.append((f"FP32 though {type_word(reduced[0])} asked", lambda entry: _type_to_compare(entry) in FULL))
    slow = _slowest(entries)
    named += [
        ("near ties", lambda entry: entry.margin is not None and entry.margin <= tie),
        ("no time", lambda entry: entry.time_ms is None and entry.layer.type not in NO_KERNEL),
        ("ForeignNodes", lambda entry: bool(entry.foreign_node)),
        ("reformats", lambda entry: entry.is_reformat),
        (f"slowest {_MOST_OF_THE_TIME:.0%}".replace("%", " %"), lambda entry: id(entry) in slow),
        ("inputs INT8, output Float", lambda entry: "Int8" in entry.input_types and "Float" in entry.output_types),
        ("compute ?", lambda entry: entry.in_engine and compute_text(entry) == UNKNOWN),
    ]
    return tuple(Question(title, frozenset(id(entry) for entry in entries if test(entry))) for title, test in named)


def _type_to_compare(entry: LayerFacts) -> str | None:
    """Return the type to compare with the types that were asked for: what a layer computes in, else what was tuned."""
    if entry.compute_precision is not None:
        return entry.compute_precision.type
    if entry.subject is None or entry.inside or compute_text(entry) != UNKNOWN:
        return None
    return tuned_type(entry.subject)


def _slowest(entries: Iterable[LayerFacts]) -> frozenset[int]:
    """Return the fewest layers that take together at least 80 % of the time that layers have."""
    timed = sorted((entry for entry in entries if entry.time_ms), key=lambda entry: -(entry.time_ms or 0.0))
    limit = sum(entry.time_ms or 0.0 for entry in timed) * _MOST_OF_THE_TIME
    before = accumulate((entry.time_ms or 0.0 for entry in timed), initial=0.0)
    return frozenset(id(entry) for entry, sum_ms in zip(timed, before, strict=False) if sum_ms < limit)


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
    texts = [f"{reason.text} [{reason.span.line:,}]" if reason.span else reason.text for reason in reasons]
    wrapped = textwrap.wrap(visible(" · ".join(texts)), max(width - 6, 16), break_on_hyphens=False)
    if len(wrapped) > lines:
        wrapped = [*wrapped[: lines - 1], f"{wrapped[lines - 1][: max(width - 8, 15)]} …"]
    heads = [Piece(" why ", Role.TITLE), *(Piece("     ") for _ in wrapped[1:])]
    spelled = [(head, Piece(text)) for head, text in zip(heads, wrapped, strict=True)]
    return (*spelled, *(((),) * (lines - len(spelled))))
