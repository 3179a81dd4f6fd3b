"""The search as a session uses it: ask for probes, tell their verdicts, in any order, several at once.

It is a deterministic function of the verdicts told: a search made again and told the same goes on where it stood.
"""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING, Literal

from trtforensics.search.chain import NotMonotoneError
from trtforensics.search.ledger import Ledger, Wish, bits, mask_of
from trtforensics.search.minimal import Found, MinimalSet
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
        self._edges = edges
        self._max_builds = max_builds
        self._space = Space(items)
        self._ledger = Ledger()
        self._asked: dict[tuple[int, int, int], Ask] = {}
        self._open: set[tuple[int, int, int]] = set()
        self._sets: list[Found] = []
        self._current: MinimalSet | None = None
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
        if (yield from ledger.verdict(0, "everything from good", bad_end)) is not Verdict.GOOD:
            return Status.NOT_REPRODUCED, "the good side is not good"
        if (yield from ledger.verdict(everything, bad_end.purpose)) is not Verdict.BAD:
            return Status.NOT_REPRODUCED, "the bad side is not bad"
        rest = everything
        while True:
            self._current = MinimalSet(ledger, self._space, rest)
            try:
                found = yield from self._current.steps()
            except NotMonotoneError:
                return Status.INCONCLUSIVE, "the outcomes are not monotone"
            self._sets.append(found)
            rest &= ~(found.members | found.doubt)
            verdict = yield from ledger.verdict(rest, "everything but the culprits")
            if verdict is Verdict.GOOD and not any(found.doubt for found in self._sets):
                return Status.CERTIFIED, ""
            if verdict is not Verdict.BAD or self._find == "first":
                return Status.NAMED, "the rest was not seen to be good"

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        current = self._current.chain if self._current else None
        suspects = 0 if self._end else current.suspects() if current else self._space.all
        worst = ceil(log2(max(1, suspects.bit_count()))) + 2 + 2 * (not self._current)
        return Outlook(
            float(worst),
            0 if self._end else worst,
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
