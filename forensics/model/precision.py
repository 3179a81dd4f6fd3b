"""What a layer computes in."""

from __future__ import annotations

from dataclasses import dataclass

from trtforensics.model.older_python import StrEnum


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
