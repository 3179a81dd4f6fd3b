"""What a comparison says: differences, pairs, and what was compared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from trtforensics.diff.alignment import MatchedBy
    from trtforensics.diff.loading import ComparedSide
    from trtforensics.diff.scores import Counts
    from trtforensics.diff.views import LayerView
    from trtforensics.model.span import SourceSpan


class DifferenceType(StrEnum):
    """What differs, in the order of the report: what comes first may be the cause of what follows."""

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
    """One value on one side: ``text`` for people, ``layer`` one that has it, ``spans`` where each build states it.

    ``count`` is the number of builds of the side; ``layer`` is None where a log's fusion lines or an absence are meant.
    """

    text: str
    count: int
    spans: tuple[SourceSpan, ...]
    layer: LayerView | None = None
    layers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference. ``suspicion`` is that of the most suspicious value of the bad side, with its ``counts``.

    ``parts`` are the network layers and ONNX nodes it is about; ``position`` orders differences as the layers stand in
    the builds. ``regroups``: members are fused otherwise; a fusion row without it is a layer under another name, from
    which nothing follows. ``cause`` is the index of the difference that this one follows from, or None.
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
    """One half of a pair: the layer, and the value that is suspicious."""

    layer: str
    text: str
    span: SourceSpan | None
    counts: Counts


@dataclass(frozen=True, slots=True)
class SuspiciousPair:
    """Two values that were seen together in bad builds only, each also in a good one."""

    halves: tuple[PairHalf, PairHalf]
    counts: Counts

    @property
    def suspicion(self) -> float:
        """From 0 to 1, as that of a difference."""
        return self.counts.suspicion


@dataclass(frozen=True, slots=True)
class Comparison:
    """The whole answer. ``differences`` are most suspicious first, each followed by what follows from it.

    ``matched`` counts aligned layers by how they were matched; ``other_pairs`` pairs as suspicious as the last listed.
    ``notes`` say what could not be compared.
    """

    good: ComparedSide
    bad: ComparedSide
    differences: tuple[Difference, ...]
    pairs: tuple[SuspiciousPair, ...]
    other_pairs: int
    matched: Mapping[MatchedBy, int]
    notes: tuple[str, ...]

    def summary(self) -> dict[str, int]:
        """Count the differences of each type."""
        return {type_.value: sum(one.type is type_ for one in self.differences) for type_ in DifferenceType}
