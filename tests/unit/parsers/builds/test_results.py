"""Results in numbers: the summaries of 7.x and of 8.0 to 11, times and sizes; not those of a discarded pass."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.for_each import for_each

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]


def results_of(load: Load, *lines: str) -> dict[str, object]:
    (build,) = load("".join(f"[11/21/2026-10:00:00] [I] {line}\n" for line in lines)).builds
    return {result.key: result.value for result in build.results}


def test_a_summary_has_every_statistic_that_the_log_prints(load: Load) -> None:
    found = results_of(
        load,
        "Throughput: 1995.29 qps",
        "Latency: min = 0.4 ms, max = 0.8 ms, mean = 0.5 ms, median = 0.45 ms, percentile(90%) = 0.6 ms, "
        "percentile(99.9%) = 0.7 ms",
        "GPU Compute Time: min = 0.1 ms, max = 0.2 ms, mean = nan ms, median = 0.15 ms",
        "Total Host Walltime: 3.001 s",
    )
    assert found == {
        "throughput_qps": 1995.29,
        "latency_ms": {"min": 0.4, "max": 0.8, "mean": 0.5, "median": 0.45, "p90": 0.6, "p99.9": 0.7},
        "gpu_compute_ms": {"min": 0.1, "max": 0.2, "median": 0.15},
        "host_walltime_s": 3.001,
    }


def test_the_summary_of_tensorrt_7_is_read(load: Load) -> None:
    found = results_of(
        load,
        "max: 2.21 ms (end to end 2.22 ms)",  # of a heading that was cut off
        "Host Latency",
        "min: 1.99 ms (end to end 2.01 ms)",
        "percentile: 2.53 ms at 99% (end to end 2.6 ms at 99%)",
        "throughput: 479.4 qps",
        "walltime: 3.003 s",
        "GPU Compute",
        "median: 1.97 ms",
        "total compute time: 2.87 s",
    )
    assert found == {
        "latency_ms": {"min": 1.99, "p99": 2.53},
        "end_to_end_ms": {"min": 2.01, "p99": 2.6},
        "throughput_qps": 479.4,
        "host_walltime_s": 3.003,
        "gpu_compute_ms": {"median": 1.97},
        "gpu_compute_total_s": 2.87,
    }


@for_each(
    ("line", "key", "value"),
    [
        ("Engine built in 14.2 sec.", "build_s", 14.2),
        ("Finished engine building in 7.5 seconds", "build_s", 7.5),
        ("[TRT] Engine generation completed in 8.5 seconds.", "generation_s", 8.5),
        ("Created engine with size: 2.5 MiB", "engine_bytes", 2621440),
        ("[TRT] Loaded engine size: 98 MiB", "loaded_engine_mib", 98.0),
    ],
)
def test_times_and_sizes_have_their_unit_in_the_key(load: Load, line: str, key: str, value: float) -> None:
    assert results_of(load, "[TRT] Original: 3 layers", line) == {key: value}


def test_a_discarded_last_pass_does_not_take_the_builds_results_with_it(load: Load) -> None:
    time = "estimated inference time"
    lines = (
        "Building graph using backend strategy 4",
        "Engine generation completed in 8.5 seconds.",
        f"Use backend strategy 4 with {time} (0.2) as the initial choice.",
        "Building graph using backend strategy 3",
        "Engine generation completed in 4.5 seconds.",
        f"Skip backend strategy 3 since its {time} (0.3) is not faster than the previous engine with {time} (0.2).",
    )
    found = results_of(load, *(f"[TRT] {line}" for line in lines), "Engine built in 14.2 sec.")
    assert found == {"generation_s": 8.5, "build_s": 14.2}


AVERAGE = "Average on 10 runs - GPU latency: {} ms - Host latency: 1 ms (enqueue 0.1 ms)"


@for_each(
    ("averages", "step"),
    [
        ([1.0, 1.0, *[0.8] * 8], {"before": 1.0, "after": 0.8, "part": 0.2}),
        ([*[0.8] * 8, 1.0, 1.0], {"before": 0.8, "after": 1.0, "part": 0.8}),
        ([1.0, *[0.8] * 9], None),
        ([1.0, 0.8] * 5, None),
        ([1.0 + 0.05 * place for place in range(10)], None),
        ([*[1.0] * 5, *[0.99] * 5], None),
        ([1.0] * 10, None),
        ([1.0, 1.0, 0.8, 0.8], None),
    ],
)
def test_running_averages_on_two_levels_are_a_step(load: Load, averages: list[float], step: object) -> None:
    assert results_of(load, *map(AVERAGE.format, averages)).get("gpu_step_ms") == step


def test_averages_may_slope_or_go_to_and_fro(load: Load) -> None:
    slope = results_of(load, *(AVERAGE.format(1.0 + 0.05 * place) for place in range(10)))
    assert slope["gpu_drift_ms"] == {"before": 1.0, "after": 1.45}
    fro = results_of(load, *map(AVERAGE.format, [1.0, 0.8, 0.8, 0.8, 1.0] * 2))
    assert fro["gpu_levels_ms"] == {"before": 0.8, "after": 1.0, "part": 0.4}


def test_one_average_may_stand_out(load: Load) -> None:
    found = results_of(load, *map(AVERAGE.format, [0.8, 0.8, 2.8, *[0.8] * 7]))
    assert found["gpu_peak_ms"] == {"average": 2.8, "calls": 10.0, "part": 0.2}


def test_averages_stand_for_a_summary_that_is_not_there(load: Load) -> None:
    lines = [
        f"Average on {count} runs - GPU latency: {ms} ms - Host latency: 3 ms (end to end 6 ms, enqueue 0.5 ms)"
        for count, ms in ((10, 1.0), (30, 2.0))
    ]
    found = results_of(load, *lines)
    assert found == {
        "gpu_compute_ms": {"mean": 1.75},
        "latency_ms": {"mean": 3.0},
        "end_to_end_ms": {"mean": 6.0},
        "enqueue_ms": {"mean": 0.5},
    }


def test_calls_that_are_not_printed_count(load: Load) -> None:
    first, last = map(AVERAGE.format, [1.0] * 2 + [0.8] * 4), map(AVERAGE.format, [0.8] * 4)
    found = results_of(load, *first, "... Omitting 900 lines", *last)
    assert found["gpu_step_ms"] == {"before": 1.0, "after": 0.8, "part": 0.02}
    between = results_of(load, *[AVERAGE.format(1.0)] * 4, "... Omitting 900 lines", *[AVERAGE.format(0.8)] * 4)
    assert between["gpu_step_ms"] == {"before": 1.0, "after": 0.8}


@for_each(
    ("lines", "size"),
    [
        (("Input binding for x with dimensions 4x3x64x64 is created.",), 4.0),
        (
            ("Created input binding for x with dimensions 4x3", "Created output binding for y with dimensions 100x2"),
            4.0,
        ),
        (
            (
                "Input binding for x with dimensions 4x3 is created.",
                "Input binding for y with dimensions 2x3 is created.",
            ),
            None,
        ),
        (("Input binding for x with dimensions 4 is created.",), None),
    ],
)
def test_the_first_dimension_that_all_inputs_share_is_a_result(
    load: Load, lines: tuple[str, ...], size: object
) -> None:
    assert results_of(load, *lines).get("first_dimension") == size


def test_the_memory_of_a_context_is_what_tensorrt_took_for_it(load: Load) -> None:
    change = "[MemUsageChange] TensorRT-managed allocation in {}: CPU +0, GPU +{}, now: CPU 0, GPU 300 (MiB)"
    lines = (change.format("engine deserialization", 7), change.format("IExecutionContext creation", 250))
    assert results_of(load, *(f"[TRT] {line}" for line in lines)) == {"context_mib": 250.0, "managed_mib": 300.0}
