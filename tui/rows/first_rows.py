"""The first screen of a build: how its run ended, the answer, the map of its time; then what else the log tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from trtforensics.console.counting import milliseconds
from trtforensics.engines.why import Reason
from trtforensics.findings.finding import Finding, Severity, advice_of, answer_of
from trtforensics.model.log import Build, BuildLog, Outcome
from trtforensics.render.headline import SEPARATOR, Headline, headline_of, headlines, with_root
from trtforensics.render.time_rows import time_rows
from trtforensics.tui.rows.finding_rows import ROLES, line_in_view
from trtforensics.tui.rows.layers.questions import why_lines
from trtforensics.tui.rows.overview_rows import OverviewRow, barred, outcome_piece, overview_rows
from trtforensics.tui.rows.pieces import CitingLine, Line, Presentation, Role, line_digits, list_columns
from trtforensics.tui.rows.time_map import MapRow, TimeMap, address
from trtforensics.tui.rows.timeline import progress

if TYPE_CHECKING:
    from trtforensics.engines.joining import NumberedFile
    from trtforensics.model.run import ComparedOutput

Row = OverviewRow | MapRow
AROUND = 2
"""Lines of the log shown before and behind the line of an answer."""
_RUNS = 6
_OUTPUTS = 5
_TALL = 30
"""Height of the pane in cells from which the reasons have two lines."""
_ORDER = {name: place for place, name in enumerate(("min", "median", "mean", "max"))}
_COLUMNS = list_columns(
    "first",
    value=lambda row: row.state if isinstance(row, MapRow) else row.value,
    time_ms=lambda row: getattr(row, "ms", None),
    share=lambda row: row.share if getattr(row, "parts", ()) else None,
)


def first_rows(
    log: BuildLog,
    time_map: TimeMap,
    text: Callable[[int], str | None],
    *,
    reading: bool = False,
    files: Sequence[NumberedFile] = (),
) -> list[Row]:
    """Return the rows of a build's first screen; ``text`` reads a line, ``reading`` means that more may come."""
    build, findings = time_map.facts.build, time_map.findings
    time_map.told = time_map.told or (headlines(log), time_rows(log, build), [*overview_rows(log, build, files)])
    every, times, others = time_map.told
    run = log.run_of(build)
    headline = headline_of(log, build) if run is None else every[run.index]
    root = _root_of_failure(findings or ())
    headline = headline if root is None else with_root(headline, root.code, root.line, root.evidence[0].text)
    outcome = outcome_piece(headline, reading=reading)
    words = SEPARATOR.join((outcome.text, *headline.parts))
    rows: list[Row] = [
        *_run_rows(log, build, every, _RUNS),
        OverviewRow("run", words, headline.line or build.last_line, outcome.role, bare=True),
    ]
    if reading or build.outcome is Outcome.TRUNCATED:
        stopped = "" if reading else "the log stops before it tells how this build ended; so far: "
        so_far = stopped + progress(build, text)
        rows.append(OverviewRow("progress", so_far, build.last_line, Role.WARNING, bare=True, most=2))
    rows += _answer_rows(findings, headline, log.source.path, text)
    rows += _output_rows(log, build)
    rows += [OverviewRow("map", time_map.headline, role=Role.TITLE, bare=True), *time_map.root()]
    shown = [row for row in times if row.label != "slowest"]
    rows += [OverviewRow(row.label, row.cited, row.spans[0].line if row.spans else None) for row in shown]
    runs = list(_run_rows(log, build, every, len(log.builds) + len(log.runs)))
    listed = [OverviewRow(f"All {len(runs)} runs", heading=True), *runs, OverviewRow("")] if len(runs) > _RUNS else []
    return [*rows, *_call_rows(build), OverviewRow(""), *listed, *others]


def _root_of_failure(findings: Sequence[Finding]) -> Finding | None:
    """Return what the first error follows from, itself if from nothing; consequences stand behind their root."""
    errors = (place for place, finding in enumerate(findings) if finding.severity is Severity.ERROR)
    first = next(errors, None)
    before = findings[: first + 1] if first is not None else ()
    return next((finding for finding in reversed(before) if finding.consequence_of is None), None)


def rows_shown(rows: Sequence[Row], path: Sequence[MapRow] = ()) -> Presentation[Row]:
    """Return how the first screen's rows, or those at a place of the map, look in a list."""
    gutter = line_digits(row.line for row in rows)

    def footing(row: Row | None, width: int, height: int) -> tuple[Line, ...]:
        about = row if isinstance(row, MapRow) else None
        finding, entry = (about.finding, about.entry) if about is not None else (None, None)
        named = [Reason(f"{finding.code} {finding.title}", finding.evidence[0].span)] if finding is not None else []
        reasons = entry.why() if entry is not None else ()
        return why_lines([*named, *reasons], width, 2 if height >= _TALL else 1)

    return Presentation(
        wrapped=lambda row, width: (CitingLine(line, row.line) for line in row.lines(gutter, width)),
        heading=lambda _, width, __: (address(path, width),),
        footing=footing,
        key=lambda row: (row.label, row.line if isinstance(row, MapRow) else None),
        columns=_COLUMNS,
    )


