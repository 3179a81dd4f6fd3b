"""One minimal bad set inside a bad subset: find a member, keep it on, go on until the members are bad alone.

Where a mix is refused, similar subsets stand for it, or the smallest group of items that cannot be told apart. A
finder, exact or noisy, gives the verdict of a subset and the next member of a set.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

from trtforensics.bisection.search.chain import Atom, Chain, Space
from trtforensics.bisection.search.ledger import Ledger, Steps, Wish, each, neighbours
from trtforensics.bisection.search.minimising import Proposals, delta_debugging, minimised
from trtforensics.bisection.search.model import Purpose, Verdict

_TRIES = 4
_WITNESSES = 2
_PARTS = 2
_PATIENCE = 20
"""The builds in a row that may fail to make a group smaller before the search gives up on it."""


@dataclass(frozen=True, slots=True)
class SetMember:
    """The next member of a set: the items of an atom; ``before`` are the atoms that may hold further members.

    ``complete`` says that the members so far were seen to be bad alone. ``doubt`` holds items that look alike: at
    least one of them is the member, and ``items`` is 0.
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

    What yields probes raises FlakyError or MisfitError where verdicts cannot be what they are taken for, and
    TooNoisyError where they tell too little. ``confidence`` is the probability that all conclusions so far are right,
    ``sets`` and ``members`` count those known so far.
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
        """Find out whether a subset is good or bad; ``expected`` is the likelier outcome.

        ``ahead`` is the subset that is wanted next where that comes, 0: none.
        """

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
    """Reduce atoms that are bad on top of ``base`` until leaving out any one of them is no longer seen to be bad.

    Outcomes need not be monotone, and a refused subset counts as not bad.
    """

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
    """Return a subset that is bad and holds ``whole``, where that alone is refused: with an atom more, or else ``bad``.

    ``company`` are the atoms that may belong to it.
    """
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


def leave_one_out(finder: Finder, members: int) -> Steps[dict[int, Verdict]]:
    """Build a set without each of its items in turn, where that was not seen; return the verdicts."""
    masks = neighbours(members)
    verdicts = yield from each([finder.settle(mask, Verdict.GOOD, Purpose.BUT_ONE) for mask in masks])
    return dict(zip(masks, verdicts, strict=True))
