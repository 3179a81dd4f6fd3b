"""Kernels that crash while they are timed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path

CRASH = "E 1: [runner.cpp::run::1] Error Code 1: Cuda Runtime (an illegal memory access was encountered)"
BLOCK = """&& 8.6.1 --fp16
V *************** Autotuning format combination: Float(8,1) -> Half(8,1) ***************
V --------------- Timing Runner: conv (CaskConvolution)
"""
FIRST = """V conv Set Tactic Name: kernel_a Tactic: 0x0000000000000005
V Tactic: 0x0000000000000005 Time: 0.25
"""
SECOND = "V conv Set Tactic Name: kernel_b Tactic: 0x0000000000000007\n"
CHOSE = "V >>>>>>>>>>>>>>> Chose Runner Type: CaskConvolution Tactic: 0x0000000000000005\n"
FORMATS = "formats Float(8,1) -> Half(8,1)"


@pytest.mark.parametrize(
    ("lines", "named"),
    [
        (FIRST + SECOND, f" while timing conv (CaskConvolution; tactic 0x0000000000000007, kernel_b), {FORMATS}"),
        (FIRST, f" while timing conv (CaskConvolution; the tactic behind 0x0000000000000005), {FORMATS}"),
        ("", f" while timing conv (CaskConvolution; before any of its tactics had a time), {FORMATS}"),
        (FIRST + CHOSE, ""),
    ],
)
def test_a_crash_names_what_was_being_timed(lines: str, named: str, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(marked(BLOCK + lines + CRASH).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF309"]
    assert found.title == f"An illegal memory access was made{named}"


@pytest.mark.parametrize(
    ("message", "code"),
    [
        (
            'trtexec: /myelin/src/compiler/ir/g.cpp:9: myelin::ir::f(): Assertion `0 && "Unsupported type"\' failed.',
            "TF308",
        ),
        (
            "[E] Error[2]: [a.cpp::createConvolution::9] Error Code 2: Internal Error (Assertion isFine(a) failed. )",
            "TF615",
        ),
    ],
)
def test_an_internal_check_names_what_was_being_timed(message: str, code: str, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(marked(BLOCK).text + f"\n{message}", encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == code]
    assert " while timing conv (CaskConvolution; before any of its tactics had a time)" in found.title


SPARSE = """I (Sparsity) Layers eligible for sparse math: c
I (Sparsity) TRT inference plan picked sparse implementation for layers:
V Engine Layer Information:
| Layer(CaskConvolution): c, Tactic: 0x0000000000000001, x ({type}[2,8]) -> y ({type}[2,8])"""


@pytest.mark.parametrize(("dtype", "why"), [("Float", ": no layer is of FP16 or INT8"), ("Half", ""), ("Int8", "")])
def test_sparse_tactics_need_a_narrow_type(dtype: str, why: str, tmp_path: Path) -> None:
    (tmp_path / "b.log").write_text(marked(SPARSE.format(type=dtype)).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF323"]
    assert found.title == f"Layers are eligible for sparse tactics, and none was chosen{why}"


NO_IMPLEMENTATION = (
    "E 10: [optimizer.cpp::computeCosts::1] Error Code 10: Internal Error "
    "(Could not find any implementation for node conv.)"
)


@pytest.mark.parametrize(
    ("reason", "memory"),
    [("due to insufficient memory on requested size of 2688", True), ("due to exception Assertion failed.", False)],
)
def test_more_memory_is_advised_where_memory_was_short(reason: str, tmp_path: Path, *, memory: bool) -> None:
    lines = f"&& 8.6.1 --fp16\nW Skipping tactic 0x0000000000000000 {reason}\n{NO_IMPLEMENTATION}"
    (tmp_path / "b.log").write_text(marked(lines).text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    (found,) = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF301"]
    assert [step.what.partition(" of ")[0] for step in found.next_steps][:-1] == (["Build with a workspace"] * memory)
