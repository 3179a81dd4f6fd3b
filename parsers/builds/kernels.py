"""The kernels of engine layers and cached results whose lines name none, as the autotuner's lines name them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy.typing as npt

    from trtforensics.model.log import CachedResult, Choice, EngineLayer
    from trtforensics.model.timings import TacticTimings

_HASHED = 1 << 32
"""Ids from here on are hashes of a kernel: in a build, the same id is the same kernel. Smaller ids only count."""


def name_kernels(
    layers: Iterable[EngineLayer], choices: Sequence[Choice], cached: Sequence[CachedResult], timed: TacticTimings
) -> None:
    """Give layers and cached results without a kernel's name that under which their tactic was timed."""
    named = np.flatnonzero(timed.kernel >= 0)
    if not len(named):
        return
    unnamed = [layer for layer in layers if not layer.tactic_name and layer.tactic is not None]
    for layer in unnamed:
        if layer.choice is not None:
            layer.tactic_name = _in_block(choices[layer.choice], timed)
    left = [layer for layer in unnamed if not layer.tactic_name]
    if not (left or cached):
        return
    by_id = _by_id([*(layer.tactic for layer in left), *(result.tactic for result in cached)], timed, named)
    for result in cached:
        result.kernel = by_id.get(result.tactic or 0, "")
    for layer in left:
        layer.tactic_name = by_id.get(layer.tactic or 0, "")


def _by_id(tactics: Iterable[int | None], timed: TacticTimings, named: npt.NDArray[np.intp]) -> dict[int, str]:
    """Return the kernels of those tactics that are hashes; an id that two kernels have is left out."""
    wanted = np.array(sorted({tactic for tactic in tactics if tactic is not None and tactic >= _HASHED}), np.uint64)
    if not len(wanted):
        return {}
    own = timed.tactic[named]
    rows = named[wanted[wanted.searchsorted(own) - len(wanted)] == own]  # ids above all of them meet the first
    pairs = set(zip(timed.tactic[rows].tolist(), timed.kernel[rows].tolist(), strict=True))
    ids = [tactic for tactic, _ in pairs]
    return {tactic: timed.texts[kernel] for tactic, kernel in pairs if ids.count(tactic) == 1}


def _in_block(choice: Choice, timed: TacticTimings) -> str:
    rows = timed.rows(choice.first_line, choice.span.line)
    own = [row for row in rows if int(timed.tactic[row]) == choice.tactic and timed.kernel[row] >= 0]
    names = {timed.texts[int(timed.kernel[row])] for row in own}
    return names.pop() if len(names) == 1 else ""
