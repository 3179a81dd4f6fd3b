"""A quantized model beside the FP32 model that it was made of: the noise of each layer, its own and summed."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from trtforensics.bisection.precision.answer.kernels import PRODUCTS
from trtforensics.bisection.precision.answer.quantization import grid_of, pairs_of, uses_of
from trtforensics.bisection.precision.answer.range_use import UNSUITED, RangeUse, use_of
from trtforensics.bisection.precision.emulation.oracle import Oracle, RunError, set_outputs
from trtforensics.console.counting import counted, head_lines, listed
from trtforensics.errors import UsageError
from trtforensics.findings.models.quantization import MOVES, moved_by
from trtforensics.onnx_models.checked_graph import Survey
from trtforensics.onnx_models.graphs import copied, nodes_of
from trtforensics.onnx_models.reading import prepare
from trtforensics.onnx_models.running import failures, first_line, session_of
from trtforensics.onnx_models.samples import Values

_GRIDS = frozenset({"QuantizeLinear", "DequantizeLinear"})
_SHOWN = 12
_EXACT = "__original"
"""The end of the names of inputs that take the original's values."""
_UNLIKE_DB = 3.0
"""Noise of more than half of the signal: no grid of 8 bits that fits its values makes it."""

_ALIKE = 0.01
"""The share of noise that 8 bits seldom leave."""
_ROUNDING = 1e-10
"""The share of noise in the signal below which FP32's own rounding may be all of it: 100 dB."""


@dataclass(frozen=True, slots=True)
class LayerNoise:
    """A node of both models; ``tensor`` is its result in the quantized one.

    Signal-to-noise ratios are in decibels, None from 100 on, where FP32 itself rounds: ``alone_db`` where the layer
    reads the original's values, through its own pairs and with its own weights, ``summed_db`` behind all before it.
    ``use`` is that of the worst scale of its operands, in the node ``scaled_by``; stored weights beside the original's.
    """

    node: str
    op: str
    tensor: str
    alone_db: float | None
    summed_db: float | None
    scaled_by: str = ""
    use: RangeUse | None = None

    @property
    def reason(self) -> str:
        """What is wrong with that scale, in words."""
        return f"; {self.scaled_by} {self.use.reason}" if self.use is not None and self.use.reason else ""


@dataclass(frozen=True, slots=True)
class OriginalReport:
    """The layers that both models have, the worst first, and the products that the original does not have."""

    path: str
    layers: tuple[LayerNoise, ...]
    unmatched: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the report as text."""
        noisy = [each for each in self.layers if each.alone_db is not None]
        layers, quiet = counted(len(self.layers), "layer"), len(self.layers) - len(noisy)
        lines = [f"Against {self.path}: signal-to-noise of {layers}, alone and summed; {quiet} add no noise."]
        values = [f"alone {_db(each.alone_db)}, summed {_db(each.summed_db)}{each.reason}" for each in noisy]
        shown = [f"  {each.node} [{each.op}]: {value}" for each, value in zip(noisy, values, strict=True)]
        lines += head_lines(shown, _SHOWN)
        if sum(each.alone_db is not None and each.alone_db < _UNLIKE_DB for each in noisy) * 2 > len(noisy):
            lines.append("  Most differ by more than 8 bits explain: this may not be the model that it was made of.")
        if self.unmatched:
            lines.append(f"  Not in the original ({len(self.unmatched)}): {listed(self.unmatched, _SHOWN)}.")
        return lines


def _db(ratio: float | None) -> str:
    return "no noise" if ratio is None else f"{ratio:.0f} dB"


def held_to_original(path: str, oracle: Oracle) -> OriginalReport:
    """Run the FP32 original beside the quantized model of an oracle, on its samples.

    Raises:
        RunError, SourceError: ONNX Runtime cannot run one of the models, or the original cannot be read.
        UsageError: one of the models is another than expected.
    """
    quantized, original = oracle.caster.prepared, prepare(path)
    survey = oracle.caster.survey
    if not any(node.op_type in _GRIDS for node in survey.nodes.values()):
        raise UsageError("--reference", f"{quantized.path} has no Q/DQ", "Give the model with Q/DQ as MODEL")
    if original.streamed or quantized.streamed:
        raise UsageError("--reference", "does not run models of more than 1.9 GB", "Give a part of both")
    exact = Survey(original.proto)
    matches = _matches(survey, exact)
    products = [node for node in survey.nodes.values() if node.op_type in PRODUCTS]
    if not any(node.output[0] in matches for node in products):
        what = f"no product of {quantized.path} has the name or the result of one in {path}"
        raise UsageError("--reference", what, "Give the FP32 model that it was made of")
    sums = _measured(oracle, path, matches, original.proto)
    makers = {name: survey.nodes[survey.producers[name]] for name in sums}
    pairs = pairs_of(survey)
    uses = uses_of(oracle, pairs)
    known = {result: (pair.name, uses[pair.name]) for pair in pairs if pair.name in uses for result in pair.results}
    layers = []
    for name, (signal, *noises) in sums.items():
        node, twin = makers[name], exact.nodes[exact.producers[matches[name]]]
        operands = zip((_unmoved(survey, each) for each in node.input), twin.input, strict=False)
        scales = [known.get(ours) or _stored(survey, ours, exact, _unmoved(exact, theirs)) for ours, theirs in operands]
        worst = max(filter(None, scales), key=lambda each: each[1].excess_db, default=("", None))
        alone, summed = (_ratio(signal, each) for each in noises)
        layers.append(LayerNoise(node.name, node.op_type, name, alone, summed, *worst))
    layers.sort(key=_worst_first)
    return OriginalReport(path, tuple(layers), tuple(node.name for node in products if node.output[0] not in sums))


def _worst_first(layer: LayerNoise) -> tuple[float, float]:
    excess = layer.use.excess_db if layer.use is not None and layer.use.is_at_fault else 0.0
    return -excess, np.inf if layer.alone_db is None else layer.alone_db


def _unmoved(survey: Survey, tensor: str) -> str:
    """Follow a tensor back over nodes that only move values; return where they begin."""
    maker = survey.maker(tensor)
    moved = () if maker is None else moved_by(maker)
    return _unmoved(survey, moved[0]) if moved else tensor


def _stored(survey: Survey, tensor: str, original: Survey, exact_name: str) -> tuple[str, RangeUse] | None:
    """Return the node that dequantizes a constant, and what its scale does to the original's values."""
    node = survey.maker(tensor)
    if node is None or node.op_type != "DequantizeLinear" or node.input[0] not in survey.constants:
        return None
    grid, stored = grid_of(survey, node), numpy_helper.to_array(survey.constants[node.input[0]])
    exact = numpy_helper.to_array(original.constants[exact_name]) if exact_name in original.constants else np.zeros(())
    if grid is None or stored.shape != exact.shape:
        return None
    use = use_of([exact], grid, (0, 1), stored)
    if not use.is_at_fault:
        return node.name, use
    held, reason = grid.values(stored), use.reason
    share = np.vdot(held, exact) / max(np.vdot(exact, exact), 1e-300)
    turned = [replace(grid, axis=axis) for axis, size in enumerate(exact.shape) if size == grid.scale.size > 1]
    suited = [each.axis for each in turned if not use_of([exact], each, (), stored).is_at_fault]
    if np.square(held - share * exact).sum() <= _ALIKE * np.square(held).sum():
        reason = f"holds {share:.3g} times the original's values"
    elif suited:
        reason = f"has scales along axis {grid.axis} that suit axis {suited[0]}"
    elif reason == UNSUITED:
        reason = "holds other values than the original's, rounded"
    return node.name, replace(use, reason=reason)


