"""The result of a comparison: the differences, the suspicious pairs, and the two sides that were compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from operator import attrgetter
from typing import Any

from trtforensics.comparison.alignment import MatchedBy
from trtforensics.comparison.loading import ComparedSide
from trtforensics.comparison.scores import Counts, SuspiciousPair
from trtforensics.comparison.times import TimeComparison
from trtforensics.comparison.views import LayerView
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
        """From 0 to 1; see :meth:`trtforensics.comparison.scores.Counts.suspicion`."""
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
    words = [runner, tactic_text(layer.tactic), layer.kernel, f"({sums})" if sums else ""]
    if layer.tactic is not None and tactic_text(layer.tactic) is None:
        words[1] = "no tactic"
    return " ".join(word for word in words if word)
