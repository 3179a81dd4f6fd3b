"""Many culprits close together: groups of the next few items, alone, instead of halvings of all that is left."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.ledger import bits
from trtforensics.bisect.search.basis.model import ALONE, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search.basis.ledger import Ledger
    from trtforensics.bisect.search.basis.space import Space
    from trtforensics.bisect.search.minimal import MinimalSet

_LEAST_SETS = 3
_QUIET = 3
"""Good groups in a row, each twice as large as the one before, after which the culprits are not close any more."""
_EVEN = 0.7
"""A group of this share of the mean gap between culprits is good about as often as bad."""

Group = tuple[int, Verdict, str]


class Sweep:
    """Which groups to build next, from the sets found so far.

    It begins where that needs fewer builds than halving: the square of twice the mean gap is less than what is left.
    """

    def __init__(self, ledger: Ledger, space: Space) -> None:
        self._ledger = ledger
        self._space = space
        self._passed = 0
        self._quiet = 0
        self._running = False

    def groups(self, sets: Sequence[MinimalSet], rest: int) -> list[Group]:
        """Return the next groups of a round: subset, likelier verdict, purpose; none: the round is over."""
        singles = [bad_set for bad_set in sets if bad_set.alone and bad_set.members.bit_count() == 1]
        for bad_set in singles:
            self._passed |= bad_set.passed
        gap = 1 + (self._passed & rest).bit_count() / max(len(singles), 1)
        fresh = self._space.atoms_of(rest & ~self._passed)
        dense = len(singles) >= _LEAST_SETS and (2 * gap) ** 2 <= len(fresh)
        if not fresh or self._quiet == _QUIET or not (self._running or dense):
            self._running, self._quiet = False, 0
            return []
        self._running = True
        size = 1 << int(log2(max(_EVEN * gap, 1))) << self._quiet
        starts = range(0, len(fresh), size)[: self._ledger.most_room]
        masks = [sum(atom.mask for atom in fresh[start : start + size]) for start in starts]
        return [(mask, Verdict.BAD, ALONE if len(bits(mask)) == 1 else "a few items alone") for mask in masks]

    def note(self, mask: int, verdict: Verdict) -> None:
        """Take the verdict of a group."""
        if verdict is Verdict.BAD:
            self._quiet = 0
        else:
            self._passed |= mask
            self._quiet = min(self._quiet + 1, _QUIET)
