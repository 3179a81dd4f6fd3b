"""Enumerations of TensorRT, as pybind11 makes them: `str()` is `DataType.HALF`, `int()` the value."""

from __future__ import annotations

import enum
from typing import Any

from ._scenario import VERSION

ELEVEN = VERSION >= (11, 0, 0)
EDITABLE_SINCE = (10, 8, 0)


class _Enum(enum.Enum):
    def __int__(self) -> int:
        return int(self.value)

    def __index__(self) -> int:
        return int(self.value)


def _enum(name: str, members: str | dict[str, int]) -> Any:
    """Return an enumeration: of names in the order of their values from 0, or of names with values."""
    numbered = (
        {member: number for number, member in enumerate(members.split())} if isinstance(members, str) else members
    )
    functional: Any = _Enum
    return functional(name, numbered)


_TEN = (
    "FP16 INT8 DEBUG GPU_FALLBACK REFIT DISABLE_TIMING_CACHE TF32 SPARSE_WEIGHTS SAFETY_SCOPE "
    "OBEY_PRECISION_CONSTRAINTS PREFER_PRECISION_CONSTRAINTS DIRECT_IO REJECT_EMPTY_ALGORITHMS VERSION_COMPATIBLE "
    "EXCLUDE_LEAN_RUNTIME FP8 ERROR_ON_TIMING_CACHE_MISS BF16 DISABLE_COMPILATION_CACHE STRIP_PLAN "
    "REFIT_IDENTICAL WEIGHT_STREAMING INT4 REFIT_INDIVIDUAL STRICT_NANS MONITOR_MEMORY FP4 EDITABLE_TIMING_CACHE "
    "DISTRIBUTIVE_INDEPENDENCE"
)
"""Builder flags by value in 10.13 (tensorrt-stubs 10.13.0.35.1)."""

_ELEVEN = {
    "DEBUG": 2,
    "GPU_FALLBACK": 3,
    "REFIT": 4,
    "DISABLE_TIMING_CACHE": 5,
    "TF32": 6,
    "SPARSE_WEIGHTS": 7,
    "SAFETY_SCOPE": 8,
    "DIRECT_IO": 11,
    "VERSION_COMPATIBLE": 12,
    "EXCLUDE_LEAN_RUNTIME": 13,
    "ERROR_ON_TIMING_CACHE_MISS": 15,
    "DISABLE_COMPILATION_CACHE": 17,
    "STRIP_PLAN": 18,
    "REFIT_IDENTICAL": 19,
    "WEIGHT_STREAMING": 20,
    "REFIT_INDIVIDUAL": 22,
    "STRICT_NANS": 23,
    "MONITOR_MEMORY": 24,
    "EDITABLE_TIMING_CACHE": 26,
    "DISTRIBUTIVE_INDEPENDENCE": 27,
}
"""Builder flags of TensorRT-RTX 1.7.1, which shares its code base with 11."""

_SINCE = {
    "BF16": (9, 0, 0),
    "ERROR_ON_TIMING_CACHE_MISS": (9, 3, 0),
    "DISABLE_COMPILATION_CACHE": (9, 3, 0),
    "EDITABLE_TIMING_CACHE": EDITABLE_SINCE,
    "FP4": EDITABLE_SINCE,
    "DISTRIBUTIVE_INDEPENDENCE": (10, 12, 0),
}


def _flags() -> dict[str, int]:
    flags = _ELEVEN if ELEVEN else {name: value for value, name in enumerate(_TEN.split())}
    return {name: value for name, value in flags.items() if _SINCE.get(name, VERSION) <= VERSION}


