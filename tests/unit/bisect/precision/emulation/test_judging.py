"""A probe passes by all of its metrics, and an output that rounding alone ruins is named."""

from __future__ import annotations

import pytest

from trtforensics.bisect.precision.casting.storage import FP16
from trtforensics.bisect.precision.emulation.judging import OutputJudge, rules_document, rules_text
from trtforensics.bisect.precision.emulation.metrics import METRICS
from trtforensics.bisect.precision.emulation.oracle import Scores
from trtforensics.bisect.precision.emulation.rules import tolerance_of

FINE = {"max-rel": 1e-3, "rel-l2": 1e-3}


def judge(floor: float = 5e-4, given: float | None = None) -> OutputJudge:
    return OutputJudge(
        {"y": tuple(tolerance_of(METRICS[name], given, floor, 1.0, FP16) for name in ("max-rel", "rel-l2"))}
    )


@pytest.mark.parametrize("name", ["max-rel", "rel-l2"])
def test_one_metric_that_fails_is_enough(name: str) -> None:
    assert judge().judge(Scores({"y": (FINE,)})).passed
    failed = judge().judge(Scores({"y": (FINE, {**FINE, name: 0.5})}))
    assert not failed.passed
    assert failed.why == f"y: {name} 0.5, tolerance 0.002"


def test_what_is_not_finite_fails_and_is_named() -> None:
    failed = judge().judge(Scores({"y": (FINE, None)}))
    assert (failed.passed, failed.worst, failed.near) == (False, {"y": None}, False)
    assert failed.why == "y is not finite where the FP32 model is"


def test_either_metric_may_be_near() -> None:
    assert judge().judge(Scores({"y": ({"max-rel": 1e-4, "rel-l2": 1.1e-3},)})).near
    assert not judge().judge(Scores({"y": ({"max-rel": 1e-4, "rel-l2": 9e-4},)})).near


@pytest.mark.parametrize("floor", [0.765, 0.011])
def test_a_floor_above_the_cap_is_said(floor: float) -> None:
    said = " ".join(rules_text(rules_document(judge(floor)), "fp16", "3 samples"))
    assert "The rounding of FP16 alone costs y more than the cap" in said
    assert "tolerance 0.01 (default: the cap, below the rounding floor" in said
    assert judge(floor).floors_above


def test_a_given_tolerance_below_the_floor_is_said_otherwise() -> None:
    said = " ".join(rules_text(rules_document(judge(given=1e-5)), "fp16", "3 samples"))
    assert "less than rounding alone costs y" in said
    assert "cap" not in said
    assert not judge(given=1e-5).floors_above
    assert not judge().floors_above
