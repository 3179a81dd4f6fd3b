"""Sums in FP16: matrix products and convolutions whose tactic accumulates in Half, as far as kernel names tell."""

from __future__ import annotations

import re
import shlex
from itertools import takewhile
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed
from trtforensics.findings.rule import rule
from trtforensics.model.accumulator import Accumulator
from trtforensics.model.kernel import NameEvidence
from trtforensics.parsers.notation.names import members

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.findings.sums import SumTactic, TunedSum
    from trtforensics.model.log import EngineLayer
    from trtforensics.sources.onnx_model import ModelNode, OnnxModel

MARGIN = 0.05
"""How much slower the best tactic with FP32 sums is at most where FP16 sums are said to gain little."""

LONG = 2048
"""From so many equal terms on, an FP16 sum no longer grows: its significand has 11 bits."""

_HALF, _SINGLE = Accumulator.FP16.type, Accumulator.FP32.type
_NUMBER = re.compile(r"\d+")
_COUNT = re.compile(r"""["']Count["']: (\d+)""")
_SOURCES = (
    "the words of kernel names: grammar/kernels.lark",
    "NVIDIA/TensorRT#1237: each kernel has a type of its own for its accumulator, and no API asks for one",
)
_PIN = Fix("Pin tactics that accumulate in FP32: trtforensics pin LOG --accumulate fp32.", "8.6")


@rule(
    "TF324",
    Severity.NOTE,
    "FP16 sums won by little over FP32 sums",
    cause="The chosen tactic accumulates in FP16, and a tactic of the same formats that accumulates in FP32 is hardly "
    "slower. Timing noise of that size decides in which precision the layer sums.",
    confirm="trtforensics pin LOG --accumulate fp32 --within 5% lists both tactics with their lines and the cost.",
    fixes=(_PIN, "Find out whether it matters: trtforensics bisect tactics (or cache) --good pin:accumulate=fp32."),
    sources=_SOURCES,
)
def close_to_single(case: Case) -> Iterator[Observation]:
    """Name the sums, with the lines of both tactics."""
    found = [(one, rival) for one in case.sums if (rival := _close(one)) is not None]
    if found:
        yield _observed(
            case,
            [one for one, _ in found],
            f"{counted(len(found), 'layer')} {_verb(found, 'sums', 'sum')} in FP16, at most {MARGIN:.0%} faster than "
            f"in FP32: {{names}}",
            [tactic for one, rival in found for tactic in (one.chosen, rival)],
        )


def _close(one: TunedSum) -> SumTactic | None:
    """Return the best tactic with FP32 sums where a tactic with FP16 sums won by little."""
    if one.chosen.facts.accumulator != _HALF or not one.chosen.time_ms or _SINGLE not in one.rival_accumulators():
        return None
    bound = one.chosen.time_ms * (1 + MARGIN)
    near = takewhile(lambda rival: rival.time_ms is not None and rival.time_ms <= bound, one.rivals())
    return next((rival for rival in near if rival.facts.accumulator == _SINGLE), None)


@rule(
    "TF325",
    Severity.NOTE,
    "Only tactics with FP16 sums are offered",
    cause="Every timed tactic of the layer accumulates in FP16: no pin can give it FP32 sums in these formats.",
    confirm="The kernel names of the layer's block show the types.",
    fixes=(
        "Keep the layer in FP32, or its node between Casts: trtforensics bisect precision finds which nodes need it.",
        "Another TensorRT version or other formats may offer more: several logs in one trtforensics pin widen it.",
    ),
    sources=_SOURCES,
)
def only_half(case: Case) -> Iterator[Observation]:
    """Name the layers with several tactics that all accumulate in Half."""
    found = [one for one in case.sums if _all_half(one)]
    if found:
        title = f"{counted(len(found), 'layer')} can only sum in FP16: {{names}}"
        yield _observed(case, found, title, [one.chosen for one in found], pin=False)


def _all_half(one: TunedSum) -> bool:
    """Whether there are several tactics and all accumulate in Half."""
    return one.chosen.facts.accumulator == _HALF and one.rival_accumulators() == {_HALF}


