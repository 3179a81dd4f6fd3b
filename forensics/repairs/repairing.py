"""Repairs a model, and compares it with the original in ONNX Runtime."""

import hashlib
import time
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
import onnx
from google.protobuf.message import Message
from onnx import numpy_helper

from trtforensics.console.counting import counted
from trtforensics.console.terminal import visible
from trtforensics.errors import SourceError
from trtforensics.onnx_models.cutting import constants_to_nodes
from trtforensics.onnx_models.graphs import all_nodes, copied, graphs, holds_graphs, is_random
from trtforensics.onnx_models.reading import PreparedModel, inferred, prepare, read_as_it_is
from trtforensics.onnx_models.running import ModelSession, failures, first_line, session_of
from trtforensics.onnx_models.samples import Sample, SampleSet, Values
from trtforensics.render.json_text import document_of
from trtforensics.repairs import casts, explicit, folding
from trtforensics.repairs.graph import DEFAULTS_SINCE, SHAPES, Change, RepairedGraph, defaults_of, part_of

REPAIRS: Mapping[str, Callable[[RepairedGraph], None]] = {
    folding.NAME: folding.fold,
    explicit.RESHAPE: explicit.make_reshapes_explicit,
    casts.NAME: casts.shorten_casts,
    explicit.BROADCASTS: explicit.make_broadcasts_explicit,
}
"""The repairs, in the order in which each helps the next."""

EQUAL = 1e-5
"""By so much of an output's largest magnitude two forms of a model may differ: another order of the same sums."""

_REPAIRED = {"graph", "node", "initializer", "value_info"}
_SEEDS = 1 << 16
_PATIENCE_S = 5.0
"""The least time that a run on an extreme sample gets: loops over data may never end."""
_SLOWER = 20
"""By so much longer than the slowest usual sample an extreme one may take; the repaired model may take twice that."""


@dataclass(frozen=True, slots=True)
class Equality:
    """How far apart the outputs of two models are, as a share of the largest magnitude; 0: bit for bit.

    ``extremes`` names the extreme samples that were compared too, ``not_run`` those on which the original does not run.
    ``not_compared`` says why the models were not compared; the difference is None then.
    """

    largest_difference: float | None
    samples: int
    extremes: tuple[str, ...] = ()
    not_run: tuple[str, ...] = ()
    not_compared: str | None = None


@dataclass(frozen=True, slots=True)
class RepairAnswer:
    """What was changed, how outputs compare with the original's, and how many nodes inside of others stay as before."""

    changes: tuple[Change, ...]
    equality: Equality
    inside: int

    def document(self) -> dict[str, object]:
        """Return the answer as ``--json`` prints it."""
        changes = [document_of("repair_change", each) for each in self.changes]
        return {"schema": 1, "kind": "repair", "changes": changes, **asdict(self.equality)}

    def text(self, output: str) -> str:
        """Return the answer as text; ``output`` is the file with the repaired model."""
        equality, difference = self.equality, self.equality.largest_difference
        lines = [f"{each.repair}: {each.node}: {each.what}" for each in self.changes]
        lines.append(f"{output}: {counted(len(self.changes), 'change') if self.changes else 'no changes'}.")
        if self.inside:
            stay = f"{counted(self.inside, 'node')} {'stays' if self.inside == 1 else 'stay'}"
            lines.append(f"Only the main graph is repaired: inside of If, Loop or Scan, {stay} as before.")
        samples = counted(equality.samples + len(equality.extremes), "sample")
        if difference is None:
            lines.append(f"Not compared with the original: {equality.not_compared}.")
        elif difference:
            lines.append(f"Outputs differ by at most {difference:.1g} of the largest magnitude on {samples}.")
        else:
            lines.append(f"Outputs are the original's bit for bit on {samples}.")
        if equality.extremes:
            lines.append(f"Extreme samples are among them: {', '.join(equality.extremes)}.")
        if equality.not_run:
            lines.append(f"Not compared, since the original does not run on it: {', '.join(equality.not_run)}.")
        return "".join(f"{visible(line)}\n" for line in lines)


