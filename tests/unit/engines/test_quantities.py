"""Bytes of tensors and weights."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from tests.support.graph_builds import engine
from trtforensics.engines.quantities import (
    Work,
    bias_bytes,
    channel_axis,
    stored_bytes,
    tensor_facts,
    weights_bytes,
    work_of,
)
from trtforensics.model.log import EngineLayer, EngineTensor
from trtforensics.model.span import SourceSpan

LONG = "Channel major FP16 format where channel % 8 == 0"
DEEP = "Channel major FP16 format where channel % 8 == 0 with 3 spatial dimensions"


@for_each(
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
    assert tensor_facts((EngineTensor("x", dtype, dims),), (), None)[0].bytes == dense


@for_each(
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
    dense, stored = tensor_facts((tensor,), (), None)[0].bytes, stored_bytes(tensor)
    assert dense is not None
    assert stored is not None
    place = channel_axis(tensor)
    channels = sizes[place] if place is not None else 1
    assert dense <= stored <= dense // channels * (channels + components - 1)


def test_weights_and_bias_count_apart() -> None:
    def holding(**fields: str) -> EngineLayer:
        return engine("a", "x", "y", 1, fields=fields)

    both = holding(Weights='{"Type": "Half", "Count": 432}', Bias='{"Type":"Float","Count":16}', Groups="1")
    assert (weights_bytes(both), bias_bytes(both)) == (864, 64)
    assert weights_bytes(holding(ConvWeights='{"Type": "Int8", "Count": 9408}')) == 9408
    assert bias_bytes(holding(**dict.fromkeys(("Shift", "Scale", "Power"), '{"Type": "Half", "Count": 4}'))) == 24
    assert weights_bytes(holding(Weights='{"Type": "Strange", "Count": 3}')) is None
    assert weights_bytes(holding(Groups="1")) == 0
    assert weights_bytes(holding()) is None


CONVOLVED = {"Kernel": "[7,7]", "OutMaps": "64", "Groups": "1"}
PADDED = {"PrePadding": "[3,3]", "PostPadding": "[3,3]", "Stride": "[2,2]", "Dilation": "[1,1]"}


def layer(reads: list[tuple[int | str, ...]], writes: list[tuple[int | str, ...]], **fields: str) -> EngineLayer:
    sides = [tuple(EngineTensor("t", "Half", dims) for dims in side) for side in (reads, writes)]
    return EngineLayer("l", "", None, "", (), (), sides[0], sides[1], SourceSpan("f", 1, 0), fields=fields)


@for_each(
    ("kind", "reads", "writes", "fields", "macs"),
    [
        ("Convolution", [(32, 3, 224, 224)], [(32, 64, 112, 112)], CONVOLVED, 3_776_446_464),
        ("Convolution", [(3, 224, 224)], [(64, 112, 112)], CONVOLVED, 118_013_952),
        ("Convolution", [(1, 8, 4, 6, 6)], [(1, 16, 4, 6, 6)], {**CONVOLVED, "Kernel": "[3,3,3]"}, 16 * 144 * 8 * 27),
        ("Convolution", [(1, 32, 8, 8)], [(1, 32, 8, 8)], {**CONVOLVED, "Kernel": "[3,3]", "Groups": "32"}, 2048 * 9),
        ("Convolution", [("-1", 3, 224, 224)], [("-1", 64, 112, 112)], CONVOLVED, None),
        ("Convolution", [(1, 3, 8, 8)], [(1, 64, 8, 8)], {}, None),
        ("Deconvolution", [(1, 8, 4, 4)], [(1, 64, 8, 8)], {**CONVOLVED, "Kernel": "[2,2]"}, 128 * 64 * 4),
        (
            "ConvActPool",
            [(32, 3, 224, 224)],
            [(32, 64, 56, 56)],
            {f"Conv{name}": value for name, value in {**CONVOLVED, **PADDED}.items()},
            3_776_446_464,
        ),
        ("FullyConnected", [(4, 512, 1, 1)], [(4, 1000, 1, 1)], {"OutMaps": "1000"}, 4 * 512 * 1000),
        ("gemm", [(2, 5, 7), (2, 7, 3)], [(2, 5, 3)], {}, 2 * 5 * 3 * 7),
        ("MatrixMultiply", [(7, 5), (3, 7)], [(5, 3)], {}, 5 * 3 * 7),
        ("gemm", [(5, 7)], [(5, 3)], {}, None),
        ("gemm", [(5, 7), (9, 3)], [(5, 3)], {}, None),
        ("Attention", [(2, 4, 10, 8), (2, 4, 12, 8), (2, 4, 12, 16)], [(2, 4, 10, 16)], {}, 8 * 10 * 12 * (8 + 16)),
        ("Attention", [(2, 4, 10, 8)], [(2, 4, 10, 16)], {}, None),
    ],
)
def test_products_are_counted_where_the_layer_tells_them(
    kind: str,
    reads: list[tuple[int | str, ...]],
    writes: list[tuple[int | str, ...]],
    fields: dict[str, str],
    macs: int | None,
) -> None:
    expected = None if macs is None else Work(macs, 2 * macs)
    assert work_of(layer(reads, writes, **fields), kind) == expected


def test_pooling_counts_its_windows_and_no_products() -> None:
    pooled = layer([(1, 8, 4, 4)], [(1, 8, 2, 2)], WindowSize="[3,3]")
    assert work_of(pooled, "Pooling") == Work(0, 8 * 4 * 9)


@for_each("kind", ["Reformat", "Myelin", "kgen", "PluginV2", ""])
def test_what_other_layers_compute_is_not_told(kind: str) -> None:
    assert work_of(layer([(1, 8)], [(1, 8)]), kind) is None
