"""What quantization costs in FP32: of each pair the error without it, and the fewest pairs that cost half of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisect.precision.emulation.metrics import is_floating, scores_of
from trtforensics.bisect.precision.items import PrecisionItem
from trtforensics.bisect.precision.quantization.pairs import (
    QUANTIZED,
    QuantizedPair,
    pairs_of,
    quantized_weights,
    switched,
)
from trtforensics.bisect.precision.repair.search import RepairSearch
from trtforensics.bisect.search import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from trtforensics.bisect.precision.emulation.oracle import Oracle, Outputs

    Document = dict[str, object]
    Errors = Callable[[Collection[str]], float]

_SHARE = 0.5
_SHOWN = 8


@dataclass(frozen=True, slots=True)
class QuantizationCost:
    """The error of all pairs, of all but one by that one's name, and the fewest without which half of it is left.

    Errors are the largest relative L2 of any sample and output, against the model without any pair; of integers, the
    share of unequal ones. Infinite: not finite where that model is.
    """

    error: float
    without: Mapping[str, float]
    half: tuple[str, ...]
    pairs: tuple[QuantizedPair, ...]


def cost_of(oracle: Oracle) -> QuantizationCost | None:
    """Measure the pairs of a model on the samples of its oracle; None if it has none.

    Raises:
        RunError: ONNX Runtime cannot run it with switches.
    """
    pairs = pairs_of(oracle.caster.survey)
    if not pairs:
        return None
    run = oracle.runner(switched(oracle.caster, pairs))
    names = [pair.name for pair in pairs]

    def outputs(left_out: Collection[str]) -> list[Outputs]:
        return run({QUANTIZED: np.asarray([name not in left_out for name in names])})

    reference = outputs(names)

    def error(left_out: Collection[str]) -> float:
        return _error(reference, outputs(left_out))

    whole = error(())
    without = {name: error((name,)) for name in names}
    return QuantizationCost(whole, without, _half(names, without, whole, error) if 0.0 < whole < np.inf else (), pairs)


def _half(names: list[str], without: Mapping[str, float], whole: float, error: Errors) -> tuple[str, ...]:
    """Search the pairs as a repair is searched: left out is what is kept in FP32 there."""
    least = min((error for error in without.values() if error), default=1.0)
    items = [PrecisionItem((name,), frozenset({name}), whole / max(without[name], least), "") for name in names]
    search = RepairSearch(items, {name: frozenset({name}) for name in names}, "integers", every=False)
    limit = _SHARE * whole
    while not search.done:
        for ask in search.asks():
            left_out = [name for index, name in enumerate(search.nodes) if index not in ask.active]
            search.tell(ask, Verdict.GOOD if error(left_out) <= limit else Verdict.BAD)
    repairs = search.answer.repairs if search.answer else ()
    return tuple(name for name in names if repairs and name in repairs[0].nodes)


def _error(reference: list[Outputs], seen: list[Outputs]) -> float:
    worst = 0.0
    for wanted, got in zip(reference, seen, strict=True):
        for name, values in wanted.items():
            scores = scores_of(np.asarray(values), np.asarray(got[name]), masked=True)
            measure = "rel-l2" if is_floating(np.asarray(values)) else "mismatch"
            worst = max(worst, np.inf if scores is None else scores[measure])
    return worst


def cost_document(oracle: Oracle) -> Document | None:
    """Return the cost for ``result.json``; None if there are no pairs.

    Raises:
        RunError: ONNX Runtime cannot run the model with switches.
    """
    cost = cost_of(oracle)
    if cost is None:
        return None
    return {
        "error": _finite(cost.error),
        "pairs": [
            {
                "node": pair.name,
                "tensor": pair.tensor,
                "scale": pair.scale,
                "without": _finite(cost.without[pair.name]),
            }
            for pair in cost.pairs
        ],
        "half": list(cost.half),
        "stored_weights": quantized_weights(oracle.caster.survey),
    }


def _finite(value: float) -> float | None:
    return value if np.isfinite(value) else None


def cost_text(document: Mapping[str, object]) -> list[str]:
    """Return the cost as text, the pairs that cost most first."""
    cost = document.get("quantization")
    if not isinstance(cost, dict):
        return []
    pairs, half = cost["pairs"], cost["half"]
    ranked = sorted(pairs, key=lambda each: np.inf if each["without"] is None else each["without"])
    count = "1 pair" if len(pairs) == 1 else f"{len(pairs)} pairs"
    lines = [
        f"Quantized: {count} of QuantizeLinear and DequantizeLinear, at the cost of {_spelled(cost['error'])}",
        "  by relative L2 in FP32 against the model without them.",
    ]
    lines += [
        f"  {each['node']}, scale {each['scale']}: without this pair {_spelled(each['without'])}"
        for each in ranked[:_SHOWN]
    ]
    lines += [f"  and {len(ranked) - _SHOWN} more in result.json"] if len(ranked) > _SHOWN else []
    if half:
        more = f" and {len(half) - _SHOWN} more in result.json" if len(half) > _SHOWN else ""
        lines.append(f"  The fewest that halve it: leave out {', '.join(half[:_SHOWN])}{more}.")
    if cost["stored_weights"]:
        lines.append(
            f"  What constants lost that are stored as integers ({cost['stored_weights']}) cannot be seen here."
        )
    return lines


def _spelled(value: float | None) -> str:
    return "an output that is not finite" if value is None else f"{value:.3g}"
