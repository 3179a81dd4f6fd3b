"""How often builds are wrong, as a small grid of rates; whether outcomes fit one rate, and what they say of atoms.

``shown`` is how often an active culprit makes a build bad, ``false`` how often a build is bad without one. Neither is
known; every outcome with a known cause narrows them down. Where builds disagree more than any single rate explains, the
alternative gives each subset a rate of its own: if rates are as the model says, the evidence for it exceeds that for
the model by a factor F at any time with a probability of 1/F at most (Ville's inequality).
"""

from collections.abc import Iterable, Sequence
from itertools import product
from math import ceil, lgamma, log, log2, pi

import numpy as np
from numpy.typing import NDArray

from trtforensics.bisection.search.chain import Chain
from trtforensics.bisection.search.ledger import bits
from trtforensics.bisection.search.minimal import MisfitError, TooNoisyError

Array = NDArray[np.float64]

_SHOWN = {0.999: 6.0, **dict.fromkeys((0.97, 0.93, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2), 1.0)}
_FALSE = {0.0005: 12.0, 0.01: 1.0, 0.03: 1.0, 0.07: 0.5, 0.12: 0.5, 0.2: 0.5, 0.3: 0.5}
_GRID = [
    (shown, false, a * b) for (shown, a), (false, b) in product(_SHOWN.items(), _FALSE.items()) if false < shown / 2
]

SHOWN: Array = np.array([shown for shown, _, _ in _GRID])
FALSE: Array = np.array([false for _, false, _ in _GRID])
BEFORE: Array = np.array([weight for _, _, weight in _GRID]) / sum(weight for _, _, weight in _GRID)


def likelihood(*, active: bool, bad: bool) -> Array:
    """Return how likely an outcome is at each point of the grid."""
    rate = SHOWN if active else FALSE
    return rate if bad else 1 - rate


def normalised(logs: Array) -> tuple[Array, float]:
    """Return weights that sum to 1 from their logarithms, and the logarithm of the sum: long products underflow."""
    top = float(logs.max())
    weights = np.exp(logs - top)
    total = float(weights.sum())
    return weights / total, top + log(total)


def entropy(probability: Array) -> Array:
    """Return the entropy of a yes-or-no outcome in bits."""
    inside = np.clip(probability, 1e-12, 1 - 1e-12)
    return -(inside * np.log2(inside) + (1 - inside) * np.log2(1 - inside))


_LEAST_TOLD: float = float((entropy((SHOWN + FALSE) / 2) - (entropy(SHOWN) + entropy(FALSE)) / 2).min())
"""What the build of a subset that is as likely active as not tells at the worst rates of the grid, in bits."""
_MARGIN = 2
"""How many times the mean number of builds a decision may take: the mean is of many decisions."""


def most_builds(atoms: int, doubt: float) -> int:
    """Return the builds within which a decision between so many atoms is due, with a doubt of at most that."""
    return ceil(_MARGIN * (log2(max(atoms, 2)) - log2(doubt)) / _LEAST_TOLD)


_FACTOR = 1000
_FEW = 8
"""Builds of each state from which on their rates say something."""
_LOOSE = 1.0
"""How many builds the common rate weighs against a subset's own, in the alternative to one rate."""


def require_fit(outcomes: Iterable[tuple[int, bool]], evidence: float) -> None:
    """Raise MisfitError if ``outcomes`` of subsets (bad or not) fit rates of their own far better than ``evidence``."""
    counts: dict[int, list[int]] = {}
    for mask, bad in outcomes:
        counts.setdefault(mask, [0, 0])[bad] += 1
    if sum(any_rate(good, bad) for good, bad in counts.values()) > evidence + log(_FACTOR):
        raise MisfitError


def any_rate(good: int, bad: int) -> float:
    """Return the log probability of some outcomes if their rate may be any, by Jeffreys' prior."""
    return lgamma(good + 0.5) + lgamma(bad + 0.5) - lgamma(good + bad + 1) - log(pi)


def require_one_rate(known: Sequence[tuple[int, bool, bool]], evidence: float) -> None:
    """Raise MisfitError if known builds fit rates that scatter by subset far better than the model's ``evidence``."""
    logs = np.log(BEFORE)
    counts: dict[tuple[int, bool], list[int]] = {}
    for mask, active, is_bad in known:
        counts.setdefault((mask, active), [0, 0])[is_bad] += 1
    for (_, active), (good, bad) in counts.items():
        rate = SHOWN if active else FALSE
        logs += _log_beta(rate * _LOOSE + bad, (1 - rate) * _LOOSE + good)
        logs -= _log_beta(rate * _LOOSE, (1 - rate) * _LOOSE)
    if normalised(logs)[1] > evidence + log(_FACTOR):
        raise MisfitError


