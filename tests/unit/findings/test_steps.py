"""The next command that a finding proposes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.findings.steps import trtexec, workspace

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.findings.case import Case


def test_the_next_command_is_the_logs_own_with_flags_replaced(case_of: Callable[[str], Case]) -> None:
    case = case_of("&& 10.16.1 --fp16 --memPoolSize=workspace:1 --saveEngine=a b.plan\nV Original: 1 layers")
    assert trtexec(case, "--memPoolSize=workspace:8", without=("--fp16",)) == (
        "trtexec --onnx=m.onnx '--saveEngine=a b.plan' --memPoolSize=workspace:8 --verbose"
    )


@pytest.mark.parametrize(
    ("notation", "command"),
    [
        ("&& 10.16.1 --fp16\nV Original: 1 layers", "--memPoolSize=workspace:2 "),
        ("&& 8.0.3 --fp16 --workspace=1\nV Original: 1 layers", "--workspace=2 "),
        ("| [11/21/2026-10:00:00] [TRT] [V] Original: 1 layers", "config.set_memory_pool_limit("),
    ],
)
def test_the_workspace_is_set_as_the_version_and_the_tool_want_it(
    notation: str, command: str, case_of: Callable[[str], Case]
) -> None:
    step = workspace(case_of(notation), 1_115_648)
    assert command in f"{step.command} "
    assert "2 MiB" in step.what


def test_a_model_of_unknown_path_gets_a_placeholder(case_of: Callable[[str], Case]) -> None:
    assert trtexec(case_of("V Original: 1 layers"), "--fp16") == "trtexec --onnx=model.onnx --fp16 --verbose"
