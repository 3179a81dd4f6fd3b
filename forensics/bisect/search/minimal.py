"""One minimal bad set inside a bad subset: find a member, keep it on, go on until the members are bad alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisect.search.model import ALONE, Verdict
from trtforensics.bisect.search.refusals import alone_by_proxy

if TYPE_CHECKING:
    from trtforensics.bisect.search.finder import Finder
    from trtforensics.bisect.search.ledger import Steps
    from trtforensics.bisect.search.space import Space


@dataclass(frozen=True, slots=True)
class MinimalSet:
    """A minimal bad set: ``members`` are certain, and at least one of the items in ``doubt`` belongs to it too.

    ``alone`` says whether the members alone were seen to be bad.
    """

    members: int
    doubt: int = 0
    alone: bool = True

    @property
    def items(self) -> int:
        """The members and the items in doubt."""
        return self.members | self.doubt


def minimal_set(finder: Finder, space: Space, within: int) -> Steps[MinimalSet]:
    """Find a minimal bad set inside a subset that is bad.

    Raises:
        NotMonotoneError: Verdicts contradict each other.
    """
    kept = 0
    pool = space.atoms_of(within)
    while True:
        member = yield from finder.member(kept, pool)
        if member.doubt:
            return MinimalSet(kept, member.doubt, alone=False)
        kept |= member.items
        if member.complete:
            return MinimalSet(kept)
        seen = alone = yield from finder.settle(kept, Verdict.BAD, ALONE)
        pool = list(member.before)
        if seen is Verdict.UNRESOLVED:
            alone = yield from alone_by_proxy(finder, kept, pool or space.atoms_of(space.all & ~kept))
        if alone is not Verdict.GOOD:
            return MinimalSet(kept, alone=seen is Verdict.BAD)
