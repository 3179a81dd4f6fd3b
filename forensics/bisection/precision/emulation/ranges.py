"""The range of every floating-point tensor in FP32, inside of subgraphs too, and the masks before a Softmax.

Exporters mask attention by adding a very low number to the scores, or by selecting it. Below the end of the 16-bit type
it becomes the lowest value or minus infinity, and its weight is zero as in FP32. Only a row that is masked everywhere
is another matter: the scores are rounded away beside the mask, so that the weights of FP32 and of 16 bits differ.

What is measured inside the bodies of If, Loop and Scan comes out as outputs of the model. A body hands a measure on to
its node: a vector of a fixed length, so that Loop and Scan can stack those of their iterations whatever the shapes of
the tensors are. The stack is reduced to one vector again. A branch that is not taken gives zeros.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from trtforensics.bisection.precision.casting.caster import operators_that
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError
from trtforensics.bisection.precision.emulation.twin import emulate
from trtforensics.bisection.precision.sentences import lines_about
from trtforensics.console.counting import listed
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import bodies, copied, holds_graphs, inside, integer, operator_set, refill
from trtforensics.onnx_models.rewriting import NodeWriter
from trtforensics.onnx_models.samples import Values

Measured = Callable[[NodeWriter, str, str], str]


_SOFTMAX = frozenset({"Softmax"})
"""LogSoftmax is none: what goes into it low comes out as low, and counts."""
_CARRIES = operators_that("carries-masks")
"""Through these, a very low value stays one."""

_FIRST_WITH_ONE_AXIS = 13
"""Before this operator set, Softmax takes all dimensions from its axis on as one row, and that axis is 1 by default."""

_REACHED = frozenset({"If", "Loop", "Scan"})
_TAP = "__measured"
_AXES_ARE_INPUTS = {"ReduceMax": 18, "ReduceSum": 13}
"""The operator sets from which on these take their axes as an input."""


def is_reached(node: onnx.NodeProto) -> bool:
    """Whether measures come out of all bodies of a node."""
    holders = (each for each in (node, *inside(node)) if holds_graphs(each))
    return all(each.op_type in _REACHED for each in holders)


def measured_inside(
    model: onnx.ModelProto, wanted: Mapping[int, Mapping[str, str]], write: Measured, length: int, reduction: str
) -> dict[str, str]:
    """Make measures of tensors in bodies the only outputs of a model; return these, each with the name in the answer.

    ``wanted`` holds by a body's number, in the order of the file, the names of its tensors by those in the answer; the
    same names there give the same outputs. ``write`` gets both names, and adds the nodes that compute the measure, a
    vector of ``length`` FP64 numbers. ``reduction``, ReduceMax or ReduceSum, joins those of several executions.
    """
    taps = _Tapping(wanted, write, length, reduction, operator_set(model)).graph(model.graph)
    refill(model.graph, "output", map(_value, taps))
    return taps


@dataclass(slots=True)
class _Tapping:
    wanted: Mapping[int, Mapping[str, str]]
    write: Measured
    length: int
    reduction: str
    version: int
    numbers: Iterator[int] = field(default_factory=count)

    def graph(self, graph: onnx.GraphProto) -> dict[str, str]:
        """Add the measures of a graph and of all in it; return them, each with the name in the answer."""
        number = next(self.numbers)
        added: dict[str, str] = {}
        for node in list(graph.node):
            added.update(self._node(node, graph))
        for about, source in self.wanted.get(number, {}).items():
            tap = f"{about}{_TAP}_{number}"
            writer = NodeWriter(tap)
            writer.named(self.write(writer, about, source), tap)
            graph.node.extend(writer.nodes)
            added[tap] = about
        return added

    def _node(self, node: onnx.NodeProto, graph: onnx.GraphProto) -> dict[str, str]:
        measured = [(body, self.graph(body)) for body in bodies(node)]
        taps = {tap: about for _, inner in measured for tap, about in inner.items()}
        if not taps or node.op_type not in _REACHED:
            return {}
        results = len(measured[0][0].output) - (node.op_type == "Loop")  # its first is the condition
        node.output.extend([""] * (results - len(node.output)))
        for number, (body, inner) in enumerate(measured):
            for tap in taps:
                name = tap if tap in inner else f"{tap}_{number}"
                if tap not in inner:
                    nothing = numpy_helper.from_array(np.zeros(self.length), "value")
                    body.node.append(helper.make_node("Constant", [], [name], value=nothing))
                body.output.append(_value(name))
        return {self._outside(node, graph, tap): about for tap, about in taps.items()}

    def _outside(self, node: onnx.NodeProto, graph: onnx.GraphProto, tap: str) -> str:
        """Add an output to a node with bodies; return the one vector that it comes to."""
        result = f"{tap}_outside"
        if node.op_type == "If":
            node.output.append(result)
            return result
        for attribute in node.attribute:
            if attribute.name in {"scan_output_axes", "scan_output_directions"}:
                attribute.ints.append(0)
        node.output.append(f"{tap}_each")
        writer = NodeWriter(result)
        nothing = writer.constant(np.zeros((1, self.length)), np.float64)
        every = writer.add("Concat", nothing, f"{tap}_each", axis=0)
        if self.version >= _AXES_ARE_INPUTS[self.reduction]:
            reduced = writer.add(self.reduction, every, writer.constant([0]), keepdims=0)
        else:
            reduced = writer.add(self.reduction, every, axes=[0], keepdims=0)
        writer.named(reduced, result)
        graph.node.extend(writer.nodes)
        return result


def _value(name: str) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, TensorProto.DOUBLE, None)


def mask_paths(survey: Survey) -> dict[str, frozenset[str]]:
    """Return the tensors that lead to nothing but Softmax nodes, through nodes that keep low values low, with these."""
    paths: dict[str, set[str]] = {}
    ahead = [(node.input[0], name) for name, node in survey.nodes.items() if node.op_type in _SOFTMAX]
    while ahead:
        tensor, softmax = ahead.pop()
        if softmax in paths.setdefault(tensor, set()):
            continue
        paths[tensor].add(softmax)
        producer = survey.maker(tensor)
        if producer is not None and producer.op_type in _CARRIES:
            ahead += [(name, softmax) for name in producer.input if name]
    return {
        tensor: frozenset(reached)
        for tensor, reached in paths.items()
        if all(survey.nodes[use.node].op_type in _SOFTMAX | _CARRIES for use in survey.uses.get(tensor, ()))
    }


def rows_without_keys(node: onnx.NodeProto, scores: Values, lowest: float, opset: int) -> int:
    """Count the rows of a Softmax's input that are masked everywhere: all of their values are below ``lowest``."""
    axis = integer(node, "axis")
    if opset >= _FIRST_WITH_ONE_AXIS:
        low = (scores < lowest).all(axis=-1 if axis is None else axis)
    else:
        axis = (1 if axis is None else axis) % max(scores.ndim, 1)
        low = (scores < lowest).reshape(*scores.shape[:axis], -1).all(axis=-1)
    return int(np.count_nonzero(low)) if scores.size else 0


