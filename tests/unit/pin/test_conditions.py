"""Conditions as a user writes them, and what they object to."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from tests.support.for_each import for_each
from tests.support.pin_slots import HALF, SINGLE, kernel, offer, slot
from trtforensics.errors import UsageError
from trtforensics.model.data_types import Accumulator
from trtforensics.pin.conditions import PinConditions, bounds_of, is_request, layers_of, request_of

SINGLE_WANTED = PinConditions(Accumulator.FP32)
INT8 = "sm80_xmma_gemm_i8i8_i8i32_f32_tn_n"
SPLIT = f"{kernel(HALF)}_execute_split_k_kernel"


@for_each(
    ("name", "objection"),
    [
        (kernel(SINGLE), ""),
        (INT8, ""),
        (kernel(HALF), "it accumulates in Half"),
        ("", "its name does not tell in what it accumulates"),
        ("whatever_kernel", "its name does not tell in what it accumulates"),
    ],
)
def test_a_sum_in_half_and_a_silent_kernel_are_no_sum_in_float(name: str, objection: str) -> None:
    product = slot("matmul", offer(1, kernel(HALF)), offer(2, name))
    assert SINGLE_WANTED.objection(product, product.offers[1]) == objection


def test_a_layer_of_which_no_kernel_tells_a_sum_is_none() -> None:
    pooling = slot("pool", offer(1, "sm50_xmma_pooling_tiled_FP16NCHW_kMAX_tP1"), offer(2))
    assert [SINGLE_WANTED.objection(pooling, one) for one in pooling.offers] == ["", ""]


def test_other_conditions_object_to_their_kernels() -> None:
    one = slot("a", offer(1, SPLIT), offer(2, kernel(SINGLE)))

    def objections(conditions: PinConditions) -> list[str]:
        return [conditions.objection(one, each) for each in one.offers]

    assert objections(PinConditions(no_split_k=True)) == ["it splits K", ""]
    assert objections(PinConditions(refused=("*f16f32*", "0x0000000000000001"))) == [
        "0x0000000000000001 is refused",
        "*f16f32* is refused",
    ]
    assert objections(PinConditions(chosen={"a": ("CaskGemm", 2)})) == ["the other build chose another tactic", ""]
    assert objections(PinConditions(chosen={})) == ["the other build does not show it"] * 2


def test_a_refused_name_is_itself_but_for_its_stars() -> None:
    template = "void cutlass::Kernel<Shape[64, 64]>(Params)"
    one = slot("a", offer(1, template), offer(2, kernel(HALF)))

    def refused(pattern: str) -> list[bool]:
        return [bool(PinConditions(refused=(pattern,)).objection(one, each)) for each in one.offers]

    assert refused(template) == [True, False]
    assert refused("*Shape[64*") == [True, False]
    assert refused("*[ft]16*") == [False, False]
    assert refused("sm80?xmma*") == [False, False]
    assert refused("sm80_*_tensor16x8x16") == [False, True]


def test_a_line_that_prints_the_split_of_k_is_believed() -> None:
    plain = kernel(HALF)
    one = slot("a", *(replace(offer(number, plain), splits=splits) for number, splits in ((1, 8), (2, 1), (3, None))))
    assert [PinConditions(no_split_k=True).objection(one, each) for each in one.offers] == ["it splits K", "", ""]


def test_conditions_concern_the_layers_that_the_expression_matches_and_only_where_they_ask() -> None:
    one = slot("block.1/matmul", offer(1))
    assert not PinConditions().concerns(one)
    assert SINGLE_WANTED.concerns(one)
    assert PinConditions(Accumulator.FP32, layers=re.compile(r"1/mat")).concerns(one)
    assert not PinConditions(Accumulator.FP32, layers=re.compile(r"^mat")).concerns(one)


def test_a_request_is_read_from_one_argument() -> None:
    assert is_request("pin:accumulate=fp32")
    assert not is_request("pinned.json")
    assert request_of("pin:accumulate=fp32,no-splitk,not=a*,not=b*,within=10%") == PinConditions(
        Accumulator.FP32, no_split_k=True, refused=("a*", "b*"), within=(0.1, 0.1)
    )
    assert request_of("pin:same-as=good.log,prefer=deterministic,layers=^a") == PinConditions(
        same_as="good.log", prefer="deterministic", layers=re.compile("^a")
    )


@for_each(
    "text",
    [
        "pin:",
        "pin:accumulate",
        "pin:accumulate=fp64",
        "pin:accumulate=fp16",
        "pin:no-splitk=1",
        "pin:prefer=speed",
        "pin:within=1%,within=2%",
        "pin:acumulate=fp32",
    ],
)
def test_what_is_no_request_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="Write pin:"):
        request_of(text)


def test_a_bound_is_for_a_layer_and_for_all() -> None:
    assert bounds_of("10%") == (0.1, 0.1)
    assert bounds_of("30%,2.5%") == (0.3, 0.025)
    for text in ("10", "a%", "1%,2%,3%", "", "-1%"):
        with pytest.raises(UsageError, match="is no bound"):
            bounds_of(text)


def test_an_expression_that_cannot_be_compiled_is_refused() -> None:
    with pytest.raises(UsageError, match="is no regular expression"):
        layers_of("(")
