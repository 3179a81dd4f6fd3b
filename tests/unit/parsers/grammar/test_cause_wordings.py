"""Causes in the wordings of several versions and programs, each beside a line that is nearly the same."""

from __future__ import annotations

import pytest

from trtforensics.parsers.builds.notes import causes
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.line_kinds import CAUSE

WORDINGS: dict[str, tuple[tuple[str, str, str], str]] = {
    "input_missing": (
        (
            "[5] Assertion failed: tensors.count(input_name)",
            "[5] Assertion failed: ctx->tensors().count(inputName)",
            "In node 4 (parseGraph): INVALID_GRAPH: Assertion failed: ctx->tensors().count(inputName)",
        ),
        "[5] Assertion failed: tensors.size()",
    ),
    "axis_outside": (
        (
            "convert_axis: [8] Assertion failed: axis >= 0 && axis < nbDims",
            "In node 2 (convertAxis): UNSUPPORTED_NODE: Assertion failed: axis >= 0 && axis < nbDims",
            'Assertion failed: (axis >= 0) && "Axis must be in the range of [0, nbDims]."',
        ),
        "[8] Assertion failed: axis == 1",
    ),
    "weights_unread": (
        (
            "Assertion failed: convert_onnx_weights(initializer, &weights)",
            "[8] Assertion failed: convertOnnxWeights(initializer, &weights, ctx)",
            "In node -1 (parseGraph): UNSUPPORTED_NODE: Assertion failed: convertOnnxWeights(initializer, &w, ctx)",
        ),
        "Assertion failed: convertDims(initializer)",
    ),
    "plan_magic": (
        (
            "verifyHeader: 0 (Magic tag does not match)",
            "Serialization assertion magicTagRead == kMAGIC_TAG failed.Magic tag does not match",
            "Serialization assertion plan->header.magicTag == rt::kPLAN_MAGIC_TAG failed.",
        ),
        "Serialization assertion header.size == blobSize failed.",
    ),
    "no_profile": (
        (
            "Network has dynamic or shape inputs, but no optimization profile has been defined.",
            "x: dynamic input is missing dimensions in profile 0.",
            "Error Code 4: Internal Error (Network has dynamic inputs, but no optimization profile has been defined.)",
        ),
        "Network has dynamic inputs, and an optimization profile has been defined.",
    ),
    "attribute_gone": (
        (
            "AttributeError: 'tensorrt.tensorrt.Builder' object has no attribute 'max_workspace_size'",
            "AttributeError: 'tensorrt_bindings.tensorrt.ICudaEngine' object has no attribute 'num_bindings'",
            "error: 'class nvinfer1::ICudaEngine' has no member named 'getNbBindings'",
        ),
        "AttributeError: 'Tensor' object has no attribute 'shapes'",
    ),
    "calibration_empty": (
        (
            "Calibration failure occurred with no scaling factors detected. This could be due to no int8 calibrator",
            "ERROR: Builder failed while configuring INT8 mode.",
            "Error Code 4: Internal Error (Calibration failure occurred with no scaling factors detected. )",
        ),
        "Calibration completed with all scaling factors.",
    ),
    "illegal_access": (
        (
            "Error Code 1: Cuda Runtime (an illegal memory access was encountered)",
            "Error Code 1: Myelin (Final synchronize failed (700))",
            "Myelin ([exec.cpp:exec:1] CUDA error 700 launching __myl_Mul kernel.)",
        ),
        "CUDA error 701 launching __myl_Mul kernel.",
    ),
    "engine_none": (
        (
            "AttributeError: 'NoneType' object has no attribute 'create_execution_context'",
            "TypeError: 'NoneType' object does not support the context manager protocol",
            "AttributeError: __enter__",
        ),
        "AttributeError: 'NoneType' object has no attribute 'shape'",
    ),
    "parse_failed": (
        (
            'While parsing node number 1 [Conv -> "y"]:',
            "While parsing node number 81 [Resize]:",
            "RuntimeError: While parsing node number 0:",
        ),
        "While parsing node names:",
    ),
    "crashed": (
        ("Segmentation fault (core dumped)", "[host:1] Signal: Segmentation fault (11)", "free(): invalid pointer"),
        "Segmentation model loaded",
    ),
    "ep_library": (
        (
            'FAIL : LoadLibrary failed with error 126 "" when trying to load "a.dll"',
            "Failed to load library, error code: 126",
            "Please install TensorRT libraries as mentioned in the GPU requirements page",
        ),
        "LoadLibrary was called",
    ),
    "plugin_length": (
        (
            "Assertion failed: d == a + length (plugin.cpp:320)",
            "Expected length (328) != real length (312).",
            "[TensorRT-LLM][ERROR] TllmException: Assertion failed: d == a + length",
        ),
        "Expected length (328) == real length (328).",
    ),
    "plugin_unknown": (
        (
            "could not find plugin: EfficientNMS_TRT",
            "could not find plugin ScatterND version 1",
            "getPluginCreator: Cannot find plugin: BatchedNMS_TRT, namespace: , version: 1.",
        ),
        "could find plugin EfficientNMS_TRT",
    ),
    "matmul_shapes": (
        (
            "last dimension of input0 = 512 and second to last dimension of input1 = 256 but must match",
            "MatMul_4: last dimension of input0 = 3 and second to last dimension of input1 = 4 but must match",
            "(fc: last dimension of input0 = -1 and second to last dimension of input1 = 8 but must match.)",
        ),
        "last dimension of input0 = 512 and second to last dimension of input1 = 512",
    ),
    "libraries_differ": (
        (
            "TensorRT was linked against cuDNN 8.6.0 but loaded cuDNN 8.4.1",
            "TensorRT was linked against cuBLAS/cuBLAS LT 11.6.3 but loaded cuBLAS/cuBLAS LT 11.5.1",
            "Compiled against cuDNN 7.6.5 but running against cuDNN 7.6.3",
        ),
        "TensorRT was linked against cuDNN 8.6.0",
    ),
    "library_status": (
        (
            "cuDNN error: CUDNN_STATUS_NOT_INITIALIZED",
            "Cudnn Error (CUDNN_STATUS_MAPPING_ERROR)",
            "cublas: CUBLAS_STATUS_ALLOC_FAILED",
        ),
        "cudnnGetVersion: CUDNN_STATUS_SUCCESS",
    ),
    "driver_old": (
        (
            "CUDA driver version is insufficient for CUDA runtime version",
            "Error Code 6: API Usage Error (cudaError 35: CUDA driver version is insufficient)",
            "cudaGetDeviceCount: CUDA driver version is insufficient for CUDA runtime version (35)",
        ),
        "CUDA driver version is sufficient for CUDA runtime version",
    ),
    "plan_version": (
        (
            "Serialization (Serialization assertion stdVersionRead == version failed.Version tag does not match.",
            "The engine plan file is not compatible with this version of TensorRT, expecting 8.4.1 got 8.2.5",
            "ERROR: The engine plan file is not compatible with this version of TensorRT, please rebuild.",
        ),
        "The engine plan file is compatible with this version of TensorRT",
    ),
    "out_of_memory": (
        (
            "Cuda Runtime (out of memory)",
            "[executionContext.cpp::init::97] OutOfMemory (no further information)",
            "Requested amount of GPU memory (4096 bytes) could not be allocated: out of memory",
        ),
        "Some tactics need more memory than is at hand",
    ),
    "no_tactics": (
        (
            "Conv_0: no tactics to implement operation",
            "(Unnamed Layer* 1) [Convolution]: No tactics to implement operation",
            "(Shuffle) no tactics to implement operation: x",
        ),
        "Conv_0: 12 tactics to implement operation",
    ),
    "no_outputs": (
        (
            "Network must have at least one output",
            "4: [network.cpp::validate::3011] Network must have at least one output",
            "Error Code 4: API Usage Error (Network must have at least one output.)",
        ),
        "Network has at least one output",
    ),
    "datatype_unread": (
        (
            "Found unsupported datatype (11) when importing initializer: scale",
            "unsupported datatype (10)",
            "ERROR: Found unsupported datatype (16) when importing initializer: w.1",
        ),
        "Found datatype (1) when importing initializer: w",
    ),
    "model_unread": (
        (
            "Failed to parse ONNX model from file: m.onnx",
            "Could not open file m.onnx",
            "ModelImporter: Failed to parse onnx model protobuf, INVALID_PROTOBUF",
        ),
        "Parsed ONNX model from file: m.onnx",
    ),
    "opset_new": (
        (
            "ONNX model has a newer ir_version (0.0.8) than this parser was built against (0.0.6).",
            "Model ir_version is higher than the checker's",
            "Unsupported opset version 22",
        ),
        "ONNX model has an opset version of 13",
    ),
    "engine_empty": (
        (
            "Cannot deserialize with an empty memory buffer.",
            "Assertion size > 0: an empty memory buffer",
            "Error Code 3: API Usage Error (Parameter check failed: Engine buffer is empty)",
        ),
        "Deserialize with a memory buffer of 12 MiB",
    ),
    "profile_exceeded": (
        (
            "Parameter check failed, condition: profileMaxDims.d[i] >= dimensions.d[i]",
            "Error Code 3: API Usage Error (condition: satisfyProfile Runtime dimension is outside)",
            "Parameter check failed, condition: profileMinDims.d[i] <= dimensions.d[i]",
        ),
        "Runtime dimension satisfies the optimization profile",
    ),
    "profile_taken": (
        (
            "Profile 0 has been chosen by another IExecutionContext",
            "Error Code 3: Profile 12 has been chosen by another IExecutionContext. Use another one",
            "Profile 1 has been chosen by another IExecutionContext; destroy that one",
        ),
        "Profile 0 has been chosen by this IExecutionContext",
    ),
    "context_missing": (
        (
            "pycuda: explicit_context_dependent failed: invalid device context - no currently active context?",
            "cuMemcpy failed: CUDA_ERROR_INVALID_CONTEXT",
            "cuMemAlloc failed: invalid device context",
        ),
        "pycuda: the context is active",
    ),
    "kernel_missing": (
        (
            "CUDA error: no kernel image is available for execution on the device",
            "Error Code 1: Cuda Runtime (no kernel image is available for execution on the device)",
            "Cuda Error in launchKernel: 98 (invalid device function)",
        ),
        "a kernel image for the device is loaded",
    ),
    "forked": (
        (
            "RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, use spawn",
            "torch: Cannot re-initialize CUDA in forked subprocess",
            "File torch/cuda/__init__.py: RuntimeError('Cannot re-initialize CUDA in forked subprocess')",
        ),
        "CUDA is initialized in each forked subprocess",
    ),
    "symbol_undefined": (
        (
            "libtrt.so: undefined symbol: _ZN8nvinfer1",
            "symbol lookup error: ./a.out: undefined symbol: createInferBuilder",
            "ImportError: plugin.so: undefined symbol: getPluginRegistry",
        ),
        "symbol lookup: getPluginRegistry",
    ),
    "module_missing": (
        (
            "ModuleNotFoundError: No module named 'tensorrt'",
            "ImportError: No module named 'pycuda.driver'",
            "ModuleNotFoundError: No module named 'tensorrt.plugin'",
        ),
        "ModuleNotFoundError: No module named 'numpy'",
    ),
    "numpy_alias": (
        (
            "AttributeError: module 'numpy' has no attribute 'bool'.",
            "module 'numpy' has no attribute 'typeDict'",
            "AttributeError: module 'numpy' has no attribute 'object'",
        ),
        "AttributeError: module 'numpy' has no attribute 'trapz2'",
    ),
    "header_missing": (
        (
            "x.cpp:1:10: fatal error: NvInfer.h: No such file or directory",
            "fatal error: NvOnnxParser.h: No such file or directory",
            "fatal error: cuda_runtime_api.h: No such file or directory",
        ),
        "fatal error: mine.h: No such file or directory",
    ),
    "host_killed": (
        ("Killed", "process finished with exit code 137", "oom-kill:constraint=CONSTRAINT_NONE"),
        "process finished with exit code 1",
    ),
    "unknown_option": (
        ("Unknown option: --workspac 64", "[E] Unknown option: --foo", "[11/21/2026-09:30:00] [E] Unknown option: -x"),
        "Known option: --workspace",
    ),
    "broadcast_shapes": (
        (
            "Add_4: broadcast dimensions must be conformable",
            "Mul_3: elementwise dimension mismatch",
            "Add_1: dimensions not compatible for elementwise",
        ),
        "Add_4: broadcast dimensions are conformable",
    ),
    "address_unset": (
        (
            "Neither address or allocator is set for output tensor scores. Call setOutputTensorAddress before enqueue",
            "Address is not set for input tensor x. Call setInputTensorAddress or setTensorAddress before enqueue",
            "Error Code 3: API Usage Error (Address is not set for input tensor images)",
        ),
        "Address is set for input tensor x",
    ),
    "dla_refused": (
        (
            "DLA cores do not support FP32.",
            "DLA cores do not support Sigmoid with INT8.",
            "Validation failed for DLA layer: DLA cores do not support dilation",
        ),
        "DLA cores support FP16.",
    ),
    "terminated": (
        (
            "terminate called after throwing an instance of 'std::runtime_error'",
            "terminate called without an active exception",
            "terminate called recursively",
        ),
        "terminate the program",
    ),
    "ep_not_built": (
        (
            "Specified provider 'TensorrtExecutionProvider' is not in available provider names.",
            "TensorRT execution provider is not enabled in this build.",
            "TensorrtExecutionProvider is not available",
        ),
        "TensorrtExecutionProvider is available",
    ),
    "handle_invalid": (
        (
            "Cuda Runtime (invalid resource handle)",
            "Cuda Error in execute: 33 (invalid resource handle)",
            "CUDA error 400 launching kernel: invalid resource handle",
        ),
        "Cuda Runtime (a valid resource handle)",
    ),
}
"""By cause: three wordings, and the look-alike."""
LACKING = frozenset(
    {
        *("arguments_refused", "attribute_flag", "attribute_new", "bad_profile", "batch_of_explicit"),
        *("batch_too_small", "cache_miss", "cache_unused", "caffe_file", "calibrator_access", "call_refused"),
        *("concat_shapes", "constant_wanted", "creator_missing", "cublas_failed", "cuda_code", "cuda_failed"),
        *("custom_function", "custom_library", "dds_network", "dequantized_bias", "dla_no_dynamic"),
        *("dla_single_graph", "driver_benign", "elementwise_types", "engine_absent", "engine_asserted"),
        *("ep_decryption", "ep_engine_cache", "ep_no_graph", "ep_no_shape", "ep_unsupported", "external_file"),
        *("factory_null", "flags_conflict", "formal_output", "graph_refuses_plugin", "if_branches"),
        *("implicit_batch", "importer_plugin", "importer_refused", "input_planes", "input_type", "input_unknown"),
        *("internal_check", "launch_timeout", "lazy_loading", "library_call", "library_missing"),
        *("library_on_windows", "library_optional", "library_unopened", "linker_missing", "llm_world", "loop_both"),
        *("module_attribute", "myelin_check", "myelin_formal", "myelin_none", "myelin_unhandled"),
        *("names_only_inspected", "no_implementation_old", "nvinfer_failed", "nvrtc_architecture", "nvrtc_differs"),
        *("nvrtc_failed", "ort_node", "output_differs", "output_shaped", "output_type", "package_placeholder"),
        *("plan_device", "plan_failed", "plan_other_model", "plan_size", "plugin_failed", "plugin_formats"),
        *("plugin_library", "plugin_missing", "plugin_unloaded", "precision_flag", "profile_impossible"),
        *("profile_refused", "profile_unset", "program_error", "range_invalid", "rank_differs", "rank_refused"),
        *("refit_flags", "refit_refused", "replay_ignored", "replay_refused", "replay_unknown", "reshape_changes"),
        *("reshape_shape", "reshape_volume", "reshape_zero", "resize_mode", "rtx_unsupported", "safe_mode_off"),
        *("scale_invalid", "selector_gone", "selector_threw", "shape_tensor", "sm_unknown", "static_dimension"),
        *("static_shapes", "target_sm", "tensor_expected", "tensor_name_invalid", "tftrt_missing", "timing_model"),
        *("torch2trt_converter", "torch_build", "torch_operator", "torch_unsupported", "triton_config"),
        *("triton_cpu", "triton_library", "trtexec_failed", "tuning_cuda", "turing_op", "typed_setter"),
        *("uff_refused", "unsupported_node", "weights_count", "weights_file", "workspace_limit", "workspace_short"),
        "zero_point",
    }
)
"""Causes that still lack wordings."""


@pytest.mark.parametrize("cause", sorted(WORDINGS))
def test_each_wording_names_the_cause_and_the_look_alike_does_not(cause: str) -> None:
    wordings, quiet = WORDINGS[cause]
    assert [text for text in wordings if cause not in {kind for kind, _ in causes(text)}] == []
    assert cause not in {kind for kind, _ in causes(quiet)}


def test_a_cause_has_wordings_or_is_listed_as_lacking_them() -> None:
    assert {kind.name for kind in tables.kinds(CAUSE)} - WORDINGS.keys() == LACKING


def test_a_list_of_error_codes_reports_no_error() -> None:
    assert causes("  Code=14,Name=ErrorCode.REFIT_FAILED,Meaning=Refitting the engine failed") == ()
    assert causes("Refitting the engine failed") == (("program_error", {"text": None}),)
    assert [kind for kind, _ in causes("code=2,name=x,text=out of memory")] == ["out_of_memory"]
