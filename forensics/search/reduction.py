"""Delta debugging (ddmin): a minimal bad subset where nothing is known but what was seen.

It asks for neither monotone outcomes nor for every mix to be buildable: an unresolved subset is simply not bad.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.search.model import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.search.ledger import Ledger, Steps

PURPOSE = "reduce what is left"


def reduced(ledger: Ledger, base: int, atoms: Sequence[int]) -> Steps[list[int]]:
    """Reduce atoms that are bad on top of ``base`` until leaving out any one of them is no longer seen to be bad.

    After Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002.
    """
    left = list(atoms)
    shares = 2
    while len(left) > 1:
        chunks = _chunks(left, shares)
        smaller = yield from _first_bad(ledger, base, chunks)
        if smaller is not None:
            left, shares = smaller, 2
            continue
        complements = [[atom for atom in left if atom not in chunk] for chunk in chunks] if shares > 2 else []  # noqa: PLR2004 - of two chunks, each is the other's complement
        smaller = yield from _first_bad(ledger, base, complements)
        if smaller is not None:
            left, shares = smaller, max(shares - 1, 2)
        elif shares == len(left):
            break
        else:
            shares = min(2 * shares, len(left))
    return left


def _chunks(atoms: list[int], shares: int) -> list[list[int]]:
    bounds = [len(atoms) * share // shares for share in range(shares + 1)]
    return [atoms[start:stop] for start, stop in zip(bounds, bounds[1:], strict=False)]


def _first_bad(ledger: Ledger, base: int, subsets: list[list[int]]) -> Steps[list[int] | None]:
    for subset in subsets:
        if (yield from ledger.verdict(base | sum(subset), PURPOSE)) is Verdict.BAD:
            return subset
    return None
