"""What the text of an answer says, and where it says nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.answers import search_answer
from trtforensics.bisection.precision.answer.concluding import judged_outputs
from trtforensics.bisection.precision.answer.kernels import KernelNotes
from trtforensics.bisection.precision.answer.operators import OperatorChain, OperatorFix
from trtforensics.bisection.precision.answer.precision_answer import (
    PrecisionAnswer,
    RepairSummary,
    ScoredProbe,
    last_error,
)
from trtforensics.bisection.precision.answer.quantization import PairCost, QuantizationCost
from trtforensics.bisection.precision.casting.storage import FP16
from trtforensics.bisection.precision.emulation.judging import METRICS, OutputJudge, tolerance_of
from trtforensics.bisection.precision.emulation.oracle import TopRows
from trtforensics.model.data_types import Accumulator

ANSWER = PrecisionAnswer(
    search=search_answer(mode="precision", status="not-reproduced", why="the model passes with every node in fp16"),
    builds=0,
    oracle_probes=2,
    precision="fp16",
    accumulate=Accumulator.FP32,
    converted=None,
    builder=None,
    evidence={"emulated": True, "built": False, "executed": False},
    judged={},
    samples=3,
    samples_are="3 samples",
    masked={},
    minimal=None,
    safe=None,
    inside=(),
    left=(),
    unseen=(),
    reasons=(),
    curve=None,
    holding=None,
    calibration=None,
    original=None,
    kernels=KernelNotes(),
    top_rows={},
    quantization=None,
    tensors=(),
    nodes=(),
    constants=(),
    notes=(),
    probes=(),
    operators=None,
)


def text(answer: PrecisionAnswer) -> str:
    return answer.text(Path("out"))


def judged(floor: float = 5e-4, given: float | None = None) -> str:
    tolerances = (tolerance_of(METRICS[name], given, floor, 1.0, FP16) for name in ("max-rel", "rel-l2"))
    return text(replace(ANSWER, judged=judged_outputs(OutputJudge({"y": tuple(tolerances)}))))


def test_an_answer_without_parts_has_four_lines() -> None:
    assert text(ANSWER).splitlines() == [
        "Nothing to search, on 3 samples: the model passes with every node in fp16.",
        "2 mixtures judged on the CPU, 0 real builds.",
        "No TensorRT is installed here, so nothing was built.",
        "Evidence: emulated yes, built no, executed no.",
        "Emulated: 16-bit storage of every result, on the CPU. No engine was run, and fused kernels may differ.",
    ]


def test_a_search_that_wants_no_builds_misses_no_tensorrt() -> None:
    assert "No TensorRT is installed" not in ANSWER.text(Path("out"), wants_builds=False)
    assert "No TensorRT is installed" not in text(replace(ANSWER, builder="tensorrt 10.3"))


@pytest.mark.parametrize(
    ("difference", "words"),
    [(0.0, "In FP32 it equals the original."), (2e-3, "In FP32 it differs from the original by")],
)
def test_operators_in_the_place_of_chains_are_compared_with_the_original(difference: float, words: str) -> None:
    kept = RepairSummary(("/div",), "good", {}, None)
    chain = OperatorChain("LayerNormalization", "y", ("/mean", "/div"))
    fix = OperatorFix("fixed/operators.onnx", (chain,), (), difference, {"y": 0.1}, None, "")
    assert words in text(replace(ANSWER, operators=fix, minimal=kept, safe=kept))


@pytest.mark.parametrize("floor", [0.765, 0.011])
def test_a_floor_above_the_cap_is_said(floor: float) -> None:
    assert "The rounding of FP16 alone costs y more than the cap" in judged(floor)
    assert "tolerance 0.01 (default: the cap, below the rounding floor" in judged(floor)


def test_a_given_tolerance_below_the_floor_is_said_otherwise() -> None:
    assert "less than rounding alone costs y" in judged(given=1e-5)
    assert "cap" not in judged(given=1e-5)


def test_rows_that_all_lead_by_too_little_are_no_share_of_nothing() -> None:
    lines = text(replace(ANSWER, top_rows={"y": TopRows(12, 0, 0), "z": TopRows(4, 3, 2)}))
    assert "In no row of y does the largest value lead by enough to tell whether it stays there.\n" in lines
    assert "stays where it is in 2 of 3 decided rows of z; 1 more lead by too little to tell.\n" in lines


def test_the_pairs_that_cost_most_come_first() -> None:
    pairs = PairCost("/a/Q", "x", "/a.scale", 0.5, 0.1), PairCost("/b/Q", "y", "/b.scale", 0.03, 0.9)
    lines = text(replace(ANSWER, quantization=QuantizationCost(0.51, pairs, ("/b/Q",), 1))).splitlines()
    assert lines[0].startswith("Quantized: 2 pairs of Q and DQ, at the cost of 0.51")
    assert lines[2] == "  /b/Q, scale /b.scale: without this pair 0.03"
    assert lines[4] == "  The fewest that halve it: leave out /b/Q."
    assert lines[5].startswith("  What constants lost that are stored as integers (1)")


def test_a_model_that_does_not_build_in_fp32_is_the_headline() -> None:
    log = ("[V] a", "[E] [TRT] no plugin Foo", "[V] end")
    wide = ScoredProbe(
        probe=1,
        folder="probes/1",
        active="",
        build=1,
        check=0,
        purpose="everything in FP32",
        verdict="unresolved",
        reason="",
        seconds=0.0,
        evidence=True,
        scores={},
        near=False,
        built=False,
        log_tail=log,
    )
    probes = (replace(wide, purpose="everything in FP16"), wide)
    headline = "TensorRT does not build this model in FP32 either: [E] [TRT] no plugin Foo"
    assert text(replace(ANSWER, probes=probes)).startswith(headline)
    others = (replace(wide, built=True), replace(wide, built=None))
    assert "in FP32 either" not in text(replace(ANSWER, probes=others))
    assert last_error(["first", "last words", ""]) == "last words"
    assert last_error(["[TensorRT] INTERNAL_ERROR: no plugin", "bye"]) == "[TensorRT] INTERNAL_ERROR: no plugin"
    assert last_error([]) == "its log is empty"
