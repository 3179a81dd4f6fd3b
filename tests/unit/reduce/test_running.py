"""The answer of a reduction as text, and the inputs that go with a model."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.answers import search_answer
from trtforensics.bisection.session.lever import DescribedItem
from trtforensics.reduce.failure import Failure
from trtforensics.reduce.running import ControlSeen, OtherFailure, Recorded, Reduction, ReductionAnswer, _of_range

PASSED = ControlSeen("an Identity of x", ("good", "good"), ("probes/2", "probes/5"))


def answer(
    left: int,
    nodes: int = 40,
    others: tuple[OtherFailure, ...] = (),
    *,
    control: ControlSeen = PASSED,
    missed: int = 0,
    **search: Any,
) -> str:
    reduction = Reduction(
        nodes=nodes,
        left=tuple(DescribedItem(f"n{number}", {"op": "Add"}) for number in range(left)),
        as_they_were=(),
        not_judged_without=(),
        failure=Failure("build", "failed", code="TF108", title="No"),
        otherwise=others,
        recorded=Recorded(whole=True, why=""),
        control=control,
        missed=missed,
    )
    return ReductionAnswer(search_answer(**{"builds": 5, **search}), reduction).text(Path("out"), ())


@pytest.mark.parametrize(
    ("left", "sentence"),
    [
        (1, "Certified: the single node below fails as the original does, and the control passes; both were seen "),
        (2, "Certified: the model below fails as the original does, and without either of its nodes it does not.\n"),
        (3, "Certified: the model below fails as the original does, and without any one of its nodes it does not.\n"),
    ],
)
def test_a_certificate_says_what_was_left_out(left: int, sentence: str) -> None:
    assert answer(left).startswith(sentence)


def test_nouns_go_with_their_numbers() -> None:
    text = answer(1, nodes=1, builds=1)
    assert "\n1 of 1 node left:\n" in text
    assert "\n1 probe.\n" in text
    assert "\n1 of 40 nodes left:\n" in answer(1)
    assert "\n5 probes, 2 of them by an earlier run.\n" in answer(1, reused=2)


def test_other_failures_are_counted() -> None:
    others = (OtherFailure("a", 3), OtherFailure("b", 2), OtherFailure("c", 1))
    text = answer(2, others=others)
    assert "6 probes failed with another error:\n  3 times: a\n  twice: b\n  once: c\n" in text
    assert "1 probe failed with another error:\n  once: c\n" in answer(2, others=others[2:])


def test_the_control_is_shown_with_what_was_seen_of_it() -> None:
    assert "The control, an Identity of x, passes: probes/2, probes/5.\n" in answer(1)
    failed = ControlSeen("c.onnx", ("bad",), ("probes/2",))
    text = answer(0, control=failed, status="inconclusive", why="it fails always")
    assert text.startswith("Inconclusive: it fails always.\n")
    assert "The control, c.onnx, fails in the same way: probes/2.\n" in text
    assert "left:" not in text
    unjudged = ControlSeen("c.onnx", ("unresolved",), ("probes/2",))
    assert "The control, c.onnx, could not be judged: probes/2.\n" in answer(2, control=unjudged)
    assert "and another model passes; both were seen twice" in answer(1, control=unjudged)
    assert "The control" not in answer(2, control=ControlSeen("c.onnx", (), ()))


def test_missed_failures_are_counted() -> None:
    assert "The check passed twice" not in answer(1)
    assert "The check passed 2 times on models that fail: passes were looked at again. More" in answer(1, missed=2)


def test_inputs_that_must_tell_nothing_are_random_of_the_same_range() -> None:
    value = np.array([-2.0, 0.5, 3.0, np.nan], np.float16)
    other = _of_range(np.random.default_rng(1), value)
    assert (other.dtype, other.shape) == (value.dtype, value.shape)
    assert not np.any(other == value)
    assert np.all((other >= -2) & (other <= 3))
    for kept in (np.array([1, 2]), np.zeros((0, 2), np.float32)):  # indexes, and nothing to draw from
        assert _of_range(np.random.default_rng(1), kept) is kept
