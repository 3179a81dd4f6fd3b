"""One minimal bad set inside a bad subset: find a member, keep it on, go on until the members are bad alone.

Where a mix is refused, similar subsets stand for it, or the smallest group of items that cannot be told apart. A
finder, exact or noisy, gives the verdict of a subset and the next member of a set.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from math import log2

from trtforensics.bisection.search.chain import Atom, Chain, Space, depth
from trtforensics.bisection.search.ledger import Ledger, Steps, Wish, Wishes
from trtforensics.bisection.search.minimising import Proposals, delta_debugging, minimised
from trtforensics.bisection.search.model import Purpose, Verdict

_TRIES = 4
_WITNESSES = 2
_PARTS = 2
_PATIENCE = 20
"""The builds in a row that may fail to make a group smaller before the search gives up on it."""
_LAST_FEW = 3
_MOST_COUPLES = 3
"""A refused subset that cuts more edges than this says too little about any of them."""


@dataclass(frozen=True, slots=True)
class SetMember:
    """The next member of a set: the items of an atom; ``before`` are the atoms that may hold further members.

    ``complete``: the members so far are bad alone. ``doubt`` holds items that look alike, with the member among them.
    """

    items: int
    before: Sequence[Atom] = ()
    complete: bool = False
    doubt: int = 0


class MisfitError(Exception):
    """Builds disagree more than any single rate of noise explains."""


class TooNoisyError(Exception):
    """So many builds have decided so little that the noise is beyond what this confidence can be had at."""

    def __init__(self, builds: int) -> None:
        super().__init__(
            f"{builds:,} builds decided too little: the failure shows too seldom, or too often without its cause; have "
            "it show more often (a check of more samples, a tighter tolerance), or ask for less `--confidence`"
        )


class Finder(ABC):
    """Turns verdicts into members: taken as exact, or weighed against noise.

    What yields probes raises FlakyError or MisfitError where verdicts are not what they are taken for, TooNoisyError
    where they tell too little. ``confidence`` is that of all conclusions so far, ``sets`` and ``members`` are counts.
    """

    def __init__(self, ledger: Ledger, space: Space, slack: int = 0) -> None:
        self.confidence = 1.0
        self.sets = 0
        self.members = 0
        self._ledger = ledger
        self._space = space
        self._chain = Chain(ledger, 0, space.atoms, slack)

    @property
    @abstractmethod
    def suspects(self) -> int:
        """The items that the member being sought hides among."""

    @abstractmethod
    def unsettled(self, within: int) -> int:
        """Return the items of a bad subset that a whole set of it hides among."""

    @property
    @abstractmethod
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known."""

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Record the verdict of a probe."""
        self._ledger.tell(wish, verdict)

    @abstractmethod
    def settle(self, mask: int, expected: Verdict, purpose: str, ahead: int = 0) -> Steps[Verdict]:
        """Find out whether a subset is as ``expected``; ``ahead`` is the subset that is wanted next then, 0: none."""

    def confirm(self, masks: Sequence[int], purpose: str) -> Steps[bool]:
        """Build settled subsets once more: see :meth:`Ledger.confirm`."""
        return self._ledger.confirm(masks, purpose)

    @abstractmethod
    def endpoints(self) -> Steps[tuple[Verdict, Verdict]]:
        """Build everything from good and everything from bad; return the two verdicts."""

    @abstractmethod
    def member(self, kept: int, pool: Sequence[Atom]) -> Steps[SetMember]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together."""


@dataclass(frozen=True, slots=True)
class MinimalSet:
    """A bad set: ``members`` are certain, and at least one of the items in ``doubt`` belongs to it too.

    ``alone`` says whether the members alone were seen to be bad, ``minimal`` whether they were seen to be good without
    any one of them. ``inside`` is a bad subset that holds the whole set. ``passed`` are items seen to be good together.
    """

    members: int
    inside: int
    doubt: int = 0
    alone: bool = True
    minimal: bool = False
    passed: int = 0

    @property
    def items(self) -> int:
        """The members and the items in doubt."""
        return self.members | self.doubt


def minimal_set(finder: Finder, space: Space, within: int, rest: int) -> Steps[MinimalSet]:
    """Find a minimal bad set inside a subset that is bad; ``rest`` are all items that belong to no other set."""
    kept = passed = 0
    pool = space.atoms_of(within)
    while True:
        top = kept | mask_of_atoms(pool)
        member = yield from finder.member(kept, pool)
        passed = passed or mask_of_atoms(member.before)
        if member.doubt:
            whole = kept | member.doubt
            inside = yield from bad_around(finder, whole, member.before, whole | mask_of_atoms(member.before))
            return MinimalSet(kept, inside, member.doubt, alone=False)
        kept |= member.items
        if member.complete:
            return MinimalSet(kept, kept, passed=passed)
        verdict = alone = yield from finder.settle(kept, Verdict.BAD, Purpose.ALONE, rest & ~kept)
        pool = list(member.before)
        bad = finder.unsettled(kept | mask_of_atoms(pool))
        if verdict is Verdict.UNRESOLVED:
            alone = yield from alone_by_proxy(finder, kept, pool or space.atoms_of(space.all & ~kept))
        if alone is not Verdict.GOOD:
            inside = bad if alone is Verdict.UNRESOLVED else kept
            return MinimalSet(kept, inside, alone=verdict is Verdict.BAD, passed=passed)
        if kept.bit_count() > 1 and kept | mask_of_atoms(pool) == top:  # no build has been bad since
            yield from finder.confirm([bad], "is it bad again")


