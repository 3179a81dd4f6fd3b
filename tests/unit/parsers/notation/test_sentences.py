"""What errors say in their own words: what wraps the sentence is taken off, and the sentence has a class."""

from __future__ import annotations

import pytest

from tests.support.for_each import for_each
from trtforensics.parsers.notation.sentences import classes, classified

SAID = {
    "In node 7 with name: /warp and operator: Warp (importWarp): UNSUPPORTED_NODE: Assertion failed: (n == 1): Give "
    "one axis.": ("refused_axis", "Give one axis.", "importWarp", "Warp", "/warp"),
    '[8] Assertion failed: slope && "Failed to create the slope."': (
        "failed_part",
        "Failed to create the slope.",
        *"   ",
    ),
    "3: [a.cpp::setWarp::71] Error Code 3: API Usage Error (Parameter check failed at: a.cpp::Warper::setWarp::71, "
    "condition: index >= 0)": (
        "out_of_bounds",
        "a check fails: index must be at least 0",
        "a.cpp::Warper::setWarp::71",
        *"  ",
    ),
    "warp: w.cu:31: nn::Warp::Warp(const void*, size_t): Assertion `at == 5' failed.": (
        "refused_load",
        "a check fails: at must be 5",
        "nn::Warp::Warp(const void*, size_t)",
        *"  ",
    ),
    "IWarp::setType: Error Code 3: API Usage Error (Parameter check failed, condition: (i != 1 || in(t, kWARPS)). A "
    "warp takes a scale of FP8.  It was Float. In setType at api/warp.cpp:150)": (
        "unclear_scale",
        "A warp takes a scale of FP8.  It was Float.",
        *"   ",
    ),
    "IWarp::setType: Error Code 3: API Usage Error (Parameter check failed, condition: index >= 0. In setType at "
    "api/warp.cpp:150)": ("out_of_bounds", "a check fails: index must be at least 0", *"   "),
    "Assertion failed: File does not exist: /srv/crow.bin": (
        "unusable_file",
        "Assertion failed: File does not exist: /srv/crow.bin",
        *"   ",
    ),
    "Assertion failed: crow names differ: beak != wing": (
        "differing_parts",
        "Assertion failed: crow names differ: beak != wing",
        *"   ",
    ),
    "Assertion failed: crow_p param (3.5) is out of limits (0, 1]": (
        "out_of_bounds",
        "Assertion failed: crow_p param (3.5) is out of limits (0, 1]",
        *"   ",
    ),
    "Validation failed: Crow::kINT8 == in.type": ("refused_type", "a check fails: INT8 must be in's type", *"   "),
    "Executing the crow engine failed!": ("failed_part", "Executing the crow engine failed!", *"   "),
    "ValueError: crow 'a' did not resolve to a wing": ("missing_part", "crow 'a' did not resolve to a wing", *"   "),
    "The crow was mutated in a constant flight!": (
        "unsupported_form",
        "The crow was mutated in a constant flight!",
        *"   ",
    ),
    "RuntimeError: /srv/crows is not a directory": ("unusable_file", "/srv/crows is not a directory", *"   "),
    "Use CrowBuilder to make the crow first": ("wrong_order", "Use CrowBuilder to make the crow first", *"   "),
    "ERROR: Failed to enqueue the inference batch": ("failed_part", "Failed to enqueue the inference batch", *"   "),
    "[error] Engine net.FP32.plan load failed": ("refused_load", "[error] Engine net.FP32.plan load failed", *"   "),
    "recipe for target 'out/libwarp.so' failed": ("failed_word", "recipe for target 'out/libwarp.so' failed", *"   "),
    "2026-11-22 09:30:00,259 - net.warp - ERROR - cannot find the mauve key": (
        "missing_part",
        "cannot find the mauve key",
        *"   ",
    ),
    "| net | 1 | UNAVAILABLE: Internal: unknown colour 'red'": ("missing_part", "unknown colour 'red'", *"   "),
    "E1121 09:30:00.1 1 life.cc:5] failed to load 'net' version 1: Internal: unknown colour 'mauve'": (
        "missing_part",
        "unknown colour 'mauve'",
        *"   ",
    ),
    "E1121 09:30:00.1 1 life.cc:5] \"failed to load 'net' version 1: Internal: made: [TensorRT-LLM][ERROR] Assertion "
    'failed: 12 != 30 (/src/warp.cpp:4)\\n1       0x7ff34f6bdff8 nn::thrown() + 95"': (
        "differing_parts",
        "a check fails: 12 and 30 must be equal",
        *"   ",
    ),
    "[TensorRT-LLM][ERROR] Assertion failed: warp + 1 <= mWarps (/src/warp.cpp:4)": (
        "broken_bound",
        "a check fails: warp + 1 must be at most Warps",
        *"   ",
    ),
    " ERROR mauve::tensorrt > IWarp::s: Error Code 4: API Usage Error ((Unnamed Layer* 7) [Dequantize]: the warp is "
    "not supported)": ("unsupported_form", "(Unnamed Layer* 7) [Dequantize]: the warp is not supported", *"   "),
    "[E] failed to create network since there is no mauve file": (
        "missing_part",
        "[E] failed to create network since there is no mauve file",
        *"   ",
    ),
    "RuntimeError: warp.cc:7 bool nn::Warp::fits(int, const float*) const warps.Fit() was false": (
        "unmet_check",
        "a check fails: warps.Fit() holds",
        *"   ",
    ),
    "TypeError: shapes must be a list or torch.Size, got INT4": (
        "wrong_argument",
        "shapes must be a list or torch.Size, got INT4",
        *"   ",
    ),
    "IWarp: sizes must be non-negative, but size on axis 2 is not": (
        "broken_bound",
        "IWarp: sizes must be non-negative, but size on axis 2 is not",
        *"   ",
    ),
    "mauve tensors must be on CUDA device.": ("differing_parts", "mauve tensors must be on CUDA device.", *"   "),
    "Invalid argument: The mauve function could not be empty": (
        "missing_part",
        "The mauve function could not be empty",
        *"   ",
    ),
    "Unknown architecture for AutoModel: WarpForCausalLM": (
        "missing_part",
        "Unknown architecture for AutoModel: WarpForCausalLM",
        *"   ",
    ),
    "Triton: [TensorRT-LLM][ERROR] Assertion failed: Both mauve paths are empty\\n1  0x7f27103bd242 /opt/a.so(+0x1)": (
        "missing_part",
        "Both mauve paths are empty",
        *"   ",
    ),
    "Warp: TensorRT dynamic library is not found": (
        "refused_library",
        "Warp: TensorRT dynamic library is not found",
        *"   ",
    ),
    "Worker rank 3 killed by signal 9, failed": ("failed_word", "Worker rank 3 killed by signal 9, failed", *"   "),
    "Failed to set output allocator for warp": ("failed_part", "Failed to set output allocator for warp", *"   "),
    "Resize takes scales of 4 values only": ("wrong_count", "Resize takes scales of 4 values only", *"   "),
    "warp percentile is not in [0, 100]": ("out_of_bounds", "warp percentile is not in [0, 100]", *"   "),
}
"""By message: the class, the sentence, the function, the operator and the node."""


