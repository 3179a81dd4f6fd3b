"""The safe repair is a probe of its own; what proves an answer is built at the end."""

from __future__ import annotations

from tests.support.repair_chain import ATOMS, CHAIN, NODES, drive
from trtforensics.bisection.precision.repair.certificate import SAFE, Certificate
from trtforensics.bisection.precision.repair.losses import SafeRepair
from trtforensics.bisection.search import Status, Verdict


def wider(minimal: frozenset[str]) -> SafeRepair:
    return SafeRepair(minimal | {"n20"}, (), ())


def test_the_safe_repair_is_judged_and_built_where_it_is_another() -> None:
    plan = Certificate(CHAIN, ATOMS, "FP16")
    plan.safer = wider
    plan.builds = True
    asked = drive(plan, lambda keep: keep >= {"n7", "n8"})
    safe = [ask for ask in asked if ask.purpose == SAFE]
    assert [ask.build for ask in safe] == [0, 1]
    assert frozenset(range(len(NODES))) - safe[0].active == {7, 8, 20}
    assert {*safe} <= {*plan.result().evidence}


def test_a_model_that_passes_without_repair_may_have_a_safe_one() -> None:
    plan = Certificate(CHAIN, ATOMS, "FP16")
    plan.safer = wider
    asked = drive(plan, lambda _: True)
    assert [ask.purpose for ask in asked][2:] == [SAFE]
    assert plan.safe is not None
    assert plan.safe.nodes == {"n20"}
    assert plan.result().status is Status.NOT_REPRODUCED


def test_a_model_that_never_passes_has_none() -> None:
    plan = Certificate(CHAIN, ATOMS, "FP16")
    plan.safer = wider
    assert len(drive(plan, lambda _: False)) == 2
    assert plan.safe is None


def test_what_proves_the_answer_is_built_at_the_end() -> None:
    switched: list[int] = []
    plan = Certificate(CHAIN, ATOMS, "FP16")
    plan.on_building = lambda: switched.append(1)
    plan.builds = True
    asked = drive(plan, lambda keep: keep >= {"n7", "n8"})
    built = [ask for ask in asked if ask.build]
    assert [ask.purpose for ask in built] == [purpose for _, purpose in plan.proof()]
    assert asked[-len(built) :] == built
    assert len(built) == 4
    assert switched == [1]


def test_a_repair_that_does_not_build_is_named_only() -> None:
    plan = Certificate(CHAIN, ATOMS, "FP16")
    plan.builds = True
    while not plan.done:
        for ask in plan.asks():
            keep = {node for index, node in enumerate(NODES) if index not in ask.active}
            verdict = Verdict.GOOD if keep >= {"n7", "n8"} else Verdict.BAD
            plan.tell(ask, Verdict.UNRESOLVED if ask.build and keep == {"n7", "n8"} else verdict)
    assert plan.result().status is Status.NAMED
    assert "does not build" in plan.result().why
