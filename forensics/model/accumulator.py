"""The type in which a matrix product or a convolution sums: what a kernel has, and a plan or a twin asks for."""

from __future__ import annotations

from trtforensics.model.older_python import StrEnum


class Accumulator(StrEnum):
    """A floating-point accumulator that a user can ask for. Integer products sum in Int32, which is exact."""

    FP16 = "fp16"
    FP32 = "fp32"

    @property
    def type(self) -> str:
        """The type as TensorRT spells it."""
        return _TYPES[self]


_TYPES = {Accumulator.FP16: "Half", Accumulator.FP32: "Float"}