ABOUT = {
    "refused_attribute": ("The precision tool cannot work so. Please provide a different format.",),
    "unclear_scale": ("warp due to missing int8 scales for tensor 37",),
    "refused_type": (
        "the warp's shape tensors must have type INT32 or INT64",
        "input and bias must have same type or quantized input must have a bias of FP32",
        "linear warp_3 has bias of type INT4, Expect Optional[Tensor]",
        "[8] Assertion failed: scales_weights.type == ::ONNX_NAMESPACE::TensorProto::FLOAT",
        "Unsupported constant tensor element type 37",
        "scale tensor must be FP16.",
    ),
    "refused_axis": (
        "The range of axis must be in [-r, r-1], where r is the rank of the warp",
        "batch_axis and time_axis cannot be the same",
        "/warp: concat axis must be less than number of dimensions",
    ),
    "needs_constant": (
        "[8] Assertion failed: axes.valuesKnown()",
        "'axis' value must be a build time constant but is warped",
        "Cannot convert a Tensor to a vector!",
    ),
    "wrong_count": (
        "[8] Assertion failed: starts.size() == axes.size()",
        "Expects two input tensors for opset >= 10: X and K",
        "Warp requires exactly 2 inputs. Current input size = 3",
    ),
    "refused_shape": (
        "Query, Key, Value tensors must have the same warp dimension",
        "[8] Assertion failed: bias_weights.shape == weights_shape",
        "[8] Assertion failed: dims.d[axis] % noutput == 0",
        "[8] Assertion failed: dilations.d[nbSpatialDims - i] == 1",
        "/warp: the spatial dimension of the output cannot be negative (build-time output dimension of axis 2)",
        "The given block size does not divide the input extent in axis 2",
    ),
    "missing_part": (
        "[8] Assertion failed: tensors.count(output.name())",
        "[8] Assertion failed: layers.count(layer.first) > 0",
        "3: Validation failed: inputTypes != nullptr",
        "RuntimeError: pad received an input that is not part of the TensorRT region!",
        "RuntimeError: Quantized warp received an input that is not part of the TensorRT region!",
        "[8] Assertion failed: fields != nullptr",
        "[8] Assertion failed: inputs",
        "[8] Assertion failed: mScales && mScales->mPtr",
        "Some input shapes were not specified.",
    ),
    "wrong_order": (
        "[8] Assertion failed: !initializer_map.count(initializer.name())",
        "[8] Assertion failed: !tensors->count(input.name())",
        "Cannot create an execution context while the warp is unloaded.",
        "[8] Assertion failed: libNamespace == nullptr",
        "Parse was called with a non-empty warp",
    ),
    "broken_bound": (
        "[8] Assertion failed: steps[i] != 0",
        "3: Validation failed: postNmsTopN",
    ),
    "refused_load": (
        "3: Validation failed: d == a + length",
        "The warp's engine header does not conform to the expected format",
        "[8] Assertion failed: a == d + serialSize",
    ),
    "refit_refused_word": ("warp could not refit deserialized weight-stripped engine",),
    "failed_part": ("Failed to create warp. Check the logs for more details or run with --verbose.",),
    "bad_option": ("Unknown hardwareLevel: warp. Valid options: none, ampere+.",),
    "unsupported_form": (
        "Warp is only supported on x86-64 Linux architecture",
        "RuntimeError: the warp layer doesn't support dim=None right now",
        "a warp call is not supported for ir=fx",
        "GroupWarp with head_sink is not yet supported (of the plugin's slots)",
    ),
    "refused_dla": ("Try to use DLA core 0, but platform doesn't have any DLA core",),
    "refused_value": (
        "Invalid GPU ID for the CUDA device provided",
        "3: Validation failed: invalid S during runtime plugin creation",
        "Unknown warpMode: mauve",
    ),
    "unmet_check": ("[8] Assertion failed: transposeWeights(weights, perm, &new_weights)",),
    "refused_rank": (
        "The score_threshold tensor must be 0D",
        "The first input must have 4 dimensions",
    ),
    "dynamic_shape": (
        "TensorRT cannot infer the shape of warp",
        "[8] Assertion failed: in[0].desc.dims.d[j] != -1",
    ),
    "differing_parts": (
        "The aux streams must not be the default cuda warp.",
        "Warp weights and entries size mismatch of weight entries",
        "convolution requires packed NHWC/KRSC tensors",
    ),
    "failed_cuda": (
        "Unable to get current device",
        "unable to set device for warp: gone",
    ),
    "clashing_options": (
        "Attempted to warp without providing scales",
        "The warp and the weft cannot both be set",
        "full_compilation is enabled however the list of ops is not empty",
        "attn_mask must be None when is_causal=True",
    ),
    "unfit_profile": (
        "Expect non dynamic dim 1 to be the same in shape_range",
        "warp is missing values for shape input tensor",
    ),
    "unusable_file": ("Relative paths to parent (../) are not allowed in ONNX external weights!",),
    "failed_word": ("Unexpected error while extracting wheel: gone",),
}
"""By class: sentences that hold a word of another class, or a condition of one."""


