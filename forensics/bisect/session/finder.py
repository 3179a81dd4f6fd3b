"""What a bisection needs of a search."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.bisect.search import Ask, Outlook, Result, Verdict


class Finder(Protocol):
    """Finds sets by asking; :class:`trtforensics.bisect.search.Search`, or what asks for probes in a way of its own."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        ...

    def asks(self, room: int = 1) -> Sequence[Ask]:
        """Return the next probes, at most ``room`` besides those under way."""
        ...

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Say what a probe showed."""
        ...

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        ...

    def result(self) -> Result:
        """Return the answer so far."""
        ...
