"""What Myelin timed itself: a table of tactics an operation, in a ForeignNode or in a network compiled whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model import NO_TACTIC, MyelinOperation, TacticTimings
from trtforensics.parsers.names import onnx_nodes
from trtforensics.parsers.views import latest
from trtforensics.timed import TimedTactics

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from trtforensics.model import SourceSpan
    from trtforensics.parsers.passes import Passes
    from trtforensics.parsers.views import Log, View

    _Lines = npt.NDArray[np.int64]
    _Indexes = npt.NDArray[np.intp]

_RUNNER = "Myelin"
_BLOCK_ENDS = ("profiling_completed", "chose", "format_combination", "costs_begin")


def myelin_operations(
    log: Log, passes: Passes, span: Callable[[int], SourceSpan]
) -> Sequence[tuple[MyelinOperation, ...]]:
    """Read every operation that Myelin timed, with its table and, where the log has one, its timing-cache key."""
    if not log.has("myelin_op"):
        return log.same(())
    return [_of_build(view, passes, span) for view in log.views]


def _of_build(view: View, passes: Passes, span: Callable[[int], SourceSpan]) -> tuple[MyelinOperation, ...]:
    if not view.has("myelin_op"):
        return ()
    operations = list(view.each("myelin_op", "op", "key", "metadata"))
    begins = np.array([line for line, *_ in operations])
    timed = _timings(view)
    first, behind = _parts(timed.line, begins)
    selected = list(view.each("myelin_selected", "hash", "ms"))
    first_selected, behind_selected = _parts(np.array([line for line, *_ in selected]), begins)
    fastest = _fastest(timed, first, behind)
    found = []
    for (line, op, key, metadata), node, low, high, chosen, others, best in zip(
        operations,
        _foreign_nodes(view, begins),
        *(column.tolist() for column in (first, behind, first_selected, behind_selected)),
        fastest,
        strict=True,
    ):
        tactic, ms = selected[chosen][1:] if chosen < others else (None, None) if key else best
        found.append(
            MyelinOperation(
                op=op,
                key=key or "",
                foreign_node=node,
                onnx_nodes=onnx_nodes(metadata or ""),
                selected=tactic,
                time_ms=ms,
                span=span(line),
                pass_index=passes.index(line),
                candidates=TimedTactics(timed, range(low, high)),
            )
        )
    return tuple(found)


def _timings(view: View) -> TacticTimings:
    line, tactic, ms, kernel = view.columns(("myelin_row",), "hash", "ms", "kernel")
    no_lines, no_texts = np.empty(0, np.int64), np.empty(0, np.int32)
    return TacticTimings(line, tactic, ms, kernel, no_lines, no_texts, no_texts, view.events.texts.all())


def _parts(lines: _Lines, begins: _Lines) -> tuple[_Indexes, _Indexes]:
    """Return which of some lines stand behind each beginning and before the next: the first, and the one behind."""
    first = lines.searchsorted(begins)
    return first, np.append(first[1:], len(lines))


def _fastest(timed: TacticTimings, first: _Indexes, behind: _Indexes) -> list[tuple[int | None, float | None]]:
    """Return tactic and time in ms of the fastest row of each range, the first of equals."""
    found: list[tuple[int | None, float | None]] = [(None, None)] * len(first)
    some = np.flatnonzero(first < behind)
    if not len(some):
        return found
    begin, sizes = first[some[0]], (behind - first)[some]
    ms = timed.ms[begin:].copy()
    ms[np.isnan(ms)] = np.inf
    least = np.minimum.reduceat(ms, first[some] - begin)
    hits = np.flatnonzero(ms == np.repeat(least, sizes)) + begin
    rows = hits[hits.searchsorted(first[some])]
    for place, tactic, time in zip(some.tolist(), timed.tactic[rows].tolist(), least.tolist(), strict=True):
        found[place] = None if tactic == NO_TACTIC else tactic, time if time < np.inf else None
    return found


def _foreign_nodes(view: View, lines: _Lines) -> list[str]:
    """Return which ForeignNode each line is inside: that of the runner block which is open there."""
    begins, layers, runners = view.columns(("timing_runner",), "layer", "runner")
    (ends,) = view.columns(_BLOCK_ENDS)
    inside = latest(begins, begins, lines) > latest(ends, ends, lines)
    open_blocks = zip(latest(begins, layers, lines).tolist(), latest(begins, runners, lines).tolist(), strict=True)
    return [
        view.text(layer) if is_open and view.text(runner) == _RUNNER else ""
        for is_open, (layer, runner) in zip(inside.tolist(), open_blocks, strict=True)
    ]