def test_a_sentence_is_of_the_class_of_what_it_says() -> None:
    said = {text: classified(text) for texts in ABOUT.values() for text in texts}
    found = {text: None if result is None else result[0] for text, result in said.items()}
    assert found == {text: kind for kind, texts in ABOUT.items() for text in texts}


@for_each("message", sorted(SAID))
def test_a_sentence_has_a_class_and_says_who_speaks(message: str) -> None:
    found = classified(message)
    assert found is not None
    kind, fields = found
    read = (kind, *(fields[name] or " " for name in ("text", "site", "op", "node")))
    assert read == SAID[message]


def test_the_words_of_a_condition_may_stand_below() -> None:
    thrown = "RuntimeError: [Error thrown at a.cpp:1] Expected warp to be true but got false"
    found = classified(thrown, below="Unable to create the warp layer")
    assert found is not None
    assert found[1]["text"] == "Unable to create the warp layer"


def test_the_words_of_an_importer_may_stand_below() -> None:
    passed_on = "ModelImporter.cpp:151: ERROR: onnxOpImporters.cpp:741 In function importWarp:"
    found = classified(passed_on, below='[8] Assertion failed: (mode == 1) && "only mode 1 is supported"')
    assert found == (
        "refused_attribute",
        {"text": "only mode 1 is supported", "site": "importWarp", "op": None, "node": None, "below": "below"},
    )
    assert classified(passed_on) is None


def test_a_check_inside_somebodys_sentence_is_what_it_is_about() -> None:
    found = classified("The file a.cpp prints Assertion failed: tensor->getType() != nvinfer1::DataType::kINT32")
    assert found is not None
    assert found[0] == "refused_type"
    words = classified("My file says Assertion failed: Rows must be a multiple of 8. (/src/kernels/file.cpp:7)")
    assert words is not None
    assert (words[0], words[1]["text"]) == (
        "broken_bound",
        "My file says Assertion failed: Rows must be a multiple of 8.",
    )


@pytest.mark.parametrize(
    "message",
    ["Error Code 2: Internal Error (Assertion mWarps > 0 failed. )", "[6] Invalid Node - /reshape", "ready"],
)
def test_checks_of_tensorrts_own_code_and_mere_names_have_no_class(message: str) -> None:
    assert classified(message) is None


def test_the_classes_are_tried_from_the_narrowest_on() -> None:
    names = list(classes())
    assert names.index("refused_rank") < names.index("refused_shape") < names.index("failed_word")
