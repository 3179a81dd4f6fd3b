"""What else was timed for a layer: in its own formats, in other formats and types, in other passes."""

import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import chain

from trtforensics.model.data_types import FLOATING, INDEXES, QUANTISED, type_word
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Build, CachedResult, Choice, EngineLayer, EngineTensor
from trtforensics.model.timings import TimeSource
from trtforensics.parsers.notation.formats import parse_formats

Result = Choice | CachedResult
"""A tuning result of a layer in one combination of formats."""

_COMPUTED = FLOATING | QUANTISED | INDEXES


@dataclass(frozen=True, slots=True)
class OtherType:
    """The fastest result of a layer in another type than the engine's; ``ratio`` is its time over the chosen time."""

    type: str
    ratio: float
    result: Result

    @property
    def text(self) -> str:
        """As in ``FP16 61 % slower``."""
        return f"{type_word(self.type)} {compared(self.ratio)}"


def compared(ratio: float) -> str:
    """Spell a ratio of two times, as in ``61 % slower`` or ``5 % faster``."""
    percent = (ratio - 1) * 100
    if round(abs(percent), 1) == 0:
        return "as fast"
    digits = 0 if abs(percent) >= 10 else 1  # noqa: PLR2004 - a digit behind the point tells small margins apart
    return f"{abs(percent):,.{digits}f} % {'slower' if percent > 0 else 'faster'}"


def tuned_type(result: Result) -> str | None:
    """Return the type in which a result computes: of its first floating or quantised input, else of its first tensor.

    Inputs of indexes and masks count only where there are no others. None where no format is printed.
    """
    return _type_of(result.inputs) or _type_of(result.outputs)


@lru_cache(maxsize=1 << 14)
def _type_of(texts: tuple[str, ...]) -> str | None:
    types = [formats[0].dtype for text in texts if (formats := parse_formats(text))]
    known = [dtype for dtype in types if dtype in _COMPUTED]
    return next((dtype for dtype in known if dtype not in INDEXES), known[0] if known else None)


class Alternatives:
    """The tuning results of a build by layer, and how the engine's result of a layer compares to the others."""

    def __init__(self, build: Build) -> None:
        self.build = build
        self.of_name: dict[str, list[Result]] = defaultdict(list)
        """Every result of each name, in the log's order."""
        results: Iterable[Result] = chain(build.choices, build.cached)
        for result in results:
            self.of_name[result.layer].append(result)

    def of(self, name: str) -> Sequence[Result]:
        """Return every result of a name, in all formats and passes."""
        return self.of_name.get(name, ())

    def inside(self, layer: EngineLayer) -> str:
        """Return the ForeignNode that a kernel belongs to, which was tuned as a whole; empty for other layers."""
        origin = self.build.origin_of(layer)
        inside = origin is not None and is_foreign_node(origin.layer) and not is_foreign_node(layer.name)
        return origin.layer if origin is not None and inside else ""

    def timed(self, result: Result) -> Choice | None:
        """Return the choice whose block timed a result: the result itself, or the choice that a cached one repeats.

        The cache's key is the computation, not the layer's name, so that choice may be another layer's. The layer's own
        is preferred. None where the log does not show it.
        """
        if isinstance(result, Choice):
            return result
        same = (choice for choice in self._by_outcome.get(_outcome(result), ()) if choice.span.line < result.span.line)
        return min(same, key=lambda choice: choice.layer != result.layer, default=None)

    def margin(self, result: Result) -> float | None:
        """Return the time of the runner-up in the same formats over that of the winner; None where it is unknown."""
        timed = self.timed(result)
        return None if timed is None else timed.margin

    def other_types(self, result: Result) -> tuple[OtherType, ...]:
        """Return the other types timed for a layer, fastest first; times without the reformats that a type needs."""
        tuned = tuned_type(result)
        if tuned is None or not result.time_ms:
            return ()
        fastest: dict[str, OtherType] = {}
        for other in sorted(self.of(result.layer), key=_time_or_last):
            kind = tuned_type(other)
            if kind is not None and kind != tuned and other.time_ms is not None and other.tactic is not None:
                fastest.setdefault(kind, OtherType(kind, other.time_ms / result.time_ms, other))
        return tuple(fastest.values())

    @cached_property
    def _by_outcome(self) -> dict[tuple[object, ...], list[Choice]]:
        by_outcome: dict[tuple[object, ...], list[Choice]] = defaultdict(list)
        for choice in self.build.choices:
            by_outcome[_outcome(choice)].append(choice)
        return by_outcome


def _outcome(result: Result) -> tuple[object, ...]:
    return result.tactic, result.time_ms, result.runner, result.inputs, result.outputs


def fastest(results: Sequence[Result]) -> Result | None:
    """Return the fastest of some results; one without a time comes last."""
    return min(results, key=_time_or_last, default=None)


def _time_or_last(result: Result) -> float:
    return math.inf if result.time_ms is None else result.time_ms


def tuned_layer(name: str, results: Sequence[Result]) -> EngineLayer:
    """Return a layer that no dump prints, as the result shows it that the engine uses, or else the fastest."""
    shown = next((result for result in results if result.final), None) or min(results, key=_time_or_last)
    inputs, outputs = (tuple(map(_tuned_tensor, texts)) for texts in (shown.inputs, shown.outputs))
    return EngineLayer(
        name,
        shown.runner,
        shown.tactic,
        shown.kernel,
        tuple(dict.fromkeys(tensor.dtype for tensor in outputs if tensor.dtype)),
        (),
        inputs,
        outputs,
        shown.span,
        time_ms=shown.time_ms,
        time_is=None if shown.time_ms is None else TimeSource.TUNED,
    )


def _tuned_tensor(text: str) -> EngineTensor:
    formats = parse_formats(text)
    return EngineTensor("", formats[0].dtype if formats else "", (), text, formats[0].components if formats else 1)
