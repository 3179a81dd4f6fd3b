"""What finding a set asks for: the verdict of one subset, and the next member of a set; exact or noisy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.search.ledger import Steps
    from trtforensics.search.model import Verdict


@dataclass(frozen=True, slots=True)
class Member:
    """The next member of a set, an atom; ``before`` are the atoms among which any further ones are.

    ``complete`` says that the members so far were seen to be bad alone. With ``doubt``, the atoms of which at least one
    is the member could not be told apart, and ``atom`` is 0.
    """

    atom: int
    before: Sequence[int] = ()
    complete: bool = False
    doubt: Sequence[int] = ()


class Finder(Protocol):
    """How verdicts become members: taken as they are, or weighed against noise."""

    @property
    def suspects(self) -> int:
        """The items that the member being sought hides among."""

    @property
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known."""

    def settle(self, mask: int, purpose: str) -> Steps[Verdict]:
        """Find out whether a subset is good or bad."""

    def member(self, kept: int, pool: Sequence[int]) -> Steps[Member]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together."""
