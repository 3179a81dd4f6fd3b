"""The verdicts of all subsets so far, in the order in which they came, and what follows from them."""

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, reduce
from itertools import count, takewhile
from operator import or_
from typing import TypeVar

from trtforensics.bisection.search.model import Ask, Verdict

_T = TypeVar("_T")
Wishes = tuple["Wish", ...]
"""Probes that a step can use, the most urgent first; none: it waits for those under way."""
Steps = Generator[Wishes, None, _T]
"""A part of the search: whenever it is resumed, it looks at the ledger and yields the probes it wants."""


class FlakyError(Exception):
    """One subset had two verdicts, although outcomes are taken as exact."""

    def __init__(self, mask: int, first: Verdict, second: Verdict) -> None:
        size = mask.bit_count()
        super().__init__(f"one mix ({size} items from bad) was {first} and, built again, {second}: this looks flaky")
        self.mask = mask


@dataclass(frozen=True, slots=True)
class Wish:
    """A probe that would help: a subset as a bit mask, which build and check of it, and what for."""

    mask: int
    purpose: str
    build: int = 0
    check: int = 0

    @property
    def key(self) -> tuple[int, int, int]:
        """What identifies the probe."""
        return self.mask, self.build, self.check

    def ask(self) -> Ask:
        """Return the probe as an ask."""
        return Ask(items_of(self.mask), self.build, self.check, self.purpose)


class Ledger:
    """Verdicts by subset, and the probes asked for and under way.

    ``room`` is how many more probes the caller can start, ``most_room`` the most it ever was. ``log`` has the verdicts
    in the order in which they came. ``contradiction`` is the first pair of a bad subset and a good one that holds it,
    or None while outcomes look monotone. ``rebuilds`` are further builds of a subset, besides ``builds``.
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
        self._verdicts: dict[tuple[int, int, int], Verdict] = {}

    def start(self, wish: Wish) -> None:
        """Note that a probe is under way; a further check of a build is no build."""
        self.builds += wish.check == wish.build == 0
        self.rebuilds += wish.check == 0 < wish.build
        self.asked[wish.key] = wish
        self.pending.add(wish.key)

    def evidence(self, roles: Mapping[int, str]) -> tuple[Ask, ...]:
        """Return the probes of some subsets, each with what it shows as its purpose."""
        wishes = (wish for wish in self.asked.values() if wish.mask in roles)
        return tuple(replace(wish, purpose=roles[wish.mask]).ask() for wish in wishes)

    def seen(self, mask: int) -> Verdict | None:
        """Return the subset's own verdict, or None while there is none."""
        return self._verdicts.get((mask, 0, 0))

    def told(self, wish: Wish) -> Verdict | None:
        """Return a probe's verdict: of a first build, its subset's; None while there is none."""
        return self._verdicts.get(wish.key)

    def looks(self, mask: int) -> list[Verdict]:
        """Return the verdicts of a subset's builds, in the order of their numbers."""
        verdicts = (self.told(Wish(mask, "", build)) for build in count())
        return [verdict for verdict in takewhile(lambda verdict: verdict is not None, verdicts) if verdict]

    def tell(self, wish: Wish, verdict: Verdict) -> None:
        """Record a probe's verdict, for outcomes that count as they are."""
        if wish.build or wish.check:
            self._verdicts[wish.key] = verdict
        else:
            self.record(wish.mask, verdict)

    def record(self, mask: int, verdict: Verdict) -> None:
        """Record a subset's verdict; the first one stands."""
        if self.seen(mask) is None:
            self._verdicts[mask, 0, 0] = verdict
            self.contradiction = self.contradiction or self._contradicted(mask, verdict)
            self.log.append((mask, verdict))

    def _contradicted(self, mask: int, verdict: Verdict) -> tuple[int, int] | None:
        for other, known in self.log:
            if verdict is Verdict.GOOD and known is Verdict.BAD and not other & ~mask:
                return other, mask
            if verdict is Verdict.BAD and known is Verdict.GOOD and not mask & ~other:
                return mask, other
        return None

    def implied(self, mask: int) -> Verdict | None:
        """Return what follows for a subset if more bad items never make good: from itself, a superset or a subset."""
        for other, verdict in self.log:
            if verdict is Verdict.GOOD and not mask & ~other:
                return Verdict.GOOD
            if verdict is Verdict.BAD and not other & ~mask:
                return Verdict.BAD
        return None

    def first(self, wishes: Wishes, decider: Verdict, ahead: Wishes = ()) -> Steps[Wish | None]:
        """Wait for the first probe with the deciding verdict; None: none has it. ``ahead`` run where there is room."""
        while open_wishes := self._open(wishes, decider):
            yield (*open_wishes, *ahead)
        return next((wish for wish in wishes if self.told(wish) is decider), None)

    def _open(self, wishes: Wishes, decider: Verdict) -> Wishes:
        """Return the probes without a verdict before the first one with the deciding verdict."""
        verdicts = [self.told(wish) for wish in wishes]
        end = verdicts.index(decider) if decider in verdicts else len(verdicts)
        return tuple(wish for wish, verdict in zip(wishes[:end], verdicts[:end], strict=True) if verdict is None)

    def confirm(self, masks: Sequence[int], purpose: str) -> Steps[bool]:
        """Build settled subsets once more; return whether each verdict came again; a FlakyError where another came."""
        wishes = tuple(Wish(mask, purpose, build=1) for mask in masks)
        while True:
            verdicts = [self.told(wish) for wish in wishes]
            for mask, second in zip(masks, verdicts, strict=True):
                first = self.seen(mask)
                if first and second and second is not Verdict.UNRESOLVED and second is not first:
                    raise FlakyError(mask, first, second)
            missing = tuple(wish for wish in wishes if self.told(wish) is None)
            if not missing:
                return Verdict.UNRESOLVED not in verdicts
            yield missing

    def whole(self, wishes: Wishes) -> Steps[list[Verdict]]:
        """Wait for the verdicts of all probes; return them in the given order."""
        while missing := tuple(wish for wish in wishes if self.told(wish) is None):
            yield missing
        return [verdict for wish in wishes if (verdict := self.told(wish)) is not None]


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


def neighbours(mask: int) -> list[int]:
    """Return a subset without each of its items in turn."""
    return [mask & ~(1 << item) for item in bits(mask)]


@lru_cache(maxsize=64)
def items_of(mask: int) -> frozenset[int]:
    """Return the indexes of the bits that are set; cached, since all checks of one build ask for the same."""
    return frozenset(bits(mask))


@lru_cache(maxsize=64)
def mask_of_items(items: frozenset[int]) -> int:
    """Return the mask of a subset; cached like ``items_of``."""
    return mask_of(items)


def union(masks: Iterable[int]) -> int:
    """Return the subset that holds some subsets, which may overlap."""
    return reduce(or_, masks, 0)


def mask_of(indexes: Iterable[int]) -> int:
    """Return the mask with these bits set."""
    return union(1 << index for index in indexes)
