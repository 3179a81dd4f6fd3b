"""Tactics that the simulated runners offer: ids as TensorRT's look, kernel names of our own in the field's style."""

from __future__ import annotations

from hashlib import blake2b
from random import Random

from tests.emulator.engine.network import FLOAT, FLOAT_NHWC, HALF, HALF_2, Format
from tests.emulator.log.event import six_digits

Tactic = tuple[int, str]
"""Id and kernel name; the name is empty where the runner names none."""

TILES = ("32x32", "64x32", "64x64", "96x64", "128x32", "128x64", "192x64", "256x32")

NUMBERED: dict[str, tuple[int, ...]] = {
    "LogSoftmaxTopK": (0x3E9, 0x3EA),
    "Myelin": (0,),
    "PointWiseV2": (0, 1, 2, 3, 4, 5, 0x1C),
    "Reformat": (0x3E8, 0x3EA, 0),
    "Shuffle": (0, 1),
}
"""Runners whose tactics are small numbers without names."""

CONVOLUTIONS: dict[Format, str] = {
    FLOAT: "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_tilesize{}x8_stage3_g1_ffma_aligna4_alignc4",
    FLOAT_NHWC: "sm80_xmma_fprop_implicit_gemm_indexed_f32f32_tf32f32_f32_nhwckrsc_nhwc_tilesize{}x16_stage4_g1",
    HALF_2: "ampere_hcudnn_{}_relu_interior_nn_v1",
}
HALF_CONVOLUTION = "sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize{}x64_stage3_g1_tensor16x8x16"

GEMM = "sm80_xmma_gemm_f16f16_f16f16_f16_tn_n_tilesize{}x32_stage5_warpsize2x2x1_tensor16x8x16"

ACCUMULATORS = {"f16f16_f16f16_f16": "f16f16_f16f32_f32", "ampere_hcudnn": "ampere_fp16_scudnn_fp16"}
"""What the names of kernels in Half hold that sum in Half, and in Float instead."""


def dice(*parts: object) -> Random:
    """Return random numbers that depend on the parts alone."""
    return Random("/".join(map(str, parts)))  # noqa: S311 - a repeatable build, not a secret


def hashed(text: str, size: int = 8) -> int:
    """Return an id of ``size`` bytes that depends on the text alone."""
    return int.from_bytes(blake2b(text.encode(), digest_size=size).digest(), "big")


def supports(runner: str, layout: Format, *, newer: bool) -> bool:
    """Whether a runner offers any tactic: one runner never does, and 10.x convolves no linear Half."""
    if runner == "CaskFlattenConvolution":
        return False
    if runner == "CaskGemmConvolution":
        return layout not in {FLOAT_NHWC, HALF}
    return not (runner == "CaskConvolution" and newer and layout == HALF)


def offered(runner: str, layout: Format, random: Random) -> list[Tactic]:
    """Return the tactics that a runner offers for a format, in the order in which they are timed."""
    if runner in NUMBERED:
        return [(number, "") for number in NUMBERED[runner]]
    tiles = random.sample(TILES, random.randint(4, 7))
    if runner == "CaskGemmConvolution":
        return [(0x20000 + TILES.index(tile), GEMM.format(tile)) for tile in tiles]
    if runner == "CaskPooling":
        kind = {FLOAT: "FP32NCHW", HALF: "FP16NCHW"}.get(layout, "FP16NHWC")
        names = [
            f"sm50_xmma_pooling_tiled_{kind}_kMAX_tP2_tQ{tile.partition('x')[0]}_tR2_tS2_tU2_tV2" for tile in tiles
        ]
        return [(hashed(name), name) for name in dict.fromkeys(names)]
    names = [CONVOLUTIONS.get(layout, HALF_CONVOLUTION).format(tile) for tile in tiles]
    return [(hashed(name), name) for name in names]


def summed(tactics: list[Tactic]) -> list[Tactic]:
    """Return tactics of which every second one that sums in Half sums in Float instead."""
    return [_in_float(*tactic) if index % 2 else tactic for index, tactic in enumerate(tactics)]


def _in_float(tactic: int, kernel: str) -> Tactic:
    other = kernel
    for half, single in ACCUMULATORS.items():
        other = other.replace(half, single)
    return (tactic if other == kernel or tactic < 1 << 32 else hashed(other)), other


def times(count: int, fastest: float, random: Random) -> list[float]:
    """Return times in ms with six significant digits; often the runner-up is a near tie."""
    spread = [1.0] + [1.0 + random.uniform(0.03, 1.2) for _ in range(count - 1)]
    if count > 1 and random.random() < 0.5:
        spread[1] = 1.004
    random.shuffle(spread)
    base = fastest * random.uniform(0.96, 1.04)
    return [six_digits(base * factor) for factor in spread]
