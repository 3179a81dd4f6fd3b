"""The title of the build log's screen, and the progress of its parse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.cells import cell_len

from trtforensics.console.counting import counted
from trtforensics.tui.rows.overview_rows import outcome_piece
from trtforensics.tui.rows.pieces import Line, Piece, Role, bar, clip, size, width_of

if TYPE_CHECKING:
    from trtforensics.console.progress import Progress
    from trtforensics.model.log import Build, BuildLog

LEAST_NAME = 12
"""Fewest cells of a file's name that are shown."""


def title_line(name: str, log: BuildLog | None, build: Build | None, width: int, *, reading: bool = False) -> Line:
    """Return the title: file, build and outcome; a long path loses its middle."""
    first, rest = Piece(" trtforensics ", Role.TITLE), _verdict(log, build, reading=reading)
    room = max(width - width_of((first, *rest)) - 2, LEAST_NAME)
    return (first, Piece(f" {clip(name, room)} "), *rest)


def _verdict(log: BuildLog | None, build: Build | None, *, reading: bool) -> Line:
    if log is None or build is None:
        return ()
    several = f" build {build.index + 1} of {len(log.builds)} [ ] " if len(log.builds) > 1 else ""
    version = f"TensorRT {build.tensorrt_version} · " if build.tensorrt_version else ""
    return (
        Piece(several, Role.ACCENT),
        Piece(f" {version}{build.tool} · ", Role.DIM),
        outcome_piece(build, reading=reading),
    )


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
