"""The questions that one asks of an engine's layers: saved filters, each with the number of layers that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.model.times import NO_KERNEL
from trtforensics.tui.rows.layers.entries import UNKNOWN, LayerEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

_FULL = frozenset({"Float", "FP32", "TF32"})
_REDUCED = frozenset({"Half", "BFloat16", "FP8"})
_MOST_OF_THE_TIME = 0.8


@dataclass(frozen=True, slots=True)
class Question:
    """A saved filter: its title, and the layers that it keeps, by ``id``."""

    title: str
    kept: frozenset[int]

    def keeps(self, entry: LayerEntry) -> bool:
        """Whether a layer answers the question."""
        return id(entry) in self.kept


def questions(entries: Sequence[LayerEntry], asked: Iterable[str], tie: float) -> tuple[Question, ...]:
    """Return the questions that make sense of a build, with the layers that answer each.

    ``asked`` are the reduced types that the build options allow; ``tie`` is the ratio up to which a runner-up counts as
    a near tie.
    """
    named: list[tuple[str, Callable[[LayerEntry], bool]]] = []
    reduced = [kind for kind in asked if kind in _REDUCED]
    if reduced:
        words = {"Half": "FP16", "BFloat16": "BF16", "FP8": "FP8"}
        named.append((f"FP32 though {words[reduced[0]]} asked", lambda entry: entry.asked_type in _FULL))
    slow = _slowest(entries)
    named += [
        ("near ties", lambda entry: entry.margin is not None and entry.margin <= tie),
        ("no time", lambda entry: entry.time_ms is None and entry.kind not in NO_KERNEL),
        ("ForeignNodes", lambda entry: entry.foreign or bool(entry.inside)),
        ("reformats", lambda entry: entry.reformat),
        (f"slowest {_MOST_OF_THE_TIME:.0%}".replace("%", " %"), lambda entry: id(entry) in slow),
        ("inputs INT8, output Float", _dequantises),
        ("compute ?", lambda entry: entry.layer is not None and entry.compute == UNKNOWN),
    ]
    return tuple(Question(title, frozenset(id(entry) for entry in entries if test(entry))) for title, test in named)


def _dequantises(entry: LayerEntry) -> bool:
    return "Int8" in entry.input_types and "Float" in entry.output_types


def _slowest(entries: Iterable[LayerEntry]) -> frozenset[int]:
    """Return the fewest layers that take together at least 80 % of the time that layers have."""
    timed = sorted((entry for entry in entries if entry.time_ms), key=lambda entry: -(entry.time_ms or 0.0))
    limit = sum(entry.time_ms or 0.0 for entry in timed) * _MOST_OF_THE_TIME
    kept, sum_ms = set(), 0.0
    for entry in timed:
        if sum_ms >= limit:
            break
        kept.add(id(entry))
        sum_ms += entry.time_ms or 0.0
    return frozenset(kept)
