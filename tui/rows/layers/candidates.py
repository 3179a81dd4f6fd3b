"""The candidates of a layer as a table: time bars, how much slower than the best, and which one was chosen."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, milliseconds
from trtforensics.model.kernel import NameEvidence
from trtforensics.model.log import CachedResult, Choice, MyelinOperation
from trtforensics.model.timings import NEAR_TIE_RATIO, Candidate, TacticTimings, TimedTactics, tactic_text
from trtforensics.parsers.notation.formats import Format, parse_formats
from trtforensics.parsers.notation.kernels import read_kernel, read_tactic
from trtforensics.tui.rows.layers.index import Subject, formats_text
from trtforensics.tui.rows.pieces import (
    UNNAMED,
    Line,
    Piece,
    Presentation,
    Role,
    bar,
    broken,
    fit,
    flush,
    list_columns,
    width_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import numpy as np
    import numpy.typing as npt

    from trtforensics.engines.alternatives import Alternatives, Result
    from trtforensics.engines.facts import LayerFacts
    from trtforensics.tables.columns import TableColumn


class CombinedTactics(TimedTactics):
    """The tactics timed for a layer in all combinations of formats and in all passes, fastest first."""

    def __init__(self, timings: TacticTimings, timed: Iterable[Choice]) -> None:
        import numpy as np

        super().__init__(timings, range(0))
        self.blocks = sorted(timed, key=lambda choice: choice.span.line)
        """The choices whose blocks are listed, in the log's order."""
        rows = [choice.rows(timings) for choice in self.blocks]
        self._all = np.concatenate([np.arange(block.start, block.stop) for block in rows] or [np.arange(0)])

    def __len__(self) -> int:
        return len(self._all)

    @cached_property
    def _rows(self) -> npt.NDArray[np.intp]:
        order: npt.NDArray[np.intp] = self.timings.ms[self._all].argsort(kind="stable")
        return order if not len(order) else self._all[order]

    def choice_of(self, candidate: Candidate) -> Choice:
        """Return the choice whose block timed a candidate."""
        return self.blocks[bisect_left(self.blocks, candidate.line, key=lambda choice: choice.span.line)]


BAR_WIDTH = 12
BAR_ENDS_AT = 4.0
"""A full bar is this multiple of the best time, so that a very slow tactic does not flatten all other bars."""

LEAST_ROWS = 5
"""Lines of the pane that the heading leaves to the names of the columns and to candidates."""
RUNNER_LIMIT = 28
TACTIC_WIDTH = 18
TYPES_WIDTH = 16
PASS_WIDTH = 4
SUM_WIDTH = 6
"""Types of sums: ``Half``, ``Float``, ``Int32``, with ``?`` behind them where a kernel's name only implies it."""
MUCH_SLOWER = 10.0
"""Ratio from which a factor is easier to read than a percentage."""


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """The content of the candidates pane: heading, candidates from fastest to slowest, and the row of the winner.

    ``reference_ms`` is the time that others are compared with: the winner's, else the best. Near ties are those of the
    winner's own formats, up to the ratio ``tie``. With ``formats``, candidates are of several combinations.
    """

    heading: tuple[Line, ...]
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    best_ms: float | None = None
    reference_ms: float | None = None
    scale_ms: float | None = None
    runner_width: int = 0
    named: bool = False
    formats: bool = False
    passes: bool = False
    tie: float = NEAR_TIE_RATIO
    width: int = 0


UNSELECTED = CandidateTable(((Piece(" select a layer to see what was timed for it", Role.DIM),),))

NO_LAYERS = CandidateTable(((Piece(" the log names no layer of this build, and so none with tactics", Role.WARNING),),))


