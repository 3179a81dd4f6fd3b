"""A plan, and a verification, as text and as JSON."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from trtforensics.console.terminal import visible
from trtforensics.model.timings import tactic_text
from trtforensics.pin.conditions import is_product
from trtforensics.pin.pinnable import PinOffer
from trtforensics.pin.plan import PinnedSlot, PinPlan, PinState
from trtforensics.pin.verification import PinProof, PinUse, without_proof
from trtforensics.render.json_text import Forms, JsonObject, document_of, dumps, kernel_facts

SCHEMA = 1
_SHOWN = 20
_DIGITS = 6


def plan_text(plan: PinPlan, written: str, next_steps: Sequence[str]) -> str:
    """Return a plan as text: how much is pinned, what changes at what cost, what stays, what cannot be pinned."""
    lines = [*_summary(plan, written)]
    lines += _section("changed", plan.of(PinState.CHANGED), _changed)
    lines += _section("stay as they won", plan.of(PinState.STAYS), _stays)
    lines += _left_out(plan)
    lines += ["next:", *(f"  {step}" for step in next_steps)]
    return "".join(f"{visible(line)}\n" for line in lines)


def _summary(plan: PinPlan, written: str) -> Iterator[str]:
    pinnable = plan.pinnable
    what = "layers" if pinnable.base is None else "timing-cache keys"
    version = pinnable.build.tensorrt_version
    counts = {state: len(plan.of(state)) for state in PinState}
    yield (
        f"{written}: {len(plan.pinned)} {what} of {pinnable.log.source.path}"
        f"{f', TensorRT {version}' if version else ''}"
    )
    yield (
        f"  {counts[PinState.KEPT]} as they won, {counts[PinState.CHANGED]} changed, "
        f"{counts[PinState.STAYS]} stay although the conditions ask otherwise"
    )
    if plan.of(PinState.CHANGED):
        yield f"  expected cost: {_cost(plan.cost_ms, pinnable.total_ms)}, by the log's own times"
    ties = sum(pinned.near_tie for pinned in plan.pinned)
    if ties:
        yield f"  near ties: {ties} of them have another tactic within 2 %, which noise may choose in an unpinned build"
        if pinnable.base is None:
            yield "    not predicted: that noise chooses other formats along a path, and so other tactics of its layers"
    changeable = (pinned.slot for pinned in plan.pinned if pinned.state is not PinState.STAYS)
    silent = sum(not is_product(slot) for slot in changeable)
    if plan.conditions.accumulate is not None and silent:
        yield f"  {silent} pinned kernels do not tell in what they accumulate, and neither do their alternatives"


def _section(title: str, slots: Sequence[PinnedSlot], describe: Any) -> list[str]:  # noqa: ANN401 - a function of one slot
    lines = [f"{title} ({len(slots)}):"] if slots else []
    for pinned in slots[:_SHOWN]:
        lines += describe(pinned)
    return lines + ([f"  … {len(slots) - _SHOWN} more; `--json` has all"] if len(slots) > _SHOWN else [])


def _changed(pinned: PinnedSlot) -> Iterator[str]:
    won = pinned.slot.won
    outside = "" if pinned.slot.in_engine else "; not in the engine"
    yield f"  {pinned.slot.name}: {pinned.why}{outside}"
    yield f"    won:    {_offer(won)}"
    yield f"    pinned: {_offer(pinned.offer)}, {_cost(pinned.cost_ms, won.time_ms)}"


def _stays(pinned: PinnedSlot) -> Iterator[str]:
    yield f"  {pinned.slot.name}: {pinned.why}"
    yield f"    {_offer(pinned.slot.won)}"


def _offer(offer: PinOffer) -> str:
    time = "time unknown" if offer.time_ms is None else f"{offer.time_ms:.6g} ms"
    accumulator = offer.facts.accumulator
    evidence = f", accumulates in {accumulator} ({offer.facts.evidence('accumulator')})" if accumulator else ""
    kernel = f" {offer.kernel}" if offer.kernel else ""
    return f"{tactic_text(offer.tactic)}{kernel}, {time}{evidence}  ({offer.span})"


def _cost(cost: float | None, whole: float | None) -> str:
    if cost is None:
        return "cost not known"
    share = f" ({cost / whole:+.1%})" if whole else ""
    return f"{cost:+.4g} ms{share}"


def _left_out(plan: PinPlan) -> Iterator[str]:
    left = plan.pinnable.left_out
    if not left:
        return
    yield f"cannot be pinned ({len(left)}), {_share_left(plan)}:"
    for why, count in Counter(layer.why for layer in left).most_common():
        first = next(layer for layer in left if layer.why == why)
        more = f" and {count - 1} more" if count > 1 else ""
        yield f"  {first.layer}{more}: {why}  ({first.span})"


def _share_left(plan: PinPlan) -> str:
    spent, whole, untimed = plan.pinnable.left_ms, plan.pinnable.total_ms, plan.pinnable.untimed
    if not whole or spent is None or (untimed and not spent):
        return "share of the time not known"
    without = f" without {untimed} of them that have no time in the log" if untimed else ""
    return f"{spent / whole:.0%} of the tuned time{without}"


def plan_json(plan: PinPlan, written: str, form: str) -> str:
    """Return a plan as the JSON document that docs/reference/commands/pin.md describes."""
    head = {"schema": SCHEMA, "kind": "pin", "output": written, "form": form}
    return f"{dumps(head | document_of('pin', plan, _FORMS), indent=1)}\n"


_FORMS: Forms = {
    "key": lambda operation: operation.key if operation else None,
    "text": str,
    "text_or_null": lambda span: str(span) if span else None,
    "significant": lambda value: None if value is None else float(f"{value:.{_DIGITS}g}"),
    "kernel_facts": kernel_facts,
    "evidence": lambda facts: str(facts.evidence("accumulator")),
}


def proofs_text(pinned: str, proofs: Sequence[PinProof]) -> str:
    """Return a verification as text, what was not used first."""
    counts = Counter(proof.use for proof in proofs)
    head = ", ".join(f"{counts[use]} {use}" for use in PinUse)
    lines = [f"{pinned}: of {len(proofs)} pinned, {head}", *filter(None, [without_proof(proofs)])]
    for use in (PinUse.NOT_USED, PinUse.UNKNOWN, PinUse.USED):
        lines += [
            f"  {use}: {proof.name}: {proof.what}" + (f"  ({proof.span})" if proof.span else "")
            for proof in proofs
            if proof.use is use
        ]
    return "".join(f"{visible(line)}\n" for line in lines)


def proofs_json(pinned: str, proofs: Sequence[PinProof]) -> str:
    """Return a verification as the JSON document that docs/reference/commands/pin.md describes."""
    document: JsonObject = {"schema": SCHEMA, "kind": "pin-verification", "pinned": pinned}
    document["without_proof"] = without_proof(proofs) or None
    document["items"] = [document_of("proof", proof, _FORMS) for proof in proofs]
    return f"{dumps(document, indent=1)}\n"
