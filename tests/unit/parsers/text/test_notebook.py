"""A notebook's outputs are lines of a log, at the places where Jupyter writes them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.datasets.judged_sources import JudgedSource
from trtforensics.engines.joining import load_joined
from trtforensics.errors import NotABuildLogError
from trtforensics.parsers.text.notebook import outputs_of
from trtforensics.parsers.text.source import open_source
from trtforensics.sources.build_log import load_build_log
from trtforensics.sources.strangers import named

if TYPE_CHECKING:
    from pathlib import Path

VERSION = "[11/21/2026-10:48:04] [I] [TRT] TensorRT version: 10.3.0\n"
SKIPPED = "[V] [TRT] Skipping tactic 0x05 due to insufficient memory on requested size of 4831838208 detected.\n"
FAILED = "[E] Error[10]: Could not find any implementation for node {ForeignNode[a...b]}.\n"


def cell(number: int | None, source: str, *outputs: dict[str, Any]) -> dict[str, Any]:
    lines = source.splitlines(keepends=True)
    return {"cell_type": "code", "execution_count": number, "metadata": {}, "outputs": [*outputs], "source": lines}


def stream(*lines: str) -> dict[str, Any]:
    return {"name": "stdout", "output_type": "stream", "text": [*lines]}


def notebook(*cells: dict[str, Any]) -> dict[str, Any]:
    return {"cells": [*cells], "metadata": {}, "nbformat": 4, "nbformat_minor": 5}


BUILDS = notebook(
    {"cell_type": "markdown", "metadata": {}, "source": ["[E] Error[10]: said in a text"]},
    cell(1, "import os"),
    cell(3, "%cd /tmp\n!trtexec --onnx=a.onnx \\\n  --verbose", stream(VERSION, SKIPPED)),
    cell(4, "engine = build()", stream(VERSION, FAILED)),
)


def saved(path: Path, document: dict[str, Any], indent: int | None = 1) -> str:
    path.write_text(json.dumps(document, indent=indent))
    return str(path)


def test_each_output_line_stands_where_the_file_has_it(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.ipynb", BUILDS)
    stored = (tmp_path / "a.ipynb").read_text().split("\n")
    with open_source(path) as source:
        lines = [line.decode() for window in source.windows() for line in window.lines]
    told = {number: line for number, line in enumerate(lines) if line and not line.startswith("In [")}
    assert [line for line in lines if line.startswith("In [")] == [
        "In [3]: !trtexec --onnx=a.onnx    --verbose",
        "In [4]: engine = build()",
    ]
    assert [f"{line}\n" for line in told.values()] == [VERSION, SKIPPED, VERSION, FAILED]
    assert all(json.loads(stored[number].strip().rstrip(",")) == f"{line}\n" for number, line in told.items())
    assert len(lines) == len(stored)


def test_lines_of_a_compact_notebook_are_those_that_jupyter_would_write() -> None:
    joined = json.loads(json.dumps(BUILDS))
    for each in joined["cells"]:
        each["source"] = "".join(each["source"])
        for output in each.get("outputs", ()):
            output["text"] = "".join(output["text"])
    assert outputs_of(json.dumps(joined).encode()) == outputs_of(json.dumps(BUILDS, indent=1).encode())


def test_each_cell_with_output_is_a_run_and_a_finding_names_its_cell(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.ipynb", BUILDS)
    log = load_build_log([path])
    first, second = log.runs
    assert (first.command, first.program.value, second.program.value) == (
        "!trtexec --onnx=a.onnx    --verbose",
        "trtexec",
        "python",
    )
    findings = JudgedSource.of(load_joined([path], model=None)).report.findings
    assert {(finding.code, finding.cell) for finding in findings} >= {("TF303", "In [3]"), ("TF301", "In [4]")}
    places = {finding.place for finding in findings if finding.code == "TF301"}
    assert all(place.endswith(" (In [4])") for place in places)


def test_a_cell_that_says_in_its_own_words_what_it_built_or_measured_is_a_run(tmp_path: Path) -> None:
    cells = (
        cell(None, "import tensorrt as trt", stream("Engine saved as a.engine\n")),
        cell(None, "!pip install b", stream("Successfully installed b\n")),
        cell(None, "import tensorrt as trt\nrun()", stream("Inference time: 7 ms\n")),
        cell(None, "!trtexec --onnx=a.onnx", stream(VERSION, FAILED)),
    )
    log = load_build_log([saved(tmp_path / "a.ipynb", notebook(*cells))])
    assert [(run.outcome.ending.value, run.command) for run in log.runs] == [
        ("passed", None),
        ("passed", None),
        ("failed", "!trtexec --onnx=a.onnx"),
    ]


def test_a_cell_without_output_that_names_a_library_is_shown() -> None:
    cells = (
        cell(1, "import os\nimport torch_tensorrt"),
        cell(2, "x = 1"),
        cell(3, "run()", stream("Median time: 3 ms\n")),
    )
    lines = (outputs_of(json.dumps(notebook(*cells)).encode()) or (b"", {}))[0].decode().split("\n")
    assert list(filter(None, lines)) == ["In [1]: import torch_tensorrt", "In [3]: run()", "Median time: 3 ms"]


def test_an_error_of_a_cell_is_its_last_lines() -> None:
    frames = ["\x1b[0;31m---\x1b[0m", "RuntimeError   Traceback (most recent call last)", "Cell In[1]\n 1 a\n"]
    error = {
        "output_type": "error",
        "ename": "RuntimeError",
        "evalue": "no",
        "traceback": [*frames, "RuntimeError: no"],
    }
    bare = {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []}
    outputs = outputs_of(json.dumps(notebook(cell(1, "a", error, bare))).encode())
    assert outputs is not None
    lines = [line for line in outputs[0].decode().split("\n") if line]
    assert lines[1:] == [*frames[:2], "Cell In[1]   1 a", "RuntimeError: no", "KeyError: 'x'"]


@pytest.mark.parametrize(
    "text",
    [
        b'{"cells": 3, "nbformat": 4}',
        b'{"cells": [3, {"cell_type": []}, {"outputs": 3}, {"outputs": [{"text": {}}], "source": 3}]',
        b'{"cells": ' + b"[" * 100_000,
        b'{"metadata": {"a": 1}}',
    ],
)
def test_what_is_no_notebook_stays_as_it_is(text: bytes, tmp_path: Path) -> None:
    assert outputs_of(text) is None
    path = tmp_path / "x"
    path.write_bytes(text)
    with open_source(str(path)) as source:
        assert b"".join(window.data for window in source.windows()) == text


def test_strange_cells_give_no_lines() -> None:
    strange = [3, {"cell_type": []}, {"outputs": 3}, {"outputs": [{"text": {}}, 4], "source": 3, "cell_type": "code"}]
    outputs = outputs_of(json.dumps({"cells": strange}).encode())
    assert outputs is not None
    assert set(outputs[0].split(b"\n")) == {b"", b"In [0]: "}


def test_a_notebook_without_output_of_tensorrt_is_named(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.ipynb", notebook(cell(1, "print(1)", stream("1\n"))))
    with pytest.raises(NotABuildLogError) as error:
        load_build_log([path])
    assert "a Jupyter notebook of which no output is TensorRT's" in str(named(error.value))