BuilderFlag = _enum("BuilderFlag", _flags())
DataType = _enum("DataType", "FLOAT HALF INT8 INT32 BOOL UINT8 FP8 BF16 INT64 INT4 FP4 E8M0")
DeviceType = _enum("DeviceType", "GPU DLA")
EngineCapability = _enum("EngineCapability", "STANDARD SAFETY DLA_STANDALONE")
ErrorCode = _enum(
    "ErrorCode",
    "SUCCESS INTERNAL_ERROR MEM_ALLOC_FAILED MODEL_DESERIALIZE_FAILED INVALID_VALUE INVALID_GRAPH INVALID_NODE "
    "UNSUPPORTED_GRAPH UNSUPPORTED_NODE UNSUPPORTED_NODE_ATTR UNSUPPORTED_NODE_INPUT UNSUPPORTED_NODE_DATATYPE "
    "UNSUPPORTED_NODE_DYNAMIC UNSUPPORTED_NODE_SHAPE REFIT_FAILED",
)
HardwareCompatibilityLevel = _enum("HardwareCompatibilityLevel", "NONE AMPERE_PLUS SAME_COMPUTE_CAPABILITY")
LayerInformationFormat = _enum("LayerInformationFormat", "ONELINE JSON")
LayerType = _enum(
    "LayerType",
    "CONVOLUTION CAST ACTIVATION POOLING LRN SCALE SOFTMAX DECONVOLUTION CONCATENATION ELEMENTWISE PLUGIN UNARY "
    "PADDING SHUFFLE REDUCE TOPK GATHER MATRIX_MULTIPLY RAGGED_SOFTMAX CONSTANT IDENTITY PLUGIN_V2 SLICE SHAPE "
    "PARAMETRIC_RELU RESIZE TRIP_LIMIT RECURRENCE ITERATOR LOOP_OUTPUT SELECT FILL QUANTIZE DEQUANTIZE CONDITION "
    "CONDITIONAL_INPUT CONDITIONAL_OUTPUT SCATTER EINSUM ASSERTION ONE_HOT NON_ZERO GRID_SAMPLE NMS "
    "REVERSE_SEQUENCE NORMALIZATION PLUGIN_V3 SQUEEZE UNSQUEEZE CUMULATIVE DYNAMIC_QUANTIZE",
)
MemoryPoolType = _enum(
    "MemoryPoolType",
    "WORKSPACE DLA_MANAGED_SRAM DLA_LOCAL_DRAM DLA_GLOBAL_DRAM TACTIC_DRAM TACTIC_SHARED_MEMORY",
)
NetworkDefinitionCreationFlag = _enum(
    "NetworkDefinitionCreationFlag",
    "STRONGLY_TYPED" if ELEVEN else "EXPLICIT_BATCH STRONGLY_TYPED PREFER_JIT_PYTHON_PLUGINS PREFER_AOT_PYTHON_PLUGINS",
)
OnnxParserFlag = _enum("OnnxParserFlag", "NATIVE_INSTANCENORM ENABLE_UINT8_AND_ASYMMETRIC_QUANTIZATION_DLA")
PreviewFeature = _enum(
    "PreviewFeature",
    "PROFILE_SHARING_0806 ALIASED_PLUGIN_IO_10_03 RUNTIME_ACTIVATION_RESIZE_10_10",
)
ProfilingVerbosity = _enum("ProfilingVerbosity", "LAYER_NAMES_ONLY NONE DETAILED")
Severity = _enum("Severity", "INTERNAL_ERROR ERROR WARNING INFO VERBOSE")
TacticSource = _enum(
    "TacticSource",
    "EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS"
    if ELEVEN
    else "CUBLAS CUBLAS_LT CUDNN EDGE_MASK_CONVOLUTIONS JIT_CONVOLUTIONS",
)
TensorFormat = _enum(
    "TensorFormat",
    "LINEAR CHW2 HWC8 CHW4 CHW16 CHW32 DHWC8 CDHW32 HWC DLA_LINEAR DLA_HWC4 HWC16 DHWC",
)
TensorIOMode = _enum("TensorIOMode", "NONE INPUT OUTPUT")
TensorLocation = _enum("TensorLocation", "DEVICE HOST")
