"""The views of different sources of one build agree; what a run tells of an engine's speed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.diff_samples import log_with
from trtforensics.comparison.compare import compare
from trtforensics.comparison.differences import DifferenceType
from trtforensics.comparison.loading import load_side
from trtforensics.comparison.views import run_of_build, run_of_samples
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import InferenceSamples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]


def test_mixed_kinds_tell_of_the_same_build(samples: list[Path], tmp_path: Path) -> None:
    log = next(path for path in samples if "two-profiles" in path.name)
    side = load_side(str(log), "good")
    export = tmp_path / "export.json"
    from trtforensics.cli import main  # noqa: PLC0415 - as a user would

    assert main(["cache", "export", str(log), "-o", str(export), "--quiet"]) == 0
    found = compare(side, load_side(str(export), "bad"))
    assert found.differences == ()
    assert sum(found.matched.values()) == len(json.loads(export.read_text())["keys"])


def test_what_myelin_chose_inside_a_foreign_node_is_compared_without_keys_too(
    samples: list[Path], tmp_path: Path
) -> None:
    log = next(path for path in samples if "three-passes" in path.name)
    lines = log.read_text().split("\n")
    table = next(n for n, line in enumerate(lines) if "Autotuning op node_conv2d:" in line and n > 1100)
    first, second = (lines[table + n].split(", ")[5] for n in (3, 4))
    bad = tmp_path / "bad.log"
    swapped = {table + 3: (first, second), table + 4: (second, first)}
    bad.write_text("\n".join(line.replace(*swapped.get(n, ("", ""))) for n, line in enumerate(lines)))
    found = compare(load_side(str(log), "good"), load_side(str(bad), "bad"))
    assert [(one.type, one.layer) for one in found.differences] == [(DifferenceType.TACTIC, "node_conv2d")]


NAMES_ONLY = ("it holds names only: built without detailed profiling",)


@pytest.mark.parametrize(
    ("layer", "notes"),
    [("conv", NAMES_ONLY), ({"Name": "conv", "LayerType": "Convolution", "Inputs": [], "Outputs": []}, ())],
    ids=["names", "records"],
)
def test_an_engine_file_of_names_says_that_it_holds_no_more(layer: Any, notes: tuple[str, ...], tmp_path: Path) -> None:
    path = tmp_path / "layers.json"
    path.write_text(json.dumps({"Layers": [layer], "Bindings": []}))
    assert [build.notes for build in load_side(str(path), "good").builds] == [notes]


SUMMARY = """\
&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec
[11/21/2026-10:00:00] [I] === Build Options ===
[11/21/2026-10:00:00] [I] Precision: FP32+FP16
[11/21/2026-10:00:00] [I] Save engine: a.plan
[11/21/2026-10:00:00] [I] === Reporting Options ===
[11/21/2026-10:00:00] [I] Verbose: Enabled
[11/21/2026-10:00:00] [I] === Performance summary ===
[11/21/2026-10:00:00] [I] Throughput: 900 qps
[11/21/2026-10:00:00] [I] Latency: min = 0.8 ms, max = 9 ms, mean = 1.2 ms, median = 1 ms, {percentiles}
"""


@pytest.mark.parametrize(
    ("percentiles", "spread"),
    [
        ("percentile(90%) = 1.1 ms, percentile(95%) = 1.5 ms, percentile(99%) = 2 ms", 0.1),
        ("percentile(99%) = 2 ms", 0.2),  # the slowest of a hundred says little: the fastest inference counts
    ],
)
def test_the_spread_is_that_of_common_inferences(load: Load, percentiles: str, spread: float) -> None:
    run = run_of_build(load(SUMMARY.format(percentiles=percentiles)).builds[0])
    latency = run.totals["latency_ms"]
    assert (latency.value, latency.span.line) == (1.0, 9)
    assert latency.spread == pytest.approx(spread)
    assert (run.totals["throughput_qps"].value, run.totals["throughput_qps"].spread) == (900.0, None)


def test_what_is_printed_and_written_is_no_circumstance(load: Load) -> None:
    run = run_of_build(load(SUMMARY.format(percentiles="percentile(99%) = 2 ms")).builds[0])
    assert [(one.name, one.value) for one in run.circumstances] == [("TensorRT", "8.6.1"), ("Precision", "FP32+FP16")]


def test_a_build_has_the_times_of_the_run_that_loads_its_engine(tmp_path: Path) -> None:
    path = tmp_path / "both.log"
    path.write_text(log_with(fused=True) + SUMMARY.format(percentiles="percentile(99%) = 2 ms"))
    (build,) = load_side(str(path), "good").builds
    assert build.run is not None
    assert build.run.totals["latency_ms"].value == 1.0


def test_samples_make_a_median_a_spread_and_a_throughput() -> None:
    values = tuple(float(n) for n in range(1, 12))
    run = run_of_samples(InferenceSamples(values, values, 22.0, SourceSpan("x", 1, 0)))
    latency = run.totals["latency_ms"]
    assert (latency.value, latency.spread, latency.mean, latency.count) == (6.0, 4.0, 6.0, 11)
    assert run.totals["throughput_qps"].value == 500.0


def test_one_inference_has_no_spread() -> None:
    run = run_of_samples(InferenceSamples((2.0,), (1.0,), 0.0, SourceSpan("x", 1, 0)))
    assert run.totals["gpu_compute_ms"].spread is None
    assert "throughput_qps" not in run.totals
