"""The range of every floating-point tensor in FP32, inside of subgraphs too."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisect.precision.casting.preparation import bodies
from trtforensics.bisect.precision.emulation.masks import mask_paths, rows_without_keys
from trtforensics.bisect.precision.emulation.oracle import TENSORS_A_RUN, RunError, with_outputs
from trtforensics.bisect.precision.emulation.twin import emulate

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt

    from trtforensics.bisect.precision.emulation.oracle import Oracle

    Values = npt.NDArray[Any]

_TAP = "__largest"


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
    """Return the largest magnitude of the FP32 tensors of subgraphs, by outputs that are added to their nodes."""
    survey = oracle.caster.survey
    inner = [
        name
        for name, scope in survey.scopes.items()
        if scope
        and survey.types.get(name) == TensorProto.FLOAT
        and name not in survey.constants
        and name not in survey.sources
    ]
    if not inner:
        return {}
    model = onnx.ModelProto()
    model.CopyFrom(oracle.caster.prepared.proto)
    taps = _tapped(model.graph, frozenset(inner))
    model.graph.ClearField("output")
    model.graph.output.extend(_value(tap) for tap in taps)
    try:
        runs = oracle.outputs_of(emulate(model))
    except RunError:
        return {}
    reached = {tap: [_largest(run[tap]) for run in runs if run[tap].size] for tap in taps}
    return {taps[tap]: max(each) for tap, each in reached.items() if each}


def _tapped(graph: onnx.GraphProto, wanted: frozenset[str]) -> dict[str, str]:
    """Give each node with subgraphs an output for each wanted tensor inside: its largest magnitude, by iteration.

    Return the tensors that were added to the graph, each with the wanted tensor that it is about. A branch that is not
    taken gives an empty tensor.
    """
    added: dict[str, str] = {}
    for node in graph.node:
        inside = [(body, {**_tapped(body, wanted), **_magnitudes(body, wanted)}) for body in bodies(node)]
        taps = {tap: about for _, found in inside for tap, about in found.items()}
        for number, (body, found) in enumerate(inside):
            for tap in taps:
                name = tap if tap in found else f"{tap}_{number}"
                if tap not in found:
                    nothing = numpy_helper.from_array(np.zeros(0, np.float32), "value")
                    body.node.append(helper.make_node("Constant", [], [name], value=nothing))
                body.output.append(_value(name))
        outer = {f"{tap}{_TAP}": about for tap, about in taps.items()}
        node.output.extend(outer)
        added.update(outer)
    return added


def _magnitudes(body: onnx.GraphProto, wanted: frozenset[str]) -> dict[str, str]:
    made = [name for node in body.node for name in node.output if name in wanted]
    for name in made:
        size, largest = f"{name}{_TAP}_size", f"{name}{_TAP}"
        body.node.append(helper.make_node("Abs", [name], [size], name=size))
        body.node.append(helper.make_node("ReduceMax", [size], [largest], name=largest, keepdims=0))
    return {f"{name}{_TAP}": name for name in made}


def _value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, None)


def _largest(values: Values) -> float:
    """Return the largest magnitude; NaN counts as infinite."""
    if not values.size:
        return 0.0
    return float(np.nan_to_num(np.abs(values.astype(np.float64)), nan=np.inf).max())
