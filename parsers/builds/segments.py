"""Where each build of a log begins: a file may hold several runs of trtexec, of Polygraphy, of a Python program.

A trtexec banner begins a build, and so does whatever is logged after a verdict. Without banners, what a
builder does first (the ONNX header, ``Original: N layers`` …) begins a new build once the one before has
reached its engine. Every line belongs to exactly one build.
"""

from __future__ import annotations

from bisect import bisect_left
from itertools import chain, pairwise
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.parsers.builds.views import LinesView

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    import numpy.typing as npt

    from trtforensics.parsers.lines.events import Events

_AT_WORK = ("adding_input", "parse_begin", "init_builder", "stage_original", "poly_run")
_REPORTED = ("no_implementation",)
"""What a builder that fails reports as an error, to stderr."""
_OPENING = (*_AT_WORK, *_REPORTED)
"""What only a builder at work prints."""

_PRELUDE = ("init_cuda", "plugin_creator", "onnx_rule", "onnx_header", "skipping_tactic")
"""What a build begins with, but others print too: part of the next build if that opens before anything else."""

_CLOSING = (
    "engine_generated",
    "engine_generated_old",
    "engine_layers",
    "engine_layers_detailed",
    "engine_size",
    "deserialization",
    "plan_engines",
    "poly_verdict",
)
"""What a build ends with; another strategy may still follow."""

_WORKING = frozenset((*_OPENING, *_CLOSING, "onnx_rule"))
"""What shows that work goes on after a verdict."""

_CONTINUING = ("strategy_begin", "strategy_initial", "strategy_chosen", "strategy_skipped")

_ROLES = (*_OPENING, *_PRELUDE, *_CLOSING, *_CONTINUING)


def segments(events: Events, lines: int, first_source: int | None = None) -> npt.NDArray[np.int64]:
    """Cut the lines 1 to ``lines`` into builds; the first takes what precedes it.

    Returns the first line of each build, and the line behind the last one.

    Behind the first ``first_source`` lines follow other files of the same build, its errors say: what a failing
    builder reports there begins no build.
    """
    log = LinesView(events, 1, lines)
    reports = lines if first_source is None else first_source
    line, role = _roles(log, reports)
    begins = _banner_begins(log, line[_is_in(_WORKING)[role]].tolist())
    prelude = _is_in(_PRELUDE)[role]
    stretch = np.array(begins, np.int64).searchsorted(line, side="right")
    again = (prelude[1:] & prelude[:-1] & (stretch[1:] == stretch[:-1])).nonzero()[0] + 1
    line, role = np.delete(line, again), np.delete(role, again)  # of a prelude only the first line counts
    roles = list(zip(line.tolist(), [_ROLES[index] for index in role.tolist()], strict=True))
    further = [
        _begins_without_banner(roles[a:b]) for a, b in pairwise([0, *line.searchsorted(begins).tolist(), len(roles)])
    ]
    starts = sorted({1, *begins, *chain(*further)})
    if len(starts) > 1:
        before = LinesView(events, 1, starts[1] - 1)
        begun = before.has("dialect", "banner") if first_source is None else before.has("banner", *_AT_WORK, *_CLOSING)
        if not begun:
            del starts[1]  # no logger, or nothing but errors of this build, stands before the first beginning
    return np.array([*starts, lines + 1], np.int64)


def _banner_begins(log: LinesView, work: list[int]) -> list[int]:
    """Return where a banner begins a build, and where work goes on after a verdict.

    A line or two that trtexec's destructors print after the verdict are still its own.
    """
    running = [line for line, verdict in log.each("banner", "verdict") if verdict == "RUNNING"]
    ends = [*running, log.last_line + 1]
    resumed = [
        line
        for line in log.lines("resumed")
        if bisect_left(work, line) < bisect_left(work, ends[bisect_left(ends, line)])
    ]
    return sorted({*running, *resumed})


def _begins_without_banner(roles: Iterable[tuple[int, str]]) -> list[int]:
    """Return where further builds begin in a stretch that no banner divides."""
    begins: list[int] = []
    closed = False
    opened = False
    prelude: int | None = None
    for line, role in roles:
        if role in _CONTINUING:
            closed = False
        elif role in _PRELUDE:
            prelude = prelude or line
            continue
        elif role in _CLOSING:
            closed = closed or opened or role == "poly_verdict"
        elif (closed or role == "poly_run") and opened:
            begins.append(prelude or line)
            closed = False
        opened = opened or role in _OPENING
        prelude = None
    return begins


def _roles(log: LinesView, reports: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.intp]]:
    """Return all lines that have a role, sorted, and the places of their roles in ``_ROLES``."""
    lines = [np.array(log.events[kind].lines, np.int64) for kind in _ROLES]
    both = zip(_ROLES, lines, strict=True)
    lines = [of_kind[of_kind <= reports] if kind in _REPORTED else of_kind for kind, of_kind in both]
    line, role = np.concatenate(lines), np.repeat(np.arange(len(lines)), list(map(len, lines)))
    order = line.argsort(kind="stable")
    return line[order], role[order]


def _is_in(kinds: Collection[str]) -> npt.NDArray[np.bool_]:
    return np.array([kind in kinds for kind in _ROLES])
