"""Reads tensors as logs, replays and the engine inspector spell them into one form."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, TypeVar

from trtforensics.diff.builds.views import NO_TENSORS, LayerTensors
from trtforensics.parsers.notation.formats import Format, parse_formats

if TYPE_CHECKING:
    from collections.abc import Sequence

    from trtforensics.model.log import EngineTensor
    from trtforensics.model.replay import ReplayTensor

_T = TypeVar("_T")

_LOG_TYPES = {
    "FLOAT": "Float",
    "HALF": "Half",
    "BF16": "BF16",
    "INT8": "Int8",
    "INT32": "Int32",
    "INT64": "Int64",
    "BOOL": "Bool",
    "UINT8": "UInt8",
    "FP8": "FP8",
    "INT4": "Int4",
    "FP4": "FP4",
    "E8M0": "E8M0",
}
"""The types of replays (``DataType.HALF``), spelled as in logs."""

_KNOWN = frozenset(_LOG_TYPES.values())
_TYPE_WORDS = re.compile(r" ?\b(?:FP32|FP16|BF16|BFloat16|Int8|Int32|Int64|Bool|BOOL|UInt8|FP8|FP4|Int4)\b(?: format)?")
_SHORT = re.compile(r"\w+\[.*\]")


@lru_cache(maxsize=1 << 14)
def of_formats(inputs: tuple[str, ...], outputs: tuple[str, ...]) -> LayerTensors:
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
        types=tuple(one.dtype for one in formats),
        packing=tuple(one.components for one in formats),
        packed_dim=tuple(one.vectorized_dim for one in formats),
        strides=tuple(one.strides for one in formats),
        texts=texts,
    )


@lru_cache(maxsize=1 << 14)
def of_replay(inputs: tuple[ReplayTensor, ...], outputs: tuple[ReplayTensor, ...]) -> LayerTensors:
    """Read the tensors of a replay's entry; fields that its form does not have are None."""
    both = (*inputs, *outputs)
    types = [None if one.dtype is None else _LOG_TYPES.get(one.dtype.upper(), one.dtype) for one in both]
    strides = [one.strides for one in both]
    packing = [one.components for one in both]
    packed_dim = [one.vectorized_dim for one in both]
    enumerator = [one.format for one in both]
    return LayerTensors(
        inputs=len(inputs),
        types=_whole(types),
        packing=_whole(packing),
        packed_dim=_whole(packed_dim),
        strides=_whole(strides),
        enumerator=_whole(enumerator),
        texts=tuple(replace(one, dtype=spelled).text for one, spelled in zip(both, types, strict=True)),
    )


@lru_cache(maxsize=1 << 14)
def of_engine(inputs: tuple[EngineTensor, ...], outputs: tuple[EngineTensor, ...]) -> LayerTensors:
    """Read tensors as the inspector or an engine dump describes them: layouts in words, no strides."""
    both = (*inputs, *outputs)
    if not both:
        return NO_TENSORS
    types = [one.dtype if one.dtype in _KNOWN else None for one in both]
    packing = [one.components if one.format else None for one in both]
    layout = [_layout(one.format) if one.format and not _SHORT.fullmatch(one.format) else None for one in both]
    return LayerTensors(
        inputs=len(inputs),
        types=_whole(types),
        packing=_whole(packing),
        layout=_whole(layout),
        texts=tuple(one.format or one.dtype for one in both),
    )


def _layout(text: str) -> str:
    return _TYPE_WORDS.sub("", text).strip()


def _whole(values: Sequence[_T | None]) -> tuple[_T, ...] | None:
    """Return the values if none of them is None, else None."""
    known = [value for value in values if value is not None]
    return tuple(known) if len(known) == len(values) else None
