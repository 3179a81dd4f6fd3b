"""The types of engine layers, as dumps of TensorRT 7 to 11 print them: which run no kernel, copy, or are Myelin's."""

import re

from trtforensics.model.log import EngineLayer

NO_KERNEL = frozenset({"NoOp", "Constant"})
"""They run nothing and take no time."""

SYNCHRONISATION = frozenset({"TrainStation", "signal", "wait"})
"""They make streams wait for each other."""

REFORMATS = frozenset({"Reformat", "MyelinReformat"})
"""They copy a tensor into another format or type."""

UNTUNED = {
    "Constant": "a constant runs no kernel",
    "NoOp": "runs no kernel",
    **dict.fromkeys(SYNCHRONISATION, "TensorRT put it in to synchronise streams"),
    "shape_call": "host code, not a kernel",
    "ShapeHostToDevice": "a copy of shapes to the device, not a kernel",
    "DeviceToShapeHost": "a copy of shapes to the host, not a kernel",
}
"""Why there are no tactics for the types that run no kernel of the network."""

DATA_MOVEMENT = frozenset({"Slice", "Gather", "Concat", "Concatenation", "Padding", "Copy", "CopyPackedKernel"})
"""They copy elements as they are."""

COMPUTES_NOTHING = frozenset({*UNTUNED, *REFORMATS, *DATA_MOVEMENT, "Shuffle"})
"""They copy, convert or wait."""

FOREIGN_NODE = "Myelin"
"""A ForeignNode, which Myelin compiles as a whole; its tactic is always 0."""

_FOREIGN_NODE_NAME = "{ForeignNode["

GENERATED = frozenset({"kgen", "runtime_fusion"})
"""Kernels that Myelin wrote itself; inside, they may compute 16-bit values in Float."""

MYELIN = frozenset({FOREIGN_NODE, *GENERATED, "gemm"})
"""ForeignNodes and the kernels inside them."""

OPAQUE = frozenset({*MYELIN, "Plugin", "PluginV2", "PluginV3"})
"""Layers whose inside no dump shows."""

CONVOLUTIONS = frozenset({"Convolution", "Deconvolution", "ConvActPool"})
"""The operations that convolve; of ``ConvActPool`` a pooling is a part."""

MATRIX_PRODUCTS = re.compile(r"MatrixMultiply|gemm|MatMul", re.IGNORECASE)
"""Types that multiply two matrices; found anywhere in a type."""

PRODUCTS = re.compile(MATRIX_PRODUCTS.pattern + r"|Conv|Gemv|FullyConnected|correlation|fc\b", re.IGNORECASE)
"""Types that multiply their first input with weights or with the second one; found anywhere in a type."""

ATTENTION = re.compile(r"attention|f?mha", re.IGNORECASE)
"""Types that compute attention as a whole; found anywhere in a type."""

POOLING = re.compile(r"Pool", re.IGNORECASE)
"""Types that reduce windows; found anywhere in a type."""

OWN_CODE = re.compile(r"Plugin|Myelin$|DLA", re.IGNORECASE)
"""Types whose tensors do not tell what happens inside: plugins, ForeignNodes, DLA's loadables."""

SENSITIVE = re.compile(r"softmax|norm|reduce|pow|exp|sqrt|div|log", re.IGNORECASE)
"""Operations whose FP16 kernels lose most (reductions, exponentials, quotients), found in a layer's name."""

_DECONVOLUTION = "Deconvolution"
"""Its dump says ``ParameterType: Convolution``: only the type tells it from a convolution."""
_IMPLEMENTED = (_DECONVOLUTION, "Convolution", "ConvActPool", "Pooling", "SoftMax", "MatrixMultiply", "FullyConnected")
_VERSION = re.compile(r"V\d+\Z")


def is_foreign_node(name: str) -> bool:
    """Whether a layer is a part of the network that another compiler (Myelin) compiles as a whole."""
    return name.startswith(_FOREIGN_NODE_NAME)


def operation_of(layer: EngineLayer) -> str:
    """Return the operation of a layer: its ``ParameterType`` where a dump has it, else that of its type.

    ``CaskConvolution``, ``CudaDepthwiseConvolution`` and ``FusedConvActConvolution`` are all ``Convolution``.
    """
    by_type = operation_of_type(layer.type)
    return by_type if by_type == _DECONVOLUTION else layer.fields.get("ParameterType") or by_type


def operation_of_type(type_: str) -> str:
    """Return the operation that an implementation's name (``CaskPooling``, ``PointWiseV2``) stands for."""
    plain = _VERSION.sub("", type_)
    return next((operation for operation in _IMPLEMENTED if plain.endswith(operation)), plain)
