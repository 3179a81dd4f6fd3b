"""What each node's rounding costs by itself: every other node is FP32."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from trtforensics.bisect.precision.emulation.judging import OutputJudge
    from trtforensics.bisect.precision.emulation.oracle import Oracle

_MOST_NODES = 1000
"""Each node costs a run of the model; larger models go without."""

_SHOWN = 5


def cost_notes(oracle: Oracle, judge: OutputJudge, nodes: Collection[str]) -> list[str]:
    """Return which nodes cost most, for each output that the rounding floor carries beyond the cap.

    ``nodes`` are those that compute. Each is measured alone in 16 bits, and costs may add up or cancel in a mixture.

    Raises:
        RunError: ONNX Runtime cannot run a mixture.
    """
    above = judge.floors_above
    if not above or len(nodes) > _MOST_NODES:
        return []
    caster = oracle.caster
    every = frozenset(caster.candidates)
    alone = {node: oracle.score_mixture(every - {node}) for node in nodes}
    notes = []
    for output, tolerances in above.items():
        metric = tolerances[0].metric
        scores = {node: each.worst(output, metric) for node, each in alone.items()}
        errors = {node: float("inf") if score is None else metric.error_of(score) for node, score in scores.items()}
        worst = sorted((node for node in nodes if errors[node] > 0.0), key=lambda node: -errors[node])[:_SHOWN]
        shown = ", ".join(
            f"{node} [{caster.candidates[node].op}] "
            + ("not finite" if scores[node] is None else f"{scores[node]:.2g}")
            for node in worst
        )
        notes.append(f"rounding costs {output} most at these nodes, each alone in {caster.storage.name}: {shown}")
    return notes