def repair(
    path: str, names: Collection[str], samples_of: Callable[[onnx.ModelProto], SampleSet]
) -> tuple[onnx.ModelProto, RepairAnswer]:
    """Repair a model and compare it with the original on samples; return it, and what was done."""
    original = read_original(path)
    samples = samples_of(prepare(path).proto).samples
    result = repaired(original.proto, names)
    require_named(original.proto, result, path)
    extremes = extreme_samples(original.proto, samples[0])
    equality = compare(original.proto, result.model, samples, path, extremes)
    model, changes = result.model, result.changes
    if original.external:
        what = f"{counted(len(original.external), 'constant')} of files beside it now in the model"
        changes.append(Change("data", model.graph.name, what))
    inside = sum(len(graph.node) for graph in graphs(model.graph)) - len(model.graph.node)
    return model, RepairAnswer(tuple(changes), equality, inside)


def read_original(path: str) -> PreparedModel:
    """Read a model to repair; a SourceError where it cannot be read, is not valid, or has over 1.9 GB of weights."""
    read = read_as_it_is(path)
    if read.streamed:
        raise SourceError(path, "has more than 1.9 GB of weights, which are not repaired", "Cut the model in parts")
    inferred(path, read.proto)
    return read


def repaired(original: onnx.ModelProto, names: Collection[str]) -> RepairedGraph:
    """Return a repaired copy of a model, with what was changed."""
    graph = RepairedGraph(copied(original))
    for name, mend in REPAIRS.items():
        if name in names:
            mend(graph)
    before = {tensor.name for tensor in original.graph.initializer}
    added = {each.name for each in graph.model.graph.initializer} - before
    if added and graph.model.ir_version < DEFAULTS_SINCE:  # initializers are inputs there, and a repair adds none
        constants_to_nodes(graph.model.graph, added, "/Constant")
    return graph


def require_named(original: onnx.ModelProto, result: RepairedGraph, path: str) -> None:
    """Require that a repair changed what its list says and nothing else, else raise a SourceError."""
    both = {name for node in original.graph.node for name in node.output}
    both &= {name for node in result.model.graph.node for name in node.output}
    before, after = _parts(original, both), _parts(result.model, both)
    named = {name for change in result.changes for name in change.makes}
    changed = [name for name in {**before, **after} if before.get(name) != after.get(name) and name not in named]
    if changed or not _is_in_order(original, result.model) or _frame(original) != _frame(result.model):
        what = f"makes {changed[0]} otherwise" if changed else "changes more than nodes and constants"
        raise SourceError(path, f"a repair {what}, which its list does not say; nothing was written", "Leave one out")


def _is_in_order(original: onnx.ModelProto, model: onnx.ModelProto) -> bool:
    """Whether nodes come in the order in which they came; constants may come first."""
    before, after = (
        [part_of(node) for node in each.graph.node if node.op_type != "Constant"] for each in (original, model)
    )
    both = set(before) & set(after)
    return [each for each in before if each in both] == [each for each in after if each in both]


def _parts(model: onnx.ModelProto, stated_of: Collection[str]) -> dict[str, bytes]:
    """Return what makes each tensor of the main graph, and what is stated of the types of some, as digests."""
    graph = model.graph
    parts = {part_of(node)[0]: _digest(node) for node in graph.node}
    parts |= {tensor.name: _digest(tensor) for tensor in graph.initializer}
    return parts | {SHAPES: b"".join(sorted(_digest(each) for each in graph.value_info if each.name in stated_of))}


def _digest(part: Message) -> bytes:
    return hashlib.sha256(part.SerializeToString(deterministic=True)).digest()


def _frame(model: onnx.ModelProto) -> list[tuple[str, str]]:
    """Return a model without nodes, constants and types of tensors between: nothing of that may change."""
    fields = [*model.ListFields(), *model.graph.ListFields()]
    return [(field.name, str(value)) for field, value in fields if field.name not in _REPAIRED]