def mask_notes(masked: Mapping[str, int], empty: Mapping[str, int], narrow: str) -> list[str]:
    """Return what the answer says of masks: tensors with masked values, and Softmax nodes with rows without keys."""
    shown = listed([f"{name} ({count})" for name, count in masked.items()])
    notes = lines_about("masks", narrow=narrow, shown=shown) if masked else []
    for name, rows in empty.items():
        notes += lines_about("rows without keys", name=name, rows=rows, narrow=narrow)
    return notes


@dataclass(frozen=True, slots=True)
class TensorRanges:
    """The largest magnitude by tensor over all samples, infinite where there is NaN; masked positions do not count.

    ``masked`` counts their values by tensor; ``empty_rows`` by Softmax the rows that are masked everywhere, and count.
    """

    by_tensor: Mapping[str, float]
    masked: Mapping[str, int]
    empty_rows: Mapping[str, int]


def tensor_ranges(oracle: Oracle) -> TensorRanges:
    """Measure every tensor of the FP32 model, but for those of subgraphs that ONNX Runtime cannot give."""
    survey, lowest = oracle.caster.survey, -oracle.caster.storage.largest
    paths, opset = mask_paths(survey), operator_set(oracle.caster.prepared.proto)
    largest: dict[str, float] = {}
    unmasked: dict[str, float] = {}
    masked: Counter[str] = Counter()
    empty: Counter[str] = Counter()
    for name, arrays in oracle.values_of(oracle.tensors):
        largest[name] = max(map(_largest, arrays))
        for values in arrays if name in paths else ():
            low = values < lowest
            unmasked[name] = max(unmasked.get(name, 0.0), _largest(values[~low]))
            masked[name] += int(np.count_nonzero(low))
            for softmax in paths[name]:
                if survey.nodes[softmax].input[0] == name:
                    empty[softmax] += rows_without_keys(survey.nodes[softmax], values, lowest, opset)
    empty = +empty
    spared = {name for name in unmasked if not paths[name].intersection(empty)}  # elsewhere masks count
    ranges = {**largest, **{name: unmasked[name] for name in spared}, **_inside_bodies(oracle)}
    return TensorRanges(ranges, {name: count for name, count in masked.items() if count and name in spared}, empty)


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
    model = copied(oracle.caster.source)
    taps = measured_inside(model, inner, _magnitude, 2, "ReduceMax")
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


def _largest(values: Values) -> float:
    """Return the largest magnitude; NaN counts as infinite."""
    if not values.size:
        return 0.0
    largest = max(float(values.max()), -float(values.min()))
    return np.inf if np.isnan(largest) else largest
