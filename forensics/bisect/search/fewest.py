"""The fewest items to switch to good so that a bad build becomes good, without ever switching all of them.

Delta debugging (Zeller and Hildebrandt's ``ddmin``) on the items that are good: halves first, then smaller parts and
what is left without them. The end is minimal: without any one of its items the build is bad again.
"""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.model import AGAIN, Ask, Result, Status, Verdict
from trtforensics.bisect.search.basis.rounds import Round, RoundSearch

if TYPE_CHECKING:
    from collections.abc import Generator

    from trtforensics.bisect.search.basis.rounds import Rounds

    Indexes = tuple[int, ...]

REMEDY = "the answer alone"


class FewestSearch(RoundSearch):
    """The search for the fewest items; its result's one set is what to switch to good.

    ``count`` is the number of items, in an order in which neighbours belong together. ``limit`` is how many probes may
    be asked for. Where there is room for several probes at once, the parts of one size are tried together: the answer
    is the same, and some of them may turn out to be needless.
    """

    def __init__(self, count: int, *, limit: int | None = None) -> None:
        super().__init__(count, Verdict.GOOD, limit)
        self._suspects = self._all

    def _suspected(self) -> frozenset[int]:
        return self._suspects

    def _verdict(self, remedy: Indexes | frozenset[int]) -> Verdict | None:
        return self._seen(self._all - frozenset(remedy))

    def _ended(self, status: Status, why: str, *remedy: int) -> Result:
        sets = (frozenset(remedy),) if remedy else ()
        suspects = frozenset[int]() if remedy else self._suspects
        proof = [self._all, *(self._all - one for one in _neighbourhood(frozenset(remedy)) if remedy)]
        evidence = tuple(Ask(active, purpose="") for active in proof if self._seen(active) is not None)
        minimal = (status is Status.CERTIFIED,) if sets else ()
        return Result(status, why, sets, suspects, 1.0, ceil(log2(max(1, len(self._all)))), evidence, minimal)

    def _run(self) -> Rounds:
        yield Round((Ask(self._all, purpose="nothing changed"),))
        if self._verdict(()) is Verdict.GOOD:
            return self._ended(Status.NOT_REPRODUCED, "the build is good as it is")
        if self._verdict(()) is Verdict.UNRESOLVED:
            return self._ended(Status.INCONCLUSIVE, f"the build cannot be judged as it is; {AGAIN}")
        remedy, parts = tuple(sorted(self._all)), 2
        while len(remedy) > 1:
            smaller = yield from self._smaller(remedy, min(parts, len(remedy)))
            if smaller is not None:
                parts = 2 if len(smaller) <= ceil(len(remedy) / parts) else max(parts - 1, 2)
                remedy = smaller
                self._suspects = frozenset(remedy)
            elif parts >= len(remedy):
                break
            else:
                parts = min(2 * parts, len(remedy))
        return (yield from self._proven(remedy))

    def _smaller(self, remedy: Indexes, parts: int) -> Generator[Round, None, Indexes | None]:
        """Return a part of the remedy, or the rest without one, that is enough."""
        pieces = [remedy[len(remedy) * k // parts : len(remedy) * (k + 1) // parts] for k in range(parts)]
        rests = [tuple(index for index in remedy if index not in piece) for piece in pieces] if parts > 2 else []  # noqa: PLR2004 - of two, each is the other's rest
        candidates = (*pieces, *rests)
        counted = [(self._all.difference(one), f"{len(one)} of {len(self._all)} changed") for one in candidates]
        yield Round(tuple(Ask(active, purpose=purpose) for active, purpose in counted))
        return next((one for one in candidates if self._verdict(one) is Verdict.GOOD), None)

    def _proven(self, remedy: Indexes) -> Rounds:
        answer = frozenset(remedy)
        if answer == self._all and len(answer) > 1:
            return self._ended(Status.INCONCLUSIVE, "no part of the items is enough, and all are never taken")
        first, *smaller = (self._all - one for one in _neighbourhood(answer))
        rest = (Ask(active, purpose="the answer without one of its items") for active in smaller)
        yield Round((Ask(first, purpose=REMEDY), *rest), whole=True)
        if self._verdict(answer) is not Verdict.GOOD:
            return self._ended(Status.INCONCLUSIVE, "no item alone makes the build good")
        if all(self._verdict(one) is Verdict.BAD for one in _neighbourhood(answer) if one != answer):
            return self._ended(Status.CERTIFIED, "", *answer)
        return self._ended(Status.NAMED, "a smaller set was not resolved", *answer)


def _neighbourhood(answer: frozenset[int]) -> list[frozenset[int]]:
    return [answer, *(answer - {index} for index in sorted(answer))]
