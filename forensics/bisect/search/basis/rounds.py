"""What searches that go round by round have in common: a round's probes are asked for until its end is decided.

A search is a generator of rounds that returns its result. Of a round, the probes before the first one with the deciding
verdict are needed; of a whole round, all of them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import islice
from math import ceil, log2
from typing import TYPE_CHECKING

from trtforensics.bisect.search.basis.model import Ask, Outlook, Result, Status, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    Rounds = Generator["Round", None, Result]


@dataclass(frozen=True, slots=True)
class Round:
    """Probes in the order of preference; ``whole``: all of them are wanted, not only those before the deciding one.

    ``ahead`` are probes that may be wanted next: they run where there is room.
    """

    asks: tuple[Ask, ...] = ()
    whole: bool = False
    ahead: tuple[Ask, ...] = ()


class RoundSearch(ABC):
    """Has the interface of :class:`trtforensics.bisect.search.Search`.

    ``count`` is the number of items that the search is about, ``decider`` the verdict after which the rest of a round
    is not needed. ``limit`` is how many probes may be asked for.
    """

    _closing = 0
    """Builds behind the halving of an outlook."""

    def __init__(self, count: int, decider: Verdict, limit: int | None) -> None:
        self._all = frozenset(range(count))
        self._limit = limit
        self._verdicts: dict[Ask, Verdict] = {}
        self._decider = decider
        self._asked: set[Ask] = set()
        self._result: Result | None = None
        self._round = Round()
        self._steps = self._run()

    @property
    def done(self) -> bool:
        """Whether nothing is left to ask."""
        self._advance()
        return self._result is not None

    def asks(self, room: int = 1) -> tuple[Ask, ...]:
        """Return the next probes, at most ``room`` besides those under way; none means wait for those, or done."""
        self._advance()
        if self._result is not None:
            return ()
        left = room if self._limit is None else min(room, self._limit - len(self._asked))
        wanted = [ask for ask in (*self._open(), *self._round.ahead) if ask not in self._asked]
        fresh = tuple(islice(dict.fromkeys(wanted), max(left, 0)))
        self._asked.update(fresh)
        return fresh

    def tell(self, ask: Ask, verdict: Verdict) -> None:
        """Take the verdict of a probe."""
        self._asked.add(ask)
        self._verdicts[ask] = verdict

    def outlook(self) -> Outlook:
        """Return what is known; the builds left are those it takes if few items are enough."""
        suspects = self._suspected()
        left = 0 if self._result else 2 * ceil(log2(max(2, len(suspects)))) + self._closing
        culprits = self._result.culprits if self._result else ()
        atoms = tuple(frozenset({index}) for index in sorted(self._all))
        return Outlook(left * 3 / 4, left, suspects, culprits, atoms)

    def result(self) -> Result:
        """Return the answer so far."""
        return self._result or self._ended(Status.INCONCLUSIVE, "the search has not ended")

    @abstractmethod
    def _run(self) -> Rounds:
        """Yield one round after the other; return the result."""

    @abstractmethod
    def _suspected(self) -> frozenset[int]:
        """Return the items that may still be left out."""

    @abstractmethod
    def _ended(self, status: Status, why: str) -> Result:
        """Return the result of a search that ends so."""

    def _seen(self, active: frozenset[int]) -> Verdict | None:
        return self._verdicts.get(Ask(active))

    def _advance(self) -> None:
        while self._result is None and not any(True for _ in self._open()):
            try:
                self._round = next(self._steps)
            except StopIteration as stop:
                self._result = stop.value
        spent = self._result is None and self._limit is not None and len(self._asked) >= self._limit
        if spent and not any(ask in self._asked for ask in self._open()):
            self._result = self._ended(Status.INCONCLUSIVE, f"{self._limit} probes were not enough")

    def _open(self) -> Iterator[Ask]:
        """Yield the probes of the round that have no verdict yet and may still matter."""
        for ask in self._round.asks:
            verdict = self._verdicts.get(ask)
            if verdict is None:
                yield ask
            elif verdict is self._decider and not self._round.whole:
                return
