"""Sums in FP16: matrix products and convolutions whose tactic accumulates in Half, as far as kernel names tell."""

from __future__ import annotations

import math
import re
from itertools import takewhile
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, listed
from trtforensics.findings.finding import Observation, Step
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import trtforensics, unused_name
from trtforensics.model.data_types import Accumulator
from trtforensics.model.kernel import NameEvidence
from trtforensics.parsers.notation.names import members

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.arithmetic import SumTactic, TunedSum
    from trtforensics.findings.case import Case
    from trtforensics.model.log import EngineLayer
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.onnx_models.checked_graph import CheckedNode

MARGIN = 0.05
"""How much slower the best tactic with FP32 sums is at most where FP16 sums are said to gain little."""

LONG = 2048
"""From so many equal terms on, an FP16 sum no longer grows: its significand has 11 bits."""

_HALF, _SINGLE = Accumulator.FP16.type, Accumulator.FP32.type
_NUMBER = re.compile(r"\d+")
_COUNT = re.compile(r"""["']Count["']: (\d+)""")


@explained("TF324")
def close_to_single(case: Case) -> Iterator[Observation]:
    """Name the sums, with the lines of both tactics."""
    products = [(product, rival) for product in case.sums if (rival := _close(product)) is not None]
    if products:
        yield _observed(
            case,
            [product for product, _ in products],
            f"{counted(len(products), 'layer')} sum{'s' * (len(products) == 1)} in FP16, at most {MARGIN:.0%} faster "
            "than in FP32: {names}",
            [tactic for product, rival in products for tactic in (product.chosen, rival)],
        )


def _close(product: TunedSum) -> SumTactic | None:
    """Return the best tactic with FP32 sums where a tactic with FP16 sums won by little."""
    if (
        product.chosen.facts.accumulator != _HALF
        or not product.chosen.time_ms
        or _SINGLE not in product.rival_accumulators
    ):
        return None
    bound = product.chosen.time_ms * (1 + MARGIN)
    near = takewhile(lambda rival: rival.time_ms is not None and rival.time_ms <= bound, product.rivals())
    return next((rival for rival in near if rival.facts.accumulator == _SINGLE), None)


@explained("TF325")
def only_half(case: Case) -> Iterator[Observation]:
    """Name the layers with several tactics that all accumulate in Half."""
    half = (product for product in case.sums if product.chosen.facts.accumulator == _HALF)
    products = [product for product in half if product.rival_accumulators == {_HALF}]
    if products:
        title = f"{counted(len(products), 'layer')} can only sum in FP16: {{names}}"
        yield _observed(case, products, title, [product.chosen for product in products], pin=False)


@explained("TF326")
def long_sums(case: Case) -> Iterator[Observation]:
    """Name the layers whose reduction is long, by the weights of the engine's layer or of the model."""
    layers = {layer.name: layer for layer in case.engine}
    products = []
    for product in case.sums:
        if product.chosen.facts.accumulator == _HALF:
            depth = _depth(layers.get(product.name)) or _depth_in_model(case.model, product)
            if depth is not None and depth >= LONG:
                products.append((depth, product))
    products.sort(key=lambda pair: -pair[0])
    if products:
        verb = "sums" if len(products) == 1 else "sum"
        title = f"{counted(len(products), 'layer')} {verb} up to {products[0][0]:,} products in FP16: {{names}}"
        yield _observed(case, [product for _, product in products], title, [product.chosen for _, product in products])


def _depth(layer: EngineLayer | None) -> int | None:
    """Return how many products a convolution of a detailed dump sums: its weights by its output maps."""
    if layer is None:
        return None
    weights, maps = _COUNT.search(layer.fields.get("Weights", "")), _NUMBER.search(layer.fields.get("OutMaps", ""))
    return int(weights[1]) // int(maps[0]) if weights and maps and int(maps[0]) else None


def _depth_in_model(model: CheckedModel | None, product: TunedSum) -> int | None:
    if model is None:
        return None
    nodes = (model.by_name.get(name) for name in (*members(product.name), *product.offers.nodes))
    depths = (_depth_of_node(model, node) for node in nodes if node is not None)
    return next((depth for depth in depths if depth is not None), None)


def _depth_of_node(model: CheckedModel, node: CheckedNode) -> int | None:
    """Return the length of a node's sums; None where no weight tells."""
    weights = next((model.weights[name][1] for name in node.proto.input[1:2] if name in model.weights), None)
    if weights is None or len(weights) < 2:  # noqa: PLR2004 - rows and columns
        return None
    if node.op == "Conv":
        return math.prod(weights[1:])
    if node.op == "Gemm":
        return weights[1] if node.attribute("transB") else weights[0]
    return weights[-2] if node.op == "MatMul" else None


def _observed(
    case: Case, products: Sequence[TunedSum], title: str, tactics: Sequence[SumTactic], *, pin: bool = True
) -> Observation:
    names = list(dict.fromkeys(product.name for product in products))
    guessed = [
        product.name for product in products if product.chosen.facts.evidence("accumulator") is not NameEvidence.STATED
    ]
    unsettled = [product.name for product in products if not product.offers.used]
    settle = ""
    if guessed:
        settle = f"The names of {len(guessed)} kernels tell the accumulator by convention only: {listed(guessed)}."
    elif unsettled:
        settle = f"The log does not tell that the engine uses the choice of {listed(unsettled)}."
    pinned = unused_name(case, "pinned.json")
    command = trtforensics("pin", case.log.source.path, "--accumulate", "fp32", "-o", pinned)
    return Observation(
        title.replace("{names}", listed(names)),
        [tactic.span for tactic in tactics],
        settle=settle,
        layers=names,
        onnx_nodes=list(dict.fromkeys(node for product in products for node in product.offers.nodes)),
        steps=(Step("See what FP32 sums would cost, and pin them", command),) if pin else (),
    )
