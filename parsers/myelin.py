"""What Myelin timed itself: a table of tactics an operation, in a ForeignNode or in a network compiled whole."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model import MyelinOperation, TacticTimings
from trtforensics.parsers.names import onnx_nodes
from trtforensics.timed import TimedTactics

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model import SourceSpan
    from trtforensics.parsers.events import View
    from trtforensics.parsers.passes import Passes

_RUNNER = "Myelin"
_BLOCK_ENDS = ("profiling_completed", "chose", "format_combination", "costs_begin")


def myelin_operations(view: View, passes: Passes, span: Callable[[int], SourceSpan]) -> tuple[MyelinOperation, ...]:
    """Read every operation that Myelin timed, with its table and, where the log has one, its timing-cache key."""
    operations = list(view.each("myelin_op", "op", "key", "metadata"))
    if not operations:
        return ()
    timed = _timings(view)
    blocks = _Blocks(view)
    selected = list(view.each("myelin_selected", "hash", "ms"))
    selected_lines = [at for at, *_ in selected]
    ms_or_last = np.nan_to_num(timed.ms, nan=np.inf)
    found = []
    for (line, op, key, metadata), behind in zip(
        operations, [*(o[0] for o in operations[1:]), view.last_line + 1], strict=True
    ):
        low, high = timed.line.searchsorted((line, behind))
        place = bisect_right(selected_lines, line)
        tactic, ms = None, None
        if place < len(selected) and selected_lines[place] < behind:
            _, tactic, ms = selected[place]
        elif not key and low < high:
            fastest = timed.candidate(int(low + ms_or_last[low:high].argmin()))
            tactic, ms = fastest.tactic, fastest.time_ms
        found.append(
            MyelinOperation(
                op=op,
                key=key or "",
                foreign_node=blocks.layer(line),
                onnx_nodes=onnx_nodes(metadata or ""),
                selected=tactic,
                time_ms=ms,
                span=span(line),
                pass_index=passes.index(line),
                candidates=TimedTactics(timed, line, behind - 1),
            )
        )
    return tuple(found)


def _timings(view: View) -> TacticTimings:
    rows = view.events["myelin_row"]
    found = rows.between(view.first_line, view.last_line)
    cut = slice(found.start, found.stop)
    empty = np.empty(0, np.int32)
    return TacticTimings(
        line=np.array(rows.lines[cut], np.int64),
        tactic=np.array(rows.columns["hash"][cut], np.uint64),
        ms=np.array(rows.columns["ms"][cut], np.float64),
        kernel=np.array(rows.columns["kernel"][cut], np.int32),
        runner_line=np.empty(0, np.int64),
        runner_layer=empty,
        runner_name=empty,
        texts=view.events.texts.all(),
    )


class _Blocks:
    """Which ForeignNode a line is inside: that of the runner block which is open there."""

    def __init__(self, view: View) -> None:
        begins = [
            (line, layer if runner == _RUNNER else "")
            for line, layer, runner in view.each("timing_runner", "layer", "runner")
        ]
        self._states = sorted([*begins, *((line, "") for line in view.lines(*_BLOCK_ENDS))])
        self._lines = [line for line, _ in self._states]

    def layer(self, line: int) -> str:
        at = bisect_right(self._lines, line) - 1
        return self._states[at][1] or "" if at >= 0 else ""
