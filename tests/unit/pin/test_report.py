"""A plan and a verification as text and as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.support.pin_logs import OTHER, WON, key_log, layer_log
from trtforensics.model.data_types import Accumulator
from trtforensics.model.span import SourceSpan
from trtforensics.pin.conditions import PinConditions
from trtforensics.pin.pinnable import pinnable_keys, pinnable_layers
from trtforensics.pin.plan import plan
from trtforensics.pin.report import plan_json, plan_text, proofs_json, proofs_text
from trtforensics.pin.verification import PinProof, PinUse

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

PROOFS = (
    PinProof("a", PinUse.USED, "runs it", SourceSpan("x.log", 3, 0)),
    PinProof("b", PinUse.NOT_USED, "runs another"),
)


def test_a_plan_says_what_changes_at_what_cost_and_where_it_stands(load: Callable[[str], BuildLog]) -> None:
    made = plan(pinnable_layers([load(layer_log())]), PinConditions(Accumulator.FP32))
    lines = plan_text(made, "pinned.json", ["build it"]).splitlines()
    assert lines[1] == "  0 as they won, 1 changed, 0 stay although the conditions ask otherwise"
    assert lines[2] == "  expected cost: +0.25 ms (+50.0%), by the log's own times"
    assert "  conv: it accumulates in Half" in lines
    assert any(line.startswith(f"    pinned: {OTHER} ") and "build.log:4)" in line for line in lines)
    assert lines[-1] == "  build it"
    document = json.loads(plan_json(made, "pinned.json", "replay"))
    (row,) = document["pinned"]
    assert (row["layer"], row["state"], row["won"]["tactic"], row["pinned"]["tactic"]) == (
        "conv",
        "changed",
        WON,
        OTHER,
    )
    assert row["pinned"]["kernel_facts"]["accumulator"] == "Float"
    assert (document["cost_ms"], document["total_ms"]) == (0.25, 0.5)


@pytest.mark.parametrize("keyed", [False, True])
def test_flips_of_formats_are_said_to_be_unpredicted_where_formats_are_pinned(
    load: Callable[[str], BuildLog], *, keyed: bool
) -> None:
    text = (key_log() if keyed else layer_log()).replace(" 0.2,", " 0.1005,").replace("Time: 0.75", "Time: 0.505")
    made = plan((pinnable_keys if keyed else pinnable_layers)([load(text)]), PinConditions())
    told = plan_text(made, "pinned.json", [])
    assert "near ties: 1 of them" in told
    assert ("not predicted" in told) is not keyed


def test_what_was_not_used_comes_first() -> None:
    assert proofs_text("p.json", PROOFS).splitlines() == [
        "p.json: of 2 pinned, 1 used, 1 not used, 0 unknown",
        "  not used: b: runs another",
        "  used: a: runs it  (x.log:3)",
    ]
    items = json.loads(proofs_json("p.json", PROOFS))["items"]
    assert [(one["item"], one["use"], one["at"]) for one in items] == [
        ("a", "used", "x.log:3"),
        ("b", "not used", None),
    ]
