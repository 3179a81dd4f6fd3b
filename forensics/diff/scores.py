"""Suspicion from counts: in how many bad builds something was seen, and in how many good ones, alone and in pairs.

Nothing is ever struck out: what was seen in a good build is less suspicious, not innocent. It may need something else
to do harm, which is what pairs are for.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Collection, Hashable, Mapping, Sequence

_MOST_ITEMS = 3_000
"""Items that are paired with each other: those in most bad builds. Their pairs take some tens of megabytes."""

MOST_PAIRS = 20


class Counts(NamedTuple):
    """In how many of the builds that tell, on either side, something was seen."""

    good: int
    of_good: int
    bad: int
    of_bad: int

    @property
    def suspicion(self) -> float:
        """How much more it goes with bad builds: share of bad ones, times share of good ones without it.

        Both shares are estimates with half a build added to either outcome, so that one build a side gives 0.56 and
        twenty give 0.95: more builds are better evidence.
        """
        bad = (self.bad + 0.5) / (self.of_bad + 1)
        good = (self.good + 0.5) / (self.of_good + 1)
        return bad * (1 - good)


def count(seen: Collection[int], told: Collection[int], goods: int) -> Counts:
    """Count builds by number; those below ``goods`` are good. ``told`` are the builds that could have shown it."""
    good = sum(number < goods for number in seen)
    of_good = sum(number < goods for number in told)
    return Counts(good, of_good, len(seen) - good, len(told) - of_good)


def worst(values: Mapping[int, Hashable], goods: int) -> Counts | None:
    """Return the counts of the most suspicious value of the bad side, given each build's value.

    None where both sides have the same values in the same shares, or one side tells none: that is no difference.
    """
    seen: dict[Hashable, list[int]] = defaultdict(list)
    for build, value in values.items():
        seen[value].append(build)
    counts = [count(builds, values, goods) for builds in seen.values()]
    if not counts or not counts[0].of_good or not counts[0].of_bad:
        return None
    if all(one.good * one.of_bad == one.bad * one.of_good for one in counts):
        return None
    return max((one for one in counts if one.bad), key=lambda one: (one.suspicion, one.bad))


class ValueOccurrence(NamedTuple):
    """What one slot is in some builds. ``slot`` is any number that its items have in common."""

    slot: int
    seen: frozenset[int]


class OccurrencePair(NamedTuple):
    """Two items, by their index, that were seen together in bad builds only, although each is in some good one."""

    first: int
    second: int
    counts: Counts


class RankedPairs(NamedTuple):
    """The most suspicious pairs; ``others`` counts those beyond that are just as suspicious as the last of them."""

    found: tuple[OccurrencePair, ...]
    others: int


def suspicious_pairs(items: Sequence[ValueOccurrence], goods: int, bads: int) -> RankedPairs:
    """Find pairs of items that were seen together in bad builds only, and explain more bad builds than either alone.

    An item that no good build has is suspicious by itself and makes no pair. ``goods`` and ``bads`` count the builds.
    """
    import numpy as np  # noqa: PLC0415 - not for two files, which have no pairs

    bad_count = [sum(number >= goods for number in item.seen) for item in items]
    usable = [n for n, item in enumerate(items) if 0 < bad_count[n] < len(item.seen) and len(item.seen) < goods + bads]
    usable = sorted(usable, key=lambda n: (-bad_count[n], n))[:_MOST_ITEMS]
    if len(usable) <= 1 or not goods or not bads:
        return RankedPairs((), 0)
    matrix = np.zeros((len(usable), goods + bads), np.float32)
    for row, n in enumerate(usable):
        matrix[row, list(items[n].seen)] = 1
    good, bad = matrix[:, :goods], matrix[:, goods:]
    together_good, together_bad = good @ good.T, bad @ bad.T
    slots = np.array([items[n].slot for n in usable])
    alone = np.array([count(items[n].seen, range(goods + bads), goods).suspicion for n in usable], np.float32)
    paired = (together_bad + 0.5) / (bads + 1) * (1 - 0.5 / (goods + 1))
    wanted = (together_good == 0) & (together_bad > 0) & (slots[:, None] != slots[None, :])
    wanted &= paired > np.maximum(alone[:, None], alone[None, :])
    first, second = np.nonzero(np.triu(wanted, 1))
    order = np.lexsort((second, first, -(alone[first] + alone[second]), -paired[first, second]))
    best = order[:MOST_PAIRS]
    limit = paired[first[best[-1]], second[best[-1]]] if len(best) == MOST_PAIRS else None
    others = int(np.sum(paired[first, second] >= limit)) - MOST_PAIRS if limit is not None else 0
    found = [
        OccurrencePair(usable[a], usable[b], Counts(0, goods, int(together_bad[a, b]), bads))
        for a, b in zip(first[best].tolist(), second[best].tolist(), strict=True)
    ]
    return RankedPairs(tuple(found), max(others, 0))
