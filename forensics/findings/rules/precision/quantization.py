"""INT8, FP8 and FP4: types that the hardware emulates, missing ranges, unused calibrators."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.requests import allows, precision_fact
from trtforensics.findings.engine_facts import FULL, output_types, runs_in
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule, said
from trtforensics.findings.steps.commands import trtexec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@rule(
    "TF210",
    Severity.WARNING,
    "The hardware emulates a quantised type",
    cause="The network has Q/DQ layers of a type that this GPU does not accelerate.",
    confirm="Compute Capability in the log: FP8 needs 8.9, FP4 needs 10.0.",
    fixes=("Quantise to INT8 for this GPU, or run on a newer one.",),
    sources=("10.14 to 10.16 logs",),
)
def emulated(case: Case) -> Iterator[Observation]:
    """Name the types."""
    yield from observe(case.notes("type_emulated"), "{names} Q/DQ is not accelerated by this hardware", names="type")


@rule(
    "TF211",
    Severity.WARNING,
    "Tensors have no INT8 range",
    cause="Implicit INT8 needs a range for every tensor; a layer with a tensor that has no range stays in FP32 or "
    "FP16.",
    confirm="Count INT8 layers in the engine's dump.",
    fixes=("Calibrate with data that reaches these tensors, set their ranges, or quantise the model with Q/DQ.",),
    sources=("10.x and 8.x logs", "NVIDIA/TensorRT#2462"),
)
def no_range(case: Case) -> Iterator[Observation]:
    """Name the tensors."""
    title = "No INT8 range is known of {names}"
    yield from observe(case.notes("missing_scale"), title, names="tensor", same_as="range")


@rule(
    "TF212",
    Severity.WARNING,
    "The INT8 calibrator is not used",
    cause="With Q/DQ in the model the calibrator is ignored; without a calibrator every tensor needs a range of its "
    "own.",
    confirm="Look for QuantizeLinear nodes in the model.",
    fixes=("Use either Q/DQ or calibration, not both.", Fix("Calibration is gone; quantise with Q/DQ.", "11")),
    sources=("8.4 and 8.6 logs",),
)
def calibrator(case: Case) -> Iterator[Observation]:
    """Report an ignored calibrator, and INT8 without a calibrator."""
    yield from observe(case.notes("calibrator_explicit"), "The model has Q/DQ, so the calibrator is ignored")
    yield from observe(
        case.notes("calibrator_unused"),
        "INT8 is on without a calibrator: every tensor needs a range",
        severity=Severity.NOTE,
    )


_PLACEHOLDERS = {"-2,2]", "-4,4]"}
"""The ranges that trtexec sets where it has none: 2 for inputs, 4 for every other tensor."""


@rule(
    "TF219",
    Severity.WARNING,
    "INT8 was built without calibration",
    cause="trtexec --int8 without --calib, on a model without Q/DQ, makes ranges up: the same one for every tensor, or "
    "those of random data. The engine's speed is right, its numbers are meaningless.",
    confirm="The ranges that the verbose log sets; the Calibration line of the options.",
    fixes=(
        Fix("Calibrate with real data and give --calib=CACHE, or quantise the model with Q/DQ.", before="11"),
        "Use such an engine to measure speed only.",
    ),
    sources=("trtexec's source, setAllDynamicRanges and RndInt8Calibrator, 7.2 to 10.16", "an 8.5 log"),
)
def uncalibrated(case: Case) -> Iterator[Observation]:
    """Report ranges that are all placeholders, or INT8 without a calibration cache for a model without Q/DQ."""
    notes = case.notes("dynamic_range")
    made_up = [note for note in notes if note.text("text").replace(" ", "") in _PLACEHOLDERS]
    if len(made_up) > 1 and len(made_up) == len(notes):
        title = f"The INT8 ranges of {counted(len(made_up), 'tensor')} are trtexec's placeholders [-4,4] and [-2,2]"
        unused = runs_in(case, "Int8") is False
        title += "; no layer of the engine is of INT8" if unused else ""
        yield from observe(made_up, title, severity=Severity.NOTE if unused else None, same_as="uncalibrated")
        return
    precision = precision_fact(case.build)
    calibration = next((f for f in case.build.options.get("build", ()) if f.name == "Calibration"), None)
    quantised = any(node.op in {"QuantizeLinear", "DequantizeLinear"} for node in case.build.onnx_nodes)
    if precision is None or calibration is None or quantised or not allows(case.build, "INT8"):
        return
    if calibration.value.strip() in {"", "Dynamic"}:
        known = bool(case.build.onnx_nodes)
        yield Observation(
            "INT8 is allowed without a calibration cache" + (", and the model has no Q/DQ" if known else ""),
            (precision.span, calibration.span),
            confidence=Confidence.CERTAIN if known else Confidence.LIKELY,
            settle="" if known else "Whether the model has Q/DQ nodes, which need no calibration",
            same_as="uncalibrated",
        )


@rule(
    "TF221",
    Severity.NOTE,
    "Casts around a Softmax are inside fused attention",
    cause="Myelin took two matrix products and the Softmax between them for one fused attention kernel. Its tensors "
    "are of the reduced type, and Casts to FP32 around the Softmax are absorbed: what the model computes in FP32 there "
    "need not be FP32 in the engine. What the kernel computes in between, no line shows.",
    confirm="Mark the Softmax's input as an output, which breaks the fusion, and compare the results.",
    fixes=("Break the fusion where FP32 matters: mark the scores as an output, or put a plugin there.",),
    sources=("detailed engine dumps of TensorRT-RTX 1.7.1", "NVIDIA/TensorRT#4723, #4837"),
)
def absorbed_casts(case: Case) -> Iterator[Observation]:
    """Report fused attention kernels whose metadata lists a Softmax and a Cast."""
    ops = {node.name: node.op for node in case.build.onnx_nodes}
    for layer in case.engine:
        mine = [ops.get(node, "") for node in layer.onnx_nodes]
        if "_mha" in layer.name and "Softmax" in mine and "Cast" in mine and FULL not in output_types(layer):
            casts = [node for node in layer.onnx_nodes if ops.get(node) == "Cast"]
            yield Observation(
                f"{counted(len(casts), 'Cast')} around a Softmax {'is' if len(casts) == 1 else 'are'} absorbed into "
                f"{layer.name}",
                (layer.span, *(node.span for node in case.build.onnx_nodes if node.name in casts)),
                confidence=Confidence.LIKELY,
                settle="The results with the scores marked as an output, compared with these",
                layers=(layer.name,),
                onnx_nodes=layer.onnx_nodes,
                same_as="absorbed",
            )


calibrated = said(
    "TF222",
    Severity.NOTE,
    "INT8 calibration completed in this build",
    kinds=("calibration_completed",),
    cause="The calibrator ran over its batches and TensorRT derived the INT8 ranges of the tensors from them. How good "
    "they are shows only a comparison of the results.",
    confirm="Compare the accuracy of the INT8 engine with that of FP32 on data that was not calibrated with.",
    fixes=("Keep the calibration cache: a later build with it has the same ranges.",),
    sources=("TensorRT 7 to 10, builder",),
)

no_scales = said(
    "TF223",
    Severity.ERROR,
    "INT8 calibration gave no ranges",
    kinds=("calibration_empty",),
    cause="INT8 was asked for, and no tensor has a range. Likeliest first: there is no calibrator or cache; get_batch "
    "returned nothing (no images in the folder); the calibrator failed; a model with Q/DQ was calibrated besides.",
    confirm="Print how often get_batch is called and what it returns; the first lines of the calibration cache.",
    fixes=(
        "Give a calibrator with data, or a calibration cache, or ranges of every tensor (set_dynamic_range).",
        "With a model that has Q/DQ: set no calibrator.",
        Fix("Calibration is gone; quantise with Q/DQ.", "11"),
    ),
    settle="Whether get_batch is called and returns data.",
    sources=("NVIDIA/TensorRT#2865, #1827; 5 to 8",),
)

broken_range = said(
    "TF224",
    Severity.ERROR,
    "The range of a tensor is not a number",
    kinds=("range_invalid",),
    cause="Calibration found values that are NaN or infinite, so that minimum and maximum cannot be compared: the "
    "model overflows, or the calibration data are broken.",
    confirm="Run the model in ONNX Runtime on the calibration data, and look for NaN and infinity in all tensors.",
    fixes=("Mend the data or the layer that gives NaN (a mask of -inf, a division by zero), then calibrate again.",),
    settle="Whether ONNX Runtime gives NaN or infinity on the same data.",
    sources=("quantization.cpp of 8.x; NVIDIA/TensorRT#1634",),
)

calibrated_shapes = said(
    "TF247",
    Severity.ERROR,
    "INT8 calibration does not fit the dynamic shapes",
    kinds=("calibration_shapes",),
    cause="Calibration runs with one fixed shape of every input: the opt shape of the calibration profile, or of "
    "profile 0. A part of the network has another extent than that shape gives, as where the batches of the calibrator "
    "have another size.",
    confirm="Print the shape of what get_batch returns beside the profile's opt shape.",
    fixes=(
        "From 7.1 on, give a calibration profile (config.set_calibration_profile) with the shape of the batches.",
        "Or calibrate a copy of the model with fixed shapes once, and give its cache to the build with dynamic shapes.",
        Fix("Calibration is gone; quantise with Q/DQ.", "11"),
    ),
    settle="The shapes of the calibrator's batches.",
    sources=("cudnnBuilderWeightConverters.cpp of 7.1; NVIDIA/TensorRT#661, #1528",),
)

vanishing_bias = said(
    "TF248",
    Severity.ERROR,
    "The scale of a quantised bias is zero",
    kinds=("bias_scale",),
    cause="An INT8 convolution stores its bias with the scale of the input times that of the weights. Where both are "
    "tiny (weights near zero, a channel without weight, an input that calibration saw as zero), the product is 0 and "
    "nothing can be divided by it.",
    confirm="Print the largest weight of each output channel, and the range of the layer's input in the calibration "
    "cache.",
    fixes=(
        "Keep that layer out of INT8: its precision FP16 or FP32 with --precisionConstraints=obey.",
        "Remove channels whose weights are all about zero, or calibrate with data that reach the layer.",
        "Try another version: 8.0 to 8.4 built models that 8.6 refuses.",
    ),
    settle="Which layer has weights or a range of about zero.",
    sources=("weightConvertors.cpp of 8.6; NVIDIA/TensorRT#3020, #2984",),
)


@rule(
    "TF245",
    Severity.NOTE,
    "INT8 is allowed without FP16",
    cause="With --int8 alone TensorRT chooses between INT8 and FP32. A layer without a tactic in INT8, without a range "
    "or without Q/DQ then runs in FP32, which is slower than FP16.",
    confirm="The types of the layers in the engine's dump.",
    fixes=(Fix("Allow FP16 too: --int8 --fp16, or --best.", before="11"),),
    sources=("trtexec's source, 7.1 to 10.16: it prints this hint",),
)
def int8_alone(case: Case) -> Iterator[Observation]:
    """Report trtexec's hint."""
    title = "INT8 is allowed without FP16: layers that do not run in INT8 run in FP32"
    yield from observe(case.notes("int8_hint"), title, steps=(Step("Allow FP16 too", trtexec(case, "--fp16")),))
