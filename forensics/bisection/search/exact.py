"""Finds members when outcomes are exact: each verdict counts, and no subset is probed twice."""

from collections.abc import Sequence
from math import log2

from trtforensics.bisection.search.chain import Atom, Chain, Space, depth
from trtforensics.bisection.search.ledger import Ledger, Steps, Wish, Wishes
from trtforensics.bisection.search.minimal import Finder, SetMember, tell_apart
from trtforensics.bisection.search.model import Purpose, Verdict

_LAST_FEW = 3
_MOST_COUPLES = 3
"""A refused subset that cuts more edges than this says too little about any of them."""


class ExactFinder(Finder):
    """Halves the chain by suspicion; the last few suspects are tried alone where that stays within the promise.

    The promise: 2 + s + M (L + 1) builds for s sets of M members in all, and M - s to see that each is needed; L is the
    most halvings that it takes to single out one of all items. Leave-one-out builds are not counted.
    """

    def __init__(self, ledger: Ledger, space: Space) -> None:
        super().__init__(ledger, space, space.slack)
        self._slack = space.slack
        self._halvings = depth(len(space.atoms)) + self._slack
        self._cleared = 0
        self._learnt = 0

    @property
    def suspects(self) -> int:
        """The items that the member being sought hides among."""
        return self._chain.suspects() & ~self._cleared

    def unsettled(self, within: int) -> int:
        """Return the items of a bad subset that a whole set of it hides among."""
        bad = (mask for mask, verdict in self._ledger.log if verdict is Verdict.BAD and not mask & ~within)
        return min(bad, key=int.bit_count, default=0) or within

    @property
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known."""
        chain = self._chain
        total = chain.mass[chain.high] - chain.mass[chain.low]
        shares = [atom.weight / total for atom in chain.open_atoms()]
        return -sum(share * log2(share) for share in shares), chain.halvings

    def settle(self, mask: int, expected: Verdict, purpose: str, ahead: int = 0) -> Steps[Verdict]:
        """Find out whether a subset is good or bad: one build is enough."""
        following = (Wish(ahead, Purpose.REST),) if ahead and self._ledger.seen(ahead) is None else ()
        yield from self._ledger.first((Wish(mask, purpose),), expected, following)
        return self._ledger.seen(mask) or Verdict.UNRESOLVED

    def endpoints(self) -> Steps[tuple[Verdict, Verdict]]:
        """Build everything from good and everything from bad, and the first cuts too if there is room."""
        ends = [Wish(0, Purpose.GOOD_END), Wish(self._space.all, Purpose.BAD_END)]
        for end in ends:
            while self._ledger.seen(end.mask) is None:
                unknown = [wish for wish in ends if self._ledger.seen(wish.mask) is None]
                cuts = self._chain.cuts(self._ledger.room - len(unknown))
                yield (*unknown, *self._wishes(self._chain, cuts))
            if self._ledger.seen(0) is not Verdict.GOOD:
                break
        return self._ledger.seen(0) or Verdict.UNRESOLVED, self._ledger.seen(self._space.all) or Verdict.UNRESOLVED

    def member(self, kept: int, pool: Sequence[Atom]) -> Steps[SetMember]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together.

        Raises:
            NotMonotoneError: Verdicts contradict each other.
        """
        self._chain = chain = Chain(self._ledger, kept, pool, self._space.slack)
        self._cleared = 0
        chain.update()
        tried = False
        while chain.width > 1:
            cuts = chain.cuts(self._ledger.room)
            if not tried and self._alone_pays(chain, cuts):
                tried = True
                winner = yield from self._try_alone(chain)
                if winner:
                    return SetMember(winner, chain.atoms[: chain.low], complete=True)
                self._cleared = 0
            elif chain.stuck or (not cuts and not chain.busy()):
                break
            else:
                yield self._wishes(chain, cuts)
            chain.update()
            if self._learn_couples(chain):
                return (yield from self.member(kept, self._space.atoms_of(chain.links[-1] & ~kept)))
        if chain.width > 1 or len(chain.open_atoms()[0].items) > 1:
            return (yield from tell_apart(self, self._ledger, chain))
        return SetMember(chain.suspects(), chain.atoms[: chain.low])

    def _learn_couples(self, chain: Chain) -> bool:
        """Join items that, by refused cuts of edges, seem to have to change together; return whether any were."""
        joined = False
        for mask, verdict in self._ledger.log[self._learnt :]:
            couples = self._space.couples(mask, self._ledger.log) if verdict is Verdict.UNRESOLVED else []
            inside = [couple for couple in couples if not couple & ~chain.links[-1] and not couple & chain.links[0]]
            if 0 < len(inside) <= _MOST_COUPLES:
                joined |= sum(map(self._space.join, inside)) > 0
        self._learnt = len(self._ledger.log)
        return joined

    @staticmethod
    def _wishes(chain: Chain, cuts: list[int]) -> Wishes:
        return tuple(Wish(chain.links[cut], "narrow") for cut in cuts)

    def _alone_pays(self, chain: Chain, cuts: list[int]) -> bool:
        room = self._ledger.room
        if room > 1:
            return chain.width <= room
        splits_off_one = cuts == [chain.low + 1] and chain.width <= _LAST_FEW
        return splits_off_one and self._gamble_allowed(chain)

    def _gamble_allowed(self, chain: Chain) -> bool:
        """Return whether to try the last few suspects alone, which pays if the set needs no more than one of them."""
        # if the gamble is lost, the next member is sought among the atoms before the turn
        tried = self._ledger.builds + chain.width
        lost = tried + chain.halvings + depth(chain.high - 1) + self._slack + 1
        members = self.members + chain.links[0].bit_count() + 1
        won, more = (3 + self.sets + count * (self._halvings + 1) for count in (members, members + 1))
        return tried + 1 <= won and lost + 1 <= more

    def _try_alone(self, chain: Chain) -> Steps[int]:
        """Probe each of the last suspects alone with the members kept; return the first that is bad, or 0."""
        # a suspect that is good is cleared as long as the set is thought to need no more than one of them
        wishes = [Wish(chain.links[0] | atom.mask, Purpose.ALONE) for atom in chain.open_atoms()]
        while True:
            for wish in wishes:
                verdict = self._ledger.seen(wish.mask)
                suspect = wish.mask & ~chain.links[0]
                if verdict is Verdict.BAD:
                    self._cleared = chain.suspects() & ~suspect
                    return suspect
                if verdict is Verdict.GOOD:
                    self._cleared |= suspect
            wishes = [wish for wish in wishes if self._ledger.seen(wish.mask) is None]
            if not wishes:
                return 0
            yield tuple(wishes)
