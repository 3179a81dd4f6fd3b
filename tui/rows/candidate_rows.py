"""The candidates of a layer as a table: time bars, how much slower than the best, and which one was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.kernel import NameEvidence
from trtforensics.model.log import CachedResult, Choice, MyelinOperation
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import read_kernel, read_tactic
from trtforensics.tui.rows.layer_index import formats_text, subject_name
from trtforensics.tui.rows.pieces import Line, Piece, Role, bar, fit, fit_right, milliseconds, plural
from trtforensics.tui.rows.timed_tactics import tactics_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.model.log import Build
    from trtforensics.model.timings import Candidate
    from trtforensics.tui.rows.layer_index import Subject
    from trtforensics.tui.rows.timed_tactics import Tactics

BAR_WIDTH = 12
BAR_ENDS_AT = 4.0
"""A full bar is this multiple of the best time, so that a very slow tactic does not flatten all other bars."""

RUNNER_LIMIT = 28
TACTIC_WIDTH = 18
SUM_WIDTH = 6
"""Types of sums: ``Half``, ``Float``, ``Int32``, with ``?`` behind them where a kernel's name only implies it."""
MUCH_SLOWER = 10.0
"""Ratio from which a factor is easier to read than a percentage."""


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """The content of the candidates pane: heading, candidates from fastest to slowest, and the row of the winner."""

    heading: tuple[Line, ...]
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    best_ms: float | None = None
    scale_ms: float | None = None
    runner_width: int = 0
    named: bool = False
    width: int = 0


NOTHING_SELECTED = CandidateTable(((Piece(" select a layer to see what was timed for it", Role.DIM),),))


def candidate_table(build: Build | None, subject: Subject | None, why: str = "") -> CandidateTable:
    """Collect the candidates of a choice, of a cached result, or of an operation in a ForeignNode.

    ``why`` is the reason that there are none, or that the result used by the engine is unknown.
    """
    if build is None or subject is None:
        return CandidateTable(((Piece(f" {why}", Role.WARNING),),)) if why else NOTHING_SELECTED
    candidates, origin = tactics_of(build, subject)
    best, worst = _extremes(candidates)
    runner = candidates.widest_runner()
    runner = min(max(runner, len("runner")), RUNNER_LIMIT) if runner else 0
    kernel = candidates.widest_kernel()
    heading = [*_heading(subject, origin, len(candidates))]
    if why:
        heading.append((Piece(f" {why}", Role.WARNING),))
    if candidates:
        heading.append(_columns(runner, named=kernel > 0))
    else:
        heading.append((Piece(f" {_nothing_timed(subject)}", Role.WARNING),))
    return CandidateTable(
        heading=tuple(heading),
        candidates=candidates,
        chosen=_chosen(subject, candidates),
        best_ms=best,
        scale_ms=min(worst, best * BAR_ENDS_AT) if best and worst else worst,
        runner_width=runner,
        named=kernel > 0,
        width=BAR_WIDTH
        + 26
        + TACTIC_WIDTH
        + (runner + 2 if runner else 0)
        + (SUM_WIDTH + 2 if kernel else 0)
        + kernel
        + 1,
    )


def candidate_pieces(table: CandidateTable, index: int) -> Line:
    """Lay out one candidate."""
    candidate = table.candidates[index]
    chosen = index == table.chosen
    role = Role.STRONG if chosen else Role.PLAIN
    return (
        Piece(" ✔ " if chosen else "   ", Role.GOOD),
        *_bar(table, candidate.time_ms, Role.CHOSEN_BAR if chosen else Role.BAR),
        Piece(fit_right(milliseconds(candidate.time_ms), 10), role),
        Piece(fit_right(_slower(candidate.time_ms, table.best_ms), 9) + "  ", Role.DIM),
        Piece(fit(tactic_text(candidate.tactic) or "-", TACTIC_WIDTH) + "  ", role),
        Piece(fit(candidate.runner, table.runner_width) + "  " if table.runner_width else "", role),
        Piece(fit(_sum(candidate.kernel), SUM_WIDTH) + "  " if table.named else "", role),
        Piece(candidate.kernel, Role.DIM),
    )


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


def _slower(time_ms: float | None, best_ms: float | None) -> str:
    """Return how much slower than the best a tactic is."""
    if time_ms is None or not best_ms:
        return ""
    if time_ms == best_ms:
        return "fastest"
    ratio = time_ms / best_ms
    return f"{ratio:,.0f} x" if ratio >= MUCH_SLOWER else f"{(ratio - 1) * 100:+.1f} %"