def require_apart(known: Sequence[tuple[int, bool, bool]]) -> None:
    """Raise TooNoisyError if known builds are bad half as often or more without a culprit as with one.

    Each rate counts as if it had been seen once more, half good and half bad: a few clean outcomes are apart.
    """
    sides = {state: [bad for _, active, bad in known if active is state] for state in (True, False)}
    shown, false = ((sum(side) + 0.5) / (len(side) + 1) for side in sides.values())
    if all(len(side) >= _FEW for side in sides.values()) and false >= shown / 2:
        raise TooNoisyError(len(known))


def _log_beta(first: Array, second: Array) -> Array:
    return np.array([lgamma(a) + lgamma(b) - lgamma(a + b) for a, b in zip(first, second, strict=True)])


_COMPLETE = 0.85
"""The prior probability that a set needs no further members."""


class Posterior:
    """The probability of each atom of a chain to be the next member of a set, given outcomes that may be wrong.

    A hypothesis says at which atom the chain turns bad, whether that atom completes the set or further members come
    before it, and how noisy builds are. ``weights[kind, atom, noise]``: kind 0 completes the set, kind 1 needs others
    before it; they sum to 1. ``evidence`` is the log probability of all outcomes so far.
    """

    def __init__(self, chain: Chain, noise: Array) -> None:
        self._chain = chain
        share = np.diff(np.array(chain.mass))
        share = share / share.sum()
        kinds = np.array([_COMPLETE, 1 - _COMPLETE])
        weights = kinds[:, None, None] * share[None, :, None] * noise[None, None, :]
        weights[1, 0] = 0.0
        weights /= weights.sum()
        self.weights: Array = weights
        self.evidence = 0.0
        self._places = {bit: at for at, atom in enumerate(chain.atoms) for bit in atom.items}

    def see(self, mask: int, *, bad: bool) -> None:
        """Apply the outcome of one build."""
        active = self._active(mask)
        shown, false = (SHOWN, FALSE) if bad else (1 - SHOWN, 1 - FALSE)
        self.weights *= np.where(active[:, :, None], shown, false)
        total = float(self.weights.sum())
        self.weights /= total
        self.evidence += log(total)

    def _active(self, mask: int) -> np.ndarray[tuple[int, int], np.dtype[np.bool_]]:
        """Return for each kind and atom whether the subset holds the whole set."""
        chain = self._chain
        active = np.zeros((2, len(chain.atoms)), dtype=bool)
        if not chain.links[0] & ~mask:
            place = chain.last_inside(mask)
            active[:, :place] = True
            beyond = mask & ~chain.links[place]
            active[0, [at for at in map(self._places.get, bits(beyond)) if at is not None]] = True
        return active

    def states(self, masks: Iterable[int], place: int, *, complete: bool) -> dict[int, bool]:
        """Return whether subsets hold the whole set if the member is at this place, where that follows.

        Unless the member is known to complete the set, it follows only where it makes no difference.
        """
        active = {mask: self._active(mask)[:, place] for mask in masks}
        return {mask: bool(kinds[0]) for mask, kinds in active.items() if complete or kinds[0] == kinds[1]}

    def of_atoms(self) -> Array:
        """Return the probability of each atom."""
        share: Array = self.weights.sum(axis=(0, 2))
        return share

    def complete(self, place: int) -> float:
        """Return the probability that this atom is the member and completes the set."""
        return float(self.weights[0, place].sum())

    def gain_of_cuts(self) -> Array:
        """Return what a build of each link would tell of the member, in bits; the first and last tell nothing."""
        share, shown, false = self._rates(self.weights.sum(axis=0))
        active = np.cumsum(np.stack([shown, _doubt(share, shown)]), axis=1)[:, :-1]
        quiet = np.stack([false, _doubt(share, false)])
        quiet = quiet.sum(axis=1, keepdims=True) - np.cumsum(quiet, axis=1)[:, :-1]
        bad, expected = active + quiet
        return np.concatenate(([0.0], entropy(bad) - expected, [0.0]))

    def gain_of_alone(self, place: int) -> float:
        """Return what a build of one atom alone with what is kept would tell of the member, in bits."""
        share, shown, false = self._rates(self.weights.reshape(-1, self.weights.shape[-1]))
        expected = _doubt(share, false)
        bad = false.sum() - false[place] + shown[place]
        known = expected.sum() - expected[place] + _doubt(share, shown)[place]
        return float(entropy(bad) - known)

    @staticmethod
    def _rates(weights: Array) -> tuple[Array, Array, Array]:
        """Return for each hypothesis its share, and the share of it in which a build is bad, if active and if not."""
        return weights.sum(axis=-1), weights @ SHOWN, weights @ FALSE


def _doubt(share: Array, bad: Array) -> Array:
    """Return how uncertain an outcome still is under each hypothesis, weighted by the hypothesis."""
    return share * entropy(bad / np.maximum(share, 1e-300))
