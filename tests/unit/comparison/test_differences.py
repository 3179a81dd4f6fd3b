"""Only fields that both sources state are compared."""

from __future__ import annotations

from tests.support.build_views import build, compared, layer, rows
from trtforensics.comparison.views import LayerTensors
from trtforensics.sources.kinds import Kind


def test_what_one_kind_of_source_does_not_tell_is_no_difference() -> None:
    log = build(layer("a", runner="Cask", runner_id=9, tactic=1, kernel="k", tensors=LayerTensors(1, ("Half", "Half"))))
    replay = build(layer("a", runner_id=9, tactic=1, tensors=LayerTensors(1, ("Half", "Half"))), kind=Kind.REPLAY)
    assert compared([log], [replay]).differences == ()
    other = build(layer("a", runner_id=9, tactic=2), kind=Kind.REPLAY)
    assert rows(compared([log], [other])) == [("tactic", "a")]


def test_kinds_that_count_tensors_differently_are_not_compared_in_them() -> None:
    log = build(layer("a", tactic=1, tensors=LayerTensors(1, ("Half", "Half"), texts=("Half", "Half"))))
    three = LayerTensors(2, ("Half", "Float", "Half"), texts=("Half", "Float", "Half"))
    assert compared([log], [build(layer("a", tactic=1, tensors=three), kind=Kind.REPLAY)]).differences == ()
    assert rows(compared([log], [build(layer("a", tactic=1, tensors=three))])) == [("precision", "a")]
