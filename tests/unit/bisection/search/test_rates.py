"""Builds whose noise has one rate fit; subsets with rates of their own do not."""

from __future__ import annotations

import random
from math import log, log2
from typing import Any

import pytest

from tests.support.for_each import for_each
from tests.support.searches import answered, items
from trtforensics.bisection.search import Ask, Search, Status, Verdict, rates
from trtforensics.bisection.search.chain import Chain, Space
from trtforensics.bisection.search.ledger import Ledger
from trtforensics.bisection.search.minimal import MisfitError, TooNoisyError
from trtforensics.bisection.search.rates import (
    BEFORE,
    FALSE,
    SHOWN,
    Posterior,
    any_rate,
    most_builds,
    require_apart,
    require_fit,
    require_one_rate,
)


def test_outcomes_of_any_rate_are_as_likely_as_the_beta_distribution_says() -> None:
    assert any_rate(0, 0) == pytest.approx(0)
    assert any_rate(1, 0) == pytest.approx(log(1 / 2))
    assert any_rate(1, 1) == pytest.approx(log(1 / 8))
    assert any_rate(0, 2) == pytest.approx(log(3 / 8))


def test_subsets_that_agree_with_themselves_and_not_with_one_rate_do_not_fit() -> None:
    outcomes = [(mask, mask % 2 == 0) for mask in range(8) for _ in range(10)]
    with pytest.raises(MisfitError):
        require_fit(outcomes, evidence=80 * log(1 / 2))


def test_one_rate_for_all_fits_at_any_time() -> None:
    misfits = 0
    for seed in range(200):
        draw, outcomes, evidence = random.Random(seed), list[tuple[int, bool]](), 0.0
        try:
            for step in range(100):
                outcomes.append((step % 7, draw.random() < 0.2))
                evidence += log(0.2 if outcomes[-1][1] else 0.8)
                require_fit(outcomes, evidence)
        except MisfitError:
            misfits += 1
    assert misfits <= 1


@pytest.mark.slow
def test_subsets_with_rates_of_their_own_end_inconclusive_and_say_what_to_do() -> None:
    def by_the_mix(ask: Ask, seed: int) -> Verdict:
        name = f"{seed} {sorted(ask.active)}"
        own = 0.5 if 0 < len(ask.active) < 24 and random.Random(name).random() < 0.5 else 0.0
        wrong = random.Random(f"{name} {ask.build}").random() < own
        return Verdict.BAD if (7 in ask.active) != wrong else Verdict.GOOD

    ends = []
    for seed in range(12):
        search = Search(items(24), confidence=0.99)
        answered(search, lambda ask, seed=seed: by_the_mix(ask, seed))  # type: ignore[misc]
        ends.append(search.result())
    misfits = [end for end in ends if "builds disagree more than any single rate of noise explains" in end.why]
    assert len(misfits) >= 6
    assert all(end.status is Status.INCONCLUSIVE for end in misfits)
    assert all("search again" in end.why for end in misfits)
    assert all(7 in end.suspects.union(*end.culprits) for end in misfits)


def test_rates_that_scatter_from_subset_to_subset_are_not_one_rate() -> None:
    def evidence(known: list[tuple[int, bool, bool]]) -> float:
        return sum(log(1 / 2) for _ in known)

    steady = [(mask, False, (mask + turn) % 2 == 0) for mask in range(8) for turn in range(10)]
    require_one_rate(steady, evidence(steady))
    scattered = [(mask, False, mask % 2 == 0) for mask in range(8) for _ in range(10)]
    with pytest.raises(MisfitError):
        require_one_rate(scattered, evidence(scattered))


@pytest.mark.parametrize("seeds", [range(2), pytest.param(range(2, 5), marks=pytest.mark.slow)])
@for_each("rate", [0.0, 0.3, 0.5, 1.0])
def test_builds_that_do_not_depend_on_the_items_certify_nothing(rate: float, seeds: range) -> None:
    for seed in seeds:
        draw = random.Random(f"{rate} {seed}")
        search = Search(items(12), confidence=0.99, max_builds=2000)
        answered(search, lambda _, draw=draw: Verdict.BAD if draw.random() < rate else Verdict.GOOD)  # type: ignore[misc]
        assert search.result().status in {Status.NOT_REPRODUCED, Status.INCONCLUSIVE}


