"""A build as one source shows it: the common form of every kind of source, which the comparison works on.

A field is None where the source does not state it, so that the comparison can leave out what one side does not know.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from trtforensics.model.timings import NEAR_TIE_RATIO
from trtforensics.parsers.notation.names import is_helper, is_reformat, members

if TYPE_CHECKING:
    from trtforensics.diff.builds.runs import RunView
    from trtforensics.model.log import Fusion
    from trtforensics.model.span import SourceSpan
    from trtforensics.sources.kinds import Kind


@dataclass(frozen=True, slots=True)
class LayerTensors:
    """A layer's inputs and outputs, inputs first, as far as the source describes them.

    ``types`` are spelled as in logs (``Half``). ``packing``: elements a pack of a vectorised format holds, 1 for none.
    ``packed_dim``: which dimension is packed, -1 for none. ``strides``: in elements, the outermost first. ``layout``:
    the inspector's words for it, without type. ``enumerator``: ``TensorFormat`` as replays up to form F4 name it.
    ``texts``: each format as the source prints it, for people.
    """

    inputs: int = 0
    types: tuple[str, ...] | None = None
    packing: tuple[int, ...] | None = None
    strides: tuple[tuple[int | str, ...], ...] | None = None
    packed_dim: tuple[int, ...] | None = None
    layout: tuple[str, ...] | None = None
    enumerator: tuple[str, ...] | None = None
    texts: tuple[str, ...] = ()


NO_TENSORS = LayerTensors()


@dataclass(frozen=True, slots=True)
class LayerView:
    """A layer of an engine, or an operation inside a ForeignNode (then ``key`` is its timing-cache key).

    ``reads`` and ``writes`` are names of tensors, empty where not known. ``undecided``: the log tunes several
    combinations of formats and does not say which of them the engine uses. ``time_ms`` is the tuned time, of one run of
    the autotuner; ``measured_ms`` and ``median_ms`` are the average and the median over a profile's iterations, and
    ``time_span`` is the profile's row. ``operation`` is what it computes (``Convolution``), ``shape`` the dimensions of
    its first input and of its outputs; empty where not known.
    """

    name: str
    span: SourceSpan
    runner: str | None = None
    runner_id: int | None = None
    tactic: int | None = None
    kernel: str | None = None
    tensors: LayerTensors = NO_TENSORS
    time_ms: float | None = None
    runner_up_ms: float | None = None
    onnx_nodes: tuple[str, ...] = ()
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    key: str = ""
    undecided: bool = False
    measured_ms: float | None = None
    median_ms: float | None = None
    time_span: SourceSpan | None = None
    operation: str = ""
    shape: tuple[tuple[int | str, ...], ...] = ()

    @property
    def near_tie(self) -> bool:
        """Whether the runner-up was within 2 % of the chosen tactic: build noise may flip it."""
        if self.time_ms is None or self.runner_up_ms is None:
            return False
        return self.runner_up_ms <= self.time_ms * NEAR_TIE_RATIO

    @property
    def types_text(self) -> str:
        """The types of its inputs and outputs as text (``Half, Half -> Float``); empty where unknown."""
        return self.arrow(self.tensors.types or ())

    def arrow(self, texts: tuple[str, ...]) -> str:
        """Return texts of its tensors, inputs first, as ``a, b -> c``."""
        inputs = self.tensors.inputs
        return f"{', '.join(texts[:inputs])} -> {', '.join(texts[inputs:])}".strip() if texts else ""

    @property
    def is_reformat(self) -> bool:
        """Whether TensorRT put the layer in to change a format."""
        return is_reformat(self.name)

    @property
    def parts(self) -> frozenset[str]:
        """The network layers and ONNX nodes that became this layer, without helpers; none for a reformat."""
        return _parts(self.name, self.onnx_nodes)


@lru_cache(maxsize=1 << 16)
def _parts(name: str, onnx_nodes: tuple[str, ...]) -> frozenset[str]:
    if is_reformat(name):
        return frozenset()
    return frozenset(part for part in (*members(name), *onnx_nodes) if not is_helper(part))


@dataclass(frozen=True, slots=True)
class BuildView:
    """A build. ``layers``, ``operations`` and ``fusions`` are None where the source has none of that sort.

    ``source`` is its path; ``what`` names the build for people (``build 2 of 3 in a log of …``). ``run`` is what the
    source says about the engine's speed and of what it was built and run with.
    """

    source: str
    kind: Kind
    what: str
    layers: tuple[LayerView, ...] | None
    operations: tuple[LayerView, ...] | None = None
    fusions: tuple[Fusion, ...] | None = None
    tensorrt_version: str | None = None
    notes: tuple[str, ...] = field(default=())
    run: RunView | None = None
