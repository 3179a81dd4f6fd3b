"""Marked tensors inside the build child, which break fusions: outputs, or debug tensors (10.12 and later).

TensorRT must keep a marked tensor, so that no fusion goes across it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.trt.inside.lever import BuildLever

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import tensorrt

    from trtforensics.trt.inside.lever import BuildSetup


class TensorMarking(BuildLever):
    """Marks tensors by name. A name that the network does not have, such as a folded constant, breaks no fusion."""

    def __init__(self, names: Sequence[str], *, debug: bool) -> None:
        super().__init__()
        self._names = names
        self._debug = debug

    def attach(self, setup: BuildSetup, config: tensorrt.IBuilderConfig) -> None:  # noqa: ARG002 - marks are the network's
        """Mark the tensors."""
        network = setup.network
        there = {tensor.name: tensor for tensor in _tensors(network)}
        for name in self._names:
            if name not in there:
                continue
            if self._debug:
                if not network.mark_debug(there[name]):
                    self.result.refused.append(f"TensorRT does not mark {name} as a debug tensor")
            elif not there[name].is_network_output:
                network.mark_output(there[name])
        self.result.details["absent"] = [name for name in self._names if name not in there]
        self.result.details["outputs"] = [network.get_output(index).name for index in range(network.num_outputs)]


def _tensors(network: tensorrt.INetworkDefinition) -> Iterator[tensorrt.ITensor]:
    for index in range(network.num_layers):
        layer = network.get_layer(index)
        for number in range(layer.num_outputs):
            tensor = layer.get_output(number)
            if tensor is not None:
                yield tensor
