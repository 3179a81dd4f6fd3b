"""A build's own time: its phases by the clock of the log's lines, and how long each of its layers was tuned."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from trtforensics.console.counting import counted
from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, Outcome
from trtforensics.model.run import PhaseName
from trtforensics.parsers.notation.clocks import moment_in
from trtforensics.parsers.notation.names import is_reformat
from trtforensics.tui.rows.pieces import Line, Piece, Presentation, Role, bar, fit, flush, list_columns

TextAt = Callable[[int], str | None]
"""Returns a line of the log, None where there is none."""

_PREFIX = 64
"""Characters of a line in which a logger writes the time."""
_NEAR = 20
"""Lines around a line of which one may have the time that it lacks."""


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """A phase or a tuned layer, its bar the ``share`` of the longest; seconds may be unknown. A heading has no line."""

    label: str
    seconds: float | None = None
    known: str = ""
    tactics: int = 0
    line: int | None = None
    share: float = 0.0


def moment_at(text: TextAt, line: int) -> datetime | None:
    """Return the time that a line has, else that of one near it: messages of several lines have one."""
    for number in (*range(line, max(line - _NEAR, 0), -1), *range(line + 1, line + _NEAR)):
        moment = moment_in((text(number) or "")[:_PREFIX])
        if moment is not None:
            return moment
    return None


def _seconds(text: TextAt, first: int, last: int) -> float | None:
    begin, end = moment_at(text, first), moment_at(text, last)
    return (end - begin).total_seconds() if begin and end and end >= begin else None


def _results(build: Build) -> list[Choice | CachedResult]:
    return sorted(build.tuned_results, key=lambda result: result.span.line)


def _phases(log: BuildLog, build: Build) -> list[tuple[str, int]]:
    """Return what a build did from which line on, in order; the last one ends with the build."""
    run = log.run_of(build)
    phases = run.phases if run is not None and len(run.builds) == 1 else ()
    marks = [("start", build.first_line)]
    marks += [(str(phase.name), phase.first_line) for phase in phases if phase.name is not PhaseName.BUILD]
    passes = build.passes if len(build.passes) > 1 else ()
    marks += [(f"pass {n}: graph", each.first_line) for n, each in enumerate(passes, 1)]
    marks += [("graph", stage.span.line) for stage in build.stages[:1]]
    results = _results(build)
    for number, each in enumerate(passes or (None,), 1):
        of_pass = [row for row in results if each is None or each.first_line <= row.span.line <= each.last_line]
        if of_pass:
            name = "" if each is None else f"pass {number}: "
            marks.append((f"{name}tuning", min(getattr(result, "first_line", result.span.line) for result in of_pass)))
            marks.append((f"{name}engine", of_pass[-1].span.line + 1))
    marks.sort(key=lambda mark: mark[1])
    return [mark for mark in marks if build.first_line <= mark[1] <= build.last_line]


def timeline(log: BuildLog, build: Build, text: TextAt) -> list[TimelineRow]:
    """Return a build's phases, then its tuned layers, longest first; where no time is known, by tactics timed."""
    run = log.run_of(build)
    stated = {str(phase.name): phase.seconds for phase in run.phases} if run is not None else {}
    phases = []
    for (name, line), (_, end) in pairwise([*_phases(log, build), ("", build.last_line)]):
        seconds = stated.get(name)
        known = "stated" if seconds is not None else "clock"
        seconds = _seconds(text, line, end) if seconds is None else seconds
        phases.append(TimelineRow(name, seconds, known if seconds is not None else "", 0, line))
    layers = list(_layers(build, text))
    by_time = any(row.seconds is not None for row in layers)
    layers.sort(key=lambda row: (-(row.seconds or 0.0), -row.tactics))
    how = "" if by_time else ": the lines have no time; by the tactics of each"
    how = ", by the clock, to a second" if any(row.known == "clock" for row in layers) else how
    title = f"Tuning of {counted(sum(row.known != 'cached' for row in layers), 'layer')}{how}"
    whole = f"Phases: {progress(build, text)}"
    return [*_barred(whole, phases), *(_barred(title, layers) if layers else ())]


