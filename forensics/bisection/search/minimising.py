"""The minimiser: makes a set of units that shows something smaller, as long as what is left still shows it.

A strategy proposes what to leave out next, a trial finds out which proposal will do. Both are handed in: strategies
know no probes, and trials know what a subset is built of, and which verdict will do. Units are bit masks.
"""

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from trtforensics.bisection.search.ledger import Steps, union


@dataclass(frozen=True, slots=True)
class Proposals:
    """Subsets by preference, those wanted ``ahead``, and about how many probes are ``left`` (0: one for each)."""

    subsets: Sequence[int]
    ahead: Sequence[int] = ()
    left: int = 0


Strategy = Generator[Proposals, int | None, list[int]]
"""Yields proposals; is sent the subset left after them, None if no proposal will do; returns the units left."""
Trial = Callable[[Proposals], "Steps[int | None]"]
"""Returns the first proposal that will do, or a part of it that will do too; None: none will."""

_HALVES = 2
_STREAK = 2
"""So many groups in a row must go before the next one is larger."""


def minimised(strategy: Strategy, trial: Trial) -> Steps[list[int]]:
    """Return the units that are left when the strategy proposes nothing any more."""
    smaller = None
    while True:
        try:
            proposals = strategy.send(smaller)
        except StopIteration as stop:
            units: list[int] = stop.value
            return units
        smaller = yield from trial(proposals)


def delta_debugging(units: Sequence[int], patience: int | None = None) -> Strategy:
    """Propose shares, halves first, and what is left without them; at the end no unit can be left out alone.

    It also ends after ``patience`` subsets in a row that will not do (``ddmin``, Zeller and Hildebrandt, 2002).
    """
    left, shares, tried = list(units), _HALVES, 0
    while len(left) > 1 and (patience is None or tried < patience):
        subsets = _shares(left, shares)
        smaller = yield Proposals(subsets)
        tried += len(subsets)
        if smaller is not None:
            is_share = subsets.index(smaller) < shares
            left, tried = [unit for unit in left if unit & smaller], 0
            shares = _HALVES if is_share else max(shares - 1, _HALVES)
        elif shares == len(left):
            break
        else:
            shares = min(2 * shares, len(left))
    return left


def _shares(units: Sequence[int], count: int) -> list[int]:
    """Return equal shares, then what each of them leaves; of two shares, each is what the other leaves."""
    bounds = [len(units) * share // count for share in range(count + 1)]
    shares = [sum(units[start:stop]) for start, stop in pairwise(bounds)]
    whole = sum(units)
    return shares if count == _HALVES else [*shares, *(whole & ~share for share in shares)]


def chunk_deletion(units: Sequence[int], cut: Callable[[int], int] | None = None) -> Strategy:
    """Propose what is left without each chunk in turn, of half the size each pass, down to single units.

    ``cut`` returns what stays of a subset from which a chunk of several units was taken, without what that cuts off;
    then single units are tried until a pass leaves out none of them, otherwise once.
    """
    kept, size = list(units), max(1, len(units) // 2)
    left = sum(kept)
    while len(kept) > 1 or cut is None:
        before = left
        chunks = [sum(kept[start : start + size]) for start in range(0, len(kept), size)]
        trim = cut if cut is not None and size > 1 else int
        for place, chunk in enumerate(chunks):
            following = [trim(left & ~each) for each in chunks[place + 1 : place + 2]]
            smaller = yield Proposals([trim(left & ~chunk)], following)
            left = left if smaller is None else smaller
        kept = [unit for unit in kept if unit & left]
        if size == 1 and (left == before or cut is None):
            break
        size = max(1, min(size, len(kept)) // 2)
    return kept


def growing_groups(units: Sequence[int], first: int, room: Callable[[], int], patience: int | None = None) -> Strategy:
    """Propose what is left without the next group: it grows while groups go and is halved where one cannot go.

    Units may overlap. Those likeliest to go come first; ``first`` of them are tried together. Where most are needed,
    groups have one unit, and each that cannot go is a part of the proof. After ``patience`` units that cannot go the
    others stay untried. ``room`` says how many probes can run at once.
    """
    kept, place, size, streak, gone = list(units), 0, max(1, first), 0, 0
    while place < len(kept) and place != patience:
        ahead = range(place + 1, min(place + room(), len(kept))) if size == 1 and not streak else ()
        following = [_union_without(kept, each, 1) for each in ahead]
        smaller = yield Proposals([_union_without(kept, place, size)], following, len(kept) - place)
        count = len(kept[place : place + size])
        if smaller is not None:
            del kept[place : place + size]
            gone, streak = gone + count, streak + 1
            size *= 2 if streak >= _STREAK else 1
        elif count > 1:
            size, streak = (count + 1) // 2, 0
        else:
            place, streak = place + 1, 0
            size = max(1, gone // (2 * place))
    return kept


def _union_without(units: Sequence[int], place: int, size: int) -> int:
    return union((*units[:place], *units[place + size :]))


def leaving_one_out(units: Sequence[int]) -> Strategy:
    """Propose what is left without each unit, until none can be left out."""
    left = list(units)
    while True:
        whole = sum(left)
        smaller = yield Proposals([whole & ~unit for unit in left])
        if smaller is None:
            return left
        left = [unit for unit in left if unit & smaller]
