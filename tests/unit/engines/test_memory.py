"""Bytes of tensors and weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trtforensics.engines.memory import bias_bytes, channel_axis, dense_bytes, stored_bytes, weights_bytes
from trtforensics.model.log import EngineTensor

LONG = "Channel major FP16 format where channel % 8 == 0"
DEEP = "Channel major FP16 format where channel % 8 == 0 with 3 spatial dimensions"


@pytest.mark.parametrize(
    ("dtype", "dims", "dense"),
    [
        ("Float", (1, 3, 8, 8), 768),
        ("Half", (1, 3, 8, 8), 384),
        ("BF16", (2,), 4),
        ("BFloat16", (2,), 4),
        ("Bool", (7,), 7),
        ("Int4", (3,), 2),
        ("FP4", (5,), 3),
        ("Float", (), 4),
        ("Half", ("-1", 3), None),
        ("Half", (-1, 3), None),
        ("Strange", (3,), None),
    ],
)
def test_a_tensor_has_the_bytes_of_its_elements(dtype: str, dims: tuple[int | str, ...], dense: int | None) -> None:
    assert dense_bytes(EngineTensor("x", dtype, dims)) == dense


@pytest.mark.parametrize(
    ("tensor", "tuned", "version", "stored"),
    [
        (EngineTensor("x", "Half", (1, 3, 8, 8), LONG, 8), "", None, 8 * 64 * 2),
        (EngineTensor("x", "Half", (3, 8, 8), LONG, 8), "", None, 8 * 64 * 2),
        (EngineTensor("x", "Half", (1, 3, 4, 8, 8), DEEP, 8), "", None, 8 * 256 * 2),
        (EngineTensor("x", "Half", (1, 3, 8, 8)), "", None, 3 * 64 * 2),
        (EngineTensor("x", "Half", (2, 3, 8, 8)), "Half(128,64:2,8,1)", "8.6.1", 2 * 2 * 64 * 2 * 2),
        (EngineTensor("x", "Float", (2, 3)), "Float(4,1)", "10.0", 2 * 4 * 4),
        (EngineTensor("x", "Float", (2, 3)), "Float(1,2)", "7.2.3", 2 * 3 * 4),
        (EngineTensor("x", "Float", (2, 3)), "Float(1,1)", "10.0", 2 * 3 * 4),
        (EngineTensor("x", "Half", ("N", 3, 8, 8), LONG, 8), "", None, None),
    ],
)
def test_padding_counts_where_the_format_or_strides_tell_it(
    tensor: EngineTensor, tuned: str, version: str | None, stored: int | None
) -> None:
    assert stored_bytes(tensor, tuned, version) == stored


@given(st.lists(st.integers(1, 40), min_size=1, max_size=5), st.sampled_from([1, 2, 4, 8, 16, 32]))
def test_a_tensor_takes_at_least_its_elements_and_less_than_a_pack_of_channels_more(
    sizes: list[int], components: int
) -> None:
    tensor = EngineTensor("x", "Half", tuple(sizes), LONG if components > 1 else "", components)
    dense, stored = dense_bytes(tensor), stored_bytes(tensor)
    assert dense is not None
    assert stored is not None
    place = channel_axis(tensor)
    channels = sizes[place] if place is not None else 1
    assert dense <= stored <= dense // channels * (channels + components - 1)


def test_weights_and_bias_count_apart() -> None:
    fields = {"Weights": '{"Type": "Half", "Count": 432}', "Bias": '{"Type":"Float","Count":16}', "Groups": "1"}
    assert (weights_bytes(fields), bias_bytes(fields)) == (864, 64)
    assert weights_bytes({"ConvWeights": '{"Type": "Int8", "Count": 9408}'}) == 9408
    assert bias_bytes(dict.fromkeys(("Shift", "Scale", "Power"), '{"Type": "Half", "Count": 4}')) == 24
    assert weights_bytes({"Weights": '{"Type": "Strange", "Count": 3}'}) is None
    assert weights_bytes({}) == 0
