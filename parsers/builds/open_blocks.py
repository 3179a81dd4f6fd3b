"""The blocks of autotuning that no ``Chose`` line ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model.timings import NO_TACTIC, OpenBlock
from trtforensics.parsers.builds.autotuning import BLOCK_BEGINS, CHOSEN, RUNNERS, formats_of
from trtforensics.parsers.builds.views import latest
from trtforensics.parsers.lines.events import NO_TEXT, tactic_or_none

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy.typing as npt

    from trtforensics.model.timings import TacticTimings
    from trtforensics.parsers.builds.views import Lines, Log

OF_BLOCKS = (*BLOCK_BEGINS, *RUNNERS, "set_tactic_name")
"""The kinds that :func:`open_blocks` reads, beside the timings."""


def open_blocks(log: Log, timed: TacticTimings) -> Sequence[tuple[OpenBlock, ...]]:
    """Return each build's blocks in which a runner was begun and no tactic was chosen."""
    line, first, last = _limits(log, timed)
    layers = latest(timed.runner_line, timed.runner_layer, line)
    formats = formats_of(log, *_formats(log, first))
    announced = _announced(log, timed, first, last)
    runner = timed.runner_line[timed.runner_line.searchsorted(first)]
    columns = (log.texts(layers), *formats, *announced, first.tolist(), last.tolist(), log.spans.of_each(runner))
    return log.divide(line, map(OpenBlock, *columns))


def _limits(log: Log, timed: TacticTimings) -> tuple[Lines, Lines, Lines]:
    """Return of each open block its last runner's line, its first line and its last one."""
    (begins,) = log.columns(BLOCK_BEGINS)
    (chosen,) = log.columns(CHOSEN)
    runners = timed.runner_line
    behind = log.edges[np.searchsorted(log.edges, runners, side="right")]
    following = np.minimum(np.append(begins, log.edges[-1])[begins.searchsorted(runners, side="right")], behind)
    is_last = np.append(runners[1:], log.edges[-1]) >= following
    is_open = is_last & ((following == behind) | ~np.isin(following, chosen))
    line = runners[is_open]
    return line, np.maximum(log.build_of(line), latest(begins, begins, line)), following[is_open] - 1


def _formats(log: Log, first: Lines) -> npt.NDArray[np.int32]:
    """Return the formats of the combination that each block begins with, as indexes of texts."""
    sides = np.full((2, len(first)), NO_TEXT, np.int32)
    line, *columns = log.columns(("format_combination",), "inputs", "outputs")
    at = latest(line, line, first) == first
    sides[:, at] = [latest(line, column, first[at]) for column in columns]
    return sides


def _announced(log: Log, timed: TacticTimings, first: Lines, last: Lines) -> tuple[list[int | None], list[str]]:
    """Return by block the tactic and the kernel that were announced first behind the last tactic with a time."""
    line, tactic, kernel = log.columns(("set_tactic_name",), "tactic", "kernel")
    place = line.searchsorted(np.maximum(latest(timed.line, timed.line, last), first), side="right")
    inside = np.append(line, log.edges[-1])[place] <= last
    tactics = np.where(inside, np.append(tactic, np.uint64(NO_TACTIC))[place], np.uint64(NO_TACTIC))
    kernels = np.where(inside, np.append(kernel, np.int32(NO_TEXT))[place], np.int32(NO_TEXT))
    return list(map(tactic_or_none, tactics.tolist())), log.texts(kernels)
