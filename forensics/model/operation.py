"""What an engine layer computes, whatever implements it: several implementations of one operation count as one type."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trtforensics.model.log import EngineLayer

_IMPLEMENTED = ("Deconvolution", "Convolution", "ConvActPool", "Pooling", "SoftMax", "MatrixMultiply", "FullyConnected")
_VERSION = re.compile(r"V\d+\Z")


_DECONVOLUTION = "Deconvolution"
"""Its dump says ``ParameterType: Convolution``: only the type tells it from a convolution."""


def operation_of(layer: EngineLayer) -> str:
    """Return the operation of a layer: its ``ParameterType`` where a dump has it, else that of its type.

    ``CaskConvolution``, ``CudaDepthwiseConvolution`` and ``FusedConvActConvolution`` are all ``Convolution``.
    """
    by_type = operation_of_type(layer.type)
    return by_type if by_type == _DECONVOLUTION else layer.fields.get("ParameterType") or by_type


def operation_of_type(type_: str) -> str:
    """Return the operation that an implementation's name (``CaskPooling``, ``PointWiseV2``) stands for."""
    plain = _VERSION.sub("", type_)
    return next((operation for operation in _IMPLEMENTED if plain.endswith(operation)), plain)