def _run_rows(log: BuildLog, build: Build, every: Sequence[Headline], most: int) -> Iterator[OverviewRow]:
    """Yield ``most`` runs of a log of several, first those that did not pass; Enter shows a run's first build."""
    if len(every) < 2:  # noqa: PLR2004 - one run needs no list
        return
    run = log.run_of(build)
    here = build.index if run is None else run.index
    shown = sorted(sorted(every, key=lambda each: (each.index != here, each.passed))[:most], key=lambda e: e.index)
    for headline in shown:
        builds = log.runs[headline.index].builds if log.runs else (headline.index,)
        mark = "▸" if headline.index == here else " "
        role = Role.STRONG if headline.index == here else Role.GOOD if headline.passed else Role.WARNING
        label = f"{mark} run {headline.index + 1}"
        first = builds[0] if builds else None
        yield OverviewRow(label, headline.text, headline.first_line, role, most=1, build=first)
    if len(every) > most:
        yield OverviewRow("", f"and {len(every) - most:,} more, below: [ and ] switch", role=Role.DIM)


def _answer_rows(
    findings: Sequence[Finding] | None, headline: Headline, log: str, text: Callable[[int], str | None]
) -> Iterator[OverviewRow]:
    """Yield the worst finding; of a failed run its whole answer, what to do and the lines around, by ``text``."""
    if not findings:
        empty = "none" if findings is not None else "findings come when the log is read"
        yield OverviewRow("worst finding", f"findings: {empty}", role=Role.DIM, bare=True)
        return
    root, more = _root_of_failure(findings), len(findings) - 1
    failed = not headline.passed and root is not None
    worst = root if failed and root is not None else findings[0]
    line = line_in_view(worst.evidence[0].span, log) if worst.evidence else None
    also = f" (and {more:,} more: 5)" if more else ""
    title = answer_of(worst) if failed else worst.title
    value = f"{worst.severity.word[0].upper()} {worst.code}{also} {title}"
    yield OverviewRow(
        "worst finding", value, line, ROLES[worst.severity], bare=True, most=4 if failed else 2, finding=worst
    )
    if not failed:
        return
    what, step = advice_of(worst)
    if what:
        yield OverviewRow("do", f"do: {what}", line, Role.ACCENT, bare=True, most=2, finding=worst)
    if step is not None:
        yield OverviewRow("next", f"next: {step.command}", line, Role.ACCENT, bare=True, finding=worst)
    if line is not None:
        for number in range(max(line - AROUND, 1), line + AROUND + 1):
            if (around := text(number)) is not None:
                role = Role.ERROR if number == line else Role.DIM
                yield OverviewRow(f"line {number}", f"{number} {around.strip()}", number, role, bare=True, most=1)


def _output_rows(log: BuildLog, build: Build) -> Iterator[OverviewRow]:
    """Yield the outputs that the run compared, those that differ first, the largest error first among them."""
    run = log.run_of(build)
    outputs = [output for comparison in run.comparisons for output in comparison.outputs] if run else []
    outputs.sort(key=lambda output: (output.passed is not False, -(output.max_abs or 0.0)))
    for output in outputs[:_OUTPUTS]:
        mark, role = {True: ("✔", Role.GOOD), False: ("✗", Role.ERROR), None: ("?", Role.WARNING)}[output.passed]
        yield OverviewRow(
            f"{mark} output", f"{output.name}  {_errors(output)}".rstrip(), output.span.line, role, most=1
        )
    if len(outputs) > _OUTPUTS:
        left = outputs[_OUTPUTS:]
        failed = sum(output.passed is False for output in left)
        yield OverviewRow("", f"and {len(left):,} more outputs, {failed:,} of them differ", role=Role.DIM)


def _errors(output: ComparedOutput) -> str:
    figures = (("max abs", output.max_abs), ("mean abs", output.mean_abs), ("max rel", output.max_rel))
    words = [f"{name} {value:.3g}" for name, value in figures if value is not None]
    words += [f"{count:,} {name}" for name, count in (("NaN", output.nan), ("Inf", output.inf)) if count]
    bounds = (("atol", output.atol), ("rtol", output.rtol))
    limits = [f"{name} {value:g}" for name, value in bounds if value is not None]
    return ", ".join(words) + (f"  ({', '.join(limits)})" if limits else "")


def _call_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the times of a run's calls as bars: fastest, median, percentiles, slowest."""
    run = build.result("gpu_compute_ms") or build.result("latency_ms")
    values = run.value if run is not None and isinstance(run.value, Mapping) else {}
    if run is None or len(values) < 3:  # noqa: PLR2004 - a mean alone is no histogram
        return
    name = "GPU" if run.key == "gpu_compute_ms" else "latency"
    slowest = max(values.values())
    for key, ms in sorted(values.items(), key=lambda item: (item[1], _ORDER.get(item[0], 2))):
        yield OverviewRow(barred(key, ms, slowest), f"{name} {milliseconds(ms)} ms", run.span.line)