def _ratio(signal: float, noise: float) -> float | None:
    return float(10.0 * np.log10(max(signal, 1e-300) / noise)) if noise > signal * _ROUNDING else None


def _matches(quantized: Survey, original: Survey) -> dict[str, str]:
    """Return the original's tensor by the quantized model's: of one name, or results of nodes of one name."""
    matches = {}
    for name, node in quantized.nodes.items():
        result = node.output[0] if node.output else ""
        if node.op_type in _GRIDS | MOVES or quantized.scopes.get(result) != 0:
            continue
        if quantized.types.get(result) != TensorProto.FLOAT:
            continue
        same = original.producers.get(result)
        twin = original.nodes.get(name if same is None else same)
        if twin is not None and twin.op_type == node.op_type and original.scopes.get(twin.output[0]) == 0:
            matches[result] = twin.output[0]
    return matches


def _measured(
    oracle: Oracle, path: str, matches: Mapping[str, str], original: onnx.ModelProto
) -> dict[str, list[float]]:
    """Return by tensor the squared sums of the signal, of the layer's own noise, and of all noise up to it."""
    quantized = oracle.caster.prepared.proto
    plain, exact, alone = (copied(each) for each in (quantized, original, quantized))
    set_outputs(plain, list(matches))
    set_outputs(exact, list(dict.fromkeys(matches.values())))
    for node in nodes_of(alone.graph):
        node.input[:] = [name + _EXACT if name in matches else name for name in node.input]
    for name in matches:
        alone.graph.input.add(name=name + _EXACT).type.tensor_type.elem_type = TensorProto.FLOAT
    set_outputs(alone, list(matches))
    sums: dict[str, list[float]] = {}
    try:
        sessions = [session_of(each, {}, oracle.libraries) for each in (exact, alone, plain)]
        for sample in oracle.samples:
            wanted = sessions[0].run(sample)
            feed = {name + _EXACT: wanted[theirs] for name, theirs in matches.items()}
            outputs = [sessions[1].run({**sample, **feed}), sessions[2].run(sample)]
            for name, theirs in matches.items():
                if wanted[theirs].shape == outputs[1][name].shape:
                    _add(sums.setdefault(name, [0.0] * 3), wanted[theirs], [each[name] for each in outputs])
    except failures() as error:
        what = f"does not run beside {oracle.caster.prepared.path}: {first_line(error)}"
        raise RunError(path, what, "Give the FP32 model that it was made of, with the same inputs") from error
    return sums


def _add(sums: list[float], wanted: Values, outputs: list[Values]) -> None:
    exact = np.asarray(wanted, np.float64)
    finite = np.isfinite(exact)
    sums[0] += float(np.square(exact[finite]).sum())
    for place, output in enumerate(outputs, 1):
        differences = np.nan_to_num(np.asarray(output, np.float64))[finite] - exact[finite]
        sums[place] += float(np.square(differences).sum())
