"""The built-in checks, in this process: what a model's outputs must be, and which status says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from tests.support.for_each import for_each
from trtforensics.bisection import checks
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_X = np.arange(8, dtype=np.float32).reshape(4, 2)


def _status(monkeypatch: pytest.MonkeyPatch, name: str, feeds: Sequence[Any], outputs: Sequence[Any]) -> int:
    """Run a check on given samples; a model answers one run after the other, and in the last way from then on."""
    asked: list[Any] = []

    def results(models: Sequence[str], samples: Sequence[Any]) -> Mapping[str, Any]:
        asked.extend(samples)
        answers = [*outputs, *[outputs[-1]] * len(samples)][: len(samples)]
        return {model: [{"y": np.asarray(answer)} for answer in answers] for model in models}

    monkeypatch.setattr(checks, "_feeds", lambda _: [{"x": np.asarray(feed)} for feed in feeds])
    monkeypatch.setattr(checks, "_results", results)
    return checks.main([name, "m.onnx"])


@for_each(
    ("name", "feeds", "outputs", "status"),
    [
        ("repeat", [_X], [[1.0, np.nan], [1.0, np.nan]], 0),
        ("repeat", [_X], [[1.0], [1.0 + 1e-7]], 3),
        ("repeat", [_X, _X], [[1.0], [1.0], [2.0], [2.0]], 0),
        ("repeat", [_X, _X], [[1.0], [1.0], [2.0], [3.0]], 3),
        ("rows", [_X], [[[5.0, np.nan]] * 4], 0),
        ("rows", [_X], [[[5.0], [5.0], [5.0], [6.0]]], 3),
        ("rows", [_X], [[1.0, 2.0]], 0),
        ("rows", [_X], [7.0], 0),
        ("rows", [_X, 3.0], [[[5.0]] * 4, 1.0], 0),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_outputs_that_differ_are_status_3(name: str, feeds: Sequence[Any], outputs: Sequence[Any], status: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        assert _status(patch, name, feeds, outputs) == status


@for_each("feeds", [[[[1.0, 2.0]]], [3.0]])
def test_rows_wants_a_batch_of_two(feeds: Sequence[Any]) -> None:
    with pytest.MonkeyPatch.context() as patch, pytest.raises(UsageError, match="no batch of two rows or more"):
        _status(patch, "rows", feeds, [1.0])


def test_rows_are_copies_of_the_first(monkeypatch: pytest.MonkeyPatch) -> None:
    fed: list[Any] = []

    def results(_: Sequence[str], feeds: Sequence[Any]) -> Mapping[str, Any]:
        fed.extend(feeds)
        return {"m": []}

    monkeypatch.setattr(checks, "_feeds", lambda _: [{"x": _X, "n": np.float32(2)}])
    monkeypatch.setattr(checks, "_results", results)
    assert checks.main(["rows", "m.onnx"]) == 0
    assert np.array_equal(fed[0]["x"], np.tile(_X[:1], (4, 1)))
    assert fed[0]["n"] == 2


@for_each(
    ("check", "message"),
    [
        ("builtin:nothing", "there is no built-in check 'nothing'"),
        ("builtin:against", "'builtin:against' is not how the built-in check against is written"),
        ("builtin:rows:m.onnx", "'builtin:rows:m.onnx' is not how the built-in check rows is written"),
    ],
)
def test_a_check_that_is_written_otherwise_is_refused(check: str, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        checks.command_of(check, "{engine}")


def test_a_check_is_a_command_whose_other_failures_say_nothing() -> None:
    command = checks.command_of("builtin:against:a b.onnx", "{engine}")
    assert command.endswith(
        " -m trtforensics.bisection.checks against {engine} --reference 'a b.onnx'; "
        "case $? in 0) exit 0;; 3) exit 1;; *) exit 125;; esac"
    )
    assert (checks.builtin_of(command), checks.builtin_of("python -m judge {engine}")) == ("against", "")
    assert checks.command_of("python -m judge {engine}", "{engine}") == "python -m judge {engine}"


@pytest.mark.filterwarnings("ignore:CompareFunc.simple is deprecated")  # of newer Polygraphy, which keeps it
@for_each(("other", "status"), [(1.0099, 0), (1.03, 3)])
def test_outputs_within_1_percent_of_the_reference_agree(other: float, status: int) -> None:
    results = pytest.importorskip("polygraphy.comparator", reason="Polygraphy is not installed").RunResults()
    for place, value in enumerate((1.0, other)):
        results.add([{"y": np.full(4, value, np.float32)}], runner_name=f"run {place}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "_feeds", lambda _: [])
        patch.setattr(checks, "_results", lambda models, _: results if len(models) == 2 else None)
        assert checks.main(["against", "m.plan", "--reference", "m.onnx"]) == status


@for_each(("value", "status"), [(1e30, 0), (float("nan"), 3), (float("inf"), 3), (float("-inf"), 3)])
def test_finite_wants_neither_nan_nor_infinity(value: float, status: int) -> None:
    results = pytest.importorskip("polygraphy.comparator", reason="Polygraphy is not installed").RunResults()
    results.add([{"y": np.array([0, value], np.float32)}], runner_name="run 1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checks, "_feeds", lambda _: [])
        patch.setattr(checks, "_results", lambda *_: results)
        assert checks.main(["finite", "m.plan"]) == status
