"""Whether builds disagree more than any single rate of noise explains.

The alternatives give each subset a rate of its own. If rates are as the model says, the evidence for an alternative
exceeds that for the model by a factor F at any time with a probability of 1/F at most (Ville's inequality).
"""

from __future__ import annotations

from math import lgamma, log, pi
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisect.search.basis.finder import MisfitError
from trtforensics.bisect.search.noisy.noise import BEFORE, FALSE, SHOWN, normalised

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from trtforensics.bisect.search.noisy.noise import Array

_FACTOR = 1000
_LOOSE = 1.0
"""How many builds the common rate weighs against a subset's own, in the alternative to one rate."""


def require_fit(outcomes: Iterable[tuple[int, bool]], evidence: float) -> None:
    """Compare the model's evidence, as a natural logarithm, with that of the alternative for the same outcomes.

    ``outcomes`` are subsets and whether their build was bad.

    Raises:
        MisfitError: The alternative is better by far.
    """
    counts: dict[int, list[int]] = {}
    for mask, bad in outcomes:
        counts.setdefault(mask, [0, 0])[bad] += 1
    if sum(any_rate(good, bad) for good, bad in counts.values()) > evidence + log(_FACTOR):
        raise MisfitError


def any_rate(good: int, bad: int) -> float:
    """Return the log probability of some outcomes if their rate may be any, by Jeffreys' prior."""
    return lgamma(good + 0.5) + lgamma(bad + 0.5) - lgamma(good + bad + 1) - log(pi)


def require_one_rate(known: Sequence[tuple[int, bool, bool]], evidence: float) -> None:
    """Compare the model's evidence with that of rates that scatter, subset by subset, around those of the model.

    ``known`` are builds of subsets of known state: subset, whether a culprit is active, whether it was bad.

    Raises:
        MisfitError: The alternative is better by far.
    """
    logs = np.log(BEFORE)
    for (_, active), outcomes in _by_subset(known).items():
        rate = SHOWN if active else FALSE
        good, bad = outcomes.count(False), outcomes.count(True)
        logs += _log_beta(rate * _LOOSE + bad, (1 - rate) * _LOOSE + good)
        logs -= _log_beta(rate * _LOOSE, (1 - rate) * _LOOSE)
    if normalised(logs)[1] > evidence + log(_FACTOR):
        raise MisfitError


def _by_subset(known: Iterable[tuple[int, bool, bool]]) -> dict[tuple[int, bool], list[bool]]:
    outcomes: dict[tuple[int, bool], list[bool]] = {}
    for mask, active, bad in known:
        outcomes.setdefault((mask, active), []).append(bad)
    return outcomes


def _log_beta(first: Array, second: Array) -> Array:
    return np.array([lgamma(a) + lgamma(b) - lgamma(a + b) for a, b in zip(first, second, strict=True)])
