"""The search behind bisection: minimal sets of items that are bad together, with a certificate."""

from __future__ import annotations

from math import ceil, comb, log2
from typing import TYPE_CHECKING, Literal

from trtforensics.bisection.search.campaign import Campaign
from trtforensics.bisection.search.chain import Space, depth
from trtforensics.bisection.search.exact import Budget, ExactFinder
from trtforensics.bisection.search.ledger import items_of, neighbours
from trtforensics.bisection.search.model import (
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
from trtforensics.bisection.search.probing import IDLE, ProbeSearch

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from trtforensics.bisection.search.finder import Finder
    from trtforensics.bisection.search.ledger import Steps, Wish, Wishes

_CERTIFICATE = 2
"""Builds that prove one culprit: it alone, and the rest. Each is built twice."""


class Search(ProbeSearch[Status]):
    """The smallest sets of items that are bad together, with a certificate.

    ``find`` stops at one set or goes on until the rest is good. With ``confidence`` (above 0, below 1) outcomes may be
    wrong now and then, and probes are repeated until the answer is that sure; without it every outcome counts, and
    what decides is built a second time, since builds may differ as checks may. ``edges`` are pairs of items, by index,
    that depend on each other. ``max_builds`` limits the builds asked for.
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
        super().__init__(max_builds)
        self._exact = confidence is None
        self._space = Space(items, edges)
        budget = Budget(depth(len(items)) + self._space.slack, self._space.slack)
        self._finder: Finder = ExactFinder(self._ledger, self._space, budget)
        if confidence is not None:
            from trtforensics.bisection.search.noisy import NoisyFinder  # noqa: PLC0415 - numpy is for these only

            self._finder = NoisyFinder(self._ledger, self._space, confidence)
        self._campaign = Campaign(self._ledger, self._space, budget, self._finder, find)

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask or to wait for."""
        return super().done and not self._ledger.pending

    def _run(self) -> Steps[Status]:
        return (yield from self._campaign.steps())

    def _record(self, wish: Wish, verdict: Verdict) -> None:
        self._finder.tell(wish, verdict)

    def _halted(self, wishes: Wishes) -> bool:
        return super()._halted(wishes if self._exact else ())

    def _unfinished(self, why: str) -> Status:
        del why  # the result says it in other words
        return Status.INCONCLUSIVE

    def outlook(self) -> Outlook:
        """Return what is known and how many builds are left."""
        self._advance()
        expected, worst = self._finder.left
        ended = self._campaign.status is not None
        ends = (self._ledger.seen(0) is None) + (self._ledger.seen(self._space.all) is None)
        second = _CERTIFICATE if self._exact else 0
        fixed = ends + _CERTIFICATE + second
        return Outlook(
            0.0 if ended else expected + fixed,
            0 if ended else worst + fixed,
            frozenset() if ended else items_of(self._finder.suspects),
            self._culprits(),
            tuple(atom.items for atom in self._space.atoms),
            0 if ended else second,
        )

    def result(self) -> Result:
        """Return the answer, or as much of it as there is."""
        self._advance()
        campaign = self._campaign
        sets = campaign.sets
        members = sum(bad_set.members.bit_count() for bad_set in sets)
        reasons = campaign.reasons
        if campaign.status is None:
            idle = IDLE if self.answer else "the search has not ended"
            reasons = [*reasons, "the builds allowed are used up" if self._spent else idle]
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
        return self._ledger.evidence(roles)
