"""The candidates of a layer as a table: time bars, ratios to the best, and which one was chosen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model import CachedResult, Candidate, Choice, TimingCacheKey, tactic_text
from trtforensics.tui.layer_rows import Subject, formats_text, subject_name
from trtforensics.tui.pieces import Line, Piece, Role, bar, fit, fit_right, milliseconds, plural

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model import Build

BAR_WIDTH = 10
RUNNER_LIMIT = 28
TACTIC_WIDTH = 18


@dataclass(frozen=True, slots=True)
class CandidateTable:
    """What the candidates pane shows: lines above, one candidate a row, fastest first, ``chosen`` the winner's row."""

    heading: tuple[Line, ...]
    candidates: Sequence[Candidate] = ()
    chosen: int | None = None
    best_ms: float | None = None
    worst_ms: float | None = None
    runner_width: int = 0
    width: int = 0


NOTHING_SELECTED = CandidateTable(((Piece(" select a layer to see what was timed for it", Role.DIM),),))


def candidate_table(build: Build | None, subject: Subject | None) -> CandidateTable:
    """Gather what the log tells about the candidates of a choice, a cached result, or an operation in a ForeignNode."""
    if build is None or subject is None:
        return NOTHING_SELECTED
    if isinstance(subject, Choice):
        candidates: Sequence[Candidate] = build.candidates(subject)
    elif isinstance(subject, TimingCacheKey):
        line = subject.span.line
        candidates = [Candidate(c.tactic, c.time_ms, "", c.kernel, line) for c in subject.candidates]
    else:
        candidates = ()
    times = [candidate.time_ms for candidate in candidates if candidate.time_ms is not None]
    runner = max((len(candidate.runner) for candidate in candidates), default=0)
    kernel = max((len(candidate.kernel) for candidate in candidates), default=0)
    runner = min(runner, RUNNER_LIMIT)
    return CandidateTable(
        heading=(*_heading(subject, len(candidates)), *(_columns(runner) if candidates else ())),
        candidates=candidates,
        chosen=_chosen(subject, candidates),
        best_ms=min(times, default=None),
        worst_ms=max(times, default=None),
        runner_width=runner,
        width=BAR_WIDTH + 25 + TACTIC_WIDTH + (runner + 2 if runner else 0) + kernel + 1,
    )


def candidate_pieces(table: CandidateTable, index: int) -> Line:
    """Lay out one candidate."""
    candidate = table.candidates[index]
    chosen = index == table.chosen
    time = candidate.time_ms
    fraction = time / table.worst_ms if time is not None and table.worst_ms else 0.0
    ratio = f"{time / table.best_ms:.2f}x" if time is not None and table.best_ms else ""
    role = Role.STRONG if chosen else Role.PLAIN
    return (
        Piece(" ✔ " if chosen else "   ", Role.GOOD),
        Piece(bar(fraction, BAR_WIDTH), Role.CHOSEN_BAR if chosen else Role.BAR),
        Piece(fit_right(milliseconds(time), 10), role),
        Piece(fit_right(ratio, 8) + "  ", Role.DIM),
        Piece(fit(tactic_text(candidate.tactic) or "-", TACTIC_WIDTH) + "  ", role),
        Piece(fit(candidate.runner, table.runner_width) + "  " if table.runner_width else "", role),
        Piece(candidate.kernel, Role.DIM),
    )


def _columns(runner: int) -> tuple[Line]:
    """Return the headings of the columns."""
    names = fit_right("ms", BAR_WIDTH + 13) + fit_right("ratio", 8) + "  " + fit("tactic", TACTIC_WIDTH) + "  "
    return ((Piece(names + (fit("runner", runner) + "  " if runner else "") + "kernel"),),)


def _heading(subject: Subject, count: int) -> tuple[Line, ...]:
    """Say what was decided, and how close it was."""
    name = (Piece(f" {subject_name(subject)}", Role.TITLE),)
    if isinstance(subject, TimingCacheKey):
        return (name, (Piece(f" timing cache key {subject.key}", Role.DIM),))
    verdict = [_FINAL[subject.final], Piece(f"  {milliseconds(subject.time_ms)} ms", Role.STRONG)]
    if isinstance(subject, Choice):
        verdict += [*_margin(subject), Piece(f"  {plural(count, 'tactic')} timed", Role.DIM)]
    if not count:
        verdict.append(Piece(f"  {subject.runner} {tactic_text(subject.tactic) or 'no tactic'}"))
    formats = (Piece(f" {formats_text(subject)}", Role.DIM),)
    if isinstance(subject, CachedResult):
        return (name, tuple(verdict), formats, (Piece(" cached result, no alternatives were timed", Role.WARNING),))
    return (name, tuple(verdict), formats)


_FINAL = {
    True: Piece(" ✔ in the engine", Role.GOOD),
    False: Piece(" ✗ lost to another format", Role.DIM),
    None: Piece(" ? not told if used", Role.WARNING),
}


def _margin(choice: Choice) -> list[Piece]:
    """Say by how much the runner-up lost."""
    if not choice.time_ms or choice.runner_up_ms is None:
        return []
    percent = (choice.runner_up_ms / choice.time_ms - 1) * 100
    text = f"  next {percent:+.1f} %"
    return [Piece(f"{text} ≈", Role.WARNING)] if choice.near_tie else [Piece(text, Role.DIM)]


def _chosen(subject: Subject, candidates: Sequence[Candidate]) -> int | None:
    """Find the winner's row: the same tactic by the same runner, nearest in time where a tactic was timed twice."""
    if isinstance(subject, TimingCacheKey):
        tactic, runner = subject.selected, ""
    else:
        tactic, runner = subject.tactic, subject.runner
    if tactic is None:
        return None
    aim = subject.time_ms or 0.0
    rows = [row for row, candidate in enumerate(candidates) if candidate.tactic == tactic]
    return min(
        rows,
        key=lambda row: (candidates[row].runner != runner, abs((candidates[row].time_ms or 0.0) - aim)),
        default=None,
    )
