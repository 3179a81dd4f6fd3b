"""From a path to a parsed log, with progress and a way to stop."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.errors import NotABuildLogError, UsageError
from trtforensics.parsers.assembler import assemble
from trtforensics.parsers.scanner import Scanner
from trtforensics.parsers.source import MAX_BYTES, open_source

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model import BuildLog
    from trtforensics.parsers.source import Window


@dataclass(frozen=True, slots=True)
class Progress:
    """How far reading is: stored bytes done and in all (None for a pipe), and lines read."""

    bytes_done: int
    bytes_total: int | None
    lines: int


class Cancelled(Exception):  # noqa: N818 - not an error: somebody asked for it
    """Reading was stopped before its end."""


def load_build_log(
    paths: Sequence[str],
    *,
    max_bytes: int = MAX_BYTES,
    on_progress: Callable[[Progress], None] | None = None,
    on_window: Callable[[Window], None] | None = None,
    cancelled: Callable[[], bool] = lambda: False,
) -> BuildLog:
    """Read and parse a build log.

    ``on_progress`` and ``on_window`` are called after each window of lines, in the caller's thread.

    Raises:
        SourceError: the source cannot be read.
        NotABuildLogError: no line carries a TensorRT or trtexec prefix.
        Cancelled: ``cancelled`` said so.
    """
    if len(paths) != 1:
        raise UsageError(" ".join(paths), "several sources as parts of one build are not supported yet", "Name one log")
    scanner = Scanner()
    with open_source(paths[0], max_bytes=max_bytes) as source:
        for window in source.windows():
            scanner.feed(window)
            if on_window is not None:
                on_window(window)
            if on_progress is not None:
                on_progress(Progress(source.position, source.size, scanner.counts.total))
            if cancelled():
                raise Cancelled
        info = source.info()
    if not scanner.recognised:
        what = "no line carries a TensorRT or trtexec prefix" if info.lines else "the file is empty"
        raise NotABuildLogError(
            info.path, what, "Give the output of `trtexec --verbose`, of Polygraphy -vv or of a verbose trt.Logger"
        )
    return assemble(scanner, info)
