"""A stand-in for NVIDIA's `tensorrt`: the part that builders of tactic, cache and precision experiments use.

A process finds it by `tests.emulator.tensorrt.python_path.environment()`. What a version lacks is absent here too:
the algorithm selectors from 11 on, editable timing caches before 10.8. It computes nothing: an engine is a record of
what was chosen.
"""

from __future__ import annotations

from typing import Any

from ._builder import Builder
from ._config import IBuilderConfig, IHostMemory, IOptimizationProfile, ITimingCache, TimingCacheKey, TimingCacheValue
from ._enums import (
    EDITABLE_SINCE,
    ELEVEN,
    BuilderFlag,
    DataType,
    DeviceType,
    EngineCapability,
    ErrorCode,
    HardwareCompatibilityLevel,
    LayerInformationFormat,
    LayerType,
    MemoryPoolType,
    NetworkDefinitionCreationFlag,
    OnnxParserFlag,
    PreviewFeature,
    ProfilingVerbosity,
    TacticSource,
    TensorFormat,
    TensorIOMode,
    TensorLocation,
)
from ._logging import ILogger, Logger
from ._network import Dims, ILayer, INetworkDefinition, ITensor, OnnxParser, ParserError
from ._runtime import EngineInspector, ICudaEngine, IExecutionContext, IProfiler, Runtime
from ._scenario import VERSION
from ._selector import IAlgorithm, IAlgorithmContext, IAlgorithmIOInfo, IAlgorithmSelector, IAlgorithmVariant

__version__ = ".".join(map(str, VERSION))

__all__ = [
    "Builder",
    "BuilderFlag",
    "DataType",
    "DeviceType",
    "Dims",
    "EngineCapability",
    "EngineInspector",
    "ErrorCode",
    "HardwareCompatibilityLevel",
    "IAlgorithm",
    "IAlgorithmContext",
    "IAlgorithmIOInfo",
    "IAlgorithmSelector",
    "IAlgorithmVariant",
    "IBuilderConfig",
    "ICudaEngine",
    "IExecutionContext",
    "IHostMemory",
    "ILayer",
    "ILogger",
    "INetworkDefinition",
    "IOptimizationProfile",
    "IProfiler",
    "ITensor",
    "ITimingCache",
    "LayerInformationFormat",
    "LayerType",
    "Logger",
    "MemoryPoolType",
    "NetworkDefinitionCreationFlag",
    "OnnxParser",
    "OnnxParserFlag",
    "ParserError",
    "PreviewFeature",
    "ProfilingVerbosity",
    "Runtime",
    "TacticSource",
    "TensorFormat",
    "TensorIOMode",
    "TensorLocation",
    "TimingCacheKey",
    "TimingCacheValue",
]

float32, float16, int8, int32, int64 = (DataType[name] for name in ("FLOAT", "HALF", "INT8", "INT32", "INT64"))


def init_libnvinfer_plugins(logger: Any, namespace: str) -> Any:  # noqa: ARG001 - there are no plugins to register
    """Register the standard plugins."""
    return True


def _leave_out() -> None:
    """Take away what this version of TensorRT does not have."""
    if ELEVEN:
        for name in ("Selector", "Context", "IOInfo", "Variant", ""):
            del globals()[f"IAlgorithm{name}"]
        for owner, names in (
            (ILayer, ("precision", "precision_is_set", "reset_precision")),
            (ILayer, ("set_output_type", "output_type_is_set", "reset_output_type")),
        ):
            for name in names:
                delattr(owner, name)
    if VERSION < EDITABLE_SINCE:
        del globals()["TimingCacheKey"], globals()["TimingCacheValue"]
        for name in ("queryKeys", "query", "update"):
            delattr(ITimingCache, name)
    if VERSION >= (10, 0, 0) and not ELEVEN:
        del IAlgorithmIOInfo.tensor_format


_leave_out()
