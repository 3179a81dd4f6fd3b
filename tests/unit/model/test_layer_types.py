"""What a layer computes, whatever implements it."""

from __future__ import annotations

from dataclasses import replace

from tests.support.engine_builds import layer
from tests.support.for_each import for_each
from tests.support.sample_session import Scribe
from trtforensics.model.layer_types import operation_of, operation_of_type


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
