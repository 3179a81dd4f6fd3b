"""Probes for refused subsets: similar subsets, and the smallest group of items that cannot be told apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.finder import SetMember
from trtforensics.bisect.search.basis.model import TOGETHER, Verdict
from trtforensics.bisect.search.reduction import reduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search.basis.chain import Chain
    from trtforensics.bisect.search.basis.finder import Finder
    from trtforensics.bisect.search.basis.ledger import Ledger, Steps
    from trtforensics.bisect.search.basis.space import Atom

_TRIES = 4
_WITNESSES = 2
_PARTS = 2
_PATIENCE = 20
"""The builds in a row that may fail to make a group smaller before the search gives up on it."""


def tell_apart(finder: Finder, ledger: Ledger, chain: Chain) -> Steps[SetMember]:
    """Find the member among items of a chain where every link between them is refused.

    Mixes of the neighbours are tried on top of what is kept, which may prove them bad alone, then on top of the last
    good link, then of parts of it: a mix that is refused with some company may build with another.
    """
    group = [1 << item for atom in chain.open_atoms() for item in sorted(atom.items)]
    before = chain.atoms[: chain.low]
    kept, good = chain.links[0], chain.links[chain.low]
    built = [mask for mask in chain.built() if kept != mask != good][-_PARTS:]
    parts = [part for mask in reversed(built) for part in (mask, good & ~mask | kept)]
    for base in dict.fromkeys((kept, good, *parts)):
        if (yield from finder.settle(base | sum(group), Verdict.BAD, TOGETHER)) is not Verdict.BAD:
            continue
        group = yield from reduced(finder, base, group, _PATIENCE)
        if base == kept and _irreducible(ledger, kept, group):
            return SetMember(sum(group), before, complete=True)
        if len(group) == 1:
            return SetMember(group[0], before)
    return SetMember(0, before, doubt=sum(group))


def _irreducible(ledger: Ledger, kept: int, group: list[int]) -> bool:
    """Return whether a group that is bad is known to need each of its atoms: it was not only refused without them."""
    return len(group) == 1 or all(ledger.implied(kept | sum(group) & ~atom) is Verdict.GOOD for atom in group)


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
        if (yield from finder.settle(mask, Verdict.BAD, TOGETHER)) is Verdict.BAD:
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
