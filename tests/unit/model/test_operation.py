"""What a layer computes, whatever implements it."""

from __future__ import annotations

import pytest

from trtforensics.model.operation import operation_of_type


@pytest.mark.parametrize(
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
