"""Results as words."""

from __future__ import annotations

from tests.support.for_each import for_each
from tests.support.graph_builds import span
from trtforensics.model.run import RunResult
from trtforensics.render.runs import result_name, result_text


@for_each(
    ("key", "value", "name", "text"),
    [
        ("engine_bytes", 2621440, "engine size", "2.5 MiB"),
        ("throughput_qps", 1995.29, "throughput", "1995.29 qps"),
        ("build_s", 14.2, "engine built in", "14.2 s"),
        (
            "latency_ms",
            {"min": 1.0, "max": 4.0, "median": 2.0, "p90": 2.5, "p99": 3.0},
            "latency",
            "median 2 ms, min 1 ms, max 4 ms, p99 3 ms",
        ),
    ],
)
def test_a_result_has_a_name_and_a_unit(key: str, value: float, name: str, text: str) -> None:
    result = RunResult(key, value, span(1))
    assert (result_name(result), result_text(result)) == (name, text)
