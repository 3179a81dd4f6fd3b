"""Levers inside the build child: each sets something before a build and checks it afterwards.

The two that need a few lines only are here too: marked tensors, and build routes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import tensorrt

    from trtforensics.trt.api import RouteConfig, TensorRT


@dataclass(frozen=True, slots=True)
class BuildSetup:
    """The parts of a build: the module, its builder, the network, and a function that makes configurations."""

    trt: TensorRT
    builder: tensorrt.Builder
    network: tensorrt.INetworkDefinition
    make_config: Callable[[], tensorrt.IBuilderConfig]


@dataclass(slots=True)
class LeverResult:
    """The result of a lever, as sentences.

    ``refused`` says what was asked for and cannot be applied: such a build says nothing. ``differs`` says how the
    engine differs from what was asked for. ``details`` are data for readers of the report.
    """

    refused: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    details: dict[str, object] = field(default_factory=dict)


class BuildLever(ABC):
    """Controls one choice of TensorRT in a build."""

    def __init__(self) -> None:
        self.result = LeverResult()

    @abstractmethod
    def attach(self, setup: BuildSetup, config: tensorrt.IBuilderConfig) -> None:
        """Set what was asked for; ``result.refused`` says what cannot be set."""

    def look(self, config: tensorrt.IBuilderConfig) -> None:  # noqa: B027 - not every lever has something to compare
        """Compare the build with what was asked for, and add to ``result``."""

    def explain(self, setup: BuildSetup) -> None:  # noqa: B027 - not every lever can tell
        """Add to ``result.refused`` why a build failed, if the lever is the reason."""


class TensorMarking(BuildLever):
    """Marks tensors by name, as outputs or debug tensors (10.12 and later), which break fusions: TensorRT keeps them.

    A name that the network does not have, such as a folded constant, breaks no fusion.
    """

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
    layers = map(network.get_layer, range(network.num_layers))
    tensors = (layer.get_output(number) for layer in layers for number in range(layer.num_outputs))
    return (tensor for tensor in tensors if tensor is not None)


class RouteSetting(BuildLever):
    """Sets a build route (TensorRT 11.1 and later): knobs of the compiler behind ForeignNodes."""

    def __init__(self, route: str) -> None:
        super().__init__()
        self._route = route

    def attach(self, setup: BuildSetup, config: tensorrt.IBuilderConfig) -> None:  # noqa: ARG002 - the route is the configuration's
        """Set the route; TensorRT-RTX accepts any route silently, and reads back an empty one."""
        knobs = cast("RouteConfig", config)
        knobs.build_route = self._route
        if knobs.build_route.split() != self._route.split():
            self.result.refused.append(f"TensorRT does not take the build route {self._route!r}")

    def look(self, config: tensorrt.IBuilderConfig) -> None:
        """Compare the route with the one that was set."""
        knobs = cast("RouteConfig", config)
        if knobs.build_route.split() != self._route.split():
            self.result.differs.append(f"the build route is {knobs.build_route!r} instead of {self._route!r}")
