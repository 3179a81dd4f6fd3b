"""What an engine layer computes in: by the name of its kernel, else by its type and its inputs' types.

A layer may write another type than it computes in: an INT8 convolution often writes Float. Only the kernel's name tells
Float and TF32 apart; ``Float`` by the inputs' types may be either.
"""

import re
from functools import lru_cache

from trtforensics.model.data_types import FLOATING, QUANTISED, ComputePrecision, PrecisionSource
from trtforensics.model.layer_types import COMPUTES_NOTHING, GENERATED, OWN_CODE, POOLING, PRODUCTS
from trtforensics.model.log import EngineLayer
from trtforensics.parsers.notation.kernels import TYPES, read_kernel

_TYPE_WORD = re.compile("int8|fp8|half|fp16|bf16", re.IGNORECASE)
_NARROW = QUANTISED | {"UInt8"}
"""Types in which only products and pooling are computed: other layers widen them first."""


def computes(layer: EngineLayer) -> bool:
    """Whether a layer computes values, rather than copies, converts or waits; a layer without a type counts."""
    return layer.type not in COMPUTES_NOTHING


def compute_precision(layer: EngineLayer) -> ComputePrecision | None:
    """Return what a layer computes in, and what says so; None where it computes nothing, or where nothing says so."""
    if not layer.type or not computes(layer):
        return None
    inputs = tuple([tensor.dtype for tensor in layer.inputs])
    return _precision(layer.type, layer.tactic_name, inputs, casts="Cast" in layer.tactic_name or "Cast" in layer.name)


@lru_cache(maxsize=1 << 12)
def _precision(layer_type: str, kernel: str, inputs: tuple[str, ...], *, casts: bool) -> ComputePrecision | None:
    """Return what the layers with this type, kernel and input types compute in; builds of a log have the same ones."""
    operand = read_kernel(kernel).operand if kernel else None
    if operand is not None:
        return ComputePrecision(operand, PrecisionSource.KERNEL)
    if OWN_CODE.search(layer_type):
        return None
    word = _TYPE_WORD.search(layer_type)
    if word is not None:
        return ComputePrecision(TYPES[word[0].lower()], PrecisionSource.TYPE)
    known = _by_inputs(layer_type, inputs, casts=casts)
    return None if known is None else ComputePrecision(known, PrecisionSource.INPUTS)


def _by_inputs(layer_type: str, types: tuple[str, ...], *, casts: bool) -> str | None:
    """Return the type that a layer's inputs are computed in.

    Beside floating-point or quantised inputs, integers are indexes. Of a product the first input counts: another one
    may be added to its result in a wider type.
    """
    computing = [dtype for dtype in types if dtype in FLOATING or dtype in _NARROW]
    if PRODUCTS.search(layer_type):
        return computing[0] if computing and types[0] == computing[0] else None
    kinds = set(computing or types)
    only = kinds.pop() if len(kinds) == 1 else None
    if only in _NARROW and not POOLING.search(layer_type):
        return None
    if layer_type in GENERATED and (only != "Float" or casts):
        return None if only not in {"Int32", "Int64", "Bool"} else only
    return only
