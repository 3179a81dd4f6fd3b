"""What a choice says of itself is of its own block and build."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

BANNER = "&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=a.onnx"
RUNNER = "--------------- Timing Runner: conv (CaskConvolution[0x80000009])"
CHOSE = ">>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x0000000000000005"


def _log(*bodies: str) -> str:
    return "".join(f"{'' if body == BANNER else '[11/21/2026-10:00:00] [V] [TRT] '}{body}\n" for body in bodies)


def test_nothing_of_the_build_before_is_told_of_a_choice(load: Callable[[str], BuildLog]) -> None:
    unfinished = ("=============== Computing costs for conv", RUNNER, "Tactic: 0x0000000000000005 Time: 0.25")
    first, second = load(_log(BANNER, *unfinished, BANNER, CHOSE)).builds
    assert (len(first.choices), len(first.timings.line), len(second.timings.line)) == (0, 1, 0)
    (choice,) = second.choices
    assert (choice.layer, choice.runner_id, choice.time_ms, choice.candidates) == ("", None, None, 0)
    assert choice.first_line == second.first_line


def test_a_tactic_timed_without_a_runner_line_has_not_that_of_the_build_before(
    load: Callable[[str], BuildLog],
) -> None:
    table = ("Tactic: 0x0000000000000005 Time: 0.25", "Tactic: 0x0000000000000005 Time: 0.5", CHOSE)
    _, build = load(_log(BANNER, RUNNER, BANNER, table[0], RUNNER.replace("conv", "pool"), *table[1:])).builds
    (choice,) = build.choices
    assert (choice.layer, choice.runner_id) == ("pool", 0x80000009)
    assert (choice.time_ms, choice.runner_up_ms, choice.candidates) == (0.5, 0.25, 2)


def test_a_kernel_named_in_the_build_before_is_not_a_tactics_here(load: Callable[[str], BuildLog]) -> None:
    named = "a Set Tactic Name: kernel_x Tactic: 0x0000000000000005"
    timed = "Tactic: 0x0000000000000005 Time: 0.5"
    first, second = load(_log(BANNER, named, timed, named, BANNER, timed)).builds
    kernels = [
        build.timings.texts[index] if index >= 0 else "" for build in (first, second) for index in build.timings.kernel
    ]
    assert kernels == ["kernel_x", ""]


def test_a_block_that_was_cut_has_nothing_of_the_layer_before(load: Callable[[str], BuildLog]) -> None:
    combination = "*************** Autotuning format combination: Float(1) -> Float(1) ***************"
    cut = (combination, RUNNER.replace("conv", "other"), "Tactic: 0x0000000000000005 Time: 0.125")
    (build,) = load(_log(*cut, RUNNER, "Tactic: 0x0000000000000005 Time: 0.5", CHOSE)).builds
    (choice,) = build.choices
    assert (choice.layer, choice.time_ms, choice.runner_up_ms, choice.candidates) == ("conv", 0.5, None, 1)
    assert (choice.inputs, choice.first_line) == ((), 4)


def test_a_split_of_k_is_read_from_the_line_that_names_the_kernel(load: Callable[[str], BuildLog]) -> None:
    first, second = "0x0000000000000005", "0x0000000000000006"
    split = "numSplitK: {} numBuffers: 1 numKernels: 2"
    before = (f"a Set Tactic Name: k Tactic: {first} {split.format(8)}", f"Tactic: {first} Time: 0.5")
    beside = (f"Tactic Name: k {split.format(1)} Tactic: {second} Time: 0.75",)
    silent = ("Tactic Name: k Tactic: 0x0000000000000007 Time: 0.875",)
    (build,) = load(_log(RUNNER, *before, *beside, *silent, CHOSE)).builds
    (choice,) = build.choices
    assert [one.splits for one in build.candidates(choice)] == [8, 1, None]
    assert (choice.kernel, choice.splits) == ("k", 8)


def test_a_log_without_splits_of_k_has_no_column_of_them(load: Callable[[str], BuildLog]) -> None:
    (build,) = load(_log(RUNNER, "Tactic Name: k Tactic: 0x0000000000000005 Time: 0.5", CHOSE)).builds
    assert build.timings.splits is None
    assert build.choices[0].splits is None
