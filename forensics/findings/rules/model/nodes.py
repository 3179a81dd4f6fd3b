"""Nodes whose inputs or shapes TensorRT refuses."""

from __future__ import annotations

from trtforensics.findings.finding import Fix, Severity
from trtforensics.findings.rule import said

constant = said(
    "TF140",
    Severity.ERROR,
    "An input of a node has to be constant, and is computed in the graph",
    kinds=("constant_wanted",),
    cause="This importer takes the input only as a constant (an initializer): Resize's scales, TopK's K, Pad's pads "
    "and "
    "the like. In this model it is computed in the graph.",
    confirm="polygraphy inspect model MODEL --show layers: what produces that input.",
    fixes=(
        (
            "Fold constants: polygraphy surgeon sanitize MODEL --fold-constants -o folded.onnx (or onnx-simplifier), "
            "with "
            "static shapes where the value depends on them."
        ),
        (
            "For Resize: export with opset 11 or later so that it has a sizes input instead of scales, or with fixed "
            "scales."
        ),
        "For TopK: use a constant K (a fixed k) in the model, so that K is not computed in the graph.",
        Fix("Use a newer TensorRT: later parsers take some of these inputs as tensors.", before="10.0"),
    ),
    sources=("builtin_op_importers.cpp of 7.x and 8.x; onnx/onnx-tensorrt#398, #455, #483",),
)

incompatible = said(
    "TF141",
    Severity.ERROR,
    "The shapes of a node's inputs do not fit each other",
    kinds=("broadcast_shapes",),
    cause="Two inputs have shapes that cannot be broadcast to one. Either the model is wrong for these input shapes "
    "(then "
    "ONNX Runtime refuses it too), or a shape before it was computed wrongly: a custom plugin that reports -1 or wrong "
    "output dimensions, a Reshape with fixed numbers.",
    confirm="Run the model in ONNX Runtime with the same input shapes.",
    fixes=(
        (
            "Simplify the model (polygraphy surgeon sanitize --fold-constants, or onnx-simplifier), and export it "
            "with the "
            "input shapes that are used."
        ),
        (
            "If a custom plugin stands before it: the plugin's output dimensions must be expressions of its inputs "
            "(getOutputDimensions with IExprBuilder and DimsExprs), not plain numbers."
        ),
    ),
    settle="Whether ONNX Runtime refuses the model with the same shapes.",
    sources=("graphShapeAnalyzer.cpp and shapeContext.cpp of 7.x to 10.x",),
)

concat = said(
    "TF142",
    Severity.ERROR,
    "The inputs of a concatenation differ in another dimension",
    kinds=("concat_shapes",),
    cause="All dimensions but the one of the axis must be equal. Odd image sizes, whose halves are rounded "
    "differently on "
    "two paths, are the usual reason.",
    confirm="Print the shapes of the inputs in ONNX Runtime.",
    fixes=("Use input sizes that the network's strides divide (multiples of 32 for most detectors), or pad.",),
    sources=("concatenation checks of 7.x to 10.x",),
)

branches = said(
    "TF143",
    Severity.ERROR,
    "The branches of an If give different shapes",
    kinds=("if_branches",),
    cause="TensorRT needs the same shape from both branches of an If. Exporters write such an If for squeeze and the "
    "like.",
    confirm="polygraphy inspect model MODEL --show layers",
    fixes=(
        "Fold the condition (polygraphy surgeon sanitize --fold-constants), or rewrite the operation before export.",
    ),
    sources=("IIfConditionalOutputLayer checks of 8.4 and later",),
)

data_dependent = said(
    "TF144",
    Severity.ERROR,
    "A shape depends on the data",
    kinds=("dds_network",),
    cause="An operator's output size depends on values (NonZero, unique, nms and the like), which this place does not "
    "allow: a shape tensor, a ForeignNode, an older TensorRT.",
    confirm="The node that the message names.",
    fixes=(
        Fix("Upgrade TensorRT: data-dependent shapes came with 8.5.", before="8.5"),
        "Take the operation out of the graph, or give it a fixed upper size.",
    ),
    sources=("messages of 8.x and 10.x",),
)

