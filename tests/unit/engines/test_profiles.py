"""A profile file beside a log lends its times to the engine that it timed, and to no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from trtforensics.engines.joining import load_joined
from trtforensics.errors import UsageError
from trtforensics.model.timings import TimeSource

if TYPE_CHECKING:
    from pathlib import Path

    from trtforensics.model.log import BuildLog

LAYER = "Layer(CaskConvolution): {}, Tactic: 0x0000000000000005, x (Float[1]) -> y (Float[1])\n"
BANNER = "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=a.onnx\n"


def both(folder: Path, text: str, *names: str) -> BuildLog:
    rows = [{"name": name, "timeMs": 5.0, "averageMs": 0.5, "percentage": 50.0} for name in names]
    (folder / "build.log").write_text(text)
    (folder / "profile.json").write_text(json.dumps([{"count": 10}, *rows]))
    return load_joined([str(folder / "profile.json"), str(folder / "build.log")]).log


def test_the_times_join_the_build_that_has_the_layers(tmp_path: Path) -> None:
    log = both(tmp_path, BANNER + LAYER.format("a") + BANNER + LAYER.format("b"), "a")
    first, second = log.builds
    assert [(layer.time_ms, layer.time_is) for layer in first.engine_layers] == [(0.5, TimeSource.MEASURED)]
    assert (first.coverage.times, second.coverage.times, second.profile) == (TimeSource.MEASURED, None, ())
    assert first.profile[0].span.file == str(tmp_path / "profile.json")


def test_a_log_without_engine_layers_takes_the_profile_as_it_is(tmp_path: Path) -> None:
    (build,) = both(tmp_path, BANNER, "a").builds
    assert [(row.name, row.engine_layer) for row in build.profile] == [("a", None)]


def test_a_profile_of_another_engine_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is of another engine: .*build.log names 0 of the 2 layers that it times"):
        both(tmp_path, BANNER + LAYER.format("c"), "a", "b")
