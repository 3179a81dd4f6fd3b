"""The fewest items to switch to good so that a bad build becomes good, without ever switching all of them.

Delta debugging (Zeller and Hildebrandt's ``ddmin``) on the items that are good: halves first, then smaller parts and
what is left without them. The end is minimal: without any one of its items the build is bad again.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from math import ceil, log2
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.model import AGAIN, Ask, Outlook, Result, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    Indexes = tuple[int, ...]
    Steps = Generator["_Round", None, Result]

REMEDY = "the answer alone"


@dataclass(frozen=True, slots=True)
class _Round:
    """Probes: active items and purpose of each. Unless ``whole``, those after the first good one are not needed."""

    probes: tuple[tuple[frozenset[int], str], ...] = ()
    whole: bool = False


class FewestSearch:
    """Has the interface of :class:`trtforensics.bisect.search.Search`; the result's one set is what to switch to good.

    ``count`` is the number of items, in an order in which neighbours belong together. ``limit`` is how many probes may
    be asked for. Where there is room for several probes at once, the parts of one size are tried together: the answer
    is the same, and some of them may turn out to be needless.
    """

    def __init__(self, count: int, *, limit: int | None = None) -> None:
        self._all = frozenset(range(count))
        self._limit = limit
        self._verdicts: dict[frozenset[int], Verdict] = {}
        self._asked: set[frozenset[int]] = set()
        self._suspects = self._all
        self._result: Result | None = None
        self._round = _Round()
        self._steps = self._run()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        self._advance()
        return self._result is not None

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
        self._advance()
        left = room if self._limit is None else min(room, self._limit - len(self._asked))
        wanted = (probe for probe in self._open() if probe[0] not in self._asked) if self._result is None else ()
        fresh = tuple(Ask(active, purpose=purpose) for active, purpose in islice(wanted, max(left, 0)))
        self._asked.update(ask.active for ask in fresh)
        return fresh

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        self._asked.add(ask.active)
        self._verdicts[ask.active] = verdict

    def outlook(self) -> Outlook:
        """Return what is known; the builds left are those it takes if one item alone is enough."""
        left = 0 if self._result else 2 * ceil(log2(max(2, len(self._suspects))))
        culprits = self._result.culprits if self._result else ()
        atoms = tuple(frozenset({index}) for index in sorted(self._all))
        return Outlook(left * 3 / 4, left, self._suspects, culprits, atoms)

    def result(self) -> Result:
        """Return the answer so far."""
        return self._result or self._ended(Status.INCONCLUSIVE, "the search has not ended")

    def _advance(self) -> None:
        while self._result is None and not any(True for _ in self._open()):
            try:
                self._round = next(self._steps)
            except StopIteration as stop:
                self._result = stop.value
        spent = self._result is None and self._limit is not None and len(self._asked) >= self._limit
        if spent and not any(active in self._asked for active, _ in self._open()):
            self._result = self._ended(Status.INCONCLUSIVE, f"{self._limit} probes were not enough")

    def _open(self) -> Iterator[tuple[frozenset[int], str]]:
        """Yield the probes of the round that have no verdict yet and may still matter."""
        for active, purpose in self._round.probes:
            verdict = self._verdicts.get(active)
            if verdict is None:
                yield active, purpose
            elif verdict is Verdict.GOOD and not self._round.whole:
                return

    def _verdict(self, remedy: Indexes | frozenset[int]) -> Verdict | None:
        return self._verdicts.get(self._all - frozenset(remedy))

    def _ended(self, status: Status, why: str, *remedy: int) -> Result:
        sets = (frozenset(remedy),) if remedy else ()
        suspects = frozenset[int]() if remedy else self._suspects
        proof = [self._all, *(self._all - one for one in _neighbourhood(frozenset(remedy)) if remedy)]
        evidence = tuple(Ask(active, purpose="") for active in proof if active in self._verdicts)
        minimal = (status is Status.CERTIFIED,) if sets else ()
        return Result(status, why, sets, suspects, 1.0, ceil(log2(max(1, len(self._all)))), evidence, minimal)

    def _run(self) -> Steps:
        yield _Round(((self._all, "nothing changed"),))
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

    def _smaller(self, remedy: Indexes, parts: int) -> Generator[_Round, None, Indexes | None]:
        """Return a part of the remedy, or the rest without one, that is enough."""
        pieces = [remedy[len(remedy) * k // parts : len(remedy) * (k + 1) // parts] for k in range(parts)]
        rests = [tuple(index for index in remedy if index not in piece) for piece in pieces] if parts > 2 else []  # noqa: PLR2004 - of two, each is the other's rest
        candidates = (*pieces, *rests)
        yield _Round(
            tuple((self._all.difference(one), f"{len(one)} of {len(self._all)} changed") for one in candidates)
        )
        return next((one for one in candidates if self._verdict(one) is Verdict.GOOD), None)

    def _proven(self, remedy: Indexes) -> Steps:
        answer = frozenset(remedy)
        if answer == self._all and len(answer) > 1:
            return self._ended(Status.INCONCLUSIVE, "no part of the items is enough, and all are never taken")
        first, *smaller = (self._all - one for one in _neighbourhood(answer))
        rest = ((active, "the answer without one of its items") for active in smaller)
        yield _Round(((first, REMEDY), *rest), whole=True)
        if self._verdict(answer) is not Verdict.GOOD:
            return self._ended(Status.INCONCLUSIVE, "no item alone makes the build good")
        if all(self._verdict(one) is Verdict.BAD for one in _neighbourhood(answer) if one != answer):
            return self._ended(Status.CERTIFIED, "", *answer)
        return self._ended(Status.NAMED, "a smaller set was not resolved", *answer)


def _neighbourhood(answer: frozenset[int]) -> list[frozenset[int]]:
    return [answer, *(answer - {index} for index in sorted(answer))]
