"""One minimal bad set inside a bad subset: find a member, keep it on, go on until the members are bad alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.search.model import Verdict

if TYPE_CHECKING:
    from trtforensics.search.finder import Finder
    from trtforensics.search.ledger import Steps
    from trtforensics.search.space import Space


@dataclass(frozen=True, slots=True)
class Found:
    """A set: ``members`` are certain; ``doubt`` holds items of which at least one belongs to it too.

    ``alone`` is what the members showed alone.
    """

    members: int
    doubt: int = 0
    alone: Verdict = Verdict.BAD


def minimal_set(finder: Finder, space: Space, within: int) -> Steps[Found]:
    """Find a minimal bad set inside a subset that is bad.

    Raises:
        NotMonotoneError: Verdicts contradict each other.
    """
    kept = 0
    pool = space.atoms_of(within)
    while True:
        member = yield from finder.member(kept, pool)
        if member.doubt:
            return Found(kept, sum(member.doubt))
        kept |= member.atom
        if member.complete:
            return Found(kept)
        alone = yield from finder.settle(kept, "the culprits alone")
        if alone is not Verdict.GOOD:
            return Found(kept, alone=alone)
        pool = member.before
