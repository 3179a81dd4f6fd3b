"""The fewest items to switch to good so that a bad build becomes good, without ever switching all of them.

Delta debugging (Zeller and Hildebrandt's ``ddmin``) on the items that are good: halves first, then smaller parts and
what is left without them. The end is minimal: without any one of its items the build is bad again.
"""

from __future__ import annotations

from math import ceil, log2
from typing import TYPE_CHECKING

from trtforensics.search.model import AGAIN, Ask, Outlook, Result, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator

    Indexes = tuple[int, ...]
    Steps = Generator[tuple[frozenset[int], str], None, Result]

REMEDY = "the answer alone"


class FewestSearch:
    """Asks and is told as :class:`trtforensics.search.Search` is; the result's one set is what to switch to good.

    ``count`` is the number of items, in an order in which neighbours belong together. ``limit`` is how many probes may
    be asked for. One probe is under way at a time: each depends on the one before.
    """

    def __init__(self, count: int, *, limit: int | None = None) -> None:
        self._all = frozenset(range(count))
        self._limit = limit
        self._verdicts: dict[frozenset[int], Verdict] = {}
        self._asked: set[frozenset[int]] = set()
        self._suspects = self._all
        self._result: Result | None = None
        self._wish: tuple[frozenset[int], str] | None = None
        self._steps = self._run()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        self._advance()
        return self._result is not None

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probe; none while one is under way, or at the end."""
        self._advance()
        if self._wish is None or not room:
            return ()
        remedy, purpose = self._wish
        active = self._all - remedy
        if active in self._asked:
            return ()
        self._asked.add(active)
        return (Ask(active, purpose=purpose),)

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Say what a probe showed."""
        self._asked.add(ask.active)
        self._verdicts[ask.active] = verdict

    def outlook(self) -> Outlook:
        """Return what is known; builds left are those of one item that is enough alone."""
        left = 0 if self._result else 2 * ceil(log2(max(2, len(self._suspects))))
        found = self._result.culprits if self._result else ()
        atoms = tuple(frozenset({index}) for index in sorted(self._all))
        return Outlook(left * 3 / 4, left, self._suspects, found, atoms)

    def result(self) -> Result:
        """Return the answer so far."""
        return self._result or self._ended(Status.INCONCLUSIVE, "the search has not ended")

    def _advance(self) -> None:
        while self._result is None and (self._wish is None or self._all - self._wish[0] in self._verdicts):
            try:
                self._wish = next(self._steps)
            except StopIteration as stop:
                self._result, self._wish = stop.value, None
        fresh = self._wish is not None and self._all - self._wish[0] not in self._asked
        if fresh and self._limit is not None and len(self._asked) >= self._limit:
            self._result, self._wish = self._ended(Status.INCONCLUSIVE, f"{self._limit} probes were not enough"), None

    def _verdict(self, remedy: Indexes | frozenset[int]) -> Verdict | None:
        return self._verdicts.get(self._all - frozenset(remedy))

    def _ended(self, status: Status, why: str, *remedy: int) -> Result:
        sets = (frozenset(remedy),) if remedy else ()
        suspects = frozenset[int]() if remedy else self._suspects
        proof = [self._all, *(self._all - one for one in _neighbourhood(frozenset(remedy)) if remedy)]
        evidence = tuple(Ask(active, purpose="") for active in proof if active in self._verdicts)
        return Result(status, why, sets, suspects, 1.0, ceil(log2(max(1, len(self._all)))), evidence)

    def _run(self) -> Steps:
        yield frozenset(), "nothing changed"
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

    def _smaller(self, remedy: Indexes, parts: int) -> Generator[tuple[frozenset[int], str], None, Indexes | None]:
        """Return a part of the remedy, or the rest without one, that is enough."""
        pieces = [remedy[len(remedy) * k // parts : len(remedy) * (k + 1) // parts] for k in range(parts)]
        rests = [tuple(index for index in remedy if index not in piece) for piece in pieces] if parts > 2 else []  # noqa: PLR2004 - of two, each is the other's rest
        for candidate in (*pieces, *rests):
            yield frozenset(candidate), f"{len(candidate)} of {len(self._all)} changed"
            if self._verdict(candidate) is Verdict.GOOD:
                return candidate
        return None

    def _proven(self, remedy: Indexes) -> Steps:
        found = frozenset(remedy)
        if found == self._all and len(found) > 1:
            return self._ended(Status.INCONCLUSIVE, "no part of the items is enough, and all are never taken")
        for one in _neighbourhood(found):
            yield one, REMEDY if one == found else "the answer without one of its items"
        if self._verdict(found) is not Verdict.GOOD:
            return self._ended(Status.INCONCLUSIVE, "no item alone makes the build good")
        if all(self._verdict(one) is Verdict.BAD for one in _neighbourhood(found) if one != found):
            return self._ended(Status.CERTIFIED, "", *found)
        return self._ended(Status.NAMED, "a smaller set was not resolved", *found)


def _neighbourhood(found: frozenset[int]) -> list[frozenset[int]]:
    return [found, *(found - {index} for index in sorted(found))]
