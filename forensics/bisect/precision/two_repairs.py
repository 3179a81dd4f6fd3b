"""The minimal repair beside the safe one, and what the minimal one leaves inside: for ``result.json``, and as text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.session import index_sets

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.bisect.precision.lever import PrecisionLever
    from trtforensics.bisect.precision.repair.certificate import Certificate
    from trtforensics.bisect.precision.repair.model import Nodes
    from trtforensics.bisect.precision.tensors.losses import TensorLoss

    Document = dict[str, object]

_SHOWN = 8


def repairs_document(plan: Certificate, lever: PrecisionLever, probes: Sequence[Mapping[str, object]]) -> Document:
    """Return ``safe``, ``inside``, ``left`` and ``unseen``; ``safe`` is None where there is no repair to make safe.

    ``inside`` lists the tensors that the minimal repair loses, ``left`` those that even the safe one does. ``unseen``
    lists the nodes whose bodies compute in 16 bits under the safe repair and do not show what they lose.
    """
    safe = plan.safe
    if safe is None:
        return {"minimal": None, "safe": None, "inside": [], "left": [], "unseen": []}
    minimal = plan.minimal or frozenset()
    return {
        "minimal": _repair(minimal, plan, lever, probes),
        "safe": _repair(safe.nodes, plan, lever, probes),
        "inside": [_loss(each) for each in safe.inside],
        "left": [_loss(each) for each in safe.left],
        "unseen": list(safe.unseen),
    }


def _repair(nodes: Nodes, plan: Certificate, lever: PrecisionLever, probes: Sequence[Mapping[str, object]]) -> Document:
    active = index_sets.to_text(plan.search.active(nodes))
    probe: Mapping[str, object] = next((p for p in probes if p["active"] == active), {})
    return {
        "nodes": [name for name in lever.nodes if name in nodes],
        "verdict": probe.get("verdict"),
        "scores": probe.get("scores", {}),
        "folder": probe.get("folder"),
    }


def _loss(loss: TensorLoss) -> Document:
    return {
        "tensor": loss.tensor,
        "node": loss.node or None,
        "bodies_of": list(loss.bodies_of),
        "lost": loss.lost,
        "values": loss.values,
        "flushed": loss.flushed,
    }


def repairs_text(document: Mapping[str, object]) -> list[str]:
    """Return what the minimal repair leaves inside, and the cost and the error of both repairs."""
    minimal, safe, inside = document["minimal"], document["safe"], document["inside"]
    if not isinstance(minimal, dict) or not isinstance(safe, dict) or not isinstance(inside, list):
        return []
    narrow, total = document["precision"], document["items"]
    what = "the repaired model" if minimal["nodes"] else f"the model in {narrow}"
    unseen = _unseen(document["unseen"])
    if not inside:
        where = "in the main graph of" if unseen else "inside"
        return [f"On these samples no tensor overflows or becomes zero as a whole {where} {what}.", *unseen]
    lines = [f"Not safe: the outputs of {what} pass, and yet it loses tensors inside."]
    lines += _named("overflows or becomes NaN", [_place(each) for each in inside if each["lost"]])
    lines += _named("becomes zero as a whole", [_place(each) for each in inside if not each["lost"]])
    lines.append("Layers that these feed may be dead: with other inputs the output can show it.")
    lines += [
        _side("minimal", minimal, total, "in fixed/" if minimal["nodes"] else "the model as it is"),
        _side("safe", safe, total, "in fixed/safe/"),
    ]
    left = document["left"]
    if isinstance(left, list) and left:
        lines += _named("is lost even in the safe repair", [_place(each) for each in left])
    return [*lines, *unseen]


def _place(loss: Mapping[str, object]) -> str:
    """Name a lost tensor, and in a body the node that makes it, as the names of its tensors may say nothing."""
    bodies = loss["bodies_of"]
    if not isinstance(bodies, list) or not bodies:
        return str(loss["tensor"])
    return f"{loss['tensor']} (made by {loss['node']} in {' in '.join(bodies)})"


def _unseen(names: object) -> list[str]:
    if not isinstance(names, list) or not names:
        return []
    more = f" and {len(names) - _SHOWN} more in result.json" if len(names) > _SHOWN else ""
    return [
        f"ONNX Runtime does not show losses inside the bodies of {', '.join(names[:_SHOWN])}{more}; only outputs judge."
    ]


def _named(what: str, tensors: Sequence[str]) -> list[str]:
    if not tensors:
        return []
    more = f" and {len(tensors) - _SHOWN} more in result.json" if len(tensors) > _SHOWN else ""
    return [f"  {len(tensors)} x {what}: {', '.join(tensors[:_SHOWN])}{more}"]


def _side(kind: str, repair: Mapping[str, object], total: object, place: str) -> str:
    nodes, scores = repair["nodes"], repair["scores"]
    count = len(nodes) if isinstance(nodes, list) else 0
    spelled = ", ".join(
        f"{name} {'not finite' if value is None else format(value, '.3g')}"
        for name, value in (scores.items() if isinstance(scores, dict) else ())
    )
    error = f", error {spelled}" if spelled else ""
    verdict = "" if repair["verdict"] == "good" else f", {repair['verdict']}"
    return f"The {kind} repair: {count} of {total} nodes in FP32{error}{verdict}, {place}."
