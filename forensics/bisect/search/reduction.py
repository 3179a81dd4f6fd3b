"""Delta debugging (ddmin): reduces a bad subset to a minimal one, without assumptions on outcomes.

Outcomes need not be monotone, and mixes may be refused: an unresolved subset counts as not bad.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search.basis.finder import Finder
    from trtforensics.bisect.search.basis.ledger import Steps

PURPOSE = "reduce what is left"
_HALVES = 2


def reduced(finder: Finder, base: int, atoms: Sequence[int], patience: int | None = None) -> Steps[list[int]]:
    """Reduce atoms that are bad on top of ``base`` until leaving out any one of them is no longer seen to be bad.

    With ``patience`` it also ends after so many builds in a row that were not bad. After Zeller and Hildebrandt,
    Simplifying and Isolating Failure-Inducing Input, 2002.
    """
    left = list(atoms)
    shares = _HALVES
    tried = 0
    while len(left) > 1 and (patience is None or tried < patience):
        subsets = _subsets(left, shares)
        smaller = yield from _first_bad(finder, base, subsets)
        tried += len(subsets)
        if smaller is not None:
            is_chunk = subsets.index(smaller) < shares
            left, shares = smaller, _HALVES if is_chunk else max(shares - 1, _HALVES)
            tried = 0
        elif shares == len(left):
            break
        else:
            shares = min(2 * shares, len(left))
    return left


def _subsets(atoms: list[int], shares: int) -> list[list[int]]:
    """Return equal chunks, then what each of them leaves; of two chunks, each is what the other leaves."""
    bounds = [len(atoms) * share // shares for share in range(shares + 1)]
    chunks = [atoms[start:stop] for start, stop in pairwise(bounds)]
    rests = [atoms[:start] + atoms[stop:] for start, stop in pairwise(bounds)]
    return chunks if shares == _HALVES else chunks + rests


def _first_bad(finder: Finder, base: int, subsets: list[list[int]]) -> Steps[list[int] | None]:
    for subset in subsets:
        if (yield from finder.settle(base | sum(subset), Verdict.GOOD, PURPOSE)) is Verdict.BAD:
            return subset
    return None