shape_tensors = said(
    "TF145",
    Severity.ERROR,
    "A tensor is used as a shape that is no shape tensor",
    kinds=("shape_tensor",),
    cause="Shapes must be known at build time or be computed from shapes by operations that TensorRT can run on the "
    "host.",
    confirm="The node that the message names, and what computes the shape.",
    fixes=("Fold constants with static shapes, or compute the shape from Shape nodes with integer operations only.",),
    sources=("messages of 7.x to 10.x",),
)

unsupported = said(
    "TF146",
    Severity.ERROR,
    "The parser does not support this use of an operator",
    kinds=("unsupported_node",),
    says="The parser does not support this node: {text}",
    cause="The importer knows the operator, and not with these attributes, types or inputs.",
    confirm="The assertion in the message names what it wants.",
    fixes=("Rewrite the node before export as the assertion wants it, or use a newer TensorRT.",),
    sources=("ModelImporter.cpp of 7.x to 10.x",),
    follows=("TF132", "TF140", "TF148", "TF149", "TF150", "TF152", "TF156", "TF157"),
)

shape_unknown = said(
    "TF158",
    Severity.ERROR,
    "The shape of a layer's output cannot be computed",
    kinds=("shape_unknown", "shape_unknown_node"),
    says="The output shape of {layer} cannot be computed",
    cause="TensorRT needs each shape as a formula of the input shapes. Here it has none: an input of the layer has no "
    "shape (a converter made the layer wrongly, a plugin gives no dimensions), or the inputs do not fit each other.",
    confirm="The shapes around that layer by onnx.shape_inference, or by ONNX Runtime at level verbose.",
    fixes=(
        "Fold constants and infer shapes before the build: polygraphy surgeon sanitize --fold-constants.",
        "Torch-TensorRT: keep the operation in PyTorch (torch_executed_ops), or use a newer version of the converter.",
        "Where a plugin stands before it: mend its getOutputDimensions (getOutputShapes).",
    ),
    settle="Which input of the layer has no shape: the first such message of the log.",
    sources=("graphShapeAnalyzer.cpp of 8.5 and 8.6; pytorch/TensorRT#2597",),
)

names_repeated = said(
    "TF159",
    Severity.ERROR,
    "Two layers, or two tensors, have one name",
    kinds=("names_repeated",),
    says="Two layers or tensors have the name {layer}",
    cause="Names of layers and of tensors are unique in a network. A program that adds layers itself (a converter of "
    "TF-TRT, Torch-TensorRT, Paddle, Tengine; one's own code) gave a name twice; so did parsers up to 7.0.",
    confirm="The calls of setName (layer.name, tensor.name) in the program.",
    fixes=(
        "Give each layer and tensor a name of its own, or none.",
        "A converter: use a newer version of it.",
        "An ONNX model with TensorRT 7.0 or older: rename the nodes, or use 7.1 and later.",
    ),
    sources=("network.cpp (validate) of 7 to 8.6; onnx/onnx-tensorrt#466, pytorch/TensorRT#1377, NVIDIA/TensorRT#447",),
)

unused = said(
    "TF147",
    Severity.NOTE,
    "An input is not used when the engine runs",
    kinds=("unused_input", "unused_input_shape"),
    says="Input {tensor} is not used when the engine runs",
    cause="No layer reads the input at run time: nothing does, or only its shape matters. It stays an input of the "
    "engine.",
    confirm="The nodes that read the input (polygraphy inspect model --show layers).",
    fixes=("Export without the input; else give it an address and a shape as any other.",),
    sources=("TensorRT 8.5, parser and builder",),
)