def _columns(runner: int, *, named: bool) -> Line:
    """Return the headings of the columns."""
    names = fit_right("ms", BAR_WIDTH + 13) + fit_right("slower", 9) + "  " + fit("tactic", TACTIC_WIDTH) + "  "
    return (
        Piece(
            names
            + (fit("runner", runner) + "  " if runner else "")
            + (fit("sum", SUM_WIDTH) + "  kernel" if named else "")
        ),
    )


def _heading(subject: Subject, origin: Choice | None, count: int) -> tuple[Line, ...]:
    """Return the lines with the decision and its margin."""
    name = (Piece(f" {subject_name(subject)}", Role.TITLE),)
    if isinstance(subject, MyelinOperation):
        return (name, *_operation(subject, count))
    verdict = [_FINAL[subject.final]]
    if subject.time_ms is not None:
        verdict.append(Piece(f"  {milliseconds(subject.time_ms)} ms", Role.STRONG))
    if count:
        timed = origin or subject
        verdict += [*_margin(timed), Piece(f"  {plural(count, 'tactic')} timed", Role.DIM)]
    else:
        verdict.append(Piece(f"  {subject.runner} {tactic_text(subject.tactic) or 'no tactic'}"))
    lines = [name, tuple(verdict), (Piece(f" {formats_text(subject)}", Role.DIM),)]
    facts = read_tactic((origin or subject).kernel, _splits(origin or subject), subject.outputs).text
    if facts:
        lines.append((Piece(f" {facts}", Role.DIM),))
    if origin is not None:
        layer = "" if origin.layer == subject.layer else f" for {origin.layer}"
        text = f" cached result; timed at lines {origin.first_line:,} to {origin.span.line:,}{layer}"
        lines.append((Piece(text, Role.ACCENT),))
    return tuple(lines)


def _splits(timed: Choice | CachedResult) -> int | None:
    return timed.splits if isinstance(timed, Choice) else None


def _operation(subject: MyelinOperation, count: int) -> Iterator[Line]:
    """Yield the lines with the ForeignNode of an operation, its timing cache key and its number of tactics."""
    if subject.foreign_node:
        yield (Piece(f" in {subject.foreign_node}", Role.DIM),)
    if subject.key:
        yield (Piece(f" timing cache key {subject.key}", Role.DIM),)
    yield (Piece(f" {plural(count, 'tactic')} timed by Myelin", Role.DIM),)


def _nothing_timed(subject: Subject) -> str:
    """Return the reason that there is no table."""
    if isinstance(subject, CachedResult):
        return "cached result, no alternatives were timed in this build"
    if isinstance(subject, Choice):
        return "TensorRT printed no times for it"
    return "no alternatives were printed"


_FINAL = {
    True: Piece(" ✔ in the engine", Role.GOOD),
    False: Piece(" ✗ lost to another format or pass", Role.DIM),
    None: Piece(" ? not told if the engine uses it", Role.WARNING),
}


def _margin(timed: Choice | CachedResult) -> list[Piece]:
    """Return by how much the runner-up lost."""
    if not isinstance(timed, Choice) or not timed.time_ms or timed.runner_up_ms is None:
        return []
    percent = (timed.runner_up_ms / timed.time_ms - 1) * 100
    text = f"  next {percent:+.1f} %"
    return [Piece(f"{text} ≈", Role.WARNING)] if timed.near_tie else [Piece(text, Role.DIM)]


def _extremes(candidates: Tactics) -> tuple[float | None, float | None]:
    """Return the best and the worst time; candidates are sorted, those without a time last."""
    best = candidates[0].time_ms if candidates else None
    worst = (candidates[row].time_ms for row in range(len(candidates) - 1, -1, -1))
    return best, next((time for time in worst if time is not None), None)


def _chosen(subject: Subject, candidates: Tactics) -> int | None:
    """Return the winner's row: same tactic and runner, and of several such rows the nearest in time."""
    if isinstance(subject, MyelinOperation):
        tactic, runner = subject.selected, ""
    else:
        tactic, runner = subject.tactic, subject.runner
    if tactic is None:
        return None
    aim = subject.time_ms or 0.0

    def distance(row: int) -> tuple[bool, float]:
        candidate = candidates[row]
        return candidate.runner != runner, abs((candidate.time_ms or 0.0) - aim)

    return min(candidates.with_tactic(tactic), key=distance, default=None)
