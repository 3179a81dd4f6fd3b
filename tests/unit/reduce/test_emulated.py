"""Wrong numbers by the twin."""

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

from trtforensics.bisection.precision.casting.storage import STORAGES
from trtforensics.bisection.search import Verdict
from trtforensics.reduce.deriving import Deriver
from trtforensics.reduce.failure import Failure
from trtforensics.reduce.graph_lever import first_beyond, judge_numbers

FP16 = STORAGES["fp16"]


def judged(deriver: Deriver, path: Path, *nodes: str) -> tuple[Verdict, str, Failure | None]:
    derived = deriver.derive([deriver.original.by_name[node] for node in nodes])
    onnx.save(derived.model, path / "cut.onnx")
    cut = frozenset(derived.inputs.keys() - deriver.original.sources.keys())
    return judge_numbers(path / "cut.onnx", derived.inputs, cut, FP16)


@pytest.fixture
def squares(apart: Callable[..., Deriver]) -> Deriver:
    return apart("square", 24)


def named(deriver: Deriver) -> list[str]:
    return [node.name for node in deriver.original.nodes if node.proto.op_type == "Mul"]


def test_the_node_that_overflows_is_bad(squares: Deriver, tmp_path: Path) -> None:
    _, squared, _ = named(squares)
    verdict, reason, failure = judged(squares, tmp_path, squared)
    assert (verdict, failure and failure.ended) == (Verdict.BAD, "are not finite")
    assert "is not finite" in reason


def test_the_node_before_it_is_good(squares: Deriver, tmp_path: Path) -> None:
    large, _, _ = named(squares)
    assert judged(squares, tmp_path, large)[0] is Verdict.GOOD


def test_the_node_behind_it_is_not_judged_on_values_beyond_the_type(squares: Deriver, tmp_path: Path) -> None:
    _, _, narrowed = named(squares)
    verdict, reason, failure = judged(squares, tmp_path, narrowed)
    assert (verdict, failure) == (Verdict.UNRESOLVED, None)
    assert "do not fit fp16" in reason


def test_the_first_node_beyond_the_range_is_named_first(squares: Deriver) -> None:
    assert first_beyond(squares.original, squares.recording, FP16)[0] == named(squares)[1]