def mask_of_atoms(atoms: Sequence[Atom]) -> int:
    """Return the items of some atoms as one mask."""
    return sum(atom.mask for atom in atoms)


def reduced(finder: Finder, base: int, atoms: Sequence[int], patience: int | None = None) -> Steps[list[int]]:
    """Reduce atoms that are bad on top of ``base`` until leaving out any one of them is not seen to be bad."""

    def first_bad(proposals: Proposals) -> Steps[int | None]:
        for subset in proposals.subsets:
            if (yield from finder.settle(base | subset, Verdict.GOOD, "reduce what is left")) is Verdict.BAD:
                return subset
        return None

    return minimised(delta_debugging(atoms, patience), first_bad)


def tell_apart(finder: Finder, ledger: Ledger, chain: Chain) -> Steps[SetMember]:
    """Find the member among items of a chain where every link between them is refused.

    Mixes of the neighbours are tried on top of what is kept, which may prove them bad alone, then on top of the last
    good link, then of parts of it: a mix that is refused with some company may build with another.
    """
    group = [1 << item for atom in chain.open_atoms() for item in sorted(atom.items)]
    before = chain.atoms[: chain.low]
    kept, good = chain.links[0], chain.links[chain.low]
    masks = [mask for mask in chain.built() if kept != mask != good][-_PARTS:]
    parts = [part for mask in reversed(masks) for part in (mask, good & ~mask | kept)]
    for base in dict.fromkeys((kept, good, *parts)):
        if (yield from finder.settle(base | sum(group), Verdict.BAD, Purpose.TOGETHER)) is not Verdict.BAD:
            continue
        group = yield from reduced(finder, base, group, _PATIENCE)
        smaller = [ledger.implied(kept | sum(group) & ~atom) for atom in group] if len(group) > 1 else []
        if base == kept and all(verdict is Verdict.GOOD for verdict in smaller):  # not only refused without one
            return SetMember(sum(group), before, complete=True)
        if len(group) == 1:
            return SetMember(group[0], before)
    return SetMember(0, before, doubt=sum(group))


def alone_by_proxy(finder: Finder, members: int, harmless: Sequence[Atom]) -> Steps[Verdict]:
    """Judge a refused set of members by sets that hold one harmless atom more.

    A good one shows that the members are good; two bad ones with different company show that the members are bad, since
    a set of theirs with either would have been found first.
    """
    bad = 0
    for atom in _spread(harmless):
        verdict = yield from finder.settle(members | atom.mask, Verdict.BAD, "the culprits, not quite alone")
        bad += verdict is Verdict.BAD
        if verdict is Verdict.GOOD:
            return Verdict.GOOD
        if bad == _WITNESSES:
            return Verdict.BAD
    return Verdict.UNRESOLVED


def bad_around(finder: Finder, whole: int, company: Sequence[Atom], bad: int) -> Steps[int]:
    """Return a bad subset with the refused ``whole`` in it: with an atom of its ``company`` more, or else ``bad``."""
    for mask in (whole, *(whole | atom.mask for atom in _spread(company))):
        if (yield from finder.settle(mask, Verdict.BAD, Purpose.TOGETHER)) is Verdict.BAD:
            return mask
    return bad


def rest_by_proxy(finder: Finder, rest: int, atoms: Sequence[Atom]) -> Steps[tuple[Verdict, int]]:
    """Judge a refused rest by subsets that lack one atom more; return the verdict and the subset that showed it."""
    for atom in _spread(atoms):
        verdict = yield from finder.settle(rest & ~atom.mask, Verdict.GOOD, "nearly everything but the culprits")
        if verdict is not Verdict.UNRESOLVED:
            return verdict, rest & ~atom.mask
    return Verdict.UNRESOLVED, rest


def _spread(atoms: Sequence[Atom]) -> list[Atom]:
    """Return a few atoms far from each other, so that what refuses one of them need not refuse the next."""
    step = max(1, len(atoms) // _TRIES)
    return list(atoms[::-step][:_TRIES])


class ExactFinder(Finder):
    """Takes verdicts as exact, and halves the chain; the last few suspects are tried alone if that keeps a promise.

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
        """Find one member of a bad set inside ``kept`` and ``pool``; a NotMonotoneError where verdicts contradict."""
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
