"""The range of every floating-point tensor in FP32, inside of subgraphs too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto

from trtforensics.bisect.precision.emulation.masks import mask_paths, rows_without_keys
from trtforensics.bisect.precision.emulation.oracle import TENSORS_A_RUN, RunError, with_outputs
from trtforensics.bisect.precision.emulation.twin import emulate
from trtforensics.bisect.precision.tensors.bodies import Measure, measured_inside

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from trtforensics.bisect.precision.emulation.node_writer import NodeWriter
    from trtforensics.bisect.precision.emulation.oracle import Oracle

    Values = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class Range:
    """The largest magnitude of a tensor over all samples; NaN counts as infinite. Masked positions do not count."""

    largest: float


@dataclass(slots=True)
class TensorRanges:
    """The ranges by tensor; of tensors that masks pass through, how many values are masked in all samples.

    ``empty_rows`` counts by Softmax node the rows that are masked everywhere; masks count in the ranges then.
    """

    by_tensor: dict[str, Range] = field(default_factory=dict)
    masked: dict[str, int] = field(default_factory=dict)
    empty_rows: dict[str, int] = field(default_factory=dict)


def tensor_ranges(oracle: Oracle) -> TensorRanges:
    """Run the FP32 model with every tensor as an output, some hundred at a time.

    Tensors of subgraphs are left out where ONNX Runtime cannot give them, and nothing follows from that but fewer
    reasons in the answer.
    """
    survey = oracle.caster.survey
    found = _Finding(oracle, mask_paths(survey))
    names = [
        name
        for name, scope in survey.scopes.items()
        if scope == 0 and survey.types.get(name) == TensorProto.FLOAT and name not in survey.constants
    ]
    for name in names:
        if name in survey.sources:
            for sample in oracle.samples:
                found.note(name, np.asarray(sample[name]))
    made = [name for name in names if name not in survey.sources]
    for start in range(0, len(made), TENSORS_A_RUN):
        part = with_outputs(oracle.caster.prepared.proto, made[start : start + TENSORS_A_RUN])
        for outputs in oracle.outputs_of(emulate(part)):
            for name, array in outputs.items():
                found.note(name, array)
    return found.result(_inside_bodies(oracle))


@dataclass(slots=True)
class _Finding:
    oracle: Oracle
    paths: Mapping[str, frozenset[str]]
    largest: dict[str, float] = field(default_factory=dict)
    unmasked: dict[str, float] = field(default_factory=dict)
    masked: dict[str, int] = field(default_factory=dict)
    empty: dict[str, int] = field(default_factory=dict)

    def note(self, name: str, values: Values) -> None:
        """Note the values of one sample."""
        self.largest[name] = max(self.largest.get(name, 0.0), _largest(values))
        if name not in self.paths:
            return
        lowest = -self.oracle.caster.storage.largest
        low = values < lowest
        self.unmasked[name] = max(self.unmasked.get(name, 0.0), _largest(values[~low]))
        if low.any():
            self.masked[name] = self.masked.get(name, 0) + int(np.count_nonzero(low))
        survey = self.oracle.caster.survey
        versions = self.oracle.caster.prepared.proto.opset_import
        opset = max(entry.version for entry in versions if entry.domain in {"", "ai.onnx"})
        for softmax in self.paths[name]:
            if survey.nodes[softmax].input[0] == name:
                rows = rows_without_keys(survey.nodes[softmax], values, lowest, opset)
                if rows:
                    self.empty[softmax] = self.empty.get(softmax, 0) + rows

    def result(self, inner: Mapping[str, float]) -> TensorRanges:
        """Return what was noted; masks count where a row is masked everywhere."""
        spared = {name for name, softmax in self.paths.items() if not softmax.intersection(self.empty)}
        ranges = {
            name: Range(self.unmasked[name] if name in spared else largest) for name, largest in self.largest.items()
        }
        ranges.update({name: Range(largest) for name, largest in inner.items()})
        masked = {name: count for name, count in self.masked.items() if name in spared}
        return TensorRanges(ranges, masked, self.empty)


def _inside_bodies(oracle: Oracle) -> dict[str, float]:
    """Return the largest magnitude of the FP32 tensors of subgraphs; of none where ONNX Runtime cannot give them."""
    survey = oracle.caster.survey
    inner: dict[int, dict[str, str]] = {}
    for name, scope in survey.scopes.items():
        made = name in survey.producers and name not in survey.constants
        if scope and made and survey.types.get(name) == TensorProto.FLOAT:
            inner.setdefault(scope, {})[name] = name
    if not inner:
        return {}
    model = onnx.ModelProto()
    model.CopyFrom(oracle.caster.prepared.proto)
    taps = measured_inside(model, inner, _MAGNITUDE)
    try:
        runs = oracle.outputs_of(emulate(model))
    except RunError:
        return {}
    largest: dict[str, float] = {}
    for tap, about in taps.items():
        for run in runs:
            magnitude, wrong = run[tap]
            largest[about] = max(largest.get(about, 0.0), np.inf if wrong else float(magnitude))
    return largest


def _magnitude(writer: NodeWriter, _about: str, source: str) -> str:
    """Write the largest magnitude of a tensor, and whether it has a value that is not finite."""
    flat = writer.add("Reshape", writer.add("Cast", source, to=TensorProto.DOUBLE), writer.constant([-1]))
    some = writer.add("Concat", writer.constant([0.0], np.float64), writer.add("Abs", flat), axis=0)
    finite = writer.add("Less", some, writer.constant(np.inf, np.float64))
    wrong = writer.add("Cast", writer.add("Not", finite), to=TensorProto.DOUBLE)
    both = [writer.add("ReduceMax", each, keepdims=1) for each in (some, wrong)]
    return writer.add("Concat", *both, axis=0)


_MAGNITUDE = Measure(_magnitude, 2, "ReduceMax")


def _largest(values: Values) -> float:
    """Return the largest magnitude; NaN counts as infinite."""
    if not values.size:
        return 0.0
    return float(np.nan_to_num(np.abs(values.astype(np.float64)), nan=np.inf).max())
