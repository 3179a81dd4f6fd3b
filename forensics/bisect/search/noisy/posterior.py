"""The probability of each atom of a chain to be the next member of a set, given outcomes that may be wrong.

A hypothesis says at which atom the chain turns bad, whether that atom completes the set or further members come before
it, and how noisy builds are.
"""

from __future__ import annotations

from math import log
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.bisect.search.basis.ledger import bits
from trtforensics.bisect.search.noisy.noise import FALSE, SHOWN, entropy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.bisect.search.basis.chain import Chain
    from trtforensics.bisect.search.noisy.noise import Array

_COMPLETE = 0.85
"""The prior probability that a set needs no further members."""


class Posterior:
    """``weights[kind, atom, noise]``: kind 0 completes the set, kind 1 needs others before it; they sum to 1.

    ``evidence`` is the log probability of all outcomes so far.
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
