"""The search as a session uses it: it asks for probes and takes their verdicts, in any order, several at once.

It is a deterministic function of the verdicts: a new search that gets the same verdicts goes on where the old one was.
"""

from __future__ import annotations

from math import ceil, comb, log2
from typing import TYPE_CHECKING, Literal

from trtforensics.bisect.search.budget import Budget
from trtforensics.bisect.search.campaign import Campaign
from trtforensics.bisect.search.exact import ExactFinder
from trtforensics.bisect.search.ledger import Ledger, Wish, items_of, mask_of_items
from trtforensics.bisect.search.model import Ask, Item, Outlook, Result, Status, Verdict
from trtforensics.bisect.search.space import Space

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trtforensics.bisect.search.finder import Finder
    from trtforensics.bisect.search.ledger import Wishes

_CERTIFICATE = 2


class Search:
    """The smallest sets of items that are bad together, with a certificate.

    ``find`` stops at one set or goes on until the rest is good. With ``confidence`` (above 0, below 1) outcomes may be
    wrong now and then, and probes are repeated until the answer is that sure; without it every outcome counts.
    ``edges`` are pairs of items, by index, that depend on each other. ``max_builds`` limits the builds asked for.
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
        self._max_builds = max_builds
        self._space = Space(items, edges)
        self._ledger = Ledger()
        budget = Budget(len(items))
        self._finder = self._new_finder(confidence, budget)
        self._campaign = Campaign(self._ledger, self._space, budget, self._finder, find)
        self._steps = self._campaign.steps()

    def _new_finder(self, confidence: float | None, budget: Budget) -> Finder:
        if confidence is None:
            return ExactFinder(self._ledger, self._space, budget)
        from trtforensics.bisect.search.noisy import NoisyFinder  # noqa: PLC0415 - numpy is for noisy searches only

        return NoisyFinder(self._ledger, self._space, confidence)

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        self._advance(1)
        return not self._ledger.pending and (self._campaign.status is not None or self._spent)

    @property
    def _spent(self) -> bool:
        return self._max_builds is not None and self._ledger.builds >= self._max_builds

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
        asks: list[Ask] = []
        for wish in self._advance(room):
            if len(asks) < room and wish.key not in self._ledger.asked and not (self._spent and wish.check == 0):
                self._ledger.start(wish)
                asks.append(wish.ask())
        return tuple(asks)

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        wish = Wish(mask_of_items(ask.active), ask.purpose, ask.build, ask.check)
        self._ledger.pending.discard(wish.key)
        self._finder.tell(wish, verdict)

    def _advance(self, room: int) -> Wishes:
        self._ledger.room = room
        if self._campaign.status is None:
            return next(self._steps, ())
        return ()

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        self._advance(1)
        expected, worst = self._finder.left
        ended = self._campaign.status is not None
        fixed = _CERTIFICATE + (self._ledger.seen(0) is None) + (self._ledger.seen(self._space.all) is None)
        return Outlook(
            0.0 if ended else expected + fixed,
            0 if ended else worst + fixed,
            frozenset() if ended else items_of(self._finder.suspects),
            self._culprits(),
            tuple(atom.items for atom in self._space.atoms),
        )

    def result(self) -> Result:
        """Return the answer, or as much of it as there is."""
        self._advance(1)
        campaign = self._campaign
        sets = campaign.sets
        suspects = sum(bad_set.doubt for bad_set in sets)
        members = sum(bad_set.members.bit_count() for bad_set in sets)
        reasons = campaign.reasons
        if campaign.status is None:
            reasons = [*reasons, "the builds allowed are used up" if self._spent else "the search has not ended"]
            suspects |= campaign.unsettled
        return Result(
            campaign.status or Status.INCONCLUSIVE,
            "; ".join(reasons),
            self._culprits(),
            items_of(suspects),
            self._finder.confidence,
            ceil(log2(comb(self._space.all.bit_count(), max(members, 1)))) if self._space.all else 0,
            self._evidence(),
        )

    def _culprits(self) -> tuple[frozenset[int], ...]:
        return tuple(items_of(bad_set.members) for bad_set in self._campaign.sets if not bad_set.doubt)

    def _evidence(self) -> tuple[Ask, ...]:
        sets = self._campaign.sets
        rest = self._space.all & ~sum(bad_set.items for bad_set in sets)
        proof = {0, self._space.all, rest, *(bad_set.members for bad_set in sets), *(bad_set.items for bad_set in sets)}
        return tuple(wish.ask() for wish in self._ledger.asked.values() if wish.mask in proof)
