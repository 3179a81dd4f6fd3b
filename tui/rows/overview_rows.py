"""A build's overview, labelled values each with its line; its title, the strip of builds, the progress of a parse."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import TYPE_CHECKING

from rich.cells import cell_len

from trtforensics.console.counting import counted
from trtforensics.console.progress import Progress
from trtforensics.console.terminal import visible
from trtforensics.findings.finding import Finding, in_words
from trtforensics.model.log import Build, BuildLog, Outcome
from trtforensics.model.run import Ending
from trtforensics.render import build_facts
from trtforensics.render.headline import SEPARATOR, headline_of
from trtforensics.render.runs import result_name, result_text
from trtforensics.tui.rows.pieces import Line, Piece, Role, bar, clip, fit, flush, size, width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.engines.joining import NumberedFile
    from trtforensics.render.headline import Headline

LABEL_WIDTH = 24
NARROW_LABEL = 13
"""Cells of a label on a screen narrower than ``WIDE``; a longer one takes what it needs."""
WIDE = 100
LEAST_VALUE = 16
BAR_WIDTH = 10
TOP = 5
"""Most shapes of unknown lines that are listed."""

ENDING_ROLES = {Ending.PASSED: Role.GOOD, Ending.FAILED: Role.ERROR, Ending.CRASHED: Role.ERROR, None: Role.DIM}


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A labelled value, or a heading; ``line`` is the log line that states the value.

    ``bare`` shows the value without its label, ``most`` is the number of lines that it may take; 0 for as many as it
    needs. Enter opens ``finding``, or the build with the index ``build``.
    """

    label: str
    value: str = ""
    line: int | None = None
    role: Role = Role.PLAIN
    heading: bool = False
    bare: bool = False
    most: int = 0
    finding: Finding | None = field(default=None, compare=False)
    build: int | None = None

    def lines(self, gutter: int, width: int, column: int = 0, look: Role = Role.DIM) -> list[Line]:
        """Lay the row out: ``gutter`` digits of a line, a label of ``column`` cells (0: as suits), the value."""
        if self.heading:
            return [(Piece(f" {self.label}", Role.TITLE),)]
        if self.bare:
            texts = self._wrapped(max(width - 3, LEAST_VALUE))
            return [(Piece(f" {'  ' * bool(n)}{text}", self.role),) for n, text in enumerate(texts)]
        column = column or (LABEL_WIDTH if width >= WIDE else NARROW_LABEL)
        label = fit(self.label, min(max(column, cell_len(self.label)), LABEL_WIDTH))
        indent = gutter + column + 2
        room = max(width - indent, LEAST_VALUE)
        longer = " " * (cell_len(label) - column)
        wrapped = self._wrapped(room, longer)
        head = (Piece(f"{self.line or '':>{gutter}} ", Role.DIM), Piece(f"{label} ", look))
        return [
            (*head, Piece(wrapped[0], self.role)),
            *((Piece(" " * indent), Piece(text, self.role)) for text in wrapped[1:]),
        ]

    def _wrapped(self, room: int, longer: str = "") -> list[str]:
        """Break the value into at most ``most`` lines; the first has less room where a ``longer`` label stands."""
        lines = textwrap.wrap(
            visible(self.value.strip()),
            room,
            break_on_hyphens=False,
            initial_indent=longer,
            max_lines=self.most or None,
            placeholder=" …",
        ) or [""]
        return [lines[0].removeprefix(longer), *lines[1:]]


def outcome_piece(headline: Headline, *, reading: bool = False) -> Piece:
    """Return how a run ended, or that its log is still being read."""
    if reading and headline.ending in {Ending.NONE, None}:
        return Piece("reading", Role.WARNING)
    return Piece(visible(headline.outcome), ENDING_ROLES.get(headline.ending, Role.WARNING))


def overview_rows(log: BuildLog, build: Build, joined: Sequence[NumberedFile] = ()) -> list[OverviewRow]:
    """Return what the log tells of a build, most important first. ``joined`` are its further files."""
    sections: Iterable[tuple[str, Iterable[OverviewRow]]] = (
        ("Build", _build_rows(build)),
        ("Files of this engine", _file_rows(joined)),
        ("Options that matter", _rows_of(build_facts.option_facts(build))),
        ("Passes", _rows_of(build_facts.pass_facts(build))),
        ("Layers", chain(_stage_rows(build), _rows_of(build_facts.engine_facts(build)))),
        ("Tuning", _rows_of(build_facts.tuning_facts(build))),
        ("Results", (OverviewRow(result_name(each), result_text(each), each.span.line) for each in build.results)),
        ("Log", _log_rows(log)),
        *(
            (f"All {block} options", (OverviewRow(fact.name, fact.value or "-", fact.span.line) for fact in facts))
            for block, facts in build.options.items()
        ),
    )
    rows: list[OverviewRow] = []
    for title, members in sections:
        listed = list(members)
        if listed:
            rows += [OverviewRow(title, heading=True), *listed, OverviewRow("")]
    return rows[:-1]


