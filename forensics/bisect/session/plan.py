"""The interfaces of the plans and searches that decide which probes a session runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trtforensics.bisect.search import Ask, Outlook, Result, Verdict


class Plan(Protocol):
    """Asks a session for probes and takes their verdicts."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        ...

    def suspects(self) -> Collection[int]:
        """Return the items that may still belong to a culprit set."""
        ...

    def asks(self, room: int = 1) -> Sequence[Ask]:
        """Return the next probes, at most ``room`` besides those under way."""
        ...

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        ...


class SetSearch(Protocol):
    """A search for sets of items, :class:`trtforensics.bisect.search.Search` for example."""

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        ...

    def asks(self, room: int = 1) -> Sequence[Ask]:
        """Return the next probes, at most ``room`` besides those under way."""
        ...

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        ...

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        ...

    def result(self) -> Result:
        """Return the answer so far."""
        ...
