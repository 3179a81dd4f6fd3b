"""A log whose line ends were lost is one line; reading it takes work by its size, and claims nothing of its order."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import pytest

from tests.support.in_process import run_in_process
from trtforensics.parsers.lines.prefixes import PrefixReader, glued_lines
from trtforensics.parsers.text.line_index import LineIndex
from trtforensics.sources.build_log import load_build_log

if TYPE_CHECKING:
    from pathlib import Path
    from types import FrameType
    from typing import Any

STAMP = "[11/21/2026-07:52:04]"
BLOCK = """{stamp} [V] [TRT] =============== Computing costs for conv{n}
{stamp} [V] [TRT] --------------- Timing Runner: conv{n} (CaskConvolution[0x80000009])
{stamp} [V] [TRT] Tactic Name: sm80_xmma_fprop_{n} Tactic: 0x{n:016x} Time: 0.{n}
{stamp} [V] [TRT] >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x{n:016x}
{stamp} [W] [TRT] Weights of layer {n} hold subnormal values
{stamp} [E] Error Code 1: Cuda Runtime (invalid argument number {n})
{stamp} [I] something else {n}
"""
ENDS = {"a blank": " ", "a carriage return": "\r", "nothing": ""}
SMALL = 60
GROWTH = 4
SPARE = 1.2
"""How much more than its size the work may grow; by the square it would be four times as much."""


def log_of(blocks: int, end: str) -> str:
    return "".join(BLOCK.format(stamp=STAMP, n=number) for number in range(blocks)).replace("\n", end)


class CountingBytes(bytes):
    """Bytes that count how many of them are copied."""

    copied = 0

    def __getitem__(self, key: slice) -> bytes:  # type: ignore[override]
        part = super().__getitem__(key)
        CountingBytes.copied += len(part)
        return part


def steps_of(path: Path) -> int:
    """Return how many lines of Python the report of a log runs; each turn of a loop is one."""
    count = 0

    def trace(_frame: FrameType, event: str, _value: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        done = run_in_process(["report", str(path), "--quiet"], path.parent)
    finally:
        sys.settrace(before)
    assert done.returncode == 0, done.stderr
    return count


@pytest.mark.slow
@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_the_work_grows_with_the_size(tmp_path: Path, end: str) -> None:
    steps = []
    for blocks in (2, SMALL, SMALL * GROWTH):  # the first fills caches
        path = tmp_path / f"{blocks}.log"
        path.write_text(log_of(blocks, end), newline="")
        steps.append(steps_of(path))
    _, small, large = steps
    assert large <= small * GROWTH * SPARE


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_a_glued_line_is_cut_in_one_pass(end: str) -> None:
    text = log_of(SMALL, end)
    index = LineIndex(text.encode())
    prefixes = PrefixReader().read(index)
    index.data = CountingBytes(index.data)
    CountingBytes.copied = 0
    (parts,) = glued_lines(index, prefixes).values()
    assert len(parts) == BLOCK.count("\n") * SMALL
    assert CountingBytes.copied <= 3 * len(text)


def test_a_timing_is_of_one_choice_or_of_none(tmp_path: Path) -> None:
    """In a line that holds several choices nothing tells which of the timings there a choice was made among."""
    path = tmp_path / "whole.log"
    path.write_text(log_of(3, "\n") + log_of(2, "") + "\n" + log_of(2, "\n"))
    build = load_build_log([str(path)]).builds[-1]
    assert [choice.candidates for choice in build.choices] == [1, 1, 1, 0, 0, 1, 1]
    assert [choice.layer for choice in build.choices] == ["conv0", "conv1", "conv2", "", "", "conv0", "conv1"]
    for choice in build.choices[3:5]:
        assert build.candidates(choice) == ()
        assert choice.time_ms is None
