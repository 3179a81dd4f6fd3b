"""What all searches have in common: their steps say which probes they could use, and these are asked for.

A search is a deterministic function of the verdicts: a new one that gets the same verdicts goes on where the old one
was. Its steps are a generator that is resumed at any time; it looks at the ledger and yields the probes that it wants.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from math import ceil, log2

from trtforensics.bisection.search.ledger import Ledger, Steps, Wish, Wishes, bits, items_of, mask_of_items
from trtforensics.bisection.search.model import Ask, Outlook, Result, Status, Verdict

IDLE = "no further probe tells more"
"""Why a search ends whose steps want no probe that is new, and wait for none."""


class ProbeSearch(ABC):
    """Asks for probes and takes their verdicts, in any order, several at once.

    ``answer`` is what the steps came to; None while they go on. ``limit`` is how many builds may be asked for.
    """

    def __init__(self, limit: int | None) -> None:
        self.answer: Result | None = None
        self._limit = limit
        self._ledger = Ledger()
        self._steps = self._run()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        self._advance()
        return self.answer is not None

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
        asks: list[Ask] = []
        self._ledger.room = room
        self._ledger.most_room = max(self._ledger.most_room, room)
        for wish in self._advance():
            if len(asks) == room:
                break
            if wish.key not in self._ledger.asked and not (self._spent and not wish.check):
                self._ledger.start(wish)
                asks.append(wish.ask())
        return tuple(asks)

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        wish = Wish(mask_of_items(ask.active), ask.purpose, ask.build, ask.check)
        self._ledger.pending.discard(wish.key)
        self._record(wish, verdict)

    def stop(self) -> None:
        """Resume the steps never again: the answer stays what it is."""
        self._steps.close()

    @abstractmethod
    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""

    def result(self) -> Result:
        """Return the answer so far."""
        return self.answer or self._unfinished("the search has not ended")

    @abstractmethod
    def _run(self) -> Steps[Result]:
        """Search to the end; return the answer."""

    @abstractmethod
    def _ended(self, status: Status, why: str) -> Result:
        """Return the result of a search that ends so."""

    def _unfinished(self, why: str) -> Result:
        return self._ended(Status.INCONCLUSIVE, why)

    def _record(self, wish: Wish, verdict: Verdict) -> None:
        self._ledger.tell(wish, verdict)

    def _advance(self) -> Wishes:
        """Resume the steps; return the probes that they want."""
        if self.answer is not None:
            return ()
        try:
            wishes = next(self._steps)
        except StopIteration as stop:
            self.answer = stop.value
            return ()
        if self._halted(wishes):
            self.answer = self._unfinished(f"{self._limit} probes were not enough")
            return ()
        if not self._ledger.pending and all(wish.key in self._ledger.asked for wish in wishes):
            self.answer = self._unfinished(IDLE)
            return ()
        return wishes

    @property
    def _spent(self) -> bool:
        return self._limit is not None and self._ledger.builds + self._ledger.rebuilds >= self._limit

    def _halted(self, wishes: Wishes) -> bool:
        """Whether the builds allowed are used up, and no further check of one is wanted."""
        return self._spent and not self._ledger.pending and not any(wish.check for wish in wishes)


class SubsetSearch(ProbeSearch):
    """A search whose answer is one subset of ``count`` items."""

    def __init__(self, count: int, limit: int | None) -> None:
        super().__init__(limit)
        self._all = (1 << count) - 1

    def outlook(self) -> Outlook:
        """Return what is known; the builds left are those it takes if few items are enough."""
        done, suspects = self.done, self._suspected()
        left = 0 if done else 2 * ceil(log2(max(2, suspects.bit_count())))
        culprits = self.answer.culprits if self.answer else ()
        atoms = tuple(frozenset({index}) for index in bits(self._all))
        return Outlook(left * 3 / 4, left, items_of(suspects), culprits, atoms)

    @abstractmethod
    def _suspected(self) -> int:
        """Return the items that may still be left out."""
