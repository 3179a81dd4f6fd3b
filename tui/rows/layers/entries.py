"""A layer as the layers pane lists it: its engine layer, what was tuned for it, and how its result compares."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.engines.alternatives import tuned_type
from trtforensics.model.log import CachedResult, Choice, MyelinOperation
from trtforensics.model.profile import TimeSource
from trtforensics.parsers.notation.formats import parse_formats
from trtforensics.parsers.notation.names import is_reformat
from trtforensics.parsers.notation.precision import computes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.engines.alternatives import OtherType
    from trtforensics.model.log import EngineLayer

Subject = Choice | CachedResult | MyelinOperation
"""Whatever the candidates pane can show the candidates of."""

FOREIGN = "ForeignNode["
UNKNOWN = "?"
COPIES = "·"
"""The compute precision of a layer that computes nothing."""
_MOST_TYPES = 2


@dataclass(frozen=True)
class LayerEntry:
    """A layer by name: its engine layer if there is one, and the tuning results for its name.

    ``number`` is its place in the engine, from 1. ``inside`` names the ForeignNode that a kernel belongs to. The
    ForeignNode's times are not the kernel's. ``share`` is its part of the engine's time, ``margin`` the runner-up's
    time over the winner's in the same formats, ``other`` the fastest other type. ``nodes`` are its ONNX nodes, each
    with its operator; an empty one is not told.
    """

    name: str
    layer: EngineLayer | None
    tuned: tuple[Choice | CachedResult, ...]
    final: Choice | CachedResult | None
    inside: str = ""
    number: int | None = None
    share: float | None = None
    margin: float | None = None
    other: OtherType | None = None
    nodes: tuple[tuple[str, str], ...] = ()

    @property
    def operators(self) -> tuple[str, ...]:
        """The distinct operators of its ONNX nodes, in their order."""
        return _distinct(operator for _, operator in self.nodes)

    @property
    def foreign(self) -> bool:
        """Whether it is a ForeignNode, which Myelin compiled as a whole."""
        return FOREIGN in self.name

    @property
    def reformat(self) -> bool:
        """Whether TensorRT inserted it to change a format, and it runs a kernel."""
        kind = self.kind
        return kind.endswith("Reformat") or (is_reformat(self.name) and kind != "NoOp")

    @cached_property
    def subject(self) -> Choice | CachedResult | None:
        """The result to show: the engine's if known, else the fastest."""
        return self.final or min(self.tuned, key=lambda r: math.inf if r.time_ms is None else r.time_ms, default=None)

    @property
    def kind(self) -> str:
        """The type of the engine layer; of a layer that is not in the engine, the runner of its subject."""
        if self.layer is not None:
            return self.layer.type
        return self.subject.runner if self.subject else ""

    @property
    def input_types(self) -> tuple[str, ...]:
        """The distinct types that it reads, as printed."""
        if self.layer is not None:
            return _distinct(tensor.dtype for tensor in self.layer.inputs)
        return _format_types(self.subject.inputs) if self.subject else ()

    @property
    def output_types(self) -> tuple[str, ...]:
        """The distinct types that it writes, as printed."""
        if self.layer is not None:
            return _distinct(self.layer.output_types)
        return _format_types(self.subject.outputs) if self.subject else ()

    @property
    def types_text(self) -> str:
        """What it reads and writes: ``Half→Float``, ``Half`` for both; ``?`` for a side that is unknown."""
        read, written = _joined(self.input_types), _joined(self.output_types)
        return read if read == written else f"{read}→{written}"

    @property
    def compute(self) -> str:
        """What it computes in; ``?`` where that is unknown, ``·`` where it computes nothing."""
        if self.layer is None:
            return COPIES if self.reformat else UNKNOWN
        if self.layer.compute_precision is not None:
            return self.layer.compute_precision.type
        return UNKNOWN if computes(self.layer) else COPIES

    @property
    def asked_type(self) -> str | None:
        """The type to compare with the types that were asked for: what it computes in, else what was tuned."""
        compute = self.compute
        if compute != UNKNOWN:
            return None if compute == COPIES else compute
        return tuned_type(self.subject) if self.subject and not self.inside else None

    @property
    def time_ms(self) -> float | None:
        """The engine layer's time, measured or tuned; of a layer that is not in the engine, that of its subject."""
        if self.layer is not None:
            return self.layer.time_ms
        return self.subject.time_ms if self.subject else None

    @property
    def time_is(self) -> TimeSource | None:
        """Where its time is from."""
        if self.layer is not None:
            return self.layer.time_is
        return TimeSource.TUNED if self.time_ms is not None else None

    @property
    def line(self) -> int | None:
        """The log line to show: where its tactic was chosen, else where the engine dump names it."""
        if self.subject is not None and not self.inside:
            return self.subject.span.line
        return self.layer.span.line if self.layer else None

    @property
    def origin(self) -> str:
        """The reason that its timed tactics are unknown."""
        return self.layer.origin if self.layer else ""

    def mentions(self, needle: str) -> bool:
        """Whether its name or one of its ONNX nodes contains a text; case does not count."""
        names = (self.name, *(node for node, _ in self.nodes))
        return any(needle in name.casefold() for name in names)


def _distinct(types: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, types)))


def _format_types(texts: Iterable[str]) -> tuple[str, ...]:
    return _distinct(formats[0].dtype for text in texts if (formats := parse_formats(text)))


def _joined(types: tuple[str, ...]) -> str:
    return "mixed" if len(types) > _MOST_TYPES else "+".join(types) or UNKNOWN
