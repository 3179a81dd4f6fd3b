"""The interface of a lever inside the build child: it sets something before a build and checks it afterwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import tensorrt

    from trtforensics.trt.api import TensorRT


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
