"""The types of elements, as engine dumps and autotuning lines of TensorRT 7 to 11 spell them, and of sums."""

from dataclasses import dataclass
from typing import NamedTuple

from trtforensics.model.older_python import StrEnum

FULL = frozenset({"Float", "FP32", "TF32"})
"""32-bit floating point, in all spellings."""

HALVES = frozenset({"Half", "BFloat16", "BF16"})
"""16-bit floating point."""

FLOATING = frozenset({"Float", *HALVES})
"""What engine tensors hold that are neither quantised nor indexes."""

QUANTISED = frozenset({"Int8", "FP8", "FP4", "Int4"})

INDEXES = frozenset({"Int32", "Int64", "Bool", "UInt8"})
"""Types of indexes, masks and images, beside which another type tells in what a layer computes."""


class ElementType(NamedTuple):
    """A type in one of its spellings, as people call it and as others name it; empty where they do not.

    ``option`` is the type that a build option must allow for layers to compute in it (``FP32`` for ``TF32``), ``bits``
    the size of an element, ``onnx`` its name in ONNX and ``replay`` in a tactic replay (``DataType.HALF``).
    ``inspector`` is what a log calls the type that a detailed dump spells so, ``kernels`` the words and letters for it
    in kernel names, in lower case.
    """

    name: str
    word: str
    option: str
    bits: str
    onnx: str
    replay: str
    inspector: str
    kernels: str


with open(__file__.rpartition(".")[0] + ".tsv", encoding="utf-8") as _table:  # noqa: PTH123 - pathlib is slow to import
    _ROWS = _table.read().splitlines()[1:]
ELEMENT_TYPES = {element.name: element for element in (ElementType(*row.split("\t")) for row in _ROWS)}
"""Every type, by its spelling."""


def type_word(dtype: str) -> str:
    """Return a type as people call it: ``FP16`` for ``Half``."""
    return ELEMENT_TYPES[dtype].word if dtype in ELEMENT_TYPES else dtype


def bits_of(dtype: str) -> int | None:
    """Return how many bits an element of a type takes; None for a type that is not known."""
    return int(ELEMENT_TYPES[dtype].bits) if dtype in ELEMENT_TYPES else None


class Accumulator(StrEnum):
    """A floating-point accumulator that a user can ask for. Integer products sum in Int32, which is exact."""

    FP16 = "fp16"
    FP32 = "fp32"

    @property
    def type(self) -> str:
        """The type as TensorRT spells it."""
        return _TYPES[self]


_TYPES = {Accumulator.FP16: "Half", Accumulator.FP32: "Float"}


class PrecisionSource(StrEnum):
    """What a layer's compute precision was read from: its kernel's name, its inputs' types, or its type."""

    KERNEL = "kernel"
    INPUTS = "inputs"
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class ComputePrecision:
    """The type a layer computes in, as TensorRT spells types (``Half``, ``Int8``), and what says so."""

    type: str
    source: PrecisionSource