def compare(
    original: onnx.ModelProto,
    other: onnx.ModelProto,
    samples: Sequence[Sample],
    path: str,
    extremes: Iterable[tuple[str, Sample]] = (),
) -> Equality:
    """Compare two models on samples, and on extreme ones as far as the original runs on them."""
    pair = _Pair(seeded(original), seeded(other), path)
    largest, patience = 0.0, _PATIENCE_S
    for sample in samples:
        start = time.monotonic()
        difference = pair.difference(sample, None)
        if isinstance(difference, str):
            why = f"ONNX Runtime does not run the original ({difference})"
            return Equality(None, len(samples), not_compared=why)
        largest, patience = max(largest, difference), max(patience, _SLOWER * (time.monotonic() - start))
    compared: dict[bool, list[str]] = {True: [], False: []}
    for name, sample in extremes:
        difference = pair.difference(sample, patience, f" on {name}")
        compared[isinstance(difference, float)].append(name)
        largest = max(largest, difference) if isinstance(difference, float) else largest
    return Equality(largest, len(samples), extremes=tuple(compared[True]), not_run=tuple(compared[False]))


@dataclass(slots=True)
class _Pair:
    """Two models that run side by side, each in one session; in new ones for each sample if they draw numbers."""

    original: onnx.ModelProto
    other: onnx.ModelProto
    path: str
    _sessions: dict[bool, ModelSession] = field(default_factory=dict)

    def difference(self, sample: Sample, patience_s: float | None, where: str = "") -> float | str:
        """Return the largest difference on a sample; why the original does not run on it as a text."""
        if any(map(is_random, all_nodes(self.original))):
            self._sessions.clear()
        wanted = self._ran(sample, patience_s, original=True)
        if isinstance(wanted, str):
            return wanted
        outputs = self._ran(sample, None if patience_s is None else 2 * patience_s, original=False)
        if isinstance(outputs, str):
            what = f"the repaired model does not run in ONNX Runtime{where}: {outputs}; nothing was written"
            raise SourceError(self.path, what, "Leave a repair out")
        differences = {name: _difference(value, outputs[name]) for name, value in wanted.items()}
        for name, difference in differences.items():
            if difference > EQUAL:
                by = "in shape, zeros, or what is finite" if difference == np.inf else f"by {difference:.2g}"
                what = f"the repaired model's output {name} differs {by}{where}; nothing was written"
                raise SourceError(self.path, what, "Leave a repair out")
        return max(differences.values())

    def _ran(self, sample: Sample, patience_s: float | None, *, original: bool) -> dict[str, Any] | str:
        try:
            if original not in self._sessions:
                self._sessions[original] = session_of(self.original if original else self.other, {})
            return self._sessions[original].run(sample, patience_s=patience_s)
        except failures() as error:
            return first_line(error)


def _difference(wanted: object, output: object) -> float:
    """Return the largest difference as a share of the largest magnitude; infinity where they cannot be compared."""
    left, right = list(_arrays(wanted)), list(_arrays(output))
    if [(each.shape, each.dtype) for each in left] != [(each.shape, each.dtype) for each in right]:
        return np.inf
    return max(map(_distance, left, right), default=0.0)


def _arrays(value: object) -> Iterator[Values]:
    """Yield the arrays of an output, which may be a sequence of them, or nothing."""
    if isinstance(value, list):
        yield np.asarray(len(value))
        for each in value:
            yield from _arrays(each)
    elif value is not None:
        yield np.asarray(value)


def _distance(wanted: Values, output: Values) -> float:
    if wanted.dtype.kind in "OUiub":
        return 0.0 if np.array_equal(wanted, output) else np.inf
    if wanted.tobytes() == output.tobytes():
        return 0.0
    left, right = wanted.astype(np.float64), output.astype(np.float64)
    finite, zeros = np.isfinite(left), (left == 0) & (right == 0)
    same = np.array_equal(left[~finite], right[~finite], equal_nan=True) and np.isfinite(right[finite]).all()
    if not same or not np.array_equal(np.signbit(left[zeros]), np.signbit(right[zeros])):
        return np.inf
    apart = np.abs(left[finite] / 2 - right[finite] / 2)
    return float(apart.max(initial=0.0)) / (float(np.abs(left[finite] / 2).max(initial=0.0)) or 0.5)


