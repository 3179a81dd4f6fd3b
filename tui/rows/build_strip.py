"""The strip of a log with several builds: a mark for the outcome of each, the one in view, and its passes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.model.log import Outcome
from trtforensics.tui.rows.pieces import Line, Piece, Role, width_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import Build, BuildLog

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
    """Return the strip in ``width`` cells: builds around the one in view, and how many failed in all.

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