def waiting_rows(name: str) -> list[OverviewRow]:
    """Return the rows shown before the parse ends."""
    return [
        OverviewRow("Build", heading=True),
        OverviewRow("file", name),
        OverviewRow("state", "reading", role=Role.WARNING),
        OverviewRow("meanwhile", "4 opens the raw log, / searches it"),
    ]


def _file_rows(joined: Sequence[NumberedFile]) -> Iterator[OverviewRow]:
    """Yield each file that was joined, and what of it joined nothing."""
    for file in joined:
        last = (file.first_line or 0) + file.lines - 1
        lines = "" if file.first_line is None else f", here lines {file.first_line:,} to {last:,}"
        yield OverviewRow("file", f"{file.path}: {file.what}{lines}", file.first_line)
        for what in file.unjoined:
            yield OverviewRow("not joined", what, file.first_line, Role.WARNING)


def _build_rows(build: Build) -> Iterator[OverviewRow]:
    yield OverviewRow("coverage", in_words(build.coverage), build.first_line)
    yield OverviewRow("tool", build.tool.value, build.first_line)
    version = build.tensorrt_version or "version unknown"
    yield OverviewRow(
        "TensorRT", version, build.first_line, Role.PLAIN if build.tensorrt_version is not None else Role.DIM
    )
    yield from _rows_of([build_facts.device_fact(build)])
    if build.command:
        yield OverviewRow("command", build.command, build.first_line)
    yield OverviewRow("lines", f"{build.first_line:,} to {build.last_line:,}", build.first_line)


def _stage_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the number of layers after each stage; stages without a change are only counted."""
    changing, quiet = build_facts.changing_stages(build)
    for stage, change in changing:
        by = f"{change:+,}" if change else ""
        yield OverviewRow(f"{stage.layers:>8,}  {by}", stage.name, stage.span.line)
    if quiet:
        yield OverviewRow("", f"{counted(quiet, 'more stage')} changed nothing", role=Role.DIM)


def _rows_of(facts: Iterable[build_facts.BuildFact]) -> Iterator[OverviewRow]:
    return (OverviewRow(fact.label, fact.text, fact.line, Role(fact.weight)) for fact in facts)


def barred(text: str, value: float | None, most: float | None) -> str:
    """Put a bar behind a number: its share of the largest number."""
    return f"{flush(text, LABEL_WIDTH - BAR_WIDTH - 1)} {bar((value or 0.0) / (most or 1.0), BAR_WIDTH)}"


def _log_rows(log: BuildLog) -> Iterator[OverviewRow]:
    source = log.source
    held = f"{counted(source.lines, 'line')}, {size(source.bytes)}, {counted(len(log.builds), 'build')}"
    yield OverviewRow("file", f"{held}: [ and ] switch" if len(log.builds) > 1 else held)
    yield from _rows_of([build_facts.understanding(log)])
    for shape in log.unknown_samples[:TOP]:
        times = "once" if shape.count == 1 else f"{shape.count:,} times"
        yield OverviewRow(flush(times, LABEL_WIDTH), shape.text, shape.line, Role.DIM)
    if source.cut:
        text = "the last line has no line ending, as where a log is cut"
        yield OverviewRow("end of file", text, source.lines, Role.WARNING)


MOST_NAME = 30
"""Cells of a file's name that no part of a headline takes."""
LEAST_NAME = 12
"""Fewest cells of a file's name that are shown."""