wildcards = said(
    "TF160",
    Severity.ERROR,
    "A Reshape has -1 in several dimensions",
    kinds=("reshape_wildcards",),
    cause="One dimension of a Reshape may be -1: it is computed from the others. A converter that writes -1 for every "
    "dynamic dimension (height and width, say) leaves several.",
    confirm="The message quotes the shape that is asked for.",
    fixes=(
        "Make one dimension dynamic and the others numbers, or give the shape as a tensor that the model computes.",
        "Torch-TensorRT: use the dynamo path or a newer version, whose converters compute such shapes.",
    ),
    sources=("shapeContext.cpp of 8.6; pytorch/TensorRT#2617",),
)

loops = said(
    "TF161",
    Severity.ERROR,
    "This configuration of TensorRT runs no loops",
    kinds=("loop_unsupported",),
    cause="TensorRT compiles loops when it builds, by NVRTC. The message comes where that is not there: TensorRT "
    "linked statically, a platform whose release has no loops (TX2), or a CUDA without its NVRTC.",
    confirm="Run trtexec of the same release, which is linked dynamically, with the same model.",
    fixes=(
        "Link TensorRT's shared libraries, and install the NVRTC of the CUDA that this TensorRT names.",
        "Or export the model without Loop and Scan: unrolled, where the number of steps is fixed.",
    ),
    settle="How the program links TensorRT (ldd), and the platform.",
    sources=("network validation of 7.x and 8.x; NVIDIA/TensorRT#1060, #1737",),
)

invalid = said(
    "TF163",
    Severity.ERROR,
    "The parser fails at a node",
    kinds=("node_invalid",),
    says="The parser fails at the node {node}",
    cause="TensorRT refuses the layer that the importer makes of the node: its inputs' shapes or types are not what "
    "the operator takes, or memory ran out over a shape that was computed wrongly (std::bad_alloc).",
    confirm="The line behind it names the check that failed; the first error of TensorRT's logger tells more.",
    fixes=(
        "Fold constants and infer shapes first: polygraphy surgeon sanitize --fold-constants.",
        "Export with fixed shapes or another opset, or use a newer TensorRT.",
    ),
    settle="The errors of TensorRT's logger at that node.",
    sources=("ModelImporter.cpp of 8 to 10 (parser.get_error); qbxlvnf11/convert-pytorch-onnx-tensorrt#1",),
    follows=("TF1*",),
)

analysis = said(
    "TF164",
    Severity.ERROR,
    "TensorRT's analysis of shapes fails",
    kinds=("shape_analysis",),
    says="TensorRT's analysis of shapes fails: {text}",
    cause="TensorRT works out each shape as a formula before it builds, and fails a check of its own there. That is a "
    "bug of the release. Models with shapes that depend on data, with If and Loop, or with long chains of Shape, "
    "Gather and Concat provoke it.",
    confirm="The same model with fixed input shapes, or on another TensorRT release.",
    fixes=(
        "Fold shapes: polygraphy surgeon sanitize --fold-constants, and --override-input-shapes where they are fixed.",
        "Use another TensorRT release, newer or one before; reduce the model (trtforensics reduce) for a report.",
    ),
    settle="Whether it builds with fixed input shapes.",
    sources=("graphShapeAnalyzer.cpp of 8.6 to 10.7; NVIDIA/TensorRT#3727, #4126, #4277",),
)

bounds = said(
    "TF165",
    Severity.ERROR,
    "A Slice wants more than its input has",
    kinds=("slice_bounds",),
    cause="At some shape of the optimization profile, the smallest most often, a Slice is longer than its input: the "
    "model was exported with a length that does not follow the input, or min is below what the model can take.",
    confirm="ONNX Runtime with the shapes of the profile's min, opt and max.",
    fixes=(
        "Raise the profile's min, or export the model so that the Slice follows its input's length.",
        "If ONNX Runtime takes all three shapes: use a newer TensorRT.",
    ),
    settle="ONNX Runtime with the profile's min shapes.",
    sources=("myelinSliceLayer.cpp of 8.4; NVIDIA/TensorRT#2115",),
)
