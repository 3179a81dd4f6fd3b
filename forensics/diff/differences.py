"""The result of a comparison: the differences, the suspicious pairs, and the two sides that were compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.older_python import StrEnum

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.diff.builds.alignment import MatchedBy
    from trtforensics.diff.builds.views import LayerView
    from trtforensics.diff.loading import ComparedSide
    from trtforensics.diff.scores import Counts
    from trtforensics.diff.times.comparing import TimeComparison
    from trtforensics.model.span import SourceSpan


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

    @property
    def suspicion(self) -> float:
        """From 0 to 1; see :meth:`trtforensics.diff.scores.Counts.suspicion`."""
        return self.counts.suspicion


@dataclass(frozen=True, slots=True)
class PairHalf:
    """One half of a suspicious pair: a layer and its value."""

    layer: str
    text: str
    span: SourceSpan | None
    counts: Counts


@dataclass(frozen=True, slots=True)
class SuspiciousPair:
    """Two values that only bad builds have together, although some good build has each of them."""

    halves: tuple[PairHalf, PairHalf]
    counts: Counts

    @property
    def suspicion(self) -> float:
        """From 0 to 1, as that of a difference."""
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

    def without_rows(self) -> str:
        """Say what it means that there are no differences."""
        if any(self.matched.values()):
            return "no difference found"
        return "nothing could be compared: no layer of one side was found on the other"

    def summary(self) -> dict[str, int]:
        """Count the differences of each type."""
        return {type_.value: sum(one.type is type_ for one in self.differences) for type_ in DifferenceType}
