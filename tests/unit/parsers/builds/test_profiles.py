"""The tables of --dumpProfile in both layouts, cut, repeated and without a title; and the times of layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.model.timings import TimeSource

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import Build, BuildLog

    Load = Callable[[str], BuildLog]

INFO = "[11/21/2026-10:00:00] [I] "
ENGINE = (
    "Layer(CaskConvolution): conv + relu, Tactic: 0x0000000000000005, x (Float[1]) -> a (Float[1])",
    "Layer(NoOp): view, Tactic: 0x0000000000000000, a (Float[1]) -> b (Float[1])",
    "Layer(CaskGemm): fc, Tactic: 0x0000000000000007, b (Float[1]) -> y (Float[1])",
)
TITLE = "=== Profile (10 iterations ) ==="
OLD = (
    "        Layer   Time (ms)   Avg. Time (ms)   Median Time (ms)   Time %",
    "  conv + relu        2.50           0.2500             0.2400     83.3",
    "           fc        0.50           0.0500             0.0400     16.7",
    "        Total        3.00           0.3000             0.2800    100.0",
)
WITHOUT_MEDIAN = (
    "        Layer   Time (ms)   Avg. Time (ms)   Time %",
    "  conv + relu        2.50             0.25     83.3",
    "           fc        0.50             0.05     16.7",
    "        Total        3.00             0.30    100.0",
)
NEW = (
    "   Time(ms)     Avg.(ms)   Median(ms)   Time(%)   Layer",
    "       2.50       0.2500       0.2400      83.3   conv + relu",
    "       0.50       0.0500       0.0400      16.7   fc",
    "       3.00       0.3000       0.2800     100.0   Total",
)


def build_of(load: Load, *lines: str) -> Build:
    (build,) = load("".join(f"{line if line in ENGINE else INFO + line}\n" for line in lines)).builds
    return build


@pytest.mark.parametrize(("table", "median"), [(OLD, 0.24), (NEW, 0.24), (WITHOUT_MEDIAN, None)])
def test_each_layout_gives_rows_that_join_the_layers_of_their_names(
    load: Load, table: tuple[str, ...], median: float | None
) -> None:
    build = build_of(load, *ENGINE, TITLE, *table)
    assert build.profile_info is not None
    assert (build.profile_info.iterations, build.profile_info.total_ms, build.profile_info.span.line) == (10, 3.0, 4)
    rows = [(r.name, r.total_ms, r.average_ms, r.percentage, r.engine_layer, r.span.line) for r in build.profile]
    assert rows == [("conv + relu", 2.5, 0.25, 83.3, 0, 6), ("fc", 0.5, 0.05, 16.7, 2, 7)]
    assert build.profile[0].median_ms == median
    times = [(layer.time_ms, layer.time_is, layer.profile) for layer in build.engine_layers]
    assert times == [(0.25, TimeSource.MEASURED, 0), (None, None, None), (0.05, TimeSource.MEASURED, 1)]
    assert build.coverage.times is TimeSource.MEASURED


def test_several_profiles_are_all_there_and_the_last_one_gives_the_times(load: Load) -> None:
    slower = (row.replace("0.2500", "0.7500") for row in OLD)
    build = build_of(load, *ENGINE, TITLE, *OLD, TITLE, *slower)
    assert [run.total_ms for run in build.profiles] == [3.0, 3.0]
    assert build.engine_layers[0].time_ms == 0.75


def test_a_cut_table_has_no_total_and_one_without_a_title_no_iterations(load: Load) -> None:
    (cut,) = build_of(load, TITLE, *OLD[:2]).profiles
    assert (cut.iterations, cut.total_ms, len(cut.layers)) == (10, None, 1)
    (untitled,) = build_of(load, *NEW).profiles
    assert (untitled.iterations, untitled.total_ms, len(untitled.layers)) == (None, 3.0, 2)
    (headless,) = build_of(load, "Engine Layer Information:", *NEW[1:]).profiles
    assert (headless.iterations, len(headless.layers), headless.span.line) == (None, 2, 2)


def test_a_row_of_no_engine_layer_is_kept_without_one(load: Load) -> None:
    build = build_of(load, *ENGINE[:1], TITLE, *OLD)
    assert [row.engine_layer for row in build.profile] == [0, None]


TUNED = (
    "=============== Computing costs for conv + relu",
    "*************** Autotuning format combination: Float(1) -> Float(1) ***************",
    "--------------- Timing Runner: conv + relu (CaskConvolution)",
    "Tactic: 0x0000000000000005 Time: 0.125",
    ">>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x0000000000000005",
    "=============== Computing costs for view",
    "*************** Autotuning format combination: Float(1) -> Float(1) ***************",
    "--------------- Timing Runner: view (Shuffle)",
    "Tactic: 0x0000000000000000 Time: 0.5",
    ">>>>>>>>>>>>>>> Chose Runner Type: Shuffle Tactic: 0x0000000000000000",
)


def test_without_a_profile_layers_have_the_times_of_their_tuning_and_a_layer_without_a_kernel_none(load: Load) -> None:
    build = build_of(load, *TUNED, *ENGINE)
    times = [(layer.time_ms, layer.time_is, layer.choice) for layer in build.engine_layers]
    assert times == [(0.125, TimeSource.TUNED, 0), (None, None, None), (None, None, None)]
    assert build.engine_layers[1].origin == "runs no kernel"
    assert [choice.final for choice in build.choices] == [True, False]
    assert build.coverage.times is TimeSource.TUNED


def test_a_profile_of_other_layers_leaves_the_times_of_the_tuning(load: Load) -> None:
    build = build_of(
        load, *TUNED, *ENGINE, TITLE, *(row.replace("conv + relu", "other").replace("fc", "no") for row in OLD)
    )
    assert build.engine_layers[0].time_is is TimeSource.TUNED
    assert [row.engine_layer for row in build.profile] == [None, None]


SAMPLE = """\
========== net profile ==========
            TensorRT layer name    Runtime, %  Invocations  Runtime, ms
