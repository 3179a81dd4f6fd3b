"""Whether the largest value of each row of an output stays where it is, as of a classifier: it informs, and no more.

A row is decided where FP32's largest value leads by more than two errors at the cap. No output within the cap can then
turn the order; where the lead is smaller, noise decides, and the row is counted apart.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.bisect.precision.emulation.metrics import METRICS, is_floating
from trtforensics.bisect.precision.emulation.oracle import RunError
from trtforensics.bisect.precision.emulation.rules import cap_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    import numpy.typing as npt

    from trtforensics.bisect.precision.emulation.oracle import Oracle

_LEAST_RANK = 2
_ERRORS = 2.0


def top_rows(oracle: Oracle, keep: Collection[str]) -> dict[str, dict[str, int]]:
    """Return for each floating-point output of rows how many there are, are decided, and agree of the decided ones.

    Rows lie along the last axis, of all samples; ``keep`` stays FP32. Nothing where ONNX Runtime runs no such twin.
    """
    try:
        runs = oracle.outputs_of(oracle.twin_of(oracle.caster.cast(keep)))
    except RunError:
        return {}
    cap = cap_of(METRICS["max-rel"], oracle.caster.storage)
    found = {}
    for name, peak in oracle.peaks.items():
        pairs = [(wanted[name], got[name]) for wanted, got in zip(oracle.reference, runs, strict=True)]
        if all(is_floating(w) and w.ndim >= _LEAST_RANK and w.shape[-1] > 1 and w.size for w, _ in pairs):
            counts = np.sum([_counted(*pair, _ERRORS * cap * peak) for pair in pairs], axis=0)
            found[name] = dict(zip(("rows", "decided", "agree"), map(int, counts), strict=True))
    return found


def top_text(found: Mapping[str, Mapping[str, int]]) -> list[str]:
    """Return a line for each output."""
    lines = []
    for name, each in found.items():
        undecided = each["rows"] - each["decided"]
        if not each["decided"]:
            lines.append(f"In no row of {name} does the largest value lead by enough to tell whether it stays there.")
            continue
        more = f"; {undecided} more lead by too little to tell" if undecided else ""
        lines.append(
            f"The largest value of a row stays where it is in {each['agree']} of {each['decided']} decided rows of "
            f"{name}{more}."
        )
    return lines


def _counted(wanted: npt.NDArray[Any], got: npt.NDArray[Any], margin: float) -> tuple[int, int, int]:
    """Count the rows of a pair of outputs: all, those whose lead exceeds ``margin``, those of them that agree."""
    exact, seen = (np.asarray(each, np.float64).reshape(-1, wanted.shape[-1]) for each in (wanted, got))
    best, second = np.sort(exact, axis=1)[:, -1], np.sort(exact, axis=1)[:, -2]
    decided = np.isfinite(best) & (best > second + margin)
    same = np.argmax(exact, axis=1) == np.argmax(np.where(np.isnan(seen), np.inf, seen), axis=1)
    whole = ~np.isnan(seen).any(axis=1)
    return len(exact), int(np.count_nonzero(decided)), int(np.count_nonzero(decided & same & whole))
