"""The plan from the endpoints to the certificate: one minimal set after the other until the rest is good."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from trtforensics.bisect.search.chain import NotMonotoneError
from trtforensics.bisect.search.minimal import MinimalSet, minimal_set
from trtforensics.bisect.search.model import AGAIN, REST, Status, Verdict
from trtforensics.bisect.search.reduction import reduced
from trtforensics.bisect.search.refusals import rest_by_proxy

if TYPE_CHECKING:
    from trtforensics.bisect.search.budget import Budget
    from trtforensics.bisect.search.finder import Finder
    from trtforensics.bisect.search.ledger import Ledger, Steps
    from trtforensics.bisect.search.space import Space

_NOT_MONOTONE = (
    "outcomes are not monotone (an active item hides another), so each set was reduced until leaving out any one of "
    "its items was seen not to fail"
)

_PLAUSIBLE = 3
"""A set of more members than this is looked at again: it may be an artefact of outcomes that are not monotone."""


class Campaign:
    """The sets found so far, and how the search ended: ``status`` is None while it runs."""

    def __init__(
        self, ledger: Ledger, space: Space, budget: Budget, finder: Finder, find: Literal["first", "all"]
    ) -> None:
        self._ledger = ledger
        self._space = space
        self._budget = budget
        self._finder = finder
        self._find = find
        self.sets: list[MinimalSet] = []
        self.reasons: list[str] = []
        self.status: Status | None = None
        self._rest = space.all
        self._searching = False

    @property
    def unsettled(self) -> int:
        """The items that may hold further members."""
        return self._finder.unsettled if self._searching else self._rest

    def steps(self) -> Steps[None]:
        """Search to the end."""
        self.status = yield from self._run()

    def _run(self) -> Steps[Status]:
        refuted = yield from self._endpoints()
        if refuted is not None:
            return refuted
        within = self._rest
        while True:
            self._searching = True
            bad_set = yield from self._one_set(within)
            self._searching = False
            self._note(bad_set)
            rest = self._rest = self._rest & ~bad_set.items
            seen = verdict = yield from self._finder.settle(rest, Verdict.GOOD, REST)
            if seen is Verdict.UNRESOLVED:
                verdict, within = yield from rest_by_proxy(self._finder, rest, self._space.atoms_of(rest))
                self.reasons.append("the build of everything but the culprits was refused")
            else:
                within = rest
            if verdict is not Verdict.BAD:
                return self._verdict_on(seen)
            if self._find == "first":
                self.reasons.append("what is left fails too: there are other sets")
                return Status.NAMED

    def _endpoints(self) -> Steps[Status | None]:
        """Build both ends; return the final status if the good side is not good or the bad side not bad."""
        good, bad = yield from self._finder.endpoints()
        if good is Verdict.GOOD and bad is Verdict.BAD:
            return None
        side, outcome = ("good", good) if good is not Verdict.GOOD else ("bad", bad)
        reason = f"with everything taken from {side} the outcome is {outcome}"
        self.reasons.append(f"{reason}{f'; {AGAIN}' if outcome is Verdict.UNRESOLVED else ''}")
        return Status.INCONCLUSIVE if outcome is Verdict.UNRESOLVED else Status.NOT_REPRODUCED

    def _one_set(self, within: int) -> Steps[MinimalSet]:
        try:
            bad_set = yield from minimal_set(self._finder, self._space, within)
        except NotMonotoneError:
            start = min(self._bad_inside(within), key=int.bit_count)
            bad_set = yield from self._reduced(start)
        if bad_set.alone and bad_set.members.bit_count() > _PLAUSIBLE:
            yield from self._leave_one_out(bad_set.members)
        if not self._ledger.monotone():
            if _NOT_MONOTONE not in self.reasons:
                self.reasons.append(_NOT_MONOTONE)
            if bad_set.alone:
                bad_set = yield from self._reduced(bad_set.members)
        return bad_set

    def _leave_one_out(self, members: int) -> Steps[None]:
        """Build a set without each of its members in turn, until one is bad or the promised builds are spent.

        None is bad if outcomes are monotone, but then sets of so many members are rare.
        """
        most = self._budget.promised(members.bit_count())
        for atom in reversed(self._space.atoms_of(members)):
            if self._ledger.builds + 1 >= most:
                return
            rest = members & ~atom.mask
            if (yield from self._finder.settle(rest, Verdict.GOOD, "the culprits but one")) is Verdict.BAD:
                return

    def _reduced(self, mask: int) -> Steps[MinimalSet]:
        atoms = [atom.mask for atom in self._space.atoms_of(mask)]
        return MinimalSet(sum((yield from reduced(self._finder, 0, atoms))))

    def _bad_inside(self, within: int) -> list[int]:
        return [mask for mask, verdict in self._ledger.log if verdict is Verdict.BAD and not mask & ~within]

    def _note(self, bad_set: MinimalSet) -> None:
        self.sets.append(bad_set)
        self._budget.sets += 1
        self._budget.members += bad_set.members.bit_count()
        if bad_set.doubt:
            count = bad_set.doubt.bit_count()
            self.reasons.append(f"one of {count} items, which no build could tell apart: every mix of them was refused")
        elif not bad_set.alone:
            self.reasons.append("the build of the culprits alone was refused")

    def _verdict_on(self, rest: Verdict) -> Status:
        if any(bad_set.doubt for bad_set in self.sets):
            return Status.INCONCLUSIVE
        certified = rest is Verdict.GOOD and all(bad_set.alone for bad_set in self.sets)
        return Status.CERTIFIED if certified else Status.NAMED