Reformatting CopyNode for x to conv         16.7%            2         0.50
                    conv + relu         83.3%            2         2.50
========== net total runtime = 3.0021 ms =========="""


def test_the_table_of_the_profiler_in_tensorrts_samples_is_a_profile(load: Load) -> None:
    log = load(f"[TRT] [I] Loaded engine size: 5 MiB\n{SAMPLE}\n{SAMPLE}")
    (build,) = log.builds
    assert [(run.iterations, run.total_ms) for run in build.profiles] == [(2, 3.0021)] * 2
    assert [(row.name, row.average_ms, row.percentage) for row in build.profiles[0].layers] == [
        ("Reformatting CopyNode for x to conv", 0.25, 16.7),
        ("conv + relu", 1.25, 83.3),
    ]
    assert log.runs[0].outcome.reached == "inference ran"


def test_a_line_for_each_call_of_a_layer_is_a_profile(load: Load) -> None:
    lines = ("crow/1 + relu - 1.500000", "crow/2 - 0.500000", "network time - 2.000000", "crow/1 + relu - 2.500000")
    (build,) = load(
        "[GIE]  TensorRT version 2.1, build 7\n" + "".join(f"[GIE]  layer {line} ms\n" for line in lines)
    ).builds
    (run,) = build.profiles
    assert [(row.name, row.total_ms, row.average_ms) for row in run.layers] == [
        ("crow/1 + relu", 4.0, 2.0),
        ("crow/2", 0.5, 0.5),
    ]
    assert (run.iterations, run.total_ms) == (2, 4.5)
    assert not any(each.stated and each.stated.name.startswith("crow") for each in build.results)
    (short,) = load("[GIE]  TensorRT version 2.1, build 7\n[GIE]  layer crow/1 - 0.000000 ms\n").builds
    assert short.profiles == ()
