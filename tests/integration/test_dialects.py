"""A log says the same whoever wrote it down: re-prefixed into each dialect it gives the same builds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.dialect_forms import FORMS, STAMP, reprefixed
from tests.support.documents import document
from trtforensics.model.log import Tool
from trtforensics.parsers.lines.dialects import DIALECTS, prefix_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

LEVEL_LOST = ("tagged", "other")
WRAPPERS = {
    "torch_tensorrt": Tool.TORCH_TENSORRT,
    "torch_tensorrt_python": Tool.TORCH_TENSORRT,
    "onnxruntime": Tool.ONNXRUNTIME,
    "onnxruntime_site": Tool.ONNXRUNTIME,
}
EXPECTED: dict[str, BuildLog] = {}
"""What the texts say in the dialect that they were written in."""


def facts(log: BuildLog, *, messages: bool) -> dict[str, Any]:
    """Return the document without what names the source and the tool."""
    whole = document(log)
    del whole["source"]
    for build in whole["builds"]:
        del build["tool"]
        if not messages:
            del build["messages"]
    return whole


def check_same(load: Load, text: str, name: str) -> BuildLog:
    written = reprefixed(text, FORMS[name])
    dialect = name.partition(",")[0].partition(" ")[0]
    read = {prefix.dialect for line in written.split("\n") if (prefix := prefix_of(line.encode()))}
    assert read == ({dialect} if "colour" not in name else set())
    kept = dialect not in LEVEL_LOST
    if text not in EXPECTED:
        EXPECTED[text] = load(text)
    expected, log = EXPECTED[text], load(written)
    assert expected.builds[0].choices
    assert facts(log, messages=kept) == facts(expected, messages=kept)
    return log


def test_every_dialect_is_tried() -> None:
    tried = {name.partition(",")[0].partition(" ")[0] for name in FORMS}
    assert set(DIALECTS) - tried == {"named"}  # which opens a few messages only


@pytest.mark.parametrize("name", FORMS)
def test_a_log_of_ours_gives_the_same_builds_in_every_dialect(load: Load, samples: list[Path], name: str) -> None:
    path = next(file for file in samples if file.name == "emulated-trtexec-10.16-three-passes.log")
    check_same(load, path.read_text(), name)


@pytest.mark.corpus
@pytest.mark.parametrize("name", FORMS)
@pytest.mark.slow
def test_a_real_log_gives_the_same_builds_in_every_dialect(load: Load, corpus: Path, name: str) -> None:
    check_same(load, (corpus / "buildlog" / "hack-trtexec-fp32-trt8203.log").read_text(), name)


@pytest.mark.parametrize(("dialect", "tool"), WRAPPERS.items())
def test_the_tool_is_the_program_that_passed_the_messages_on(load: Load, dialect: str, tool: Tool) -> None:
    text = f"{STAMP}[V] [TRT] Original: 7 layers\n"
    assert [build.tool for build in load(reprefixed(text, FORMS[dialect])).builds] == [tool]
