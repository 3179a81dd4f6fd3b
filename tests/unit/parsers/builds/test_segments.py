"""Where one build of a log ends and the next begins; every line is in exactly one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

V = "[11/21/2026-10:05:00] [V] [TRT] "
I = "[11/21/2026-10:05:00] [I] "  # noqa: E741 - as the log spells the level
PY = "[11/21/2026-10:05:00] [TRT] [V] "
RUNNING = "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec"
PASSED = "&&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec"
RULE = "-" * 64
PYTHON_BUILD = [
    PY + "[MemUsageChange] Init CUDA: CPU +1, GPU +0, now: CPU 2, GPU 3 (MiB)",
    PY + "Adding network input: x with dtype: float32, dimensions: (1, 3)",
    PY + "Original: 3 layers",
    PY + "Engine generation completed in 1.5 seconds.",
]


def cuts(log: BuildLog) -> list[tuple[int, int]]:
    """Return first and last line of each build, having checked that they leave no line out."""
    found = [(build.first_line, build.last_line) for build in log.builds]
    assert [line for first, last in found for line in range(first, last + 1)] == [*range(1, log.source.lines + 1)]
    return found


def test_each_banner_begins_a_build(load: Callable[[str], BuildLog]) -> None:
    lines = [RUNNING, V + "Original: 1 layers", PASSED, RUNNING, V + "Original: 2 layers", RUNNING, PASSED]
    log = load("\n".join(lines))
    assert cuts(log) == [(1, 3), (4, 5), (6, 7)]
    assert [build.outcome.value for build in log.builds] == ["passed", "truncated", "passed"]


def test_what_precedes_the_first_banner_belongs_to_the_first_build(load: Callable[[str], BuildLog]) -> None:
    assert cuts(load(f"$ trtexec\n\n{RUNNING}\n{PASSED}")) == [(1, 4)]


def test_a_load_only_run_before_a_banner_is_its_own_build(load: Callable[[str], BuildLog]) -> None:
    lines = [PY + "Loaded engine size: 1 MiB", PY + "Deserialization required 9 microseconds.", RUNNING, PASSED]
    assert cuts(load("\n".join(lines))) == [(1, 2), (3, 4)]


@pytest.mark.parametrize(
    "trailing", [[I], [V + "Deleting timing cache: 3 entries, served 1 hits since creation."], ["bye"]]
)
def test_a_line_after_the_verdict_stays_with_its_build(load: Callable[[str], BuildLog], trailing: list[str]) -> None:
    lines = [RUNNING, V + "Original: 1 layers", PASSED, *trailing, RUNNING, PASSED]
    assert cuts(load("\n".join(lines))) == [(1, 4), (5, 6)]


def test_work_that_goes_on_after_a_verdict_is_another_build(load: Callable[[str], BuildLog]) -> None:
    lines = [RUNNING, PASSED, *PYTHON_BUILD]
    assert cuts(load("\n".join(lines))) == [(1, 2), (3, 6)]


def test_a_python_program_builds_again_once_it_has_its_engine(load: Callable[[str], BuildLog]) -> None:
    log = load("\n".join(["start", *PYTHON_BUILD, *PYTHON_BUILD, "between", *PYTHON_BUILD]))
    assert cuts(log) == [(1, 5), (6, 10), (11, 14)]
    assert {build.tool.value for build in log.builds} == {"tensorrt-python"}


def test_the_onnx_header_belongs_to_the_build_that_it_opens(load: Callable[[str], BuildLog]) -> None:
    header = [PY + RULE, PY + "Input filename:   m.onnx", PY + RULE]
    log = load("\n".join([*PYTHON_BUILD, *header, *PYTHON_BUILD]))
    assert cuts(log) == [(1, 4), (5, 11)]


def test_several_strategies_are_one_build(load: Callable[[str], BuildLog]) -> None:
    strategies = [
        PY + "Building graph using backend strategy 4",
        PY + "Original: 3 layers",
        PY + "Engine generation completed in 1.5 seconds.",
        PY + "Use backend strategy 4 with estimated inference time (0.3) as the initial choice.",
        PY + "Building graph using backend strategy 3",
        PY + "Original: 3 layers",
        PY + "Engine generation completed in 1.5 seconds.",
        PY
        + "Skip backend strategy 3since its estimated inference time (0.4) is not faster than the previous engine with"
        " estimated inference time (0.3).",
        PY + "Engine Layer Information:",
    ]
    log = load("\n".join(strategies))
    assert cuts(log) == [(1, 9)]
    assert len(log.builds[0].passes) == 2


def test_a_strategy_without_a_verdict_does_not_end_the_build(load: Callable[[str], BuildLog]) -> None:
    strategy = [PY + "Building graph using backend strategy 4", *PYTHON_BUILD[2:]]
    assert cuts(load("\n".join([*strategy, *strategy]))) == [(1, 6)]


def test_a_file_of_polygraphy_runs_is_one_build_a_run(load: Callable[[str], BuildLog]) -> None:
    run = [
        "[I] RUNNING | Command: /usr/bin/polygraphy run m.onnx --trt",
        "[X] Original: 3 layers",
        "[X] Engine generation completed in 1.5 seconds.",
        "[I] PASSED | Runtime: 1.5s | Command: /usr/bin/polygraphy run m.onnx --trt",
    ]
    log = load("\n".join([*run, "", *run, *run[:2], *run]))
    assert cuts(log) == [(1, 5), (6, 9), (10, 11), (12, 15)]
    assert [build.outcome.value for build in log.builds] == ["passed", "passed", "truncated", "passed"]


def test_a_build_that_fails_after_another_ended_is_one_of_its_own(load: Callable[[str], BuildLog]) -> None:
    error = "[11/21/2026-07:52:04] [TRT] [E] "
    failing = [
        error + "Error Code: 9: Skipping tactic 0x0000000000000000 due to exception Assertion vol == 1 failed.",
        error + "IBuilder::buildSerializedNetwork: Error Code 10: Internal Error (Could not find any implementation for"
        " node {ForeignNode[a...b]}. In computeCosts at optimizer.cpp:4265)",
    ]
    log = load("\n".join([*PYTHON_BUILD, *failing]))
    ended = len(PYTHON_BUILD)
    assert cuts(log) == [(1, ended), (ended + 1, ended + 2)]
    assert [build.outcome.value for build in log.builds] == ["passed", "failed"]


def test_what_other_programs_print_behind_a_verdict_is_not_of_the_next_build(load: Callable[[str], BuildLog]) -> None:
    others = ["[I] training epoch 1", "loss 0.5", "[W] learning rate is low"]
    log = load("\n".join([RUNNING, V + "Original: 1 layers", PASSED, *others, *PYTHON_BUILD]))
    assert cuts(log) == [(1, 6), (7, 10)]
