"""Blocks of autotuning that come to no choice."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog

BANNER = "&&&& RUNNING TensorRT.trtexec [TensorRT v8401] # trtexec --onnx=a.onnx"
COSTS = "=============== Computing costs for"
FORMATS = "*************** Autotuning format combination: Float(8,1) -> Half(8,1) ***************"
CHOSE = ">>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x0000000000000005"


def _runner(layer: str, runner: str = "CaskConvolution") -> str:
    return f"--------------- Timing Runner: {layer} ({runner})"


def _tactic(tactic: int) -> tuple[str, str]:
    return f"c Set Tactic Name: kernel{tactic} Tactic: 0x{tactic:016x}", f"Tactic: 0x{tactic:016x} Time: 0.25"


def _log(*bodies: str) -> str:
    return "".join(f"{'' if body == BANNER else '[11/21/2026-10:00:00] [V] [TRT] '}{body}\n" for body in bodies)


def test_the_block_in_which_the_log_stops_is_open(load: Callable[[str], BuildLog]) -> None:
    done = (COSTS, FORMATS, _runner("conv"), *_tactic(5), CHOSE)
    (build,) = load(_log(BANNER, *done, COSTS, FORMATS, _runner("pool"), *_tactic(6), _tactic(7)[0])).builds
    (block,) = build.open_blocks
    assert (block.layer, block.inputs, block.outputs) == ("pool", ("Float(8,1)",), ("Half(8,1)",))
    assert (block.tactic, block.kernel) == (7, "kernel7")
    assert (block.first_line, block.last_line, block.span.line) == (9, 13, 10)


def test_a_block_without_an_announced_tactic_names_none(load: Callable[[str], BuildLog]) -> None:
    (build,) = load(_log(BANNER, FORMATS, _runner("pool"), *_tactic(6))).builds
    (block,) = build.open_blocks
    assert (block.tactic, block.kernel) == (None, "")


def test_a_choice_of_the_next_build_does_not_end_a_block(load: Callable[[str], BuildLog]) -> None:
    first, second = load(_log(BANNER, FORMATS, _runner("pool"), BANNER, CHOSE)).builds
    assert [block.last_line for block in first.open_blocks] == [3]
    assert second.open_blocks == ()


def test_a_block_that_another_block_follows_without_a_choice_is_open(load: Callable[[str], BuildLog]) -> None:
    (build,) = load(_log(BANNER, FORMATS, _runner("a"), _runner("a", "CaskB"), FORMATS, _runner("b"), CHOSE)).builds
    assert [(block.layer, block.first_line, block.last_line) for block in build.open_blocks] == [("a", 2, 4)]


def test_a_log_whose_blocks_all_end_has_no_open_one(load: Callable[[str], BuildLog]) -> None:
    (build,) = load(_log(BANNER, COSTS, FORMATS, _runner("conv"), *_tactic(5), CHOSE)).builds
    assert build.open_blocks == ()