def title_line(name: str, log: BuildLog | None, build: Build | None, width: int, *, reading: bool = False) -> Line:
    """Return the title: file, build and headline; a long path loses its middle, a long headline its last parts."""
    first = Piece(" trtforensics ", Role.TITLE)
    if log is None or build is None:
        return (first, Piece(f" {clip(name, max(width - width_of((first,)) - 2, LEAST_NAME))} "))
    several = Piece(f" build {build.index + 1} of {len(log.builds)} [ ] " if len(log.builds) > 1 else "", Role.ACCENT)
    headline = headline_of(log, build)
    outcome = outcome_piece(headline, reading=reading)
    used = width_of((first, several, outcome)) + 2
    parts = [f"{SEPARATOR}{part}" for part in headline.parts]
    while parts and used + cell_len("".join(parts)) + min(cell_len(name), MOST_NAME) > width:
        parts.pop()
    rest = Piece(visible("".join(parts)), Role.DIM)
    room = max(width - used - width_of((rest,)), LEAST_NAME)
    return (first, Piece(f" {clip(name, room)} "), several, outcome, rest)


def progress_line(progress: Progress, width: int) -> Line:
    """Return the progress of the parse: a bar if the size is known, and the counts."""
    counts = f" {size(progress.bytes_done)}"
    lines = counted(progress.lines, "line")
    if not progress.bytes_total:
        return (Piece(" reading ", Role.WARNING), Piece(f"{counts} · {lines}"))
    fraction = progress.bytes_done / progress.bytes_total
    doing = " reading " if fraction < 1 else " putting the builds together "
    room = max(width // 4, 8)
    done = bar(fraction, room).rstrip()
    return (
        Piece(doing, Role.WARNING),
        Piece(done, Role.CHOSEN_BAR),
        Piece("░" * (room - cell_len(done)), Role.DIM),
        Piece(f" {fraction:4.0%}", Role.STRONG),
        Piece(f" {counts} of {size(progress.bytes_total)} · {lines}", Role.DIM),
    )


MARKS = {
    Outcome.PASSED: ("✔", Role.GOOD),
    Outcome.FAILED: ("✗", Role.ERROR),
    Outcome.TRUNCATED: ("…", Role.WARNING),
    Outcome.UNKNOWN: ("?", Role.DIM),
}
"""The sign of each outcome. Signs differ in form too, as colours may not be seen."""


def first_failed(builds: Sequence[Build]) -> int:
    """Return the index of the first failed build, or 0."""
    return next((build.index for build in builds if build.outcome is Outcome.FAILED), 0)


def strip_line(log: BuildLog, build: Build, width: int, *, reading: bool = False) -> Line:
    """Return the strip of builds around that in view, and how many failed; empty for a log of one build in one pass."""
    builds = log.builds
    passes = _passes(build)
    if len(builds) == 1:
        return passes
    failed = sum(each.outcome is Outcome.FAILED for each in builds)
    count = f" · {failed} failed" if failed else ""
    head = Piece(f" {counted(len(builds), 'build')}{count} [ ] ", Role.DIM)
    room = width - width_of((head, *passes)) - len(" ‹ › ")  # noqa: RUF001 - arrowheads, not comparisons
    cells = [_cell(each, shown=each is build, reading=reading and each is builds[-1]) for each in builds]
    first = last = build.index
    used = width_of(cells[first])
    while True:
        grown = used
        if last + 1 < len(cells) and used + width_of(cells[last + 1]) <= room:
            last += 1
            used += width_of(cells[last])
        if first and used + width_of(cells[first - 1]) <= room:
            first -= 1
            used += width_of(cells[first])
        if used == grown:
            break
    before, after = Piece(" ‹" if first else "", Role.DIM), Piece(" ›" if last + 1 < len(cells) else "", Role.DIM)  # noqa: RUF001 - as above
    return (head, before, *(piece for cell in cells[first : last + 1] for piece in cell), after, *passes)


def _cell(build: Build, *, shown: bool, reading: bool) -> Line:
    mark, role = ("▸", Role.WARNING) if reading and build.outcome is not Outcome.FAILED else MARKS[build.outcome]
    number = Piece(f" [{build.index + 1}" if shown else f"  {build.index + 1}", Role.STRONG if shown else Role.DIM)
    return (number, Piece(mark, role), Piece("]" if shown else " ", Role.STRONG))


def _passes(build: Build) -> Line:
    """Return the passes of a build and which one was kept, as far as the log tells."""
    passes = build.passes or ()
    if len(passes) < 2:  # noqa: PLR2004 - one pass needs no strip
        return ()
    kept = [number for number, each in enumerate(passes, 1) if each.chosen]
    which = f"kept {', '.join(map(str, kept))}" if kept else "the log does not tell which was kept"
    return (Piece(f"  {len(passes)} passes, {which}", Role.DIM),)