@rule(
    "TF326",
    Severity.WARNING,
    "Long sums run in FP16",
    cause="The tactic accumulates in FP16 over so many products that the sum loses terms: beyond 2048 equal terms it "
    "stops growing, and it overflows above 65504.",
    confirm="trtforensics bisect precision MODEL.onnx --accumulate fp16 emulates such sums on a CPU.",
    fixes=(_PIN, "Keep the layer in FP32 where no tactic with FP32 sums is offered (TF325)."),
    sources=(*_SOURCES, "NVIDIA/cutlass#1188: a sum in FP16 that stops at 2048"),
)
def long_sums(case: Case) -> Iterator[Observation]:
    """Name the layers whose reduction is long, by the weights of the engine's layer or of the model."""
    layers = {layer.name: layer for layer in case.engine}
    found = []
    for one in case.sums:
        if one.chosen.facts.accumulator == _HALF:
            depth = _depth(layers.get(one.name)) or _depth_in_model(case.model, one)
            if depth is not None and depth >= LONG:
                found.append((depth, one))
    found.sort(key=lambda pair: -pair[0])
    if found:
        verb = _verb(found, "sums", "sum")
        title = f"{counted(len(found), 'layer')} {verb} up to {found[0][0]:,} products in FP16: {{names}}"
        yield _observed(case, [one for _, one in found], title, [one.chosen for _, one in found])


def _depth(layer: EngineLayer | None) -> int | None:
    """Return how many products a convolution of a detailed dump sums: its weights by its output maps."""
    if layer is None:
        return None
    weights, maps = _COUNT.search(layer.fields.get("Weights", "")), _NUMBER.search(layer.fields.get("OutMaps", ""))
    return int(weights[1]) // int(maps[0]) if weights and maps and int(maps[0]) else None


def _depth_in_model(model: OnnxModel | None, one: TunedSum) -> int | None:
    if model is None:
        return None
    nodes = (model.by_name.get(name) for name in (*members(one.name), *one.nodes))
    depths = (_depth_of_node(model, node) for node in nodes if node is not None)
    return next((depth for depth in depths if depth is not None), None)


def _depth_of_node(model: OnnxModel, node: ModelNode) -> int | None:
    """Return the length of a node's sums; None where no weight tells."""
    weights = next((dims for name in node.inputs[1:2] if (dims := model.weight_dims.get(name))), None)
    if weights is None or len(weights) < 2:  # noqa: PLR2004 - rows and columns
        return None
    if node.op == "Conv":
        depth = 1
        for size in weights[1:]:
            depth *= size
        return depth
    if node.op == "Gemm":
        return weights[1] if node.attributes.get("transB") else weights[0]
    return weights[-2] if node.op == "MatMul" else None


def _observed(
    case: Case, found: Sequence[TunedSum], title: str, tactics: Sequence[SumTactic], *, pin: bool = True
) -> Observation:
    names = list(dict.fromkeys(one.name for one in found))
    guessed = [one.name for one in found if one.chosen.facts.evidence("accumulator") is not NameEvidence.STATED]
    unsettled = [one.name for one in found if not one.used]
    settle = ""
    if guessed:
        settle = f"The names of {len(guessed)} kernels tell the accumulator by convention only: {listed(guessed)}."
    elif unsettled:
        settle = f"The log does not tell that the engine uses the choice of {listed(unsettled)}."
    command = f"trtforensics pin {shlex.quote(case.log.source.path)} --accumulate fp32 -o pinned.json"
    return Observation(
        title.replace("{names}", listed(names)),
        [tactic.span for tactic in tactics],
        confidence=Confidence.LIKELY if settle else Confidence.CERTAIN,
        settle=settle,
        layers=names,
        onnx_nodes=list(dict.fromkeys(node for one in found for node in one.nodes)),
        steps=(Step("See what FP32 sums would cost, and pin them", command),) if pin else (),
    )


def _verb(found: Sequence[object], one: str, several: str) -> str:
    return one if len(found) == 1 else several
