"""The title of a build log, the strip of its builds, and the progress of its parse."""

from collections.abc import Sequence

from rich.cells import cell_len

from trtforensics.console.counting import counted
from trtforensics.console.progress import Progress
from trtforensics.console.terminal import visible
from trtforensics.model.log import Build, BuildLog, Outcome
from trtforensics.render.headline import SEPARATOR, headline_of
from trtforensics.tui.rows.overview_rows import outcome_piece
from trtforensics.tui.rows.pieces import Line, Piece, Role, bar, clip, size, width_of

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
    """Return the strip in ``width`` cells: builds around that in view, and how many failed in all.

    It is empty for a log of one build in one pass. ``reading``: the last build may still get lines.
    """
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
