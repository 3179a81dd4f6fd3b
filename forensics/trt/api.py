"""TensorRT's Python API as the levers use it: the types of 10.13, and those that only other versions have.

The types are those of ``tensorrt-stubs``, which ``tests/tensorrt_stubs.py`` makes readable for mypy. What 11 and
TensorRT-RTX added is declared here. The code tests at run time for what 11 removed or an old version lacks.
"""

from __future__ import annotations

import importlib
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping

    import tensorrt

MODULES = ("tensorrt", "tensorrt_rtx")
NAMES = {"tensorrt": "TensorRT", "tensorrt_rtx": "TensorRT-RTX"}


class TensorRT(Protocol):
    """The names of the module ``tensorrt`` or ``tensorrt_rtx`` that are used."""

    __name__: str
    __version__: str
    Builder: type[tensorrt.Builder]
    BuilderFlag: type[tensorrt.BuilderFlag]
    IAlgorithmSelector: type[tensorrt.IAlgorithmSelector]
    ILogger: type[tensorrt.ILogger]
    INetworkDefinition: type[tensorrt.INetworkDefinition]
    IProfiler: type[tensorrt.IProfiler]
    LayerInformationFormat: type[tensorrt.LayerInformationFormat]
    Logger: type[tensorrt.Logger]
    NetworkDefinitionCreationFlag: type[tensorrt.NetworkDefinitionCreationFlag]
    OnnxParser: type[tensorrt.OnnxParser]
    ProfilingVerbosity: type[tensorrt.ProfilingVerbosity]
    Runtime: type[tensorrt.Runtime]
    TimingCacheKey: type[tensorrt.TimingCacheKey]
    TimingCacheValue: type[tensorrt.TimingCacheValue]
    float32: tensorrt.DataType


class RouteConfig(Protocol):
    """The part of ``IBuilderConfig`` that 11.1 added.

    ``build_route`` is whitespace-separated tokens ``-name=value``, empty for the defaults; ``all_build_routes`` is a
    JSON document, empty on TensorRT-RTX and on Windows (docstrings of the bindings of 11.4).
    """

    build_route: str
    all_build_routes: str


class RtxModule(Protocol):
    """The part of the module that only ``tensorrt_rtx`` has: an enumeration."""

    class ComputeCapability:
        """A compute capability, such as ``SM89``."""

        __members__: Mapping[str, RtxModule.ComputeCapability]


class RtxConfig(Protocol):
    """The part of ``IBuilderConfig`` that only TensorRT-RTX has."""

    num_compute_capabilities: int

    def set_compute_capability(self, compute_capability: RtxModule.ComputeCapability, index: int) -> bool:
        """Set one of the compute capabilities to build for."""
        ...


def is_installed(name: str) -> bool:
    """Whether a module is installed; a folder of type stubs, which can be imported too, does not count."""
    spec = find_spec(name)
    return spec is not None and spec.origin is not None


def load(name: str) -> TensorRT:
    """Import a module of :data:`MODULES`; an ImportError also where it does not find its libraries."""
    module: TensorRT
    if TYPE_CHECKING:
        module = tensorrt
    else:
        module = importlib.import_module(name)
    return module
