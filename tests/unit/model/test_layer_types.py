"""What a layer computes, whatever implements it."""

from __future__ import annotations

from dataclasses import replace

from tests.support.engine_builds import build_of, layer
from tests.support.for_each import for_each
from tests.support.sample_session import Scribe
from trtforensics.engines.facts import EngineFacts
from trtforensics.engines.why import Reasons
from trtforensics.model.layer_types import operation_of, operation_of_type
from trtforensics.model.log import EngineTensor
from trtforensics.tables.layers import compute_text


@for_each(
    ("type_", "operation"),
    [
        ("CaskConvolution", "Convolution"),
        ("CudaDepthwiseConvolution", "Convolution"),
        ("CaskDeconvolutionV2", "Deconvolution"),
        ("TiledPooling", "Pooling"),
        ("CaskSoftMaxV2", "SoftMax"),
        ("PointWiseV2", "PointWise"),
        ("kgen", "kgen"),
        ("", ""),
    ],
)
def test_implementations_of_one_operation_are_one_type(type_: str, operation: str) -> None:
    assert operation_of_type(type_) == operation


@for_each(
    ("type_", "parameter", "operation"),
    [
        ("CaskConvolution", "", "Convolution"),
        ("CaskConvolution", "ConvActPool", "ConvActPool"),
        ("CaskDeconvolutionV2", "Convolution", "Deconvolution"),
        ("kgen", "PointWise", "PointWise"),
    ],
)
def test_what_a_dump_calls_the_operation_counts_except_for_deconvolutions(
    type_: str, parameter: str, operation: str
) -> None:
    fields = {"ParameterType": parameter} if parameter else {}
    assert operation_of(replace(layer(Scribe(), "l", type_), fields=fields)) == operation


@for_each(
    ("types", "runs", "reformats", "computes", "reason"),
    [
        ("Constant NoOp", False, False, "·", "runs no kernel"),
        ("TrainStation signal wait", False, False, "·", "TensorRT put it in to synchronise streams"),
        ("shape_call ShapeHostToDevice DeviceToShapeHost", False, False, "·", ""),
        ("Reformat MyelinReformat", True, True, "·", ""),
        ("Slice Gather Concat Concatenation Padding Copy CopyPackedKernel Shuffle", True, False, "·", ""),
        ("CaskConvolution kgen gemm Myelin PluginV2 SoftMax", True, False, "?", ""),
    ],
)
def test_what_a_type_of_layers_does(types: str, *, runs: bool, reformats: bool, computes: str, reason: str) -> None:
    scribe = Scribe()
    made = [layer(scribe, f"layer {number}", kind) for number, kind in enumerate(types.split())]
    engine = EngineFacts(build_of(scribe, (), *made))
    reasons = Reasons(engine.build)
    for facts in engine.layers:
        assert (facts.runs_kernel, facts.is_reformat, compute_text(facts)) == (runs, reformats, computes), facts.name
        assert reason in {"", *(each.text for each in reasons.why(facts.layer))}, facts.layer.type


@for_each(
    ("type_", "inside", "work", "shown"),
    [
        *((kind, True, None, None) for kind in ("Myelin", "kgen", "runtime_fusion", "gemm")),
        *((kind, True, None, None) for kind in ("Plugin", "PluginV2", "PluginV3")),
        *((kind, False, 2 * 64 * 64, 0) for kind in ("Convolution", "Deconvolution", "ConvActPool")),
        ("PointWiseV2", False, None, 0),
    ],
)
def test_weights_of_a_layer_whose_inside_no_dump_shows_are_not_known(
    type_: str, *, inside: bool, work: int | None, shown: int | None
) -> None:
    prefix = "Conv" if type_ == "ConvActPool" else ""
    fields = {f"{prefix}Kernel": "[1,1]", f"{prefix}Groups": "1", f"{prefix}OutMaps": "64"}
    fields |= {"ConvPrePadding": "[0,0]", "ConvPostPadding": "[0,0]", "ConvStride": "[1,1]", "ConvDilation": "[1,1]"}
    scribe = Scribe()
    tensors = (EngineTensor("x", "Float", (1, 64, 1, 1)),)
    made = replace(layer(scribe, "l", type_), fields=fields, inputs=tensors, outputs=tensors)
    (facts,) = EngineFacts(build_of(scribe, (), made)).layers
    assert (facts.weights_bytes is None) is inside
    assert facts.weights_bytes == shown
    assert (facts.work.operations if facts.work else None) == work
