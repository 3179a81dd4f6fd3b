"""The fewest items to switch to good so that a bad build becomes good, without ever switching all of them.

Delta debugging on the items that are good. The end is minimal: without any one of its items the build is bad again.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil, log2

from trtforensics.bisection.search.ledger import FlakyError, Steps, Wish, bits, items_of, neighbours
from trtforensics.bisection.search.minimising import Proposals, delta_debugging, minimised
from trtforensics.bisection.search.model import AGAIN, Purpose, Result, Status, Verdict
from trtforensics.bisection.search.probing import SubsetSearch

REMEDY = "the answer alone"


class FewestSearch(SubsetSearch):
    """The search for the fewest items; its result's one set is what to switch to good.

    ``count`` is the number of items, in an order in which neighbours belong together. ``limit`` is how many probes may
    be asked for. Where there is room for several probes at once, the parts of one size are tried together: the answer
    is the same, and some of them may turn out to be needless.
    """

    def __init__(self, count: int, *, limit: int | None = None) -> None:
        super().__init__(count, limit)
        self._suspects = self._all

    def _suspected(self) -> int:
        return self._suspects

    def _ended(self, status: Status, why: str, remedy: int = 0) -> Result:
        sets = (items_of(remedy),) if remedy else ()
        suspects = frozenset[int]() if remedy else items_of(self._suspects)
        proof = [0, *((remedy, *neighbours(remedy)) if remedy else ())]
        wishes = [replace(self._switching(mask, ""), build=build) for mask in proof for build in (0, 1)]
        evidence = tuple(wish.ask() for wish in wishes if self._ledger.told(wish) is not None)
        minimal = (status is Status.CERTIFIED,) if sets else ()
        bound = ceil(log2(max(1, self._all.bit_count())))
        return Result(status, why, sets, suspects, 1.0, bound, evidence, minimal)

    def _switching(self, remedy: int, purpose: str) -> Wish:
        return Wish(self._all & ~remedy, purpose)

    def _run(self) -> Steps[Result]:
        (verdict,) = yield from self._ledger.whole((self._switching(0, "nothing changed"),))
        if verdict is Verdict.GOOD:
            return self._ended(Status.NOT_REPRODUCED, "the build is good as it is")
        if verdict is Verdict.UNRESOLVED:
            return self._ended(Status.INCONCLUSIVE, f"the build cannot be judged as it is; {AGAIN}")
        yield from minimised(delta_debugging([1 << index for index in bits(self._all)]), self._first_good)
        return (yield from self._proven(self._suspects))

    def _first_good(self, proposals: Proposals) -> Steps[int | None]:
        count = self._all.bit_count()
        wishes = tuple(self._switching(mask, f"{mask.bit_count()} of {count} changed") for mask in proposals.subsets)
        enough = yield from self._ledger.first(wishes, Verdict.GOOD)
        if enough is None:
            return None
        self._suspects = self._all & ~enough.mask
        return self._suspects

    def _proven(self, remedy: int) -> Steps[Result]:
        if remedy == self._all and remedy.bit_count() > 1:
            return self._ended(Status.INCONCLUSIVE, "no part of the items is enough, and all are never taken")
        smaller = [self._switching(mask, "the answer without one of its items") for mask in neighbours(remedy)]
        verdict, *others = yield from self._ledger.whole((self._switching(remedy, REMEDY), *smaller))
        if verdict is not Verdict.GOOD:
            return self._ended(Status.INCONCLUSIVE, "no item alone makes the build good")
        if any(other is not Verdict.BAD for other in others):
            return self._ended(Status.NAMED, "a smaller set was not resolved", remedy)
        masks = [self._switching(mask, "").mask for mask in (remedy, *neighbours(remedy))]
        try:
            again = yield from self._ledger.confirm(masks, Purpose.BUILT_AGAIN)
        except FlakyError as error:
            return self._ended(Status.INCONCLUSIVE, f"{error}: use --repeat")
        if not again:
            return self._ended(Status.NAMED, "a second build of the answer could not be judged", remedy)
        return self._ended(Status.CERTIFIED, "", remedy)