def seeded(model: onnx.ModelProto) -> onnx.ModelProto:
    """Return a model whose random numbers are the same in every session: nodes that draw them get a seed."""
    if not any(map(is_random, all_nodes(model))):
        return model
    copy = copied(model)
    for node in all_nodes(copy):
        if is_random(node) and not holds_graphs(node) and all(each.name != "seed" for each in node.attribute):
            seed = zlib.crc32(node.output[0].encode()) % _SEEDS
            number = seed if node.op_type == "Dropout" else float(seed)
            node.attribute.append(onnx.helper.make_attribute("seed", number))
    return copy


_FILLS = {
    "zeros": (0.0,),
    "negative values": (-1.0, -2.5),
    "huge values": (np.inf, -np.inf),
    "NaN": (np.nan,),
    "infinities": (np.inf, -np.inf),
    "all of these": (0.0, -0.0, 1.5, -1.0, np.inf, np.nan, -np.inf, 1e-40),
}
_SIZES = (0, 1, 3)
_MOST_OF_BYTES = 240.0
"""A large number that every type of eight bits and of BF16 holds."""


def extreme_samples(model: onnx.ModelProto, sample: Sample) -> Iterator[tuple[str, Sample]]:
    """Yield samples like one, by what is extreme about them."""
    for name, values in _FILLS.items():
        yield name, {key: _filled(array, values, huge=name.startswith("huge")) for key, array in sample.items()}
    axes = {value.name: _dynamic(value) for value in model.graph.input if value.name in sample}
    dimensions = list(dict.fromkeys(key for keys in axes.values() for key in keys.values()))
    sizes = [(f"size {size} of dynamic dimensions", dict.fromkeys(dimensions, size)) for size in _SIZES]
    sizes += [(f"size 0 of {key}", {key: 0}) for key in dimensions]
    for name, wanted in sizes if len(dimensions) > 1 else sizes[: len(_SIZES) * len(dimensions)]:
        yield name, {key: _resized(array, axes.get(key, {}), wanted) for key, array in sample.items()}
    defaults = defaults_of(model)
    others = {t.name: _other(numpy_helper.to_array(t)) for t in model.graph.initializer if t.name in defaults}
    if others:
        yield "other values for defaults", {**sample, **others}


def _filled(array: Values, values: tuple[float, ...], *, huge: bool) -> Values:
    """Return an array of some values; of integers the largest are huge only where they cannot be sizes."""
    kind, numbers = array.dtype, np.asarray(values)
    if kind.kind == "O":
        return array
    if kind.kind in "iu":
        largest = int(np.iinfo(kind).max) if huge and array.ndim > 1 else 1
        least = -largest if kind.kind == "i" else 0  # the smallest one, divided by -1, would end the process
        whole = [0 if np.isnan(number) else int(max(least, min(largest, number))) for number in values]
        return np.resize(np.array(whole, kind), array.shape)
    if huge and kind.kind != "b":
        most = np.finfo(kind).max if kind.type.__module__ == "numpy" else _MOST_OF_BYTES
        numbers = np.clip(numbers, -most, most)
    with np.errstate(all="ignore"):
        return np.resize(numbers.astype(kind), array.shape)


def _dynamic(value: onnx.ValueInfoProto) -> dict[int, str]:
    """Return the dynamic axes of an input with the names of their dimensions, which others may share."""
    dims = enumerate(value.type.tensor_type.shape.dim)
    return {
        axis: dim.dim_param or f"axis {axis} of {value.name}" for axis, dim in dims if not dim.HasField("dim_value")
    }


def _resized(array: Values, axes: Mapping[int, str], sizes: Mapping[str, int]) -> Values:
    shape = [sizes.get(axes.get(axis, ""), size) for axis, size in enumerate(array.shape)]
    return np.resize(array, shape) if array.size else np.zeros(shape, array.dtype)


def _other(array: Values) -> Values:
    if array.dtype.kind == "O":
        return array
    return np.logical_not(array) if array.dtype.kind == "b" else np.asarray(array + 1).astype(array.dtype)
