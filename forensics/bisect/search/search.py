"""The search as a session uses it: it asks for probes and takes their verdicts, in any order, several at once.

It is a deterministic function of the verdicts: a new search that gets the same verdicts goes on where the old one was.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, comb, log2
from typing import TYPE_CHECKING, Literal

from trtforensics.bisect.search.basis.budget import Budget
from trtforensics.bisect.search.basis.chain import depth
from trtforensics.bisect.search.basis.ledger import Ledger, Wish, items_of, mask_of_items
from trtforensics.bisect.search.basis.model import (
    ALONE,
    BAD_END,
    BUT_ONE,
    GOOD_END,
    REST,
    TOGETHER,
    Ask,
    Item,
    Outlook,
    Result,
    Status,
    Verdict,
)
from trtforensics.bisect.search.basis.space import Space
from trtforensics.bisect.search.campaign import Campaign
from trtforensics.bisect.search.exact import ExactFinder
from trtforensics.bisect.search.proof import neighbours

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trtforensics.bisect.search.basis.finder import Finder
    from trtforensics.bisect.search.basis.ledger import Wishes

_CERTIFICATE = 2
"""Builds that prove one culprit: it alone, and the rest. Each is checked twice."""


class Search:
    """The smallest sets of items that are bad together, with a certificate.

    ``find`` stops at one set or goes on until the rest is good. With ``confidence`` (above 0, below 1) outcomes may be
    wrong now and then, and probes are repeated until the answer is that sure; without it every outcome counts, and
    those that decide are looked at twice: by checking the build again or, unless ``recheck``, by another build.
    ``edges`` are pairs of items, by index, that depend on each other. ``max_builds`` limits the builds asked for.
    """

    def __init__(  # noqa: PLR0913 - each is an option of its own
        self,
        items: Sequence[Item],
        *,
        find: Literal["first", "all"] = "all",
        confidence: float | None = None,
        edges: Collection[tuple[int, int]] = (),
        max_builds: int | None = None,
        recheck: bool = True,
    ) -> None:
        self._max_builds = max_builds
        self._recheck = recheck
        self._exact = confidence is None
        self._space = Space(items, edges)
        self._ledger = Ledger()
        budget = Budget(depth(len(items)) + self._space.slack, self._space.slack)
        self._finder = self._new_finder(confidence, budget)
        self._campaign = Campaign(self._ledger, self._space, budget, self._finder, find)
        self._steps = self._campaign.steps()

    def _new_finder(self, confidence: float | None, budget: Budget) -> Finder:
        if confidence is None:
            return ExactFinder(self._ledger, self._space, budget, recheck=self._recheck)
        from trtforensics.bisect.search.noisy.finder import NoisyFinder  # noqa: PLC0415 - numpy is for noisy searches only

        return NoisyFinder(self._ledger, self._space, confidence)

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        wishes = self._advance()
        return not self._ledger.pending and (self._campaign.status is not None or self._halted(wishes))

    @property
    def _spent(self) -> bool:
        return self._max_builds is not None and self._ledger.builds + self._ledger.rebuilds >= self._max_builds

    def _halted(self, wishes: Wishes) -> bool:
        """Whether the builds allowed are used up, and no second check is wanted that takes none."""
        return self._spent and not (self._exact and any(not self._ledger.takes_build(wish) for wish in wishes))

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
        asks: list[Ask] = []
        self._ledger.room = room
        self._ledger.most_room = max(self._ledger.most_room, room)
        for wish in self._advance():
            fresh = wish.key not in self._ledger.asked
            if len(asks) < room and fresh and not (self._spent and self._ledger.takes_build(wish)):
                self._ledger.start(wish)
                asks.append(wish.ask())
        return tuple(asks)

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        wish = Wish(mask_of_items(ask.active), ask.purpose, ask.build, ask.check)
        self._ledger.pending.discard(wish.key)
        self._finder.tell(wish, verdict)

    def _advance(self) -> Wishes:
        if self._campaign.status is None:
            return next(self._steps, ())
        return ()

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        self._advance()
        expected, worst = self._finder.left
        ended = self._campaign.status is not None
        ends = (self._ledger.seen(0) is None) + (self._ledger.seen(self._space.all) is None)
        second = _CERTIFICATE if self._exact else 0
        fixed = ends + _CERTIFICATE + (0 if self._recheck else second)
        return Outlook(
            0.0 if ended else expected + fixed,
            0 if ended else worst + fixed,
            frozenset() if ended else items_of(self._finder.suspects),
            self._culprits(),
            tuple(atom.items for atom in self._space.atoms),
            second if self._recheck and not ended else 0,
        )

    def result(self) -> Result:
        """Return the answer, or as much of it as there is."""
        self._advance()
        campaign = self._campaign
        sets = campaign.sets
        members = sum(bad_set.members.bit_count() for bad_set in sets)
        reasons = campaign.reasons
        if campaign.status is None:
            reasons = [*reasons, "the builds allowed are used up" if self._spent else "the search has not ended"]
        return Result(
            campaign.status or Status.INCONCLUSIVE,
            "; ".join(reasons),
            self._culprits(),
            items_of(campaign.suspects),
            self._finder.confidence,
            ceil(log2(comb(self._space.all.bit_count(), max(members, 1)))) if self._space.all else 0,
            self._evidence(),
            tuple(bad_set.minimal for bad_set in sets if not bad_set.doubt),
            items_of(campaign.unsearched),
        )

    def _culprits(self) -> tuple[frozenset[int], ...]:
        return tuple(items_of(bad_set.members) for bad_set in self._campaign.sets if not bad_set.doubt)

    def _evidence(self) -> tuple[Ask, ...]:
        campaign = self._campaign
        roles = {campaign.doubted: "judged both ways"} if campaign.doubted is not None else {}
        for bad_set in campaign.sets:
            roles |= dict.fromkeys(neighbours(bad_set.members), BUT_ONE)
            roles |= {bad_set.inside: TOGETHER, bad_set.items: TOGETHER, bad_set.members: ALONE}
        roles |= {campaign.rest: REST, 0: GOOD_END, self._space.all: BAD_END}
        asked = self._ledger.asked.values()
        return tuple(replace(wish.ask(), purpose=roles[wish.mask]) for wish in asked if wish.mask in roles)
