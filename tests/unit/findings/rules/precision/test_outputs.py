"""Outputs that a build marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from trtforensics.findings.engine import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(("said", "found"), [("24 tensors", 1), ("3 tensors", 0), ("all ONNX tensors", 0)])
def test_many_marked_tensors_are_found_without_the_command(said: str, found: int, tmp_path: Path) -> None:
    text = marked(f"I Detected 1 inputs and 24 output network tensors.\n| [V] Marking {said} as outputs").text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    seen = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF214"]
    assert len(seen) == found


@pytest.mark.parametrize(
    ("operands", "dims", "found"),
    [
        ("input0 and input1", ("1,8,64,32", "4,1,32,64"), 1),
        ("input0", ("1,8", "4,8"), 0),  # without the parser's lines, input0 may be a weight
        ("input0 and input1", ("2,1,64,32", "2,8,1,64"), 0),
    ],
)
def test_two_broadcast_operands_are_found_without_the_parsers_lines(
    operands: str, dims: tuple[str, str], found: int, tmp_path: Path
) -> None:
    told = f"dims(input0)=[{dims[0]}][NONE] dims(input1)=[{dims[1]}][NONE]."
    text = marked(f"&& 8.6.1 --fp16\nW MatMul_7: broadcasting {operands} to make tensors conform, {told}").text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    seen = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF217"]
    assert [one.layers for one in seen] == [("MatMul_7",)] * found


_BROADCAST = """V Adding network input: x with dtype: float32, dimensions: (1, 8)
V Importing initializer: w
V Importing initializer: unused
V Parsing node: {maker} [{op}]
V {maker} [{op}] inputs: [{source} -> (1, 8)[FLOAT]],
V {maker} [{op}] outputs: [m -> (1, 8)[FLOAT]],
V Parsing node: add [Add]
V add [Add] inputs: [m -> (1, 8)[FLOAT]], [w -> (4, 8)[FLOAT]],
V add [Add] outputs: [y -> (4, 8)[FLOAT]],
I add: broadcasting input0 to make tensors conform, dims(input0)=[1,8][NONE] dims(input1)=[4,8][NONE]."""


@pytest.mark.parametrize(("source", "cited"), [("x", [1, 10, 4, 2]), ("w", [])])
def test_the_line_of_each_broadcast_operand_is_cited(source: str, cited: list[int], tmp_path: Path) -> None:
    text = marked(_BROADCAST.format(maker="scale", op="Mul", source=source)).text
    (tmp_path / "b.log").write_text(text, encoding="utf-8")
    log = read_log(str(tmp_path / "b.log"), max_bytes=1 << 30, on_progress=lambda _: None)
    seen = [one for one in judge(Inputs([log]), Suppression()).findings if one.code == "TF217"]
    lines = [line.span.line for one in seen for line in one.evidence]
    assert lines == cited, "a tensor that is made of weights alone is a weight"
