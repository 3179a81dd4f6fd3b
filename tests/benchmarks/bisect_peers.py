"""What other tools would build, written from the published descriptions of their algorithms; ddmin is picire's own.

Each gets the same oracle, which builds a subset once however often it is asked for, and the same certificate at the
end: each set alone, and everything else. Finders of one set are run again on what is left until that is good.
"""

from __future__ import annotations

import hashlib
import logging
from typing import TYPE_CHECKING

import picire

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.benchmarks.bisect_oracles import Builds, Sets

    Items = list[int]
    OneSet = Callable[[Builds, Items], Items]

logging.getLogger("picire").setLevel(logging.ERROR)
_HASH_BITS = 64


class AssumptionError(Exception):
    """The tool stops: what it assumes of the culprits does not hold."""


def repeated(find: OneSet) -> Callable[[Builds], Sets]:
    """Make a finder of all sets of a finder of one."""

    def all_sets(builds: Builds) -> Sets:
        rest = list(range(builds.items))
        found: list[frozenset[int]] = []
        builds.bad([])
        while builds.bad(rest):
            found.append(frozenset(find(builds, rest)))
            builds.bad(found[-1])
            rest = [item for item in rest if item not in found[-1]]
        return tuple(found)

    return all_sets


def ddmin(builds: Builds, items: Items) -> Items:
    """Reduce with picire's ddmin, as it comes."""

    def test(config: Items, _: object) -> picire.Outcome:
        return picire.Outcome.FAIL if builds.bad(config) else picire.Outcome.PASS

    reduced: Items = picire.DD(test)(items)
    return reduced


def quickxplain(builds: Builds, items: Items) -> Items:
    """Find one minimal set by divide and conquer (Junker, 2004)."""

    def explain(background: Items, added: Items, items: Items) -> Items:
        if added and builds.bad(background):
            return []
        if len(items) == 1:
            return items
        first, second = items[: len(items) // 2], items[len(items) // 2 :]
        of_second = explain(background + first, first, second)
        return explain(background + of_second, of_second, first) + of_second

    return explain([], [], items)


def go_bisect(builds: Builds, items: Items) -> Items:
    """Find one minimal set as golang.org/x/tools/cmd/bisect does, at one run a trial.

    Items are split by the next bit of their hash. A half that is bad by itself is searched; if neither is, one half is
    held on while the other is searched, and what was found there is held on for the first.
    """

    def search(held: Items, items: Items, bit: int) -> Items:
        if len(items) == 1:
            return items
        halves: tuple[Items, Items] = ([], [])
        for item in items:
            halves[_hash_bit(item, bit)].append(item)
        if not all(halves):
            return search(held, items, bit + 1)
        for half in halves:
            if builds.bad(held + half):
                return search(held, half, bit + 1)
        first = search(held + halves[1], halves[0], bit + 1)
        return first + search(held + first, halves[1], bit + 1)

    return search([], items, 0)


def _hash_bit(item: int, bit: int) -> int:
    digest = int.from_bytes(hashlib.sha256(str(item).encode()).digest()[:8], "big")
    return digest >> (bit % _HASH_BITS) & 1


def flit(builds: Builds) -> Sets:
    """Find all culprits as FLiT's bisect does, which assumes that each is bad by itself.

    Halves seen to be good are dropped for the searches to come, and what is left is built before each of them. Of its
    two closing assertions the one that is our certificate too is made.

    Raises:
        AssumptionError: Where FLiT's assertions stop it.
    """
    builds.bad([])
    left = list(range(builds.items))
    found: list[frozenset[int]] = []
    while left and builds.bad(left):
        open_items = left
        while len(open_items) > 1:
            half = open_items[: len(open_items) // 2]
            if builds.bad(half):
                open_items = half
            else:
                left = left[len(half) :]
                open_items = open_items[len(half) :]
        culprit = left.pop(0)
        if not builds.bad([culprit]):
            raise AssumptionError
        found.append(frozenset({culprit}))
    if builds.bad(set(range(builds.items)).difference(*found)):
        raise AssumptionError
    return tuple(found)


PEERS: dict[str, Callable[[Builds], Sets]] = {
    "picire ddmin": repeated(ddmin),
    "QuickXplain": repeated(quickxplain),
    "FLiT": flit,
    "Go bisect": repeated(go_bisect),
}
