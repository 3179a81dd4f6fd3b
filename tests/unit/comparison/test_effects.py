"""Which difference another follows from, and their order."""

from __future__ import annotations

from tests.support.build_views import build, compared, layer, rows
from trtforensics.comparison.differences import DifferenceType
from trtforensics.comparison.views import BuildView, LayerTensors


def test_a_layer_under_another_name_is_a_difference_that_causes_nothing() -> None:
    tensors = LayerTensors(1, ("Half", "Half"), packing=(1, 1), texts=("Half", "Half"))

    def view(middle: str, tactic: int) -> BuildView:
        return build(*(layer(name, tactic=tactic, runner="Cask", tensors=tensors) for name in ("a", middle, "z")))

    found = compared([view("x", 1)], [view("y", 1)])
    assert [(row.type.value, row.layer, row.matched_by.value) for row in found.differences] == [
        ("fusion", "x", "position")
    ]
    found = compared([view("x", 1)], [view("y", 2)])
    assert rows(found) == [("fusion", "x"), ("tactic", "a"), ("tactic", "x"), ("tactic", "z")]
    assert {row.cause for row in found.differences} == {None}


def test_a_change_of_precision_everywhere_is_not_blamed_on_a_fusion() -> None:
    def chain(dtype: str, stem: tuple[str, ...]) -> BuildView:
        names = (*stem, *(f"layer{n}" for n in range(5)))
        return build(
            *(
                layer(
                    name,
                    tensors=LayerTensors(1, (dtype, dtype), packing=(1, 1), texts=(dtype, dtype)),
                    reads=(f"t{n}" if n else "x",),
                    writes=("t1" if n < len(stem) else f"t{n + 1}",),
                )
                for n, name in enumerate(names, 2 - len(stem))
            )
        )

    found = compared([chain("Float", ("a + b",))], [chain("Half", ("a", "b"))])
    assert found.differences[0].type is DifferenceType.FUSION
    blamed = {row.layer for row in found.differences if row.cause == 0}
    assert blamed == {"a + b"}
    assert {row.layer for row in found.differences if row.cause is None and row.type is DifferenceType.PRECISION} == {
        f"layer{n}" for n in range(5)
    }


def test_equal_differences_stand_in_the_order_of_the_report() -> None:
    def one(tactic: int, dtype: str, name: str) -> BuildView:
        tensors = LayerTensors(1, (dtype, "Half"), packing=(1, 1))
        return build(layer("a", tactic=tactic), layer("b", tensors=tensors), layer(name))

    types = [row.type for row in compared([one(1, "Half", "x")], [one(2, "Float", "y")]).differences]
    assert types == [DifferenceType.PRECISION, DifferenceType.TACTIC, DifferenceType.MISSING, DifferenceType.ADDED]


def test_suspicion_orders_the_list() -> None:
    def one(first: int, second: int) -> BuildView:
        return build(layer("noise", tactic=first), layer("culprit", tactic=second))

    good = [one(1, 1), one(2, 1), one(1, 1), one(2, 1)]
    found = compared(good, [one(1, 2), one(1, 2), one(2, 2)])
    assert [row.layer for row in found.differences] == ["culprit", "noise"]
    scores = [row.suspicion for row in found.differences]
    assert scores == sorted(scores, reverse=True)
