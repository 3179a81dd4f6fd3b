"""What a certificate claims beyond its sets: that each member is needed, and that a second look shows the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.ledger import bits, each
from trtforensics.bisect.search.basis.model import BUT_ONE, Verdict

if TYPE_CHECKING:
    from trtforensics.bisect.search.basis.finder import Finder
    from trtforensics.bisect.search.basis.ledger import Ledger, Steps

_AGAIN = "does it come again"


def neighbours(members: int) -> list[int]:
    """Return a set without each of its items in turn."""
    return [members & ~(1 << item) for item in bits(members)]


def leave_one_out(finder: Finder, members: int) -> Steps[dict[int, Verdict]]:
    """Build a set without each of its items in turn, where that was not seen; return the verdicts."""
    masks = neighbours(members)
    verdicts = yield from each([finder.settle(mask, Verdict.GOOD, BUT_ONE, again=(Verdict.GOOD,)) for mask in masks])
    return dict(zip(masks, verdicts, strict=True))


def contradiction_stands(finder: Finder, ledger: Ledger) -> Steps[None]:
    """Build the two subsets of the first contradiction anew: if both verdicts come again, outcomes are not monotone.

    Raises:
        FlakyError: one of them had another verdict.
    """
    if ledger.contradiction is not None:
        yield from finder.confirm(ledger.contradiction, _AGAIN, anew=True)
