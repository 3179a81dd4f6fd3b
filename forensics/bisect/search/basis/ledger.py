"""The verdicts of all subsets so far, in the order in which they came, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from trtforensics.bisect.search.basis.model import Ask, Verdict

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

    _T = TypeVar("_T")
    Wishes = tuple["Wish", ...]
    """Probes that a step can use, the most urgent first; none: it waits for those under way."""
    Steps = Generator[Wishes, None, _T]
    """A part of the search: whenever it is resumed, it looks at the ledger and yields the probes it wants."""


@dataclass(frozen=True, slots=True)
class Wish:
    """A probe that would help: a subset as a bit mask, which build and check of it, what for, and ``Ask.again``."""

    mask: int
    purpose: str
    build: int = 0
    check: int = 0
    again: tuple[Verdict, ...] = ()

    @property
    def key(self) -> tuple[int, int, int]:
        """What identifies the probe."""
        return self.mask, self.build, self.check

    def ask(self) -> Ask:
        """Return the probe as an ask."""
        return Ask(items_of(self.mask), self.build, self.check, self.purpose, self.again)


class Ledger:
    """Verdicts by subset, and the probes asked for and under way.

    ``room`` is how many more probes the caller can start, ``most_room`` the most it ever was; steps that can use
    several at once look at them. ``log`` has the verdicts in the order in which they came. ``contradiction`` is the
    first pair of a bad subset and a good one that holds it, or None while outcomes look monotone. ``rebuilds`` are
    second checks that take a build, besides ``builds``.
    """

    def __init__(self) -> None:
        self.room = 1
        self.most_room = 1
        self.builds = 0
        self.rebuilds = 0
        self.log: list[tuple[int, Verdict]] = []
        self.contradiction: tuple[int, int] | None = None
        self.asked: dict[tuple[int, int, int], Wish] = {}
        self.pending: set[tuple[int, int, int]] = set()
        self._verdicts: dict[int, Verdict] = {}

    def start(self, wish: Wish) -> None:
        """Note that a probe is under way; a further check of a build that stays is no build."""
        self.builds += wish.check == 0
        self.rebuilds += wish.check > 0 and self.takes_build(wish)
        self.asked[wish.key] = wish
        self.pending.add(wish.key)

    def takes_build(self, wish: Wish) -> bool:
        """Whether a probe takes a build: a first check does, and a further one where the build did not stay.

        Builds stay that were to be checked again, and the smallest bad and the largest good ones.
        """
        first, verdict = self.asked.get((wish.mask, wish.build, 0)), self.seen(wish.mask)
        if wish.check == 0:
            return True
        if first is None or verdict is None or verdict in first.again:  # None: outcomes are noisy, and each build stays
            return False
        return any(known is verdict and _is_better(mask, wish.mask, verdict) for mask, known in self.log)

    def seen(self, mask: int) -> Verdict | None:
        """Return the subset's own verdict, or None while there is none."""
        return self._verdicts.get(mask)

    def record(self, mask: int, verdict: Verdict) -> None:
        """Record a subset's verdict; the first one stands."""
        if mask not in self._verdicts:
            self._verdicts[mask] = verdict
            self.contradiction = self.contradiction or self._contradicted(mask, verdict)
            self.log.append((mask, verdict))

    def _contradicted(self, mask: int, verdict: Verdict) -> tuple[int, int] | None:
        for other, known in self.log:
            if verdict is Verdict.GOOD and known is Verdict.BAD and not other & ~mask:
                return other, mask
            if verdict is Verdict.BAD and known is Verdict.GOOD and not mask & ~other:
                return mask, other
        return None

    def smallest_bad(self, within: int) -> int | None:
        """Return the smallest subset of ``within`` that was seen to be bad, or None: it holds a whole minimal set."""
        bad = (mask for mask, verdict in self.log if verdict is Verdict.BAD and not mask & ~within)
        return min(bad, key=int.bit_count, default=None)

    def implied(self, mask: int) -> Verdict | None:
        """Return what follows for a subset if more bad items never make good: from itself, a superset or a subset."""
        for other, verdict in self.log:
            if verdict is Verdict.GOOD and not mask & ~other:
                return Verdict.GOOD
            if verdict is Verdict.BAD and not other & ~mask:
                return Verdict.BAD
        return None

    def verdict(self, mask: int, purpose: str, again: tuple[Verdict, ...] = ()) -> Steps[Verdict]:
        """Wait for the verdict of a subset."""
        while (verdict := self.seen(mask)) is None:
            yield (Wish(mask, purpose, again=again),)
        return verdict


def _is_better(mask: int, other: int, verdict: Verdict) -> bool:
    """Whether a subset with the same verdict says more: fewer items that are bad, or more that are good."""
    return mask != other and not (mask & ~other if verdict is Verdict.BAD else other & ~mask)


def each(steps: Sequence[Steps[_T]]) -> Steps[list[_T]]:
    """Take several steps side by side; return their results in their order."""
    results: dict[int, _T] = {}
    while True:
        wishes: list[Wish] = []
        for place, step in enumerate(steps):
            try:
                wishes += next(step) if place not in results else ()
            except StopIteration as stop:
                results[place] = stop.value
        if len(results) == len(steps):
            return [results[place] for place in range(len(steps))]
        yield tuple(wishes)


def bits(mask: int) -> list[int]:
    """Return the positions of the bits that are set, ascending."""
    if mask.bit_count() == 1:  # most atoms: ten thousand of them would cost seconds below
        return [mask.bit_length() - 1]
    return [place for place, bit in enumerate(bin(mask)[:1:-1]) if bit == "1"]


@lru_cache(maxsize=64)
def items_of(mask: int) -> frozenset[int]:
    """Return the indexes of the bits that are set; cached, since all checks of one build ask for the same."""
    return frozenset(bits(mask))


@lru_cache(maxsize=64)
def mask_of_items(items: frozenset[int]) -> int:
    """Return the mask of a subset; cached like ``items_of``."""
    return mask_of(items)


def mask_of(indexes: Iterable[int]) -> int:
    """Return the mask with these bits set."""
    mask = 0
    for index in indexes:
        mask |= 1 << index
    return mask
