"""Suspicion from counts: how many bad builds and how many good builds have a value, alone or together with another.

A value that a good build has is less suspicious, not innocent: it may do harm only together with another value. Pairs
show that.
"""

from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import NamedTuple

from trtforensics.console.counting import grouped
from trtforensics.model.span import SourceSpan

_MOST_VALUES = 3_000
"""Values that are paired with each other: those in most bad builds. Their pairs take some tens of megabytes."""

MOST_PAIRS = 20


class Counts(NamedTuple):
    """How many builds of each side have a value; ``of_good`` and ``of_bad`` count those that could show it."""

    good: int
    of_good: int
    bad: int
    of_bad: int

    @property
    def suspicion(self) -> float:
        """How typical the value is of bad builds: the share of them with it, times that of good builds without it.

        Both shares are estimates with half a build added to either outcome, so that one build a side gives 0.56 and
        twenty give 0.95: more builds are better evidence.
        """
        bad = (self.bad + 0.5) / (self.of_bad + 1)
        good = (self.good + 0.5) / (self.of_good + 1)
        return bad * (1 - good)


def count(builds: Collection[int], observable: Collection[int], goods: int) -> Counts:
    """Count builds by number; those below ``goods`` are good. ``observable``: the builds that could show the value."""
    good = sum(number < goods for number in builds)
    of_good = sum(number < goods for number in observable)
    return Counts(good, of_good, len(builds) - good, len(observable) - of_good)


def worst(values: Mapping[int, Hashable], goods: int) -> Counts | None:
    """Return the counts of the most suspicious value of the bad side, given each build's value.

    None is no difference: both sides have the same values in the same shares, or one side shows no value.
    """
    counts = [count(builds, values, goods) for builds in grouped(values, values.__getitem__).values()]
    if not counts or not counts[0].of_good or not counts[0].of_bad:
        return None
    if all(tally.good * tally.of_bad == tally.bad * tally.of_good for tally in counts):
        return None
    return max((tally for tally in counts if tally.bad), key=lambda tally: (tally.suspicion, tally.bad))


class ValueOccurrence(NamedTuple):
    """A value of a layer, and the builds that have it; ``layer`` is a number that all values of the layer share.

    ``name`` is the layer's, ``text`` the value for people, ``span`` where one of the builds states it.
    """

    layer: int
    builds: frozenset[int]
    name: str = ""
    text: str = ""
    span: SourceSpan | None = None


class PairHalf(NamedTuple):
    """One half of a suspicious pair: a layer and its value."""

    layer: str
    text: str
    span: SourceSpan | None
    counts: Counts


class SuspiciousPair(NamedTuple):
    """Two values that only bad builds have together, although some good build has each of them."""

    halves: tuple[PairHalf, PairHalf]
    counts: Counts

    @property
    def suspicion(self) -> float:
        """From 0 to 1, as that of a difference."""
        return self.counts.suspicion


def suspicious_pairs(
    values: Sequence[ValueOccurrence], goods: int, bads: int
) -> tuple[tuple[SuspiciousPair, ...], int]:
    """Find pairs of values that only bad builds have together, and that explain more bad builds than either alone.

    A value that no good build has is suspicious alone and makes no pair. ``goods`` and ``bads`` count the builds.
    Return the most suspicious pairs, and how many others are as suspicious as the last.
    """
    import numpy as np  # noqa: PLC0415 - not for two files, which have no pairs

    bad_count = [sum(number >= goods for number in value.builds) for value in values]
    every = goods + bads
    usable = [n for n, value in enumerate(values) if 0 < bad_count[n] < len(value.builds) and len(value.builds) < every]
    usable = sorted(usable, key=lambda n: (-bad_count[n], n))[:_MOST_VALUES]
    if len(usable) <= 1 or not goods or not bads:
        return (), 0
    matrix = np.zeros((len(usable), goods + bads), np.float32)
    for row, n in enumerate(usable):
        matrix[row, list(values[n].builds)] = 1
    good, bad = matrix[:, :goods], matrix[:, goods:]
    together_good, together_bad = good @ good.T, bad @ bad.T
    layers = np.array([values[n].layer for n in usable])
    alone = np.array([count(values[n].builds, range(goods + bads), goods).suspicion for n in usable], np.float32)
    paired = (together_bad + 0.5) / (bads + 1) * (1 - 0.5 / (goods + 1))
    wanted = (together_good == 0) & (together_bad > 0) & (layers[:, None] != layers[None, :])
    wanted &= paired > np.maximum(alone[:, None], alone[None, :])
    first, second = np.nonzero(np.triu(wanted, 1))
    order = np.lexsort((second, first, -(alone[first] + alone[second]), -paired[first, second]))
    best = order[:MOST_PAIRS]
    limit = paired[first[best[-1]], second[best[-1]]] if len(best) == MOST_PAIRS else None
    others = int(np.sum(paired[first, second] >= limit)) - MOST_PAIRS if limit is not None else 0

    def half(row: int) -> PairHalf:
        value = values[usable[row]]
        return PairHalf(value.name, value.text, value.span, count(value.builds, range(every), goods))

    pairs = (
        SuspiciousPair((half(a), half(b)), Counts(0, goods, int(together_bad[a, b]), bads))
        for a, b in zip(first[best].tolist(), second[best].tolist(), strict=True)
    )
    return tuple(pairs), max(others, 0)
