"""Quantised ONNX models that TensorRT refuses."""

from __future__ import annotations

from trtforensics.findings.finding import Fix, Severity
from trtforensics.findings.rule import said

asymmetric = said(
    "TF240",
    Severity.ERROR,
    "The model is quantised asymmetrically",
    kinds=("zero_point",),
    cause="A QuantizeLinear or DequantizeLinear has a zero point that is not 0. TensorRT on GPUs knows symmetric "
    "quantisation only: every zero point must be zero (the flag in the message is for DLA). ONNX Runtime quantises "
    "activations asymmetrically by default.",
    confirm="The zero_point inputs of the model's QuantizeLinear nodes.",
    fixes=(
        (
            "Quantise again symmetrically: in ONNX Runtime with ActivationSymmetric and WeightSymmetric set to True, "
            "type "
            "QInt8; or with ModelOpt."
        ),
    ),
    sources=("onnxOpImporters.cpp (QuantDequantLinearHelper) of 8.x and 10.x",),
)

bias = said(
    "TF241",
    Severity.ERROR,
    "A bias is quantised to INT32",
    kinds=("dequantized_bias",),
    cause="A DequantizeLinear reads an INT32 tensor: ONNX Runtime quantises the bias of a convolution to INT32. "
    "TensorRT "
    "takes Q/DQ on activations and weights, in INT8, FP8 or INT4, and not on biases.",
    confirm="Which initializer the DequantizeLinear of the message reads, and its type.",
    fixes=("Quantise with QuantizeBias=False (extra_options of ONNX Runtime), or put the FP32 bias back.",),
    sources=("IDequantizeLayer checks of 8.x and 10.x",),
)

ranges = said(
    "TF243",
    Severity.ERROR,
    "Ranges are set for a model that has scales of its own",
    kinds=("ranges_beside_scales",),
    cause="A model with QuantizeLinear and DequantizeLinear states its ranges, and TensorRT then takes no others: the "
    "program sets dynamic ranges, or hands over a calibration table, besides.",
    confirm="Whether the model has QuantizeLinear nodes (polygraphy inspect model MODEL --show layers).",
    fixes=(
        "Give the quantised model without a table or ranges (ONNX Runtime: without trt_int8_calibration_table_name).",
        "Or give the model in FP32 with the table.",
    ),
    sources=("TensorRT 8.x; microsoft/onnxruntime#13071",),
)

constant = said(
    "TF244",
    Severity.ERROR,
    "A quantised constant feeds a layer that cannot read it",
    kinds=("quantized_constant",),
    says="The quantised constant {layer} feeds a layer that cannot read it",
    cause="Weights that are stored as INT8 or FP8 may only go into a DequantizeLinear or a plugin. TensorRT 10.0 takes "
    "no plugin of version 3 there.",
    confirm="Which node reads the constant (polygraphy inspect model MODEL --show layers).",
    fixes=(
        "Put a DequantizeLinear behind the constant.",
        Fix("For a plugin of version 3: use 10.1 or later, or a plugin of version 2.", "10.0", "10.1"),
    ),
    sources=("qdqGraphOptimizer.cpp of 10.0; NVIDIA/TensorRT#3919",),
)

scales = said(
    "TF242",
    Severity.ERROR,
    "A scale of the quantised model is not positive",
    kinds=("scale_invalid",),
    cause="A scale is zero, negative or not finite: a channel whose weights are all zero, or a calibration that saw no "
    "values.",
    confirm="The scale inputs of the QuantizeLinear nodes.",
    fixes=("Calibrate again, and give channels without values a small positive scale.",),
    sources=("onnxOpImporters.cpp of 8.x and 10.x",),
)

formats_removed = said(
    "TF249",
    Severity.ERROR,
    "No format is left for a quantised layer",
    kinds=("formats_removed",),
    cause="Between Q and DQ a layer has to run in INT8, next to other layers it must not, and no format meets both. "
    "8.4 to 8.6 fail so on layers that have no INT8 implementation, plugins among them.",
    confirm="The same model without the Q/DQ pair at that layer builds.",
    fixes=(
        "Use TensorRT 9 or later, where NVIDIA mended one such case.",
        "Leave Q and DQ out around layers without INT8: plugins, and layers that change the shape only.",
        "In front of a plugin between quantised layers, put an Identity (8.4.1 and before).",
    ),
    settle="Which layer: the last node of the verbose log before the message.",
    sources=("optimizer.cpp of 8.x (filterQDQFormats, getFormatRequirements); NVIDIA/TensorRT#3040",),
)
