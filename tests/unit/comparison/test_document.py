"""The times of a comparison as an object."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

from tests.support.build_views import build, layer
from trtforensics.comparison.report import times_document
from trtforensics.comparison.times import compare_times
from trtforensics.comparison.views import Circumstance, Measured, RunView
from trtforensics.model.span import SourceSpan

if TYPE_CHECKING:
    from trtforensics.comparison.views import BuildView


def test_every_fact_is_there_with_its_line() -> None:
    def side(ms: float, gpu: str, line: int) -> BuildView:
        span = SourceSpan("x.log", line, 0)
        run = RunView({"latency_ms": Measured(ms, 0.25, span, ms, 9)}, (Circumstance("device", "GPU", gpu, span),))
        return replace(build(layer("a", line, measured_ms=ms, median_ms=ms, operation="Convolution")), run=run)

    found = times_document(compare_times([side(1.0, "A", 3)], [side(2.0, "B", 4)]))
    assert json.loads(json.dumps(found)) == found
    assert found["circumstances"][0]["good"] == [{"value": "A", "line": {"path": "x.log", "line": 3}}]
    latency = found["totals"]["latency_ms"]
    assert (latency["delta"], latency["spread"], latency["significant"]) == (1.0, 0.25, True)
    assert latency["bad"] == {
        "value": 2.0,
        "spread": 0.25,
        "mean": 2.0,
        "count": 9,
        "line": {"path": "x.log", "line": 4},
    }
    assert found["layers"]["types"][0]["type"] == "Convolution"
    (row,) = found["layers"]["rows"]
    assert (row["delta_ms"], row["noise_ms"], row["significant"]) == (1.0, 0.5, True)
    assert row["bad"]["lines"] == [{"path": "x", "line": 4}]
