"""Nodes and files that importers refuse by a check of their own, in the forms of all parsers since TensorRT 5."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule, said

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case

caffe = said(
    "TF137",
    Severity.ERROR,
    "The Caffe model cannot be read",
    kinds=("caffe_file",),
    cause="The deploy or model file does not exist at the path that the program was given (an empty path is printed as "
    "nothing), or was not downloaded whole.",
    confirm="ls -l on both files; a file of a few hundred bytes is an error page or a Git LFS pointer.",
    fixes=(
        "Give the right paths, or download the model again (jetson-inference: tools/download-models.sh).",
        Fix("Caffe models are no longer read: convert the model to ONNX.", "10.0"),
    ),
    sources=("the Caffe parser of 2 to 8.6, in public threads of jetson-inference",),
)

uff = said(
    "TF138",
    Severity.ERROR,
    "The UFF parser refuses the model",
    kinds=("uff_refused",),
    says="The UFF parser refuses the model: {text}",
    cause="The UFF parser knows few operations. 'Unsupported operation' names one that it lacks: a plugin that is not "
    "registered (names that end in _TRT) or a TensorFlow operation that was not replaced.",
    confirm="The name behind 'Unsupported operation'.",
    fixes=(
        "Load the plugin library that has the operation, of the version that the model was made for.",
        "Replace the operation with a plugin node in the converter's configuration (graphsurgeon).",
        Fix("UFF is gone: convert the model to ONNX (tf2onnx).", "10.0"),
    ),
    sources=("the UFF parser of 5 to 8.6; deepstream_tao_apps#35",),
)

weights_file = said(
    "TF139",
    Severity.ERROR,
    "The file of weights cannot be opened",
    kinds=("weights_file",),
    cause="The program builds the network by hand and reads its weights from a file (.wts) that is not there: the path "
    "counts from the working directory.",
    confirm="ls -l on the path that the program prints before.",
    fixes=("Make the file with the project's script (gen_wts.py), and run the program in the folder that it expects.",),
    sources=("programs in the style of tensorrtx",),
)

missing_input = said(
    "TF148",
    Severity.ERROR,
    "A node reads a tensor that the parser does not know",
    kinds=("input_missing",),
    cause="The parser meets a node before anything gave its input. Likeliest first: the parser is too old for the "
    "model (an optional input that is left empty, as the roi of Resize from opset 11 on; initializers that are no "
    "inputs, from IR version 4 on); constants that the parser did not import; nodes in the wrong order after an edit.",
    confirm="polygraphy inspect model MODEL --show layers: what gives the node's inputs.",
    fixes=(
        Fix("Update TensorRT or its ONNX parser: 7.1 takes empty inputs and models of IR version 4.", before="7.1"),
        "Simplify the model (polygraphy surgeon sanitize --fold-constants, or onnx-simplifier), which sorts it too.",
        "For Resize (interpolate): export with opset 11, with fixed sizes, as this parser expects.",
        "For models of IR version 3 parsers: export with keep_initializers_as_inputs=True.",
    ),
    settle="Whether a newer parser takes the model, and what onnx.checker.check_model says.",
    sources=("ModelImporter.cpp of 5 to 7.0; onnx/onnx-tensorrt#199, #414, #741",),
)

axis = said(
    "TF149",
    Severity.ERROR,
    "An axis lies outside of the dimensions of its tensor",
    kinds=("axis_outside",),
    cause="The axis counts more dimensions than the tensor has for TensorRT. Likeliest first: an implicit batch "
    "network (TensorRT 5 and 6), in which tensors lack the batch dimension; a scalar or shape tensor (Gather, "
    "Unsqueeze of a shape) that this parser does not support; a wrong axis in the model.",
    confirm="The rank of the node's input in ONNX Runtime against the axis.",
    fixes=(
        Fix("Create the network with EXPLICIT_BATCH, or use TensorRT 7 and later.", before="7.0"),
        "Fold the shape computation (polygraphy surgeon sanitize --fold-constants, or onnx-simplifier).",
    ),
    settle="polygraphy inspect model MODEL --show layers: the node's axis and the shape of its input.",
    sources=("convert_axis and convertAxis in onnx2trt_utils, 5 to 10",),
)

_NEAR = 12
"""Lines around ``While parsing node`` that belong to it: TF101 and TF108 report them."""


@rule(
    "TF150",
    Severity.ERROR,
    "A node needs a plugin that is not loaded",
    cause="No importer knows the operator, and no registered plugin has its name, version and namespace: the library "
    "of the plugin is not loaded, or is of another project or version.",
    confirm="polygraphy inspect model MODEL --show layers names the operator; Registered plugin creator lines of a "
    "verbose log list what is loaded.",
    fixes=(
        "Load the library before parsing: trt.init_libnvinfer_plugins for TensorRT's own, ctypes.CDLL for others.",
        "mmdeploy and mmcv: compile their TensorRT ops (libmmdeploy_tensorrt_ops.so), and check their environment.",
        "Or replace the operator before export.",
    ),
    sources=("checkFallbackPluginImporter, 7.0 to 10; open-mmlab/mmdeploy#1167, #2398",),
)
def plugin(case: Case) -> Iterator[Observation]:
    """Report the refusal where no line names the node, which TF101 would."""
    parsing = [note.span.line for note in case.notes("parse_failed")]
    notes = [note for note in case.notes("importer_plugin") if not _near(note.span.line, parsing)]
    operators = [note for note in notes if note.text("op")]
    yield from observe(operators, "The parser has no importer for {names}", names="op")
    rest = [note for note in notes if not note.text("op")]
    yield from observe(rest, "A node needs a plugin that is not loaded")


@rule(
    "TF151",
    Severity.ERROR,
    "An importer refuses a node",
    cause="The importer of the operator checks the node, and the check fails: an attribute, rank, type or input that "
    "this TensorRT does not support.",
    confirm="The assertion printed beside the importer's name says what it wants.",
    fixes=(
        "Change the node as the assertion wants it: fold constants, export with another opset, or rewrite it.",
        "Use a newer TensorRT: importers take more with each release.",
    ),
    sources=("builtin_op_importers.cpp and onnxOpImporters.cpp, 5 to 10",),
    follows=("TF134",),
)
def importer(case: Case) -> Iterator[Observation]:
    """Name the importer where neither a node nor a reason that another rule knows stands beside it."""
    known = case.notes(
        "parse_failed", "input_missing", "axis_outside", "importer_plugin", "constant_wanted", "weights_unread",
        "implicit_batch", "unsupported_node", "plugin_missing",
    )  # fmt: skip
    lines = [note.span.line for note in known]
    notes = [note for note in case.notes("importer_refused") if not _near(note.span.line, lines)]
    yield from observe(notes, "The importer {names} refuses a node", names="name")


def _near(line: int, lines: list[int]) -> bool:
    return any(abs(line - other) <= _NEAR for other in lines)


implicit_batch = said(
    "TF152",
    Severity.ERROR,
    "The ONNX parser needs a network with explicit batch",
    kinds=("implicit_batch",),
    cause="The network was created without the EXPLICIT_BATCH flag. From TensorRT 7 to 9 the ONNX parser takes no "
    "other network; from 10 on every network is one.",
    confirm="The call of create_network (createNetworkV2).",
    fixes=(
        Fix("create_network(1 << int(trt.NetworkDefinitionCreationFlag.EXPLICIT_BATCH)).", before="10.0"),
        Fix("trtexec: --explicitBatch.", before="8.0"),
    ),
    sources=("ModelImporter.cpp of 7 to 8.6",),
)

unread_model = said(
    "TF153",
    Severity.ERROR,
    "The ONNX file cannot be read",
    kinds=("model_unread",),
    cause="Likeliest first: the path is wrong; the file is no whole ONNX model (a Git LFS pointer, a broken download, "
    "another format); the model is larger than the 2 GB of a protobuf and has no external data.",
    confirm="python -c \"import onnx; onnx.load('MODEL')\"; ls -l on the file.",
    fixes=(
        "Give the right path, and fetch the file again whole (git lfs pull).",
        "Save models above 2 GB with external data, and give the parser the path, not bytes.",
    ),
    settle="onnx.load on the same file.",
    sources=("ModelImporter.cpp and the parser's utilities, 5 to 10; ONNX Runtime's INVALID_PROTOBUF",),
)


@rule(
    "TF162",
    Severity.ERROR,
    "Polygraphy could not parse the model",
    cause="TensorRT's parser gave no network. An error of the parser stands before it; without one, likeliest first: "
    "the path is wrong or a folder, the file is no whole ONNX model, its external data are not beside it.",
    confirm="python -c \"import onnx; onnx.checker.check_model('MODEL')\"; ls -l on the file.",
    fixes=(
        "Mend the first error of the parser; without one, give the path of a whole model with its data beside it.",
        "If an export comes just before it: read the exporter's own error, the model was not written.",
    ),
    sources=("Polygraphy's backend/trt/loader.py; onnx/onnx#4392, ComfyUI-Upscaler-Tensorrt#5",),
    follows=("TF1*", "TF716"),
)
def not_parsed(case: Case) -> Iterator[Observation]:
    """Report the message, unless errors stand below it: into a file it is printed before the errors it follows from."""
    notes = case.notes("polygraphy_parse")
    last = max((note.span.line for note in notes), default=0)
    if not any(message.severity == "E" and message.span.line > last for message in case.build.messages):
        yield from observe(notes, "Polygraphy could not parse the model", settle="The parser's errors before it.")


too_new = said(
    "TF154",
    Severity.WARNING,
    "The model is newer than the parser",
    kinds=("opset_new",),
    cause="The model has a newer IR version or opset than the parser was built for. Parsers go on, and may fail at "
    "operators whose form changed.",
    confirm="polygraphy inspect model MODEL prints opset and IR version.",
    fixes=("Export with an older opset (opset_version=11 for TensorRT 7, 13 for 8.0), or use a newer TensorRT.",),
    sources=("ModelImporter.cpp of 5 to 8",),
)

not_tensor = said(
    "TF155",
    Severity.ERROR,
    "The network's output is a constant",
    kinds=("tensor_expected",),
    cause="The parser found weights where a tensor has to be: an output of the model is a constant (after a "
    "simplifier folded it), or a Constant node gives a network output.",
    confirm="polygraphy inspect model MODEL --show layers: what gives the output.",
    fixes=("Take the constant output out of the model, or put an Identity before it.",),
    settle="Which node gives the output named before.",
    sources=("ModelImporter.cpp of 5 to 8; onnx/onnx-tensorrt#425",),
)

unsupported_form = said(
    "TF156",
    Severity.ERROR,
    "TensorRT does not support this form of an operator",
    kinds=("resize_mode",),
    says="The parser does not support it: {text}",
    cause="The importer says what it supports; the node asks for something else.",
    confirm="The attributes of the node (polygraphy inspect model MODEL --show layers attrs).",
    fixes=("Export the node in the form that the message names, or use a newer TensorRT.",),
    sources=("onnxOpImporters.cpp, 7 to 10",),
)

rank = said(
    "TF157",
    Severity.ERROR,
    "A tensor has another number of dimensions than the operation takes",
    kinds=("rank_refused",),
    cause="The check is about nbDims, the number of dimensions. Likeliest first: an implicit batch network (TensorRT 5 "
    "and 6), in which tensors lack the batch dimension; a scalar where a vector is needed; a model exported for "
    "another rank.",
    confirm="The ranks of the node's inputs in ONNX Runtime.",
    fixes=(
        Fix("Create the network with EXPLICIT_BATCH, or use TensorRT 7 and later.", before="7.0"),
        "Reshape (unsqueeze) the tensor before the operation, in the model.",
    ),
    settle="The rank that the tensor has in ONNX Runtime.",
    sources=("importers of 5 to 8; NVIDIA/TensorRT#289",),
)
