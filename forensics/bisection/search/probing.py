"""What all searches have in common: their steps say which probes they could use, and these are asked for.

A search is a deterministic function of the verdicts: a new one that gets the same verdicts goes on where the old one
was. Its steps are a generator that is resumed at any time; it looks at the ledger and yields the probes that it wants.
"""

from abc import ABC, abstractmethod
from dataclasses import replace
from math import ceil, log2

from trtforensics.bisection.search import ledger
from trtforensics.bisection.search.minimising import Proposals, delta_debugging, minimised
from trtforensics.bisection.search.model import AGAIN, Ask, Outlook, Purpose, Result, Status, Verdict


class ProbeSearch(ABC):
    """Asks for probes, of ``limit`` builds, and takes verdicts in any order; ``answer`` is what its steps came to."""

    def __init__(self, limit: int | None) -> None:
        self.answer: Result | None = None
        self._limit = limit
        self._ledger = ledger.Ledger()
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
        wish = ledger.Wish(ledger.mask_of_items(ask.active), ask.purpose, ask.build, ask.check)
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
    def _run(self) -> ledger.Steps[Result]:
        """Search to the end; return the answer."""

    @abstractmethod
    def _ended(self, status: Status, why: str) -> Result:
        """Return the result of a search that ends so."""

    def _unfinished(self, why: str) -> Result:
        return self._ended(Status.INCONCLUSIVE, why)

    def _record(self, wish: ledger.Wish, verdict: Verdict) -> None:
        self._ledger.tell(wish, verdict)

    def _advance(self) -> ledger.Wishes:
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
            self.answer = self._unfinished("no further probe tells more")
            return ()
        return wishes

    @property
    def _spent(self) -> bool:
        return self._limit is not None and self._ledger.builds + self._ledger.rebuilds >= self._limit

    def _halted(self, wishes: ledger.Wishes) -> bool:
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
        atoms = tuple(frozenset({index}) for index in ledger.bits(self._all))
        return Outlook(left * 3 / 4, left, ledger.items_of(suspects), culprits, atoms)

    @abstractmethod
    def _suspected(self) -> int:
        """Return the items that may still be left out."""


class FewestSearch(SubsetSearch):
    """The search for the fewest items; its result's one set is what to switch to good.

    Of the ``count`` items, neighbours belong together. Where there is room for several probes at once, parts of one
    size are tried together: the answer is the same, and some may be needless.
    """

    def __init__(self, count: int, *, limit: int | None = None) -> None:
        super().__init__(count, limit)
        self._suspects = self._all

    def _suspected(self) -> int:
        return self._suspects

    def _ended(self, status: Status, why: str, remedy: int = 0) -> Result:
        sets = (ledger.items_of(remedy),) if remedy else ()
        suspects = frozenset[int]() if remedy else ledger.items_of(self._suspects)
        proof = [0, *((remedy, *ledger.neighbours(remedy)) if remedy else ())]
        wishes = [replace(self._switching(mask, ""), build=build) for mask in proof for build in (0, 1)]
        evidence = tuple(wish.ask() for wish in wishes if self._ledger.told(wish) is not None)
        minimal = (status is Status.CERTIFIED,) if sets else ()
        bound = ceil(log2(max(1, self._all.bit_count())))
        return Result(status, why, sets, suspects, 1.0, bound, evidence, minimal)

    def _switching(self, remedy: int, purpose: str) -> ledger.Wish:
        return ledger.Wish(self._all & ~remedy, purpose)

    def _run(self) -> ledger.Steps[Result]:
        (verdict,) = yield from self._ledger.whole((self._switching(0, "nothing changed"),))
        if verdict is Verdict.GOOD:
            return self._ended(Status.NOT_REPRODUCED, "the build is good as it is")
        if verdict is Verdict.UNRESOLVED:
            return self._ended(Status.INCONCLUSIVE, f"the build cannot be judged as it is; {AGAIN}")
        yield from minimised(delta_debugging([1 << index for index in ledger.bits(self._all)]), self._first_good)
        return (yield from self._proven(self._suspects))

    def _first_good(self, proposals: Proposals) -> ledger.Steps[int | None]:
        count = self._all.bit_count()
        wishes = tuple(self._switching(mask, f"{mask.bit_count()} of {count} changed") for mask in proposals.subsets)
        enough = yield from self._ledger.first(wishes, Verdict.GOOD)
        if enough is None:
            return None
        self._suspects = self._all & ~enough.mask
        return self._suspects

    def _proven(self, remedy: int) -> ledger.Steps[Result]:
        if remedy == self._all and remedy.bit_count() > 1:
            return self._ended(Status.INCONCLUSIVE, "no part of the items is enough, and all are never taken")
        smaller = [self._switching(mask, "the answer without one of its items") for mask in ledger.neighbours(remedy)]
        verdict, *others = yield from self._ledger.whole((self._switching(remedy, "the answer alone"), *smaller))
        if verdict is not Verdict.GOOD:
            return self._ended(Status.INCONCLUSIVE, "no item alone makes the build good")
        if any(other is not Verdict.BAD for other in others):
            return self._ended(Status.NAMED, "a smaller set was not resolved", remedy)
        masks = [self._switching(mask, "").mask for mask in (remedy, *ledger.neighbours(remedy))]
        try:
            again = yield from self._ledger.confirm(masks, Purpose.BUILT_AGAIN)
        except ledger.FlakyError as error:
            return self._ended(Status.INCONCLUSIVE, f"{error}: use --repeat")
        if not again:
            return self._ended(Status.NAMED, "a second build of the answer could not be judged", remedy)
        return self._ended(Status.CERTIFIED, "", remedy)
