"""A quantized model beside the FP32 model that it was made of: the noise of each layer, its own and summed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from onnx import TensorProto

from trtforensics.bisection.precision.answer.kernels import PRODUCTS
from trtforensics.bisection.precision.casting.eligibility import operators_that
from trtforensics.bisection.precision.emulation.oracle import RunError, set_outputs
from trtforensics.console.counting import counted, head_lines, listed
from trtforensics.errors import UsageError
from trtforensics.onnx_models.graphs import Survey, copied, nodes_of, survey_of
from trtforensics.onnx_models.reading import prepare
from trtforensics.onnx_models.running import failures, first_line, session_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy.typing as npt
    import onnx

    from trtforensics.bisection.precision.emulation.oracle import Oracle

_GRIDS = frozenset({"QuantizeLinear", "DequantizeLinear"})
_MOVES = operators_that("moves-quantized")
_SHOWN = 12
_EXACT = "__original"
"""The end of the names of inputs that take the original's values."""
_UNLIKE_DB = 3.0
"""Noise of more than half of the signal: no grid of 8 bits that fits its values makes it."""

_ROUNDING = 1e-10
"""The share of noise in the signal below which FP32's own rounding may be all of it: 100 dB."""


@dataclass(frozen=True, slots=True)
class LayerNoise:
    """A node of both models; ``tensor`` is its result in the quantized one.

    Signal-to-noise ratios are in decibels, None from 100 on, where FP32 itself rounds: ``alone_db`` where the layer
    reads the original's values, through its own pairs and with its own weights, ``summed_db`` behind all before it.
    """

    node: str
    op: str
    tensor: str
    alone_db: float | None
    summed_db: float | None


@dataclass(frozen=True, slots=True)
class OriginalReport:
    """The layers that both models have, the noisiest alone first, and the products that the original does not have."""

    path: str
    layers: tuple[LayerNoise, ...]
    unmatched: tuple[str, ...]

    def lines(self) -> list[str]:
        """Return the report as text."""
        noisy = [each for each in self.layers if each.alone_db is not None]
        layers, quiet = counted(len(self.layers), "layer"), len(self.layers) - len(noisy)
        lines = [f"Against {self.path}: signal-to-noise of {layers}, alone and summed; {quiet} add no noise."]
        values = [f"alone {_db(each.alone_db)}, summed {_db(each.summed_db)}" for each in noisy]
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
        RunError: ONNX Runtime cannot run one of the models.
        SourceError: the original cannot be read.
        UsageError: one of the models is another than expected.
    """
    quantized, original = oracle.caster.prepared, prepare(path)
    survey = oracle.caster.survey
    if not any(node.op_type in _GRIDS for node in survey.nodes.values()):
        raise UsageError("--reference", f"{quantized.path} has no Q/DQ", "Give the model with Q/DQ as MODEL")
    if original.streamed or quantized.streamed:
        raise UsageError("--reference", "does not run models of more than 1.9 GB", "Give a part of both")
    matches = _matches(survey, survey_of(original.proto))
    products = [node for node in survey.nodes.values() if node.op_type in PRODUCTS]
    if not any(node.output[0] in matches for node in products):
        what = f"no product of {quantized.path} has the name or the result of one in {path}"
        raise UsageError("--reference", what, "Give the FP32 model that it was made of")
    sums = _measured(oracle, path, matches, original.proto)
    makers = {name: survey.nodes[survey.producers[name]] for name in sums}
    layers = [
        LayerNoise(makers[name].name, makers[name].op_type, name, *(_ratio(signal, each) for each in noises))
        for name, (signal, *noises) in sums.items()
    ]
    layers.sort(key=lambda each: np.inf if each.alone_db is None else each.alone_db)
    return OriginalReport(path, tuple(layers), tuple(node.name for node in products if node.output[0] not in sums))


def _ratio(signal: float, noise: float) -> float | None:
    return float(10.0 * np.log10(max(signal, 1e-300) / noise)) if noise > signal * _ROUNDING else None


def _matches(quantized: Survey, original: Survey) -> dict[str, str]:
    """Return the original's tensor by the quantized model's: of one name, or results of nodes of one name."""
    matches = {}
    for name, node in quantized.nodes.items():
        result = node.output[0] if node.output else ""
        if node.op_type in _GRIDS | _MOVES or quantized.scopes.get(result) != 0:
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
    plain, exact, own = (copied(each) for each in (quantized, original, quantized))
    set_outputs(plain, list(matches))
    set_outputs(exact, list(dict.fromkeys(matches.values())))
    for node in nodes_of(own.graph):
        node.input[:] = [name + _EXACT if name in matches else name for name in node.input]
    for name in matches:
        own.graph.input.add(name=name + _EXACT).type.tensor_type.elem_type = TensorProto.FLOAT
    set_outputs(own, list(matches))
    sums: dict[str, list[float]] = {}
    try:
        sessions = [session_of(each, {}, oracle.libraries) for each in (exact, own, plain)]
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


def _add(sums: list[float], wanted: npt.NDArray[Any], outputs: list[npt.NDArray[Any]]) -> None:
    exact = np.asarray(wanted, np.float64)
    finite = np.isfinite(exact)
    sums[0] += float(np.square(exact[finite]).sum())
    for place, output in enumerate(outputs, 1):
        differences = np.nan_to_num(np.asarray(output, np.float64))[finite] - exact[finite]
        sums[place] += float(np.square(differences).sum())
