"""What to probe where a subset that matters is refused: its like, and the smallest group that cannot be told apart."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from trtforensics.search.budget import depth
from trtforensics.search.finder import Member
from trtforensics.search.ledger import splits
from trtforensics.search.model import Verdict
from trtforensics.search.reduction import reduced

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.search.chain import Chain
    from trtforensics.search.finder import Finder
    from trtforensics.search.ledger import Ledger, Steps
    from trtforensics.search.space import Atom

_TRIES = 4
_WITNESSES = 2
_PARTS = 2
_PATIENCE = 20
"""How many builds may fail to make a group smaller before it is left as it is."""


def tell_apart(finder: Finder, ledger: Ledger, chain: Chain) -> Steps[Member]:
    """Find the member among items of a chain where every link between them is refused.

    Mixes of the neighbours are tried on top of what is kept, which may prove them bad alone, then on top of the last
    good link, then of parts of it: what refuses a mix with one company need not refuse it with another. That ends as
    soon as the group must be taken for one that changes together.
    """
    hopeless = partial(_hopeless, ledger, chain, len(ledger.log))
    group = [single for atom in chain.open_atoms() for single in atom.singles()]
    before = chain.atoms[: chain.low]
    kept, good = chain.links[0], chain.links[chain.low]
    built = [mask for mask in chain.built() if kept != mask != good][-_PARTS:]
    parts = [part for mask in reversed(built) for part in (mask, good & ~mask | kept)]
    for base in dict.fromkeys((kept, good, *parts)):
        verdict = yield from finder.settle(base | _together(group), Verdict.BAD, "the suspects together")
        if verdict is Verdict.GOOD:
            continue
        while fewer := (yield from _without_ends(finder, base, group)):
            if base == kept:
                return (yield from finder.member(kept, fewer))
            group, verdict = fewer, Verdict.BAD
        if verdict is not Verdict.BAD:
            continue
        left = yield from reduced(finder, base, [atom.mask for atom in group], hopeless)
        group = [atom for atom in group if atom.mask in left]
        if base == kept and (member := _certain(ledger, kept, group)):
            return member
        if len(group) == 1:
            return Member(group[0].mask, before)
        if hopeless(_together(group)):
            break
    return Member(0, before, doubt=_together(group))


def _certain(ledger: Ledger, kept: int, group: Sequence[Atom]) -> Member | None:
    """Return what is known of a group that is bad: it needs an atom without which it was good, and not only refused."""
    together = kept | _together(group)
    needed = [atom for atom in group if ledger.implied(together & ~atom.mask) is Verdict.GOOD]
    if len(group) in {1, len(needed)}:
        return Member(_together(group), complete=True)
    return Member(needed[0].mask, [atom for atom in group if atom is not needed[0]]) if needed else None


def _without_ends(finder: Finder, base: int, group: Sequence[Atom]) -> Steps[Sequence[Atom]]:
    """Return a group without its first, its last or both, if it is seen to be bad so on top of ``base``; else nothing.

    The outermost may be there because of one refused link, or be all that is coupled, with each other.
    """
    for fewer in (group[1:-1], group[1:], group[:-1]) if len(group) > _PARTS else ():
        verdict = yield from finder.settle(base | _together(fewer), Verdict.BAD, "most of the suspects")
        if verdict is Verdict.BAD:
            return fewer
    return ()


def _together(group: Sequence[Atom]) -> int:
    return sum(atom.mask for atom in group)


def _hopeless(ledger: Ledger, chain: Chain, start: int, group: int) -> bool:
    """Return whether more mixes of a group are not worth a build; the log was ``start`` long when links gave out.

    Once a part of the suspects is seen to be bad, refusals up to then may be due to those it left out.
    """
    since = chain.began
    for place in range(start, len(ledger.log)):
        mask, verdict = ledger.log[place]
        if verdict is Verdict.BAD and splits(mask, chain.suspects()):
            since = place + 1
    mixes = [verdict for mask, verdict in ledger.log[since:] if splits(mask, group)]
    if mixes.count(Verdict.UNRESOLVED) < len(mixes):
        return len(ledger.log) - start >= _PATIENCE
    tried = len(ledger.log) - max(start, since)
    return tried > depth(group.bit_count()) and len(mixes) >= ledger.refusals_by_chance(group)


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
