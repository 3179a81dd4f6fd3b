"""What finding a set asks for: the verdict of one subset, and the next member of a set; exact or noisy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search.ledger import Steps, Wish
    from trtforensics.bisect.search.model import Verdict
    from trtforensics.bisect.search.space import Atom


@dataclass(frozen=True, slots=True)
class SetMember:
    """The next member of a set: the items of an atom; ``before`` are the atoms among which any further ones are.

    ``complete`` says that the members so far were seen to be bad alone. ``doubt`` holds items of which at least one is
    the member, but which could not be told apart; ``items`` is 0 then.
    """

    items: int
    before: Sequence[Atom] = ()
    complete: bool = False
    doubt: int = 0


class Finder(Protocol):
    """How verdicts become members: taken as they are, or weighed against noise."""

    confidence: float
    """How sure everything found so far is."""

    @property
    def suspects(self) -> int:
        """The items that the member being sought hides among."""

    @property
    def unsettled(self) -> int:
        """The members known of the set being searched, and all items that further ones may hide among."""

    @property
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known."""

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Take in what a probe showed."""

    def settle(self, mask: int, expected: Verdict, purpose: str) -> Steps[Verdict]:
        """Find out whether a subset is good or bad; ``expected`` is the likelier outcome."""

    def endpoints(self) -> Steps[tuple[Verdict, Verdict]]:
        """Find out what everything from good and everything from bad show."""

    def member(self, kept: int, pool: Sequence[Atom]) -> Steps[SetMember]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together."""