def _barred(title: str, rows: Sequence[TimelineRow]) -> Iterator[TimelineRow]:
    """Yield a heading and the rows, each with its part of the longest."""
    by_time = any(row.seconds is not None for row in rows)
    sizes = [(row.seconds or 0.0) if by_time else float(row.tactics) for row in rows]
    longest = max(sizes, default=0.0) or 1.0
    yield TimelineRow(title)
    for row, size in zip(rows, sizes, strict=True):
        yield TimelineRow(row.label, row.seconds, row.known, row.tactics, row.line, size / longest)


def _layers(build: Build, text: TextAt) -> Iterator[TimelineRow]:
    """Yield each layer with a result: its seconds as stated, else by the clock from one timed result to the next."""
    results = _results(build)
    timed = [result for result in results if isinstance(result, Choice)]
    firsts = {result.layer: getattr(result, "first_line", result.span.line) for result in reversed(results)}
    tactics: Counter[str] = Counter()
    stated: dict[str, float] = {}
    clocked: dict[str, float] = {}
    for tuned in build.tuning:
        stated[tuned.layer] = stated.get(tuned.layer, 0.0) + tuned.seconds
    ends = [*(choice.first_line for choice in timed[:1]), *(choice.span.line for choice in timed)]
    for choice, (before, line) in zip(timed, pairwise(ends), strict=True):
        tactics[choice.layer] += choice.candidates
        seconds = None if stated else _seconds(text, before, line)
        if seconds is not None:
            clocked[choice.layer] = clocked.get(choice.layer, 0.0) + seconds
    for name in dict.fromkeys((*firsts, *stated)):
        line = firsts.get(name) or next(tuned.span.line for tuned in build.tuning if tuned.layer == name)
        seconds = stated.get(name, clocked.get(name))
        known = "stated" if name in stated else "clock" if name in clocked else "" if name in tactics else "cached"
        yield TimelineRow(name, seconds, known, tactics[name], line)


def progress(build: Build, text: TextAt) -> str:
    """Say how far a build is, its stage or the layers tuned, and the rate; no log tells how many are left."""
    results = _results(build)
    if not results:
        if build.outcome is not Outcome.TRUNCATED:
            return "the log shows no tuning"
        stage = build.stages[-1] if build.stages else None
        return "before tuning" + (f", {stage.name} ({counted(stage.layers, 'layer')})" if stage is not None else "")
    of_pass = [result for result in results if result.pass_index == results[-1].pass_index]
    names = {result.layer for result in of_pass if not is_reformat(result.layer)}
    timed = [result for result in of_pass if isinstance(result, Choice)]
    tuned = names.intersection(result.layer for result in timed)
    before = [stage for stage in build.stages if stage.span.line < of_pass[0].span.line]
    known = before[-1].layers if before else 0
    of = f" of {known:,}" if known > len(names) else ""
    parts = [f"{len(tuned):,}{of} layers tuned" + (f" in pass {len(build.passes)}" if len(build.passes) > 1 else "")]
    parts += [f"{len(names - tuned):,} from the timing cache"] if names - tuned else []
    took = _seconds(text, timed[0].first_line, timed[-1].span.line) if timed else None
    if took:
        rate = len(tuned) / took
        parts.append(f"{rate:.3g} a second" if rate >= 1 else f"{rate * 60:.3g} a minute")
    return " · ".join(parts)


def _pieces(row: TimelineRow, width: int) -> Line:
    if row.line is None:
        return (Piece(f" {row.label}", Role.TITLE),)
    seconds = "" if row.seconds is None else "< 1" if row.known == "clock" and row.seconds < 1 else f"{row.seconds:.3g}"
    tactics = f"{row.tactics:,}" if row.tactics else ""
    return (
        Piece(f" {bar(row.share, 10)} ", Role.BAR),
        Piece(flush(seconds, 8), Role.STRONG),
        Piece(f" {fit(row.known, 6)} {flush(tactics, 7)} ", Role.DIM),
        Piece(fit(row.label, max(width - 36, 12))),
    )


_HEADING = f" {'':10} {'seconds':>8} {'known':<6} {'tactics':>7} phase or layer"
_COLUMNS = list_columns("timeline")
TIMELINE: Presentation[TimelineRow] = Presentation(
    pieces=_pieces,
    line=lambda row: row.line,
    heading=lambda rows, *_: ((Piece(_HEADING),),) if rows else (),
    key=lambda row: (row.label, row.line),
    noun="phase or layer",
    columns=_COLUMNS,
    filters=_COLUMNS,
)