def candidate_table(
    alternatives: Alternatives,
    subject: Subject,
    why: str = "",
    results: Iterable[Result] = (),
    *,
    tie: float = NEAR_TIE_RATIO,
) -> CandidateTable:
    """Collect the candidates of a choice, of a cached result, or of an operation in a ForeignNode, fastest first.

    A cached result has those of the choice that it repeats. Those of other ``results`` of the layer are listed too.
    ``why`` is the reason that there are none, or that the result used by the engine is unknown.
    """
    origin: Choice | None = None
    candidates: Sequence[Candidate]
    if isinstance(subject, MyelinOperation):
        candidates = subject.candidates
    else:
        timed = alternatives.timed(subject)
        origin = None if timed is subject else timed
        choices = {id(result): result for result in (timed, *results) if isinstance(result, Choice)}
        candidates = CombinedTactics(alternatives.build.timings, choices.values())
    heading = [*_heading(alternatives, subject, origin, candidates, tie), *_remark(why)]
    best, worst = _extremes(candidates)
    if isinstance(candidates, CombinedTactics):
        runner, kernel, blocks = candidates.widest_runner(), candidates.widest_kernel(), candidates.blocks
    else:
        runner, kernel, blocks = 0, max((len(candidate.kernel) for candidate in candidates), default=0), []
    runner = min(max(runner, len("runner")), RUNNER_LIMIT) if runner else 0
    chosen = _chosen(subject, candidates)
    table = CandidateTable(
        heading=(),
        candidates=candidates,
        chosen=chosen,
        best_ms=best,
        reference_ms=best if chosen is None else candidates[chosen].time_ms or best,
        scale_ms=min(worst, best * BAR_ENDS_AT) if best and worst else worst,
        runner_width=runner,
        named=kernel > 0,
        formats=len(blocks) > 1,
        passes=len({choice.pass_index for choice in blocks}) > 1,
        tie=tie,
    )
    titles = _columns(table)
    last = titles if candidates else (Piece(f" {_nothing_timed(subject)}", Role.WARNING),)
    width = width_of(titles) + max(kernel - len("kernel"), 0) + 1
    return replace(table, heading=(*heading, last), width=width)


def layer_table(entry: LayerFacts, *, tie: float = NEAR_TIE_RATIO) -> CandidateTable:
    """Collect the candidates of a layer in all formats, types and passes; those that were timed, fastest first."""
    if entry.subject is None:
        return unknown_table(entry.layer.origin)
    results = () if entry.inside else entry.tuned
    return candidate_table(entry.engine.alternatives, entry.subject, entry.layer.origin, results, tie=tie)


def unknown_table(why: str) -> CandidateTable:
    """Return a table without candidates that says why there are none."""
    return CandidateTable(tuple(_remark(why))) if why else UNSELECTED


def _remark(why: str) -> list[Line]:
    return [(Piece(f" {why}", Role.WARNING),)] if why else []


def candidate_pieces(table: CandidateTable, index: int) -> Line:
    """Lay out one candidate."""
    candidate = table.candidates[index]
    chosen = index == table.chosen
    role = Role.STRONG if chosen else Role.PLAIN
    near = _near(table, candidate) and not chosen
    return (
        Piece(" ✔ " if chosen else "   ", Role.GOOD),
        *_bar(table, candidate.time_ms, Role.CHOSEN_BAR if chosen else Role.BAR),
        Piece(flush(milliseconds(candidate.time_ms), 10), role),
        Piece(flush(_slower(candidate.time_ms, table), 9), Role.WARNING if near else Role.DIM),
        Piece(" ≈  " if near else "    ", Role.WARNING),
        *_combination(table, candidate),
        Piece(fit(tactic_text(candidate.tactic) or "-", TACTIC_WIDTH) + "  ", role),
        Piece(fit(candidate.runner, table.runner_width) + "  " if table.runner_width else "", role),
        Piece(fit(_sum(candidate.kernel), SUM_WIDTH) + "  " if table.named else "", role),
        Piece(candidate.kernel, Role.DIM),
    )


def _filters(table: CandidateTable) -> tuple[TableColumn, ...]:
    """Return what a filter can ask of a candidate; ``slower`` is how much slower than the winner: ``slower<5%``."""

    def slower(place: int) -> float | None:
        time_ms = table.candidates[place].time_ms
        return time_ms / table.reference_ms - 1 if time_ms and table.reference_ms else None

    def choice(place: int) -> Choice | None:
        return _choice_of(table, table.candidates[place])

    def types(place: int) -> tuple[str, ...]:
        timed = choice(place)
        return tuple(form.dtype for form in _formats((*timed.inputs, *timed.outputs))) if timed else ()

    return list_columns(
        "candidates",
        candidate=lambda field: lambda place: getattr(table.candidates[place], field),
        number=lambda place: tactic_text(table.candidates[place].tactic),
        format=lambda place: formats_text(timed) if (timed := choice(place)) else "",
        types=types,
        sum=lambda place: _sum(table.candidates[place].kernel),
        slower=slower,
        passed=lambda place: timed.pass_index if (timed := choice(place)) else None,
    )


