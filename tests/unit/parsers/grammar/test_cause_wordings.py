"""Causes in the wordings of several versions and programs, each beside a line that is nearly the same."""

from __future__ import annotations

import pytest

from trtforensics.parsers.builds.notes import causes

WORDINGS: dict[str, tuple[tuple[str, str, str], str]] = {
    "input_missing": (
        ("[5] Assertion failed: tensors.count(input_name)", "[5] Assertion failed: ctx->tensors().count(inputName)",
         "In node 4 (parseGraph): INVALID_GRAPH: Assertion failed: ctx->tensors().count(inputName)"),
        "[5] Assertion failed: tensors.size()",
    ),
    "axis_outside": (
        ("convert_axis: [8] Assertion failed: axis >= 0 && axis < nbDims",
         "In node 2 (convertAxis): UNSUPPORTED_NODE: Assertion failed: axis >= 0 && axis < nbDims",
         'Assertion failed: (axis >= 0) && "Axis must be in the range of [0, nbDims]."'),
        "[8] Assertion failed: axis == 1",
    ),
    "weights_unread": (
        ("Assertion failed: convert_onnx_weights(initializer, &weights)",
         "[8] Assertion failed: convertOnnxWeights(initializer, &weights, ctx)",
         "In node -1 (parseGraph): UNSUPPORTED_NODE: Assertion failed: convertOnnxWeights(initializer, &w, ctx)"),
        "Assertion failed: convertDims(initializer)",
    ),
    "plan_magic": (
        ("verifyHeader: 0 (Magic tag does not match)",
         "Serialization assertion magicTagRead == kMAGIC_TAG failed.Magic tag does not match",
         "Serialization assertion plan->header.magicTag == rt::kPLAN_MAGIC_TAG failed."),
        "Serialization assertion header.size == blobSize failed.",
    ),
    "no_profile": (
        ("Network has dynamic or shape inputs, but no optimization profile has been defined.",
         "x: dynamic input is missing dimensions in profile 0.",
         "Error Code 4: Internal Error (Network has dynamic inputs, but no optimization profile has been defined.)"),
        "Network has dynamic inputs, and an optimization profile has been defined.",
    ),
    "attribute_gone": (
        ("AttributeError: 'tensorrt.tensorrt.Builder' object has no attribute 'max_workspace_size'",
         "AttributeError: 'tensorrt_bindings.tensorrt.ICudaEngine' object has no attribute 'num_bindings'",
         "error: 'class nvinfer1::ICudaEngine' has no member named 'getNbBindings'"),
        "AttributeError: 'Tensor' object has no attribute 'shapes'",
    ),
    "calibration_empty": (
        ("Calibration failure occurred with no scaling factors detected. This could be due to no int8 calibrator",
         "ERROR: Builder failed while configuring INT8 mode.",
         "Error Code 4: Internal Error (Calibration failure occurred with no scaling factors detected. )"),
        "Calibration completed with all scaling factors.",
    ),
    "illegal_access": (
        ("Error Code 1: Cuda Runtime (an illegal memory access was encountered)",
         "Error Code 1: Myelin (Final synchronize failed (700))",
         "Myelin ([exec.cpp:exec:1] CUDA error 700 launching __myl_Mul kernel.)"),
        "CUDA error 701 launching __myl_Mul kernel.",
    ),
    "engine_none": (
        ("AttributeError: 'NoneType' object has no attribute 'create_execution_context'",
         "TypeError: 'NoneType' object does not support the context manager protocol", "AttributeError: __enter__"),
        "AttributeError: 'NoneType' object has no attribute 'shape'",
    ),
    "parse_failed": (
        ('While parsing node number 1 [Conv -> "y"]:', "While parsing node number 81 [Resize]:",
         "RuntimeError: While parsing node number 0:"),
        "While parsing node names:",
    ),
    "crashed": (
        ("Segmentation fault (core dumped)", "[host:1] Signal: Segmentation fault (11)", "free(): invalid pointer"),
        "Segmentation model loaded",
    ),
    "ep_library": (
        ('FAIL : LoadLibrary failed with error 126 "" when trying to load "a.dll"',
         "Failed to load library, error code: 126",
         "Please install TensorRT libraries as mentioned in the GPU requirements page"),
        "LoadLibrary was called",
    ),
    "plugin_length": (
        ("Assertion failed: d == a + length (plugin.cpp:320)", "Expected length (328) != real length (312).",
         "[TensorRT-LLM][ERROR] TllmException: Assertion failed: d == a + length"),
        "Expected length (328) == real length (328).",
    ),
}  # fmt: skip
"""By cause: three wordings, and the look-alike. Not every cause is here."""


@pytest.mark.parametrize("cause", sorted(WORDINGS))
def test_each_wording_names_the_cause_and_the_look_alike_does_not(cause: str) -> None:
    wordings, quiet = WORDINGS[cause]
    assert [text for text in wordings if cause not in {kind for kind, _ in causes(text)}] == []
    assert cause not in {kind for kind, _ in causes(quiet)}
