"""The files about an engine, written from objects of TensorRT's Python API."""

from __future__ import annotations

import json
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.trt import engine_files

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class _Profiler:
    """The base of profilers."""


@pytest.fixture(autouse=True)
def module(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Let TensorRT be a module with a class of profilers and a runtime, which takes the plan ``good`` alone."""

    def runtime(_: object) -> Any:
        return SimpleNamespace(deserialize_cuda_engine=lambda plan: _engine() if plan == b"good" else None)

    logger: Any = lambda level: level  # noqa: E731 - with an attribute
    logger.WARNING = "warning"
    form = SimpleNamespace(JSON="json")
    trt = SimpleNamespace(IProfiler=_Profiler, Runtime=runtime, Logger=logger, LayerInformationFormat=form)
    monkeypatch.setattr(engine_files, "load", lambda _: trt)
    return trt


def _engine() -> Any:
    inspector = SimpleNamespace(get_engine_information=lambda form: f"layers as {form}")
    return SimpleNamespace(create_engine_inspector=lambda: inspector)


def _context(*times: tuple[str, float]) -> tuple[Any, Callable[[], None], list[object]]:
    """Return a context, a function that infers with it, and what profiled each inference."""
    context, profilers = SimpleNamespace(profiler="its own"), list[object]()

    def infer() -> None:
        profilers.append(context.profiler)
        for name, ms in times if isinstance(context.profiler, _Profiler) else ():
            context.profiler.report_layer_time(name, ms * len(profilers))

    return context, infer, profilers


def test_times_are_of_the_runs_behind_a_first_one_that_warms_up(tmp_path: Path) -> None:
    context, infer, profilers = _context(("a", 1.0), ("b", 3.0))
    engine_files.write_profile(context, infer, tmp_path / "p.json", runs=2)
    head, *rows = json.loads((tmp_path / "p.json").read_text())
    assert head == {"count": 2}
    assert rows == [
        {"name": "a", "timeMs": 5.0, "averageMs": 2.5, "medianMs": 2.5, "percentage": 25.0},
        {"name": "b", "timeMs": 15.0, "averageMs": 7.5, "medianMs": 7.5, "percentage": 75.0},
    ]
    assert (len(profilers), profilers[0], context.profiler) == (3, "its own", "its own")


def test_fifty_runs_are_the_default_and_one_is_the_least(tmp_path: Path) -> None:
    context, infer, profilers = _context(("a", 1.0))
    engine_files.write_profile(context, infer, tmp_path / "p.json")
    assert (json.loads((tmp_path / "p.json").read_text())[0], len(profilers)) == ({"count": 50}, 51)
    engine_files.write_profile(context, infer, tmp_path / "p.json", runs=1)
    with pytest.raises(ValueError, match="0 runs have no times"):
        engine_files.write_profile(context, infer, tmp_path / "p.json", runs=0)


def test_a_context_that_reports_nothing_has_its_profiler_back(tmp_path: Path) -> None:
    context, infer, _ = _context()
    with pytest.raises(ValueError, match="no layer reported a time"):
        engine_files.write_profile(context, infer, tmp_path / "p.json", runs=1)
    assert context.profiler == "its own"
    assert not (tmp_path / "p.json").exists()


def test_a_plan_that_tensorrt_refuses_is_status_1(tmp_path: Path) -> None:
    plan, layers = tmp_path / "m.plan", tmp_path / "layers.json"
    for content, status in ((b"bad", 1), (b"good", 0)):
        plan.write_bytes(content)
        assert engine_files.main([str(plan), str(layers)]) == status
        assert layers.exists() is not bool(status)
    assert layers.read_text() == "layers as json"