def candidates_of(table: CandidateTable) -> Presentation[int]:
    """Return how candidates look in a list, by their places, below the decision and the columns' titles."""
    names = table.heading[-1:] if table.candidates else ()
    decision = table.heading[: len(table.heading) - len(names)]

    def heading(_: Sequence[int], width: int, height: int) -> Sequence[Line]:
        lines = [part for line in decision for part in broken(line, width)]
        return (*(lines if len(lines) + LEAST_ROWS <= height else decision), *names)

    return Presentation(
        heading=heading,
        widest=table.width,
        pieces=lambda place, _: candidate_pieces(table, place),
        line=lambda place: table.candidates[place].line,
        noun="tactic",
        filters=_filters(table),
    )


def _choice_of(table: CandidateTable, candidate: Candidate) -> Choice | None:
    return table.candidates.choice_of(candidate) if isinstance(table.candidates, CombinedTactics) else None


def _near(table: CandidateTable, candidate: Candidate) -> bool:
    """Whether a candidate of the winner's formats is a near tie with it."""
    if table.chosen is None or candidate.time_ms is None or not table.reference_ms:
        return False
    winner = _choice_of(table, table.candidates[table.chosen])
    return candidate.time_ms <= table.reference_ms * table.tie and _choice_of(table, candidate) is winner


def _combination(table: CandidateTable, candidate: Candidate) -> Iterator[Piece]:
    """Yield the types and the pass of a candidate, where candidates of several combinations are listed."""
    choice = _choice_of(table, candidate)
    if table.formats and choice is not None:
        final = choice.final
        role = Role.GOOD if final else Role.PLAIN if final is None else Role.DIM
        yield Piece(fit(_types(choice), TYPES_WIDTH) + "  ", role)
        if table.passes:
            yield Piece(
                fit(str(choice.pass_index if choice.pass_index is not None else "-"), PASS_WIDTH) + "  ", Role.DIM
            )


def _types(choice: Choice) -> str:
    """Spell the types of a combination and the sizes of their packs: ``Half:8→Float``."""
    read, written = (_packed(side) for side in (choice.inputs, choice.outputs))
    return read if read == written else f"{read}→{written}"


def _formats(printed: tuple[str, ...]) -> list[Format]:
    return [form for text in printed for form in parse_formats(text) or ()]


def _packed(printed: tuple[str, ...]) -> str:
    spelled = dict.fromkeys(
        f"{form.dtype}:{form.components}" if form.components > 1 else form.dtype for form in _formats(printed)
    )
    return "+".join(spelled) or "?"


def _sum(kernel: str) -> str:
    """Return the type in which a kernel sums."""
    facts = read_kernel(kernel)
    implied = facts.evidence("accumulator") is NameEvidence.CONVENTION
    return f"{facts.accumulator or ''}{'?' if implied else ''}"


def _bar(table: CandidateTable, time_ms: float | None, role: Role) -> tuple[Piece, ...]:
    """Draw a time as a bar; a time beyond the scale ends in an arrowhead."""
    if time_ms is None or not table.scale_ms:
        return (Piece(" " * BAR_WIDTH),)
    fraction = time_ms / table.scale_ms
    if fraction > 1:
        return (Piece("█" * (BAR_WIDTH - 1), role), Piece("▶", role))
    return (Piece(bar(fraction, BAR_WIDTH), role),)


def _slower(time_ms: float | None, table: CandidateTable) -> str:
    if time_ms is None or not table.reference_ms:
        return ""
    if time_ms == table.best_ms:
        return "fastest"
    if time_ms == table.reference_ms:
        return "chosen"
    ratio = time_ms / table.reference_ms
    return f"{ratio:,.0f} x" if ratio >= MUCH_SLOWER else f"{(ratio - 1) * 100:+.1f} %"


def _columns(table: CandidateTable) -> Line:
    names = flush("ms", BAR_WIDTH + 13) + flush("slower", 9) + "    "
    names += fit("in→out", TYPES_WIDTH) + "  " if table.formats else ""
    names += fit("pass", PASS_WIDTH) + "  " if table.passes else ""
    names += fit("tactic", TACTIC_WIDTH) + "  "
    names += fit("runner", table.runner_width) + "  " if table.runner_width else ""
    return (Piece(names + (fit("sum", SUM_WIDTH) + "  kernel" if table.named else "")),)


