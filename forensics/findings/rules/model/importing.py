"""Models whose file, weights or inputs the parser cannot take."""

from __future__ import annotations

from trtforensics.findings.finding import Fix, Severity
from trtforensics.findings.rule import said

external = said(
    "TF131",
    Severity.ERROR,
    "The model's weights lie in an external file that cannot be opened",
    kinds=("external_file",),
    cause="The ONNX model keeps its weights as external data, in a file beside it. The parser looks for that file in "
    "the "
    "current working directory, or beside the path that it was given; bytes passed to parser.parse have no path.",
    confirm="python -c \"import onnx; m = onnx.load('MODEL', load_external_data=False); "
    "print({e.value for t in m.graph.initializer for e in t.external_data if e.key == 'location'})\"",
    fixes=(
        (
            "Run in the model's folder, or keep the external data file beside the model and use "
            "parser.parse_from_file(PATH) "
            "or trtexec --onnx=PATH."
        ),
        "Or put the weights into the ONNX file (onnx.save_model(m, OUT, save_as_external_data=False), below 2 GB).",
        Fix("Use a newer parser: early ones made an empty path of a plain file name.", before="8.0"),
    ),
    sources=("WeightsContext.cpp and onnx2trt_utils.cpp; onnx/onnx-tensorrt issues on external data",),
)

unread_weights = said(
    "TF132",
    Severity.ERROR,
    "The parser could not read an initializer",
    kinds=("weights_unread",),
    cause="Reading the weights of an initializer failed. The line before says why: a data type that this parser does "
    "not "
    "know (DOUBLE, float64 …), or an external data file that it cannot open.",
    confirm="The line right before it.",
    fixes=("Convert the initializer to float32, or give the external data file.",),
    settle="The line before it, of onnx2trt_utils.cpp or WeightsContext.cpp.",
    sources=("ModelImporter.cpp of 7.x and 8.x",),
)

unread_type = said(
    "TF133",
    Severity.ERROR,
    "An initializer has a data type that this parser cannot import",
    kinds=("datatype_unread",),
    says="Initializer {tensor} has ONNX data type {index}, which this parser cannot import",
    cause="The numbers are those of onnx.TensorProto: 11 is DOUBLE (float64), 2 UINT8, 12 UINT32, 13 UINT64, 8 STRING, "
    "16 BFLOAT16. TensorRT computes in float32 and narrower types.",
    confirm="polygraphy inspect model MODEL --show weights",
    fixes=(
        (
            "Convert the constants to float32 (or INT32) and export again; a float64 usually comes from constant "
            "folding "
            "or "
            "from numpy's default type."
        ),
    ),
    sources=("onnx2trt_utils.cpp of 7.x and 8.x",),
)

input_type = said(
    "TF134",
    Severity.ERROR,
    "The model has an input or tensor of a type that TensorRT does not take",
    kinds=("input_type",),
    says="The model uses ONNX data type {type}, which this TensorRT does not take as a network input or tensor",
    cause="A network input of this type (UINT8 images are the usual case) cannot be imported.",
    confirm="polygraphy inspect model MODEL lists the inputs with their types.",
    fixes=(
        (
            "Change the input's type to float32 (or INT32): in the export, or with ONNX GraphSurgeon, and drop the "
            "Cast "
            "behind "
            "it."
        ),
        Fix("UINT8 inputs are accepted where a Cast follows at once.", "8.5"),
    ),
    sources=("ModelImporter.cpp (convertDtype) of 7.x and 8.x; NVIDIA/TensorRT#938, #1302",),
)

no_outputs = said(
    "TF135",
    Severity.ERROR,
    "The network that is built has no output",
    kinds=("no_outputs",),
    cause="The network has no outputs. Usually parsing failed, and the program did not check the return value of "
    "parser.parse; with TensorRT 7 also where the network lacks the EXPLICIT_BATCH flag.",
    confirm="Print parser.get_error(i) for i in range(parser.num_errors).",
    fixes=(
        "Check what parser.parse returns, and print the parse errors (parser.get_error).",
        Fix("Create the network with NetworkDefinitionCreationFlag.EXPLICIT_BATCH.", before="10.0"),
        "A network made by hand needs mark_output for its results.",
    ),
    settle="The parser's errors.",
    sources=("network checks of 7.x to 10.x; samples/python of 7.x",),
)

weight_count = said(
    "TF136",
    Severity.ERROR,
    "The weights do not fit the layer that they are given to",
    kinds=("weights_count",),
    cause="The number of values differs from what the layer's dimensions need. In programs that build the network by "
    "hand from a weight file, the model was trained with another number of classes (a detection head has anchors * "
    "(5 + classes) channels) or with another width, or it is another model.",
    confirm="Divide the count by input channels times kernel size: that is how many output channels the weights have.",
    fixes=(
        "Set the number of classes (kNumClass, CLASS_NUM) and the model variant to those of the weights, and build.",
    ),
    sources=("convolution checks of 7.x to 10.x; programs in the style of tensorrtx",),
)
