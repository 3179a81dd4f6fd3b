"""Repairs a model, and compares it with the original in ONNX Runtime."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import onnx

from trtforensics.bisect.precision.casting.preparation import prepare
from trtforensics.bisect.precision.emulation.runtime import run_model
from trtforensics.errors import SourceError
from trtforensics.repairs import broadcasts, casts, folding, reshapes
from trtforensics.repairs.graph import RepairedGraph

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from trtforensics.bisect.precision.inputs.sample import Sample, Values
    from trtforensics.repairs.graph import Change

REPAIRS: Mapping[str, Callable[[RepairedGraph], None]] = {
    folding.NAME: folding.fold,
    reshapes.NAME: reshapes.make_reshapes_explicit,
    casts.NAME: casts.shorten_casts,
    broadcasts.NAME: broadcasts.make_broadcasts_explicit,
}
"""The repairs, in the order in which each helps the next."""

EQUAL = 1e-5
"""By so much of an output's largest magnitude two forms of a model may differ: another order of the same sums."""


@dataclass(frozen=True, slots=True)
class Equality:
    """How far apart the outputs of two models are, as a share of the largest magnitude; 0: bit for bit.

    ``why`` says why they were not compared; the difference is None then.
    """

    difference: float | None
    samples: int
    why: str = ""


@dataclass(frozen=True, slots=True)
class RepairedModel:
    """A repaired model and what was changed."""

    model: onnx.ModelProto
    changes: tuple[Change, ...]


def read_original(path: str) -> onnx.ModelProto:
    """Read a model to repair.

    Raises:
        SourceError: it cannot be read, is not valid, or has more than 1.9 GB of weights.
    """
    prepared = prepare(path)
    if prepared.streamed:
        raise SourceError(path, "has more than 1.9 GB of weights, which are not repaired", "Cut the model in parts")
    return prepared.proto


def repaired(original: onnx.ModelProto, names: Collection[str]) -> RepairedModel:
    """Return a repaired copy of a model."""
    model = onnx.ModelProto()
    model.CopyFrom(original)
    graph = RepairedGraph(model)
    for name, repair in REPAIRS.items():
        if name in names:
            repair(graph)
    return RepairedModel(graph.model, tuple(graph.changes))


def compare(original: onnx.ModelProto, other: onnx.ModelProto, samples: Sequence[Sample], path: str) -> Equality:
    """Compare two models on samples.

    Raises:
        SourceError: they differ, or only the original runs.
    """
    largest = 0.0
    for sample in samples:
        wanted = run_model(original, sample)
        if isinstance(wanted, str):
            return Equality(None, len(samples), f"ONNX Runtime does not run the original ({wanted})")
        seen = run_model(other, sample)
        if isinstance(seen, str):
            raise SourceError(path, f"the repaired model does not run in ONNX Runtime: {seen}", "Leave a repair out")
        for name, array in wanted.items():
            difference = _difference(np.asarray(array), np.asarray(seen[name]))
            if difference is None or difference > EQUAL:
                by = "in shape or in what is finite" if difference is None else f"by {difference:.2g}"
                what = f"the repaired model's output {name} differs {by}; nothing was written"
                raise SourceError(path, what, "Leave a repair out")
            largest = max(largest, difference)
    return Equality(largest, len(samples))


def _difference(one: Values, other: Values) -> float | None:
    """Return the largest difference as a share of the largest magnitude; None where they cannot be compared."""
    if one.shape != other.shape or one.dtype != other.dtype:
        return None
    if one.dtype.kind not in "fc":
        return 0.0 if np.array_equal(one, other) else None
    left, right = one.astype(np.float64), other.astype(np.float64)
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)) or not np.array_equal(
        left[~finite], right[~finite], equal_nan=True
    ):
        return None
    if not finite.any():
        return 0.0
    peak = float(np.abs(left[finite]).max()) or 1.0
    return float(np.abs(left[finite] - right[finite]).max()) / peak
