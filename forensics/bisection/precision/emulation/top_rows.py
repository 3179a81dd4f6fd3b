"""Whether the largest value of each row of an output stays where it is, as of a classifier: it informs, and no more.

A row is decided where FP32's largest value leads by more than two errors at the cap. No output within the cap can then
turn the order; where the lead is smaller, noise decides, and the row is counted apart.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.bisection.precision.emulation.judging import cap_of
from trtforensics.bisection.precision.emulation.metrics import METRICS, is_floating
from trtforensics.bisection.precision.emulation.oracle import RunError

if TYPE_CHECKING:
    from collections.abc import Collection

    import numpy.typing as npt

    from trtforensics.bisection.precision.emulation.oracle import Oracle

_LEAST_RANK = 2
_ERRORS = 2.0


@dataclass(frozen=True, slots=True)
class TopRows:
    """The rows of an output: how many there are, how many are decided, and how many agree of the decided ones."""

    rows: int
    decided: int
    agree: int


def top_rows(oracle: Oracle, keep: Collection[str]) -> dict[str, TopRows]:
    """Return the rows of each floating-point output that has some.

    Rows lie along the last axis, of all samples; ``keep`` stays FP32. Nothing where ONNX Runtime runs no such twin.
    """
    try:
        runs = oracle.outputs_of(oracle.twin_of(oracle.caster.cast(keep)))
    except RunError:
        return {}
    cap = cap_of(METRICS["max-rel"], oracle.caster.storage)
    rows_by_output = {}
    for name, peak in oracle.peaks.items():
        pairs = [(wanted[name], got[name]) for wanted, got in zip(oracle.reference, runs, strict=True)]
        if all(is_floating(w) and w.ndim >= _LEAST_RANK and w.shape[-1] > 1 and w.size for w, _ in pairs):
            counts = np.sum([_counted(*pair, _ERRORS * cap * peak) for pair in pairs], axis=0)
            rows_by_output[name] = TopRows(*map(int, counts))
    return rows_by_output


def _counted(wanted: npt.NDArray[Any], got: npt.NDArray[Any], margin: float) -> tuple[int, int, int]:
    """Count the rows of a pair of outputs: all, those whose lead exceeds ``margin``, those of them that agree."""
    exact, output = (np.asarray(each, np.float64).reshape(-1, wanted.shape[-1]) for each in (wanted, got))
    best, second = np.sort(exact, axis=1)[:, -1], np.sort(exact, axis=1)[:, -2]
    decided = np.isfinite(best) & (best > second + margin)
    same = np.argmax(exact, axis=1) == np.argmax(np.where(np.isnan(output), np.inf, output), axis=1)
    whole = ~np.isnan(output).any(axis=1)
    return len(exact), int(np.count_nonzero(decided)), int(np.count_nonzero(decided & same & whole))
