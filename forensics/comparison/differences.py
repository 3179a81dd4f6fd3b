"""The result of a comparison: the differences, suspicious pairs, suspicion from counts, and the two sides."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

from trtforensics.comparison.alignment import MatchedBy
from trtforensics.comparison.loading import ComparedSide
from trtforensics.comparison.times import TimeComparison
from trtforensics.comparison.views import LayerView
from trtforensics.console.counting import grouped
from trtforensics.model.older_python import StrEnum
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.notation.kernels import read_kernel
from trtforensics.render.names import shortened
from trtforensics.sources.kinds import Kind

_NAME = 120
"""Characters of a layer's name in a ``repr``."""


class DifferenceType(StrEnum):
    """What differs, in the order of the report: an earlier type may be the cause of a later one."""

    FUSION = "fusion"
    PRECISION = "precision"
    FORMAT = "format"
    TACTIC = "tactic"
    MISSING = "missing"
    ADDED = "added"

    @property
    def rank(self) -> int:
        """Its place in the report."""
        return list(DifferenceType).index(self)


@dataclass(frozen=True, slots=True)
class SideValue:
    """A value that builds of one side have.

    ``text`` shows the value, ``count`` is how many builds have it, ``spans`` are the lines that state it. ``layer`` is
    a layer with the value; None for a log's fusion lines and for an absent layer.
    """

    text: str
    count: int
    spans: tuple[SourceSpan, ...]
    layer: LayerView | None = None
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """A difference between the sides; ``counts`` are those of the most suspicious value of the bad side.

    ``parts`` are the network layers and ONNX nodes concerned; ``position`` orders differences as the layers stand in
    the builds. ``regroups``: members are fused otherwise; a fusion difference without it is a layer under another name,
    from which no other difference follows. ``cause`` is the index of the difference that this one follows from.
    """

    type: DifferenceType
    layer: str
    matched_by: MatchedBy
    good: tuple[SideValue, ...]
    bad: tuple[SideValue, ...]
    counts: Counts
    why: tuple[str, ...]
    position: float
    parts: frozenset[str]
    regroups: bool = False
    cause: int | None = None

    def __repr__(self) -> str:
        return f"<{self.type} of {shortened(self.layer, _NAME)}, suspicion {self.suspicion:.2f}>"

    @property
    def suspicion(self) -> float:
        """From 0 to 1; see :meth:`trtforensics.comparison.differences.Counts.suspicion`."""
        return self.counts.suspicion


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole result. ``differences`` are most suspicious first, each followed by its effects.

    ``matched`` counts aligned layers by how they were matched; ``other_pairs`` counts unlisted pairs that are as
    suspicious as the last listed pair. ``notes`` say what could not be compared. ``unrelated`` is a sentence where the
    sides have so few layers in common that they may be builds of two models, else empty.
    """

    good: ComparedSide
    bad: ComparedSide
    differences: tuple[Difference, ...]
    pairs: tuple[SuspiciousPair, ...]
    other_pairs: int
    matched: Mapping[MatchedBy, int]
    notes: tuple[str, ...]
    times: TimeComparison
    unrelated: str = ""

    def __repr__(self) -> str:
        counts = ", ".join(f"{count} {word}" for word, count in self.summary().items() if count)
        return f"<comparison of {sum(self.matched.values()):,} aligned layers: {counts or self.without_rows()}>"

    def without_rows(self) -> str:
        """Explain an empty list of differences."""
        if any(self.matched.values()):
            return "no difference found"
        return "nothing could be compared: no layer of one side was found on the other"

    def summary(self) -> dict[str, int]:
        """Count the differences of each type."""
        return {type_.value: sum(row.type is type_ for row in self.differences) for type_ in DifferenceType}


Value = tuple[Any, ...]

_READERS: dict[DifferenceType, Callable[[LayerView], Value]] = {
    DifferenceType.PRECISION: lambda layer: (layer.tensors.types,),
    DifferenceType.FORMAT: attrgetter(
        *(f"tensors.{field}" for field in ("strides", "packing", "packed_dim", "layout", "enumerator"))
    ),
    DifferenceType.TACTIC: attrgetter("runner_id", "runner", "tactic", "kernel"),
}
ASPECTS = tuple(_READERS)


def aspect_values(
    aspect: DifferenceType, layers: Mapping[int, LayerView], kinds: Mapping[int, Kind]
) -> dict[int, Value]:
    """Return an aspect's value by build, without builds that do not state it; empty where no field is common."""
    read = _READERS[aspect]
    stated = {build: row for build, layer in layers.items() if set(row := read(layer)) != {None}}
    common = [n for n, column in enumerate(zip(*stated.values(), strict=True)) if None not in column]
    if not common or (aspect is not DifferenceType.TACTIC and _unlike(layers, stated, kinds)):
        return {}
    return {build: tuple(row[n] for n in common) for build, row in stated.items()}


def _unlike(layers: Mapping[int, LayerView], stated: Mapping[int, object], kinds: Mapping[int, Kind]) -> bool:
    """Whether sources of different kinds list different numbers of tensors, which cannot be compared."""
    if len({kinds[build] for build in stated}) <= 1:
        return False
    return len({(layers[build].tensors.inputs, len(layers[build].tensors.texts)) for build in stated}) > 1


def aspect_text(aspect: DifferenceType, layer: LayerView) -> str:
    """Return an aspect of a layer as text for people."""
    if aspect is DifferenceType.PRECISION:
        return layer.types_text
    if aspect is DifferenceType.FORMAT:
        return layer.arrow(layer.tensors.texts)
    runner = layer.runner or (f"0x{layer.runner_id:08x}" if layer.runner_id else "")
    sums = read_kernel(layer.kernel).sum_text if layer.kernel else ""
    tactic = tactic_text(layer.tactic) or ("no tactic" if layer.tactic is not None else "")
    words = [runner, tactic, layer.kernel, f"({sums})" if sums else ""]
    return " ".join(word for word in words if word)


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
    """Return the counts of bad's most suspicious value; None where sides share all values or one of them has none."""
    counts = [count(builds, values, goods) for builds in grouped(values, values.__getitem__).values()]
    if not counts or not counts[0].of_good or not counts[0].of_bad:
        return None
    if all(tally.good * tally.of_bad == tally.bad * tally.of_good for tally in counts):
        return None
    return max((tally for tally in counts if tally.bad), key=lambda tally: (tally.suspicion, tally.bad))


class ValueOccurrence(NamedTuple):
    """A value of a layer, which has a number and a name, and the builds that have it; ``span`` is a line of one."""

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
