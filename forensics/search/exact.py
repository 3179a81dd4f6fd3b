"""Finding members where outcomes are taken as they are: each verdict counts, no subset is probed twice."""

from __future__ import annotations

from math import log2
from typing import TYPE_CHECKING

from trtforensics.search.budget import depth
from trtforensics.search.chain import Chain
from trtforensics.search.finder import Member
from trtforensics.search.ledger import Wish
from trtforensics.search.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.search.budget import Budget
    from trtforensics.search.ledger import Ledger, Steps
    from trtforensics.search.space import Space

_LAST_FEW = 3


class ExactFinder:
    """Halves the chain by suspicion; the last few suspects are tried alone where that stays within the promise."""

    def __init__(self, ledger: Ledger, space: Space, budget: Budget) -> None:
        self._ledger = ledger
        self._space = space
        self._budget = budget
        self._chain = self._chain_of(0, space.atoms)

    def _chain_of(self, kept: int, pool: Sequence[int]) -> Chain:
        return Chain(self._ledger, kept, pool, [self._space.weight(atom) for atom in pool])

    @property
    def suspects(self) -> int:
        """The items that the member being sought hides among."""
        return self._chain.suspects()

    @property
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known."""
        chain = self._chain
        total = chain.mass[chain.high] - chain.mass[chain.low]
        shares = [self._space.weight(atom) / total for atom in chain.open_atoms()]
        return -sum(share * log2(share) for share in shares), depth(chain.width)

    def settle(self, mask: int, purpose: str) -> Steps[Verdict]:
        """Find out whether a subset is good or bad."""
        return self._ledger.verdict(mask, purpose)

    def first_cuts(self, room: int) -> list[Wish]:
        """Return what can be probed along with the endpoints."""
        return [Wish(self._chain.links[cut], "narrow") for cut in self._chain.cuts(max(room, 0))]

    def member(self, kept: int, pool: Sequence[int]) -> Steps[Member]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together.

        Raises:
            NotMonotoneError: Verdicts contradict each other.
        """
        self._chain = chain = self._chain_of(kept, pool)
        chain.update()
        tried = False
        while chain.width > 1:
            cuts = chain.cuts(self._ledger.room)
            if not tried and self._alone_pays(chain, cuts):
                tried = True
                winner = yield from self._try_alone(chain)
                if winner:
                    return Member(winner, complete=True)
            elif not cuts and not chain.busy():
                return Member(0, pool[: chain.low], doubt=chain.open_atoms())
            else:
                yield tuple(Wish(chain.links[cut], "narrow") for cut in cuts)
            chain.update()
        return Member(chain.suspects(), pool[: chain.low])

    def _alone_pays(self, chain: Chain, cuts: list[int]) -> bool:
        room = self._ledger.room
        if room > 1:
            return chain.width <= room
        splits_off_one = cuts == [chain.low + 1] and chain.width <= _LAST_FEW
        kept = chain.links[0].bit_count()
        return splits_off_one and self._budget.allows_gamble(self._ledger.builds, kept, chain.width, chain.high - 1)

    def _try_alone(self, chain: Chain) -> Steps[int]:
        """Probe the last suspects each alone with what is kept; return the one that is bad so, or 0."""
        wishes = [Wish(chain.links[0] | atom, "the culprits alone") for atom in chain.open_atoms()]
        while True:
            for wish in wishes:
                if self._ledger.seen(wish.mask) is Verdict.BAD:
                    return wish.mask & ~chain.links[0]
            wishes = [wish for wish in wishes if self._ledger.seen(wish.mask) is None]
            if not wishes:
                return 0
            yield tuple(wishes)