def _heading(
    alternatives: Alternatives, subject: Subject, origin: Choice | None, candidates: Sequence[Candidate], tie: float
) -> tuple[Line, ...]:
    """Return the lines with the decision, its margin, and how other types compare."""
    named = subject.op if isinstance(subject, MyelinOperation) else subject.layer
    name = (Piece(f" {named or UNNAMED}", Role.TITLE),)
    count = len(candidates)
    if isinstance(subject, MyelinOperation):
        inside = (f"in {subject.foreign_node}",) if subject.foreign_node else ()
        key = (f"timing cache key {subject.key}",) if subject.key else ()
        facts = (*inside, *key, f"{counted(count, 'tactic')} timed by Myelin")
        return (name, *((Piece(f" {fact}", Role.DIM),) for fact in facts))
    verdict = [_FINAL[subject.final]]
    if subject.time_ms is not None:
        verdict.append(Piece(f"  {milliseconds(subject.time_ms)} ms", Role.STRONG))
    if count:
        blocks = len(candidates.blocks) if isinstance(candidates, CombinedTactics) else 1
        several = f" in {blocks} combinations" if blocks > 1 else ""
        margin = _margin(alternatives.margin(subject), tie)
        verdict += [*margin, Piece(f"  {counted(count, 'tactic')} timed{several}", Role.DIM)]
    else:
        verdict.append(Piece(f"  {subject.runner} {tactic_text(subject.tactic) or 'no tactic'}"))
    lines = [name, tuple(verdict), (Piece(f" {formats_text(subject)}", Role.DIM),)]
    others = [other.text for other in alternatives.other_types(subject)]
    if others:
        lines.append((Piece(f" by itself {', '.join(others)}", Role.ACCENT),))
    kernel = read_tactic((origin or subject).kernel, getattr(origin or subject, "splits", None), subject.outputs).text
    if kernel:
        lines.append((Piece(f" {kernel}", Role.DIM),))
    if origin is not None:
        layer = "" if origin.layer == subject.layer else f" for {origin.layer}"
        text = f" cached result; timed at lines {origin.first_line:,} to {origin.span.line:,}{layer}"
        lines.append((Piece(text, Role.ACCENT),))
    return tuple(lines)


def _nothing_timed(subject: Subject) -> str:
    if isinstance(subject, CachedResult):
        return "cached result, no alternatives were timed in this build"
    if isinstance(subject, Choice):
        return "TensorRT printed no times for it"
    return "no alternatives were printed"


_FINAL = {
    True: Piece(" ✔ in the engine", Role.GOOD),
    False: Piece(" ✗ lost to another format or pass", Role.DIM),
    None: Piece(" ? unknown whether the engine uses it", Role.WARNING),
}


def _margin(ratio: float | None, tie: float) -> list[Piece]:
    """Return by how much the runner-up in the same formats lost."""
    if ratio is None:
        return []
    text = f"  next {(ratio - 1) * 100:+.1f} %"
    return [Piece(f"{text} ≈", Role.WARNING)] if ratio <= tie else [Piece(text, Role.DIM)]


def _extremes(candidates: Sequence[Candidate]) -> tuple[float | None, float | None]:
    """Return the best and the worst time; candidates are sorted, those without a time last."""
    best = candidates[0].time_ms if candidates else None
    worst = (candidates[row].time_ms for row in range(len(candidates) - 1, -1, -1))
    return best, next((time for time in worst if time is not None), None)


def _chosen(subject: Subject, candidates: Sequence[Candidate]) -> int | None:
    """Return the winner's row: same tactic and runner, and of several such rows the nearest in time."""
    if isinstance(subject, MyelinOperation):
        tactic, runner = subject.selected, ""
    else:
        tactic, runner = subject.tactic, subject.runner
    if tactic is None:
        return None
    aim = subject.time_ms or 0.0
    block = range(subject.first_line, subject.span.line + 1) if isinstance(subject, Choice) else range(0)

    def distance(row: int) -> tuple[bool, bool, float]:
        candidate = candidates[row]
        return candidate.runner != runner, candidate.line not in block, abs((candidate.time_ms or 0.0) - aim)

    if isinstance(candidates, CombinedTactics):
        return min(candidates.with_tactic(tactic), key=distance, default=None)
    same = (row for row, candidate in enumerate(candidates) if candidate.tactic == tactic)
    return min(same, key=distance, default=None)
