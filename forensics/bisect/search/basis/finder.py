"""The interface of a finder, exact or noisy: the verdict of a subset, and the next member of a set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search.basis.ledger import Steps, Wish
    from trtforensics.bisect.search.basis.model import Verdict
    from trtforensics.bisect.search.basis.space import Atom


@dataclass(frozen=True, slots=True)
class SetMember:
    """The next member of a set: the items of an atom; ``before`` are the atoms that may hold further members.

    ``complete`` says that the members so far were seen to be bad alone. ``doubt`` holds items of which at least one is
    the member, but which could not be told apart; ``items`` is 0 then.
    """

    items: int
    before: Sequence[Atom] = ()
    complete: bool = False
    doubt: int = 0


class FlakyError(Exception):
    """One subset had two verdicts, although outcomes are taken as exact."""

    def __init__(self, mask: int, first: Verdict, second: Verdict) -> None:
        super().__init__(mask, first, second)
        self.mask = mask
        self.first = first
        self.second = second


class MisfitError(Exception):
    """Builds disagree more than any single rate of noise explains."""


class Finder(Protocol):
    """Turns verdicts into members: taken as exact, or weighed against noise.

    What yields probes raises FlakyError or MisfitError where verdicts cannot be what they are taken for.
    """

    confidence: float
    """The probability that all conclusions so far are right."""

    @property
    def suspects(self) -> int:
        """The items that the member being sought hides among."""

    def unsettled(self, within: int) -> int:
        """Return the items of a bad subset that a whole set of it hides among."""

    @property
    def left(self) -> tuple[float, int]:
        """Builds expected, and at worst, until that member is known."""

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Record the verdict of a probe."""

    def settle(self, mask: int, expected: Verdict, purpose: str, *, again: tuple[Verdict, ...] = ()) -> Steps[Verdict]:
        """Find out whether a subset is good or bad; ``expected`` is the likelier outcome.

        ``again``: the outcomes that may be confirmed later.
        """

    def confirm(self, masks: Sequence[int], purpose: str, *, anew: bool = False) -> Steps[bool]:
        """Look at settled subsets a second time: check them again, or build them ``anew``.

        Return whether each verdict came again; False: a second look was unresolved.

        Raises:
            FlakyError: a verdict was another one.
        """

    def endpoints(self) -> Steps[tuple[Verdict, Verdict]]:
        """Build everything from good and everything from bad; return the two verdicts."""

    def member(self, kept: int, pool: Sequence[Atom]) -> Steps[SetMember]:
        """Find one member of a minimal bad set inside ``kept`` and ``pool``, which are bad together."""
