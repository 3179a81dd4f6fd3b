"""The arithmetic of layers whose operation tells it."""

from __future__ import annotations

import pytest

from trtforensics.engines.work import Work, work_of
from trtforensics.model.log import EngineLayer, EngineTensor
from trtforensics.model.span import SourceSpan

CONVOLVED = {"Kernel": "[7,7]", "OutMaps": "64", "Groups": "1"}
PADDED = {"PrePadding": "[3,3]", "PostPadding": "[3,3]", "Stride": "[2,2]", "Dilation": "[1,1]"}


def layer(reads: list[tuple[int | str, ...]], writes: list[tuple[int | str, ...]], **fields: str) -> EngineLayer:
    sides = [tuple(EngineTensor("t", "Half", dims) for dims in side) for side in (reads, writes)]
    return EngineLayer("l", "", None, "", (), (), sides[0], sides[1], SourceSpan("f", 1, 0), fields=fields)


@pytest.mark.parametrize(
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


@pytest.mark.parametrize("kind", ["Reformat", "Myelin", "kgen", "PluginV2", ""])
def test_what_other_layers_compute_is_not_told(kind: str) -> None:
    assert work_of(layer([(1, 8)], [(1, 8)]), kind) is None
