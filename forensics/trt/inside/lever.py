"""What a lever does inside the build child: set something before the build, and say afterwards what came of it."""

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
    """What a build is made with: the module, its builder, the network, and a function that makes configurations."""

    trt: TensorRT
    builder: tensorrt.Builder
    network: tensorrt.INetworkDefinition
    make_config: Callable[[], tensorrt.IBuilderConfig]


@dataclass(slots=True)
class LeverResult:
    """What a lever saw.

    ``refused``: what was asked and cannot be, a sentence each; such a build says nothing. ``differs``: what the engine
    has otherwise than asked. ``details`` are kept in the report for whoever looks into the probe.
    """

    refused: list[str] = field(default_factory=list)
    differs: list[str] = field(default_factory=list)
    details: dict[str, object] = field(default_factory=dict)


class BuildLever(ABC):
    """One way to decide what a build does."""

    def __init__(self) -> None:
        self.result = LeverResult()

    @abstractmethod
    def attach(self, setup: BuildSetup, config: tensorrt.IBuilderConfig) -> None:
        """Set what was asked; ``result.refused`` says where that cannot be."""

    def look(self, config: tensorrt.IBuilderConfig) -> None:  # noqa: B027 - not every lever has anything to look at
        """Compare what was built with what was asked, into ``result``."""

    def explain(self, setup: BuildSetup) -> None:  # noqa: B027 - not every lever can tell
        """Say in ``result.refused`` what was asked and kept a build from ending, if that is why it failed."""
