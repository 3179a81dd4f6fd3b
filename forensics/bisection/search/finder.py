"""The interface of a finder, exact or noisy: the verdict of a subset, and the next member of a set."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.bisection.search.chain import Chain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisection.search.chain import Atom, Space
    from trtforensics.bisection.search.ledger import Ledger, Steps, Wish
    from trtforensics.bisection.search.model import Verdict


@dataclass(frozen=True, slots=True)
class SetMember:
    """The next member of a set: the items of an atom; ``before`` are the atoms that may hold further members.

    ``complete`` says that the members so far were seen to be bad alone. ``doubt`` holds items that look alike: at
    least one of them is the member, and ``items`` is 0.
    """

    items: int
    before: Sequence[Atom] = ()
    complete: bool = False
    doubt: int = 0


class MisfitError(Exception):
    """Builds disagree more than any single rate of noise explains."""


class TooNoisyError(Exception):
    """So many builds have decided so little that the noise is beyond what this confidence can be had at."""

    def __init__(self, builds: int) -> None:
        super().__init__(
            f"{builds:,} builds decided too little: the failure shows too seldom, or too often without its cause; have "
            "it show more often (a check of more samples, a tighter tolerance), or ask for less `--confidence`"
        )


class Finder(ABC):
    """Turns verdicts into members: taken as exact, or weighed against noise.

    What yields probes raises FlakyError or MisfitError where verdicts cannot be what they are taken for, and
    TooNoisyError where they tell too little. ``confidence`` is the probability that all conclusions so far are right.
    """

    def __init__(self, ledger: Ledger, space: Space, slack: int = 0) -> None:
        self.confidence = 1.0
        self._ledger = ledger
        self._space = space
        self._chain = Chain(ledger, 0, space.atoms, slack)

    @property
    @abstractmethod
    def suspects(self) -> int:
        """The items that the member being sought hides among."""

    @abstractmethod
    def unsettled(self, within: int) -> int:
        """Return the items of a bad subset that a whole set of it hides among."""

    @property
    @abstractmethod
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known."""

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Record the verdict of a probe."""
        self._ledger.tell(wish, verdict)

    @abstractmethod
    def settle(self, mask: int, expected: Verdict, purpose: str, ahead: int = 0) -> Steps[Verdict]:
        """Find out whether a subset is good or bad; ``expected`` is the likelier outcome.

        ``ahead`` is the subset that is wanted next where that comes, 0: none.
        """

    def confirm(self, masks: Sequence[int], purpose: str) -> Steps[bool]:
        """Build settled subsets once more: see :meth:`Ledger.confirm`."""
        return self._ledger.confirm(masks, purpose)

    @abstractmethod
    def endpoints(self) -> Steps[tuple[Verdict, Verdict]]:
        """Build everything from good and everything from bad; return the two verdicts."""

    @abstractmethod
    def member(self, kept: int, pool: Sequence[Atom]) -> Steps[SetMember]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together."""
