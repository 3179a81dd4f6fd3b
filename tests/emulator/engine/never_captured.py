"""Forms of lines that no log at hand shows: those of TensorRT 11, after TensorRT-RTX 1.7's and NVIDIA's documentation.

The keys of an editable timing cache belong here too: their lines follow NVIDIA's sample and documentation. A program
that writes such lines says so by MARK, in the log itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.emulator.log.event import MYELIN_SEPARATOR, Event, Record, Version

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.emulator.engine.dump import Tensor
    from tests.emulator.engine.net import Net

MARK = "Emulated: forms of {what} follow NVIDIA's documentation; no log of TensorRT that has them was ever captured."


def mark(version: Version, *, editable: bool) -> str | None:
    """Return what a log has to say of its own forms, None where all of them were seen in real logs."""
    what = ["TensorRT 11"] if version >= (11, 0, 0) else []
    what += ["editable timing caches"] if editable else []
    return MARK.format(what=" and of ".join(what)) if what else None


class SplitTensor(Record):
    """A tensor whose strides, type and format are told apart."""

    tensor: Tensor

    def __str__(self) -> str:
        dims = self.tensor.dims
        strides = self.tensor.layout.steps(dims)
        order = ",".join(str(axis) for axis in reversed(range(len(dims))))
        listed = [",".join(map(str, numbers)) for numbers in (dims, strides)]
        return (
            f"{{ Name: {self.tensor.name}, Dimensions: [{listed[0]}], Strides: [{listed[1]}], StrideOrder: [{order}], "
            f"Datatype: {self.tensor.layout.dtype}, Format: (Linear) Row major linear format }}"
        )


class LayerOfEleven(Event):
    """A layer of a detailed dump."""

    name: str
    inputs: tuple[SplitTensor, ...]
    outputs: tuple[SplitTensor, ...]
    tactic_name: str
    metadata: tuple[str, ...]
    prefixed = False

    def _shape(self, version: Version) -> str:  # noqa: ARG002 - the same in all versions
        return (
            "Name: {name}, LayerType: gemm, Inputs: [ {inputs:, }], Constants: [], Outputs: [ {outputs:, }], "
            f"TacticName: {{tactic_name}}, StreamId: 0, Metadata: {{metadata:{MYELIN_SEPARATOR}}}"
        )


class Bare(Event):
    """A line without a prefix that belongs to the dump."""

    text: str
    prefixed = False
    shape = "{text}"


def layer(
    name: str, inputs: tuple[Tensor, ...], outputs: tuple[Tensor, ...], tactic: str, metadata: tuple[str, ...]
) -> Event:
    """Return the line of a kernel in a detailed dump."""
    return LayerOfEleven(name, tuple(map(SplitTensor, inputs)), tuple(map(SplitTensor, outputs)), tactic, metadata)


def io_tensors(net: Net) -> Iterator[Event]:
    """Yield what follows the layers of a dump."""
    yield from (Bare(""), Bare("I/O Tensors:"))
    for mode, names in (("Input", net.inputs), ("Output", net.outputs)):
        for name in names:
            dims = ",".join(map(str, net.dims[name]))
            sizes = "".join(f"{size}Shape: [{dims}], " for size in ("Min", "Opt", "Max")) if mode == "Input" else ""
            yield Bare(
                f" Name: {name}, IOMode: {mode}, DataType: Float, Dimensions: [{dims}], Location: Device, "
                "IsShapeInferenceIO: false, ProfileInfo: [ { "
                f"{sizes}Format: Row major linear FP32 format (kLINEAR) }}]"
            )
    yield from (Bare(""), Bare("Engine Metadata:"), Bare(" Multi-Device: Disabled"))
