"""A build as one source shows it: the common form of every kind of source, which the comparison works on.

A field is None where the source does not state it, so that the comparison can leave out what one side does not know.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from trtforensics.model.data_types import ELEMENT_TYPES
from trtforensics.model.timings import is_near_tie
from trtforensics.parsers.notation.formats import Format, parse_formats
from trtforensics.parsers.notation.names import is_helper, is_reformat, members

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.comparison.runs import RunView
    from trtforensics.model.log import EngineTensor, Fusion
    from trtforensics.model.replay import ReplayTensor
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
    ``time_span`` is the profile's row. ``operation`` is its kind of work (``Convolution``), ``shape`` the dimensions of
    its first input and of its outputs, ``inside`` the ForeignNode that it is a kernel of; empty where not known.
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
    inside: str = ""

    @property
    def near_tie(self) -> bool:
        """Whether the runner-up was within 2 % of the chosen tactic: build noise may flip it."""
        return is_near_tie(self.time_ms, self.runner_up_ms)

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

    ``unlisted`` was timed and is no layer of its dump, as a ForeignNode of which the dump lists the kernels.
    ``source`` is its path; ``what`` names the build for people (``build 2 of 3 in a log of …``). ``run`` is the
    engine's speed and the options of its build and run, as far as the source states them. ``headline`` is of a log's
    run, empty for other files.
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
    unlisted: tuple[LayerView, ...] = ()
    headline: str = ""


_T = TypeVar("_T")

_LOG_TYPES = {element.replay: element.name for element in ELEMENT_TYPES.values() if element.replay}
"""The types of replays (``DataType.HALF``), spelled as in logs."""

_KNOWN = frozenset(_LOG_TYPES.values())
_TYPE_WORDS = re.compile(r" ?\b(?:FP32|FP16|BF16|BFloat16|Int8|Int32|Int64|Bool|BOOL|UInt8|FP8|FP4|Int4)\b(?: format)?")
_SHORT = re.compile(r"\w+\[.*\]")


@lru_cache(maxsize=1 << 14)
def tensors_of_formats(inputs: tuple[str, ...], outputs: tuple[str, ...]) -> LayerTensors:
    """Read formats as the autotuner prints them (``Half(100352,50176:2,224,1)``)."""
    texts = (*inputs, *outputs)
    formats: list[Format] = []
    for text in texts:
        parsed = parse_formats(text)
        if not parsed:
            return LayerTensors(len(inputs), texts=texts)
        formats += parsed[:1]
    return LayerTensors(
        inputs=len(inputs),
        types=tuple(form.dtype for form in formats),
        packing=tuple(form.components for form in formats),
        packed_dim=tuple(form.vectorized_dim for form in formats),
        strides=tuple(form.strides for form in formats),
        texts=texts,
    )


@lru_cache(maxsize=1 << 14)
def tensors_of_replay(inputs: tuple[ReplayTensor, ...], outputs: tuple[ReplayTensor, ...]) -> LayerTensors:
    """Read the tensors of a replay's entry; fields that its form does not have are None."""
    both = (*inputs, *outputs)
    types = [None if tensor.dtype is None else _LOG_TYPES.get(tensor.dtype.upper(), tensor.dtype) for tensor in both]
    return LayerTensors(
        inputs=len(inputs),
        types=_whole(types),
        packing=_whole([tensor.components for tensor in both]),
        packed_dim=_whole([tensor.vectorized_dim for tensor in both]),
        strides=_whole([tensor.strides for tensor in both]),
        enumerator=_whole([tensor.format for tensor in both]),
        texts=tuple(replace(tensor, dtype=spelled).text for tensor, spelled in zip(both, types, strict=True)),
    )


@lru_cache(maxsize=1 << 14)
def tensors_of_engine(inputs: tuple[EngineTensor, ...], outputs: tuple[EngineTensor, ...]) -> LayerTensors:
    """Read tensors as the inspector or an engine dump describes them: layouts in words, no strides."""
    both = (*inputs, *outputs)
    if not both:
        return NO_TENSORS
    layout = [
        None if not tensor.format or _SHORT.fullmatch(tensor.format) else _TYPE_WORDS.sub("", tensor.format).strip()
        for tensor in both
    ]
    return LayerTensors(
        inputs=len(inputs),
        types=_whole([tensor.dtype if tensor.dtype in _KNOWN else None for tensor in both]),
        packing=_whole([tensor.components if tensor.format else None for tensor in both]),
        layout=_whole(layout),
        texts=tuple(tensor.format or tensor.dtype for tensor in both),
    )


def _whole(values: Sequence[_T | None]) -> tuple[_T, ...] | None:
    """Return the values if none of them is None, else None."""
    known = [value for value in values if value is not None]
    return tuple(known) if len(known) == len(values) else None
