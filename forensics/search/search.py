"""The search as a session uses it: ask for probes, tell their verdicts, in any order, several at once.

It is a deterministic function of the verdicts told: a search made again and told the same goes on where it stood.
"""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING, Literal

from trtforensics.search.budget import Budget
from trtforensics.search.chain import NotMonotoneError
from trtforensics.search.exact import ExactFinder
from trtforensics.search.ledger import Ledger, Wish, bits, mask_of
from trtforensics.search.minimal import Found, minimal_set
from trtforensics.search.model import Ask, Item, Outlook, Result, Status, Verdict
from trtforensics.search.space import Space

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trtforensics.search.ledger import Steps, Wishes


class Search:
    """The smallest sets of items that are bad together, with a certificate.

    ``find`` stops at one set or goes on until the rest is good. ``max_builds`` is how many builds may be asked for.
    """

    def __init__(
        self,
        items: Sequence[Item],
        *,
        find: Literal["first", "all"] = "all",
        confidence: float | None = None,
        edges: Collection[tuple[int, int]] = (),
        max_builds: int | None = None,
    ) -> None:
        self._find = find
        self._confidence = confidence
        self._max_builds = max_builds
        self._space = Space(items, edges)
        self._ledger = Ledger()
        self._asked: dict[tuple[int, int, int], Ask] = {}
        self._open: set[tuple[int, int, int]] = set()
        self._sets: list[Found] = []
        self._budget = Budget(len(items))
        self._finder = ExactFinder(self._ledger, self._space, self._budget)
        self._end: tuple[Status, str] | None = None
        self._steps = self._run()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        self._advance(1)
        return not self._open and (self._end is not None or self._spent)

    @property
    def _spent(self) -> bool:
        return self._max_builds is not None and self._ledger.builds >= self._max_builds

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
        asks: list[Ask] = []
        for wish in self._advance(room):
            key = (wish.mask, wish.build, wish.check)
            if len(asks) < room and key not in self._asked and not self._spent:
                asks.append(wish.ask())
                self._asked[key] = asks[-1]
                self._open.add(key)
                self._ledger.pending.add(wish.mask)
                self._ledger.builds += 1
        return tuple(asks)

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Say what a probe showed."""
        mask = mask_of(ask.active)
        self._open.discard((mask, ask.build, ask.check))
        self._ledger.pending.discard(mask)
        self._ledger.record(mask, verdict)

    def _advance(self, room: int) -> Wishes:
        self._ledger.room = room
        if self._end is None:
            try:
                return next(self._steps)
            except StopIteration as stop:
                self._end = stop.value
        return ()

    def _run(self) -> Steps[tuple[Status, str]]:
        ledger, everything = self._ledger, self._space.all
        bad_end = Wish(everything, "everything from bad")
        cuts = self._finder.first_cuts(ledger.room - 2)
        if (yield from ledger.verdict(0, "everything from good", bad_end, *cuts)) is not Verdict.GOOD:
            return Status.NOT_REPRODUCED, "the good side is not good"
        if (yield from ledger.verdict(everything, bad_end.purpose)) is not Verdict.BAD:
            return Status.NOT_REPRODUCED, "the bad side is not bad"
        rest = everything
        while True:
            try:
                found = yield from minimal_set(self._finder, self._space, rest)
            except NotMonotoneError:
                return Status.INCONCLUSIVE, "the outcomes are not monotone"
            self._sets.append(found)
            self._budget.sets += 1
            self._budget.members += found.members.bit_count()
            rest &= ~(found.members | found.doubt)
            verdict = yield from self._finder.settle(rest, "everything but the culprits")
            if verdict is Verdict.GOOD and not any(found.doubt for found in self._sets):
                return Status.CERTIFIED, ""
            if verdict is not Verdict.BAD or self._find == "first":
                return Status.NAMED, "the rest was not seen to be good"

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        suspects = 0 if self._end else self._finder.suspects
        expected, worst = self._finder.left
        return Outlook(
            0.0 if self._end else expected + 2,
            0 if self._end else worst + 2,
            frozenset(bits(suspects)),
            tuple(frozenset(bits(found.members)) for found in self._sets if not found.doubt),
            tuple(frozenset(bits(atom)) for atom in self._space.atoms),
        )

    def result(self) -> Result:
        """Return the answer so far."""
        status, why = self._end or (Status.INCONCLUSIVE, "the search has not ended")
        sets = tuple(frozenset(bits(found.members)) for found in self._sets if not found.doubt)
        doubt = 0
        for found in self._sets:
            doubt |= found.doubt
        proof = [found.members for found in self._sets] + [0, self._space.all]
        return Result(
            status,
            why,
            sets,
            frozenset(bits(doubt)),
            1.0,
            ceil(log2(max(1, len(self._space.atoms)))),
            tuple(ask for (mask, _, _), ask in self._asked.items() if mask in proof),
        )