def test_one_build_in_five_that_is_wrong_misleads_at_most_once_in_a_hundred() -> None:
    wrong = 0
    for seed in range(40):
        draw = random.Random(seed)
        culprit = draw.randrange(32)
        search = Search(items(32), confidence=0.99)
        answered(
            search,
            lambda ask, draw=draw, culprit=culprit: (  # type: ignore[misc]
                Verdict.BAD if (culprit in ask.active) != (draw.random() < 0.2) else Verdict.GOOD
            ),
        )
        assert search.result().status is Status.CERTIFIED
        wrong += search.result().culprits != (frozenset({culprit}),)
    assert wrong == 0


def test_a_decision_has_builds_by_the_number_of_items_and_the_confidence() -> None:
    """Twice as many items cost as much as half the doubt: a bit, at what a build tells with the worst rates."""
    bit = most_builds(2, 1)
    assert bit == most_builds(1, 1) == 74
    assert most_builds(4096, 1) == pytest.approx(12 * bit, abs=12)
    assert most_builds(64, 2**-6) == pytest.approx(12 * bit, abs=12)


def test_a_search_that_noise_keeps_from_deciding_ends_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each decision gets what it may take; what was not decided by then is inconclusive, and suspected."""
    monkeypatch.setattr(rates, "most_builds", lambda _atoms, _doubt: 12)
    for seed in range(5):
        builds: set[tuple[frozenset[int], int]] = set()

        def judge(ask: Ask, seed: int = seed, builds: set[tuple[frozenset[int], int]] = builds) -> Verdict:
            builds.add((ask.active, ask.build))
            bad = random.Random(f"{seed} {sorted(ask.active)} {ask.build}").random() < (0.3 if 5 in ask.active else 0.1)
            return Verdict.BAD if bad else Verdict.GOOD

        search = Search(items(16), confidence=0.99)
        answered(search, judge)
        found = search.result()
        assert found.status is Status.INCONCLUSIVE
        assert f"{len(builds)} builds decided too little: the failure shows too seldom" in found.why
        assert len(builds) % 12 == 0
        assert 5 in found.suspects


@for_each(
    ("shown", "false", "apart"),
    [((8, 8), (0, 8), True), ((5, 10), (1, 10), True), ((5, 10), (3, 10), False), ((1, 7), (7, 7), True)],
)
def test_builds_that_are_bad_nearly_as_often_without_a_culprit_decide_nothing(
    shown: tuple[int, int], false: tuple[int, int], *, apart: bool
) -> None:
    known = [(1, True, number < shown[0]) for number in range(shown[1])]
    known += [(2, False, number < false[0]) for number in range(false[1])]
    if apart:
        require_apart(known)
        return
    with pytest.raises(TooNoisyError, match="20 builds decided too little"):
        require_apart(known)


def test_what_a_build_would_tell_is_the_information_counted_hypothesis_by_hypothesis() -> None:
    count = 5
    posterior = Posterior(Chain(Ledger(), 0, Space(items(count)).atoms), BEFORE)
    for mask, bad in ((0b00111, True), (0b00011, False), (0b00111, False)):
        posterior.see(mask, bad=bad)
    weights = posterior.weights
    cuts = [0.0] * (count + 1)
    for cut in range(1, count):
        by_atom = [(weights[0, atom] + weights[1, atom], atom < cut) for atom in range(count)]
        cuts[cut] = _information(by_atom)
    assert posterior.gain_of_cuts() == pytest.approx(cuts)
    for place in range(count):
        kinds = [(weights[kind, atom], kind == 0 and atom == place) for kind in range(2) for atom in range(count)]
        assert posterior.gain_of_alone(place) == pytest.approx(_information(kinds))
    assert max(cuts) > 0.1


def _information(hypotheses: list[tuple[Any, bool]]) -> float:
    """Return how many bits one outcome tells about the hypotheses; each has its weights over the rates."""
    bad = [float((weights * (SHOWN if active else FALSE)).sum()) for weights, active in hypotheses]
    share = [float(weights.sum()) for weights, _ in hypotheses]
    left = sum(part * _doubt(one / part) for part, one in zip(share, bad, strict=True) if part)
    return _doubt(sum(bad)) - left


def _doubt(chance: float) -> float:
    return -sum(part * log2(part) for part in (chance, 1 - chance) if part)
