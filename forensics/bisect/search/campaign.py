"""The plan from the endpoints to the certificate: one minimal set after the other until the rest is good."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from trtforensics.bisect.search.basis.chain import NotMonotoneError
from trtforensics.bisect.search.basis.finder import FlakyError, MisfitError
from trtforensics.bisect.search.basis.ledger import each
from trtforensics.bisect.search.basis.model import AGAIN, REST, Status, Verdict
from trtforensics.bisect.search.minimal import MinimalSet, minimal_set
from trtforensics.bisect.search.proof import contradiction_stands, leave_one_out, neighbours
from trtforensics.bisect.search.reduction import reduced
from trtforensics.bisect.search.refusals import rest_by_proxy
from trtforensics.bisect.search.sweep import Sweep

if TYPE_CHECKING:
    from trtforensics.bisect.search.basis.budget import Budget
    from trtforensics.bisect.search.basis.finder import Finder
    from trtforensics.bisect.search.basis.ledger import Ledger, Steps
    from trtforensics.bisect.search.basis.space import Space

_NOT_MONOTONE = (
    "outcomes are not monotone (an active item hides another), so each set was reduced until leaving out any one of "
    "its items was seen not to fail"
)
_MISFIT = (
    "builds disagree more than any single rate of noise explains: something besides the items decides; find what else "
    "changes from build to build or check to check (clocks, another load, another GPU, a seed), keep it fixed, and "
    "search again in a new directory"
)
_SECOND_LOOK = "checked again"
_UNSEEN = "a second check of the certificate could not be judged"


class Campaign:
    """The sets found so far, and how the search ended: ``status`` is None while it runs.

    ``rest`` are the items that belong to none of the sets. ``doubted`` is a subset that had two verdicts.
    """

    def __init__(
        self, ledger: Ledger, space: Space, budget: Budget, finder: Finder, find: Literal["first", "all"]
    ) -> None:
        self._ledger = ledger
        self._space = space
        self._budget = budget
        self._finder = finder
        self._find = find
        self._sweep = Sweep(ledger, space)
        self._confirmed = 0
        self._harmless = 0
        self.sets: list[MinimalSet] = []
        self.reasons: list[str] = []
        self.status: Status | None = None
        self.rest = space.all
        self.doubted: int | None = None

    @property
    def suspects(self) -> int:
        """Items that a whole set hides among, of each set that is not known for certain."""
        doubtful = 0
        for bad_set in self.sets:
            doubtful |= bad_set.inside if bad_set.inside != bad_set.members else 0
        if self.status is None:
            return doubtful | self._finder.unsettled(self.rest)
        return self.rest if self.status is Status.INCONCLUSIVE and not doubtful else doubtful

    @property
    def unsearched(self) -> int:
        """Items besides that were not seen to be good together."""
        if self.status is Status.NOT_REPRODUCED:
            return 0
        return self.rest & ~self._harmless & ~self.suspects

    def steps(self) -> Steps[None]:
        """Search to the end."""
        try:
            self.status = yield from self._run()
        except FlakyError as error:
            self.doubted = error.mask
            del self.sets[self._confirmed :]
            size = error.mask.bit_count()
            mix = f"one mix ({size} items from bad) was {error.first} and, looked at again, {error.second}"
            self._give_up(f"{mix}: this looks flaky: use --confidence")
        except MisfitError:
            self._give_up(_MISFIT)

    def _give_up(self, reason: str) -> None:
        """End where verdicts cannot be what they are taken for: all that is not of a confirmed set stays suspected."""
        self.rest = self._space.all & ~sum(bad_set.items for bad_set in self.sets)
        self._harmless = 0
        self.reasons.append(reason)
        self.status = Status.INCONCLUSIVE

    def _run(self) -> Steps[Status]:
        refuted = yield from self._endpoints()
        if refuted is not None:
            return refuted
        within = self.rest
        while True:
            yield from self._one_set(within)
            seen, verdict, within = yield from self._look_at_rest()
            if verdict is Verdict.BAD and self._find == "all" and (yield from self._swept()):
                seen, verdict, within = yield from self._look_at_rest()
            if verdict is not Verdict.BAD:
                self._harmless = self.rest if seen is Verdict.GOOD else 0
                return (yield from self._verdict_on(seen))
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

    def _one_set(self, within: int) -> Steps[None]:
        """Find a set inside a bad subset, and see that each of its members is needed."""
        try:
            bad_set = yield from minimal_set(self._finder, self._space, within)
        except NotMonotoneError:
            yield from self._contradiction()
            bad_set = yield from self._reduced(self._finder.unsettled(within))
        bad_set = yield from self._needed(bad_set)
        yield from self._contradiction()
        self._note(bad_set)

    def _needed(self, bad_set: MinimalSet) -> Steps[MinimalSet]:
        """Leave out each member in turn; reduce the set where one is not needed."""
        while bad_set.alone:
            verdicts = yield from leave_one_out(self._finder, bad_set.members)
            smaller = [mask for mask, verdict in verdicts.items() if verdict is Verdict.BAD]
            if not smaller:
                return replace(bad_set, minimal=Verdict.UNRESOLVED not in verdicts.values())
            yield from self._contradiction()
            bad_set = yield from self._reduced(smaller[0])
        return bad_set

    def _reduced(self, mask: int) -> Steps[MinimalSet]:
        atoms = [atom.mask for atom in self._space.atoms_of(mask)]
        members = sum((yield from reduced(self._finder, 0, atoms)))
        return MinimalSet(members, members)

    def _contradiction(self) -> Steps[None]:
        if self._ledger.contradiction is not None and _NOT_MONOTONE not in self.reasons:
            yield from contradiction_stands(self._finder, self._ledger)
            self.reasons.append(_NOT_MONOTONE)

    def _note(self, bad_set: MinimalSet) -> None:
        self.sets.append(bad_set)
        self.rest &= ~bad_set.items
        self._budget.sets += 1
        self._budget.members += bad_set.members.bit_count()
        if bad_set.doubt:
            count = bad_set.doubt.bit_count()
            self.reasons.append(f"one of {count} items, which no build could tell apart: every mix of them was refused")
        elif not bad_set.alone:
            self.reasons.append("the build of the culprits alone was refused")
        elif not bad_set.minimal:
            self.reasons.append("a build of the culprits without one of them was refused, so it may not be needed")

    def _look_at_rest(self) -> Steps[tuple[Verdict, Verdict, int]]:
        """Build the rest, and look at the newest sets again.

        Return the rest's own verdict; the verdict on it, perhaps by a similar subset; and the subset that showed it.
        """
        rest = self._finder.settle(self.rest, Verdict.GOOD, REST, again=(Verdict.GOOD,))
        seen, _ = yield from each([rest, self._confirm()])
        if seen is not Verdict.UNRESOLVED:
            return seen, seen, self.rest
        self.reasons.append("the build of everything but the culprits was refused")
        return seen, *(yield from rest_by_proxy(self._finder, self.rest, self._space.atoms_of(self.rest)))

    def _confirm(self) -> Steps[Verdict]:
        """Look again at the sets not yet confirmed: each alone, and without each of its members."""
        masks: list[int] = []
        for bad_set in self.sets[self._confirmed :]:
            if bad_set.alone:
                masks += [bad_set.members, *(neighbours(bad_set.members) if bad_set.members.bit_count() > 1 else ())]
        again = yield from self._finder.confirm(masks, _SECOND_LOOK)
        self._confirmed = len(self.sets)
        return self._looked_twice(again=again)

    def _looked_twice(self, *, again: bool) -> Verdict:
        if not again and _UNSEEN not in self.reasons:
            self.reasons.append(_UNSEEN)
        return Verdict.GOOD if again else Verdict.UNRESOLVED

    def _swept(self) -> Steps[bool]:
        """Where sets of one item lie close together, look for the next ones in small groups; return whether any was."""
        before = len(self.sets)
        while groups := self._sweep.groups(self.sets, self.rest):
            settling = [self._finder.settle(*wish, again=(wish[1],)) for wish in groups]
            _, *verdicts = yield from each([self._confirm(), *settling])
            for (mask, _, _), verdict in zip(groups, verdicts, strict=True):
                self._sweep.note(mask, verdict)
                if verdict is Verdict.BAD:
                    yield from self._one_set(mask)
        return len(self.sets) > before

    def _verdict_on(self, rest: Verdict) -> Steps[Status]:
        if rest is Verdict.GOOD:
            self._looked_twice(again=(yield from self._finder.confirm([self.rest], _SECOND_LOOK)))
        yield from self._contradiction()
        if any(bad_set.doubt for bad_set in self.sets):
            return Status.INCONCLUSIVE
        proven = all(bad_set.alone and bad_set.minimal for bad_set in self.sets)
        certified = rest is Verdict.GOOD and proven and _UNSEEN not in self.reasons
        return Status.CERTIFIED if certified else Status.NAMED
