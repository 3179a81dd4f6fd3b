"""One minimal bad set inside a bad subset: find a member, keep it on, go on until the members are bad alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.model import ALONE, Verdict
from trtforensics.bisect.search.refusals import alone_by_proxy, bad_around

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search.basis.finder import Finder
    from trtforensics.bisect.search.basis.ledger import Steps
    from trtforensics.bisect.search.basis.space import Atom, Space


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


def minimal_set(finder: Finder, space: Space, within: int) -> Steps[MinimalSet]:
    """Find a minimal bad set inside a subset that is bad.

    Raises:
        NotMonotoneError: Verdicts contradict each other.
        FlakyError: A subset had two verdicts.
    """
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
        seen = alone = yield from finder.settle(kept, Verdict.BAD, ALONE, again=(Verdict.BAD, Verdict.GOOD))
        pool = list(member.before)
        bad = finder.unsettled(kept | mask_of_atoms(pool))
        if seen is Verdict.UNRESOLVED:
            alone = yield from alone_by_proxy(finder, kept, pool or space.atoms_of(space.all & ~kept))
        if alone is not Verdict.GOOD:
            inside = bad if alone is Verdict.UNRESOLVED else kept
            return MinimalSet(kept, inside, alone=seen is Verdict.BAD, passed=passed)
        if kept.bit_count() > 1 and kept | mask_of_atoms(pool) == top:  # no build has been bad since
            yield from finder.confirm([bad], "is it bad again")


def mask_of_atoms(atoms: Sequence[Atom]) -> int:
    """Return the items of some atoms as one mask."""
    return sum(atom.mask for atom in atoms)
