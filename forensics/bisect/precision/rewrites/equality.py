"""Whether another form of a model computes the same in FP32, seen in ONNX Runtime."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.precision.emulation.metrics import METRICS
from trtforensics.bisect.precision.emulation.twin import emulate

if TYPE_CHECKING:
    import onnx

    from trtforensics.bisect.precision.emulation.oracle import Oracle

EQUAL = 1e-4
"""By so much of the largest magnitude two forms of a model may differ in FP32: another order of the same sums."""


def difference(oracle: Oracle, other: onnx.ModelProto) -> float | None:
    """Return the largest difference of a model from an oracle's, as a share of the largest magnitude.

    None if one of them is finite where the other is not.

    Raises:
        RunError: ONNX Runtime cannot run the model.
    """
    scores = oracle.score(emulate(other))
    worst = [scores.worst(name, METRICS["max-rel"]) for name in scores.outputs]
    known = [score for score in worst if score is not None]
    return max(known) if len(known) == len(worst) else None
