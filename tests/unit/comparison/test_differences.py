"""What differs: only fields that both sources state are compared; suspicion from counts, alone and in pairs."""

from __future__ import annotations

from tests.support.build_views import build, compared, layer, rows
from tests.support.for_each import for_each
from trtforensics.comparison.differences import Counts, PairHalf, ValueOccurrence, suspicious_pairs, worst
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


@for_each(
    ("less", "more"),
    [
        (Counts(1, 1, 1, 1), Counts(0, 1, 1, 1)),  # in a good build too
        (Counts(0, 1, 1, 1), Counts(0, 20, 20, 20)),  # fewer builds are less evidence
        (Counts(0, 20, 10, 20), Counts(0, 20, 20, 20)),  # in fewer bad builds
        (Counts(10, 20, 10, 20), Counts(1, 20, 20, 20)),  # noise against one good build
    ],
)
def test_more_evidence_is_more_suspicion(less: Counts, more: Counts) -> None:
    assert 0 < less.suspicion < more.suspicion < 1


def test_what_a_good_build_has_stays_suspicious() -> None:
    assert Counts(1, 20, 20, 20).suspicion > 0.85


def test_equal_shares_are_no_difference_even_of_different_numbers() -> None:
    assert worst({0: "a", 1: "b", 2: "a", 3: "b", 4: "a", 5: "b"}, 2) is None
    assert worst({0: "a", 1: "a"}, 2) is None
    counts = worst({0: "a", 1: "b", 2: "b"}, 2)
    assert counts == Counts(1, 2, 1, 1)


def test_a_pair_is_seen_together_in_bad_builds_only() -> None:
    first, second = frozenset({0, 4, 5, 6}), frozenset({1, 4, 5, 6})  # builds 0 to 3 are good
    noise = frozenset({0, 1, 4, 5})
    pairs, _ = suspicious_pairs(
        [ValueOccurrence(0, first), ValueOccurrence(1, second), ValueOccurrence(2, noise)], 4, 3
    )
    assert [(pair.halves, pair.counts) for pair in pairs] == [
        ((PairHalf("", "", None, Counts(1, 4, 3, 3)),) * 2, Counts(0, 4, 3, 3))
    ]


def test_what_is_suspicious_alone_makes_no_pair() -> None:
    culprit, noise = frozenset({4, 5, 6}), frozenset({0, 4, 5, 6})
    assert suspicious_pairs([ValueOccurrence(0, culprit), ValueOccurrence(1, noise)], 4, 3) == ((), 0)


def test_two_values_of_one_slot_make_no_pair() -> None:
    values = [ValueOccurrence(0, frozenset({0, 4})), ValueOccurrence(0, frozenset({1, 5}))]
    assert suspicious_pairs(values, 4, 3) == ((), 0)


def test_pairs_that_cannot_be_told_apart_are_counted() -> None:
    # 8 values in good build 0, 8 in good build 1, all of them in bad build 2: 64 pairs, and no way to tell.
    items = [ValueOccurrence(n, frozenset({n % 2, 2})) for n in range(16)]
    pairs, others = suspicious_pairs(items, 2, 1)
    assert (len(pairs), others) == (20, 44)
