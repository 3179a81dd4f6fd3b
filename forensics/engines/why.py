"""Why a layer of the engine is as it is: the facts of the log that bear on its type, each with its line."""

from collections.abc import Iterator
from dataclasses import dataclass

from trtforensics.engines import requests
from trtforensics.engines.alternatives import Alternatives, OtherType, Result, compared, tuned_type
from trtforensics.model.data_types import INDEXES, type_word
from trtforensics.model.layer_types import NO_KERNEL, SYNCHRONISATION, UNTUNED, is_foreign_node
from trtforensics.model.log import Build, CachedResult, Choice, EngineLayer
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.parsers.notation.names import is_reformat, members
from trtforensics.parsers.notation.precision import computes
from trtforensics.render.names import shortened

_MIB = 1 << 20
_ELIDED = 40
"""Characters of a ForeignNode's name in a reason."""


@dataclass(frozen=True, slots=True)
class Reason:
    """One fact about a layer, and the line that states it; None where the version of TensorRT implies the fact."""

    text: str
    span: SourceSpan | None


class Reasons:
    """Why the layers of a build's engine are as they are."""

    def __init__(self, build: Build) -> None:
        self.alternatives = Alternatives(build)
        self._build = build
        self.asked = [kind for word, kind in requests.REDUCED.items() if requests.allows(build, word)]
        """The reduced types that the build options allow, as TensorRT spells them."""
        self._precision = requests.precision_fact(build)
        self._typed = requests.strongly_typed(build)
        self._requests = requests.type_requests(build)
        self._binding = requests.constraints(build)
        self._starved = {starved.layer: starved for starved in build.starved}
        self._foreign = {node.name: node for node in build.foreign_nodes}

    def why(self, layer: EngineLayer, *, tie: float = NEAR_TIE_RATIO) -> tuple[Reason, ...]:
        """Return the facts that bear on a layer, most telling first; ``tie`` is the largest ratio of a near tie."""
        if layer.type in NO_KERNEL:
            return (Reason(layer.origin or "runs no kernel", layer.span),)
        if layer.type in SYNCHRONISATION:
            return (Reason(UNTUNED[layer.type], layer.span),)
        origin, inside = self._build.origin_of(layer), self.alternatives.inside(layer)
        if inside and origin is not None:
            return (Reason(f"inside {shortened(inside, _ELIDED)}", origin.span),)
        if is_reformat(layer.name):
            return tuple(_reformat(layer))
        facts = [*self._foreign_node(layer), *self._constraints(layer)]
        if origin is None:
            return (*facts, Reason(layer.origin, layer.span)) if layer.origin else tuple(facts)
        return (*facts, *self._types(layer, origin), *self._memory(layer), *self._tuning(origin, tie))

    def _foreign_node(self, layer: EngineLayer) -> Iterator[Reason]:
        if not is_foreign_node(layer.name):
            return
        listed = self._foreign.get(layer.name)
        count = len(listed.onnx_nodes) if listed else 0
        if listed is not None and count:
            yield Reason(f"Myelin compiled {count:,} ONNX node{'s' if count > 1 else ''} as one", listed.span)
        else:
            yield Reason("Myelin compiled it as one", layer.span)

    def _constraints(self, layer: EngineLayer) -> Iterator[Reason]:
        """Yield the requests that name a member of the layer, and whether the network states all types itself."""
        names = {layer.name, *members(layer.name), *layer.onnx_nodes}
        last: dict[str, requests.TypeRequest] = {}
        for request in self._requests:
            if any(request.matches(name) for name in names):
                last[request.option] = request
        for request in last.values():
            yield Reason(f"constraint {request.text} ({self._binding})", request.span)
        if self._typed:
            span = self._precision.span if self._precision else None
            yield Reason("strongly typed: the model states its types", span)

    def _types(self, layer: EngineLayer, origin: Result) -> Iterator[Reason]:
        """Yield how the other types compare, those that were asked for first, and which of these were not timed."""
        dtype = tuned_type(origin)
        if dtype is None or dtype in INDEXES:
            return
        others = {other.type: other for other in self.alternatives.other_types(origin)}
        asked = [kind for kind in self.asked if kind != dtype]
        for kind in asked:
            if kind in others:
                yield _other(others[kind])
            elif computes(layer) and not self._typed:
                yield Reason(f"no {type_word(kind)} candidate", origin.span)
        yield from (_other(other) for kind, other in others.items() if kind not in asked)
        if not asked and not others and dtype == "Float" and self._precision is not None and not self._typed:
            yield Reason("only FP32 was asked for", self._precision.span)

    def _memory(self, layer: EngineLayer) -> Iterator[Reason]:
        starved = self._starved.get(layer.name)
        if starved is not None:
            wanted = f"{starved.requested / _MIB:,.0f} MiB asked, {starved.available / _MIB:,.0f} there"
            yield Reason(f"{starved.skipped} skipped: workspace ({wanted})", starved.spans[0])

    def _tuning(self, origin: Choice | CachedResult, tie: float) -> Iterator[Reason]:
        """Yield how sure the choice is in its own formats."""
        timed = self.alternatives.timed(origin)
        if timed is None:
            yield Reason("from the timing cache, nothing else timed", origin.span)
            return
        margin = self.alternatives.margin(origin)
        if margin is not None and margin <= tie:
            yield Reason(f"near tie: next tactic {compared(margin)}", timed.span)
        elif margin is not None:
            yield Reason(f"next tactic {compared(margin)}", timed.span)
        elif timed.candidates == 1:
            yield Reason("the only tactic timed", timed.span)


def _other(other: OtherType) -> Reason:
    alone = ", by itself" if other.ratio < 1 else ""
    return Reason(f"{other.text}{alone}", other.result.span)


def _reformat(layer: EngineLayer) -> Iterator[Reason]:
    """Yield what a reformat changes, and for which layer."""
    _, _, target = layer.name.partition(" to ")
    _, _, source = layer.name.partition(" for ") if "Output Tensor" in layer.name else ("", "", "")
    of = f"reformat for {shortened(target, _ELIDED)}" if target else f"reformat {source}"
    read, written = layer.inputs, layer.outputs
    if len(read) == 1 and len(written) == 1:
        change = f"{read[0].dtype}→{written[0].dtype}" if read[0].dtype != written[0].dtype else "another layout"
        yield Reason(f"{change}: {of}", layer.span)
    else:
        yield Reason(of, layer.span)
