"""What to probe where a subset that matters is refused: its like, and the smallest group that cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.search.finder import Member
from trtforensics.search.model import Verdict
from trtforensics.search.reduction import reduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.search.chain import Chain
    from trtforensics.search.ledger import Ledger, Steps
    from trtforensics.search.space import Atom

_TRIES = 4
_WITNESSES = 2


def tell_apart(ledger: Ledger, chain: Chain) -> Steps[Member]:
    """Find the member among neighbours in a chain where every link between them is refused.

    Mixes of the neighbours on top of what is kept are tried first, which may prove them bad alone; then on top of the
    last good link.
    """
    group, before = [atom.mask for atom in chain.open_atoms()], chain.atoms[: chain.low]
    kept, good = chain.links[0], chain.links[chain.low]
    if (yield from ledger.verdict(kept | sum(group), "the suspects alone")) is Verdict.BAD:
        least = yield from reduced(ledger, kept, group)
        if len(least) == 1 or all(ledger.implied(kept | sum(least) & ~atom) is Verdict.GOOD for atom in least):
            return Member(sum(least), complete=True)
        return Member(0, before, doubt=sum(least))
    least = yield from reduced(ledger, good, group)
    if len(least) == 1:
        return Member(least[0], before)
    return Member(0, before, doubt=sum(least))


def alone_by_proxy(ledger: Ledger, members: int, harmless: Sequence[Atom]) -> Steps[Verdict]:
    """Judge a refused set of members by sets that hold one harmless atom more.

    A good one shows that the members are good; two bad ones with different company show that the members are bad, since
    a set of theirs with either would have been found first.
    """
    bad = 0
    for atom in _spread(harmless):
        verdict = yield from ledger.verdict(members | atom.mask, "the culprits, not quite alone")
        bad += verdict is Verdict.BAD
        if verdict is Verdict.GOOD:
            return Verdict.GOOD
        if bad == _WITNESSES:
            return Verdict.BAD
    return Verdict.UNRESOLVED


def rest_by_proxy(ledger: Ledger, rest: int, atoms: Sequence[Atom]) -> Steps[tuple[Verdict, int]]:
    """Judge a refused rest by subsets that lack one atom more; return the verdict and the subset that showed it."""
    for atom in _spread(atoms):
        verdict = yield from ledger.verdict(rest & ~atom.mask, "nearly everything but the culprits")
        if verdict is not Verdict.UNRESOLVED:
            return verdict, rest & ~atom.mask
    return Verdict.UNRESOLVED, rest


def _spread(atoms: Sequence[Atom]) -> list[Atom]:
    """Return a few atoms far from each other, so that what refuses one of them need not refuse the next."""
    step = max(1, len(atoms) // _TRIES)
    return list(atoms[::-step][:_TRIES])
