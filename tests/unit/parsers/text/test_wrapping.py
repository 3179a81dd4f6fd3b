"""What stands around the lines of a source is recognised by its first lines and taken off, line by line."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.parsers.text.windows import WindowCutter
from trtforensics.parsers.text.wrapping import wrapping_of

if TYPE_CHECKING:
    from collections.abc import Callable

LINES = [
    b"[11/21/2026-07:52:04] [W] [TRT] Some tactics do not have sufficient workspace memory to run.",
    b"[11/21/2026-07:52:05] [E] Error[10]: Could not find any implementation for node a > b | c.",
    b"",
    b'op_type: "Add"',
    b"&&&& FAILED TensorRT.trtexec [TensorRT v8601] # trtexec --onnx=m.onnx",
]
FORMS: dict[str, Callable[[bytes, int], bytes]] = {
    "quoted with >": lambda line, _: b"> " + line,
    "rows of a table": lambda line, _: b"| " + line,
    "items of a list": lambda line, _: b"- " + line if line else line,
    "comments of a program": lambda line, _: b"# " + line if line else b"#",
    "timestamps of a CI system or a container": lambda line, _: b"2026-11-21T07:52:04.1234567Z " + line,
    "timestamps of Jenkins": lambda line, _: b"[2026-11-21T07:52:04.123Z] " + line,
    "names of Docker Compose services": lambda line, _: b"builder-1  | " + line,
    "steps of a Docker build": lambda line, _: b"#12 3.456 " + line,
    "names of Kubernetes pods": lambda line, _: b"[pod/build-x7/trt] " + line,
    "prefixes of the system's journal": lambda line, _: b"Nov 21 07:52:04 host trt[123]: " + line,
    "line numbers": lambda line, number: str(number).encode() + b": " + line,
    "indented": lambda line, _: b"    " + line if line.startswith((b"[", b"&")) else line,
    "HTML entities": lambda line, _: line.replace(b">", b"&gt;").replace(b'"', b"&quot;"),
}


def wrapped(form: str) -> bytes:
    return b"".join(FORMS[form](line, number) + b"\n" for number, line in enumerate(LINES, 7))


@for_each("form", FORMS)
def test_a_wrapping_is_named_and_taken_off(form: str) -> None:
    wrapping = wrapping_of(wrapped(form))
    assert wrapping is not None
    assert wrapping.names == (form,)
    assert wrapping.undo(wrapped(form)) == b"".join(line + b"\n" for line in LINES)


def test_of_two_lines_a_prefix_tells_that_numbers_count_them() -> None:
    wrapping = wrapping_of(b"1: [11/22/2026-09:36:02] [E] It failed\n2: [8] Assertion failed: n\n")
    assert wrapping is not None
    assert wrapping.names == ("line numbers",)
    assert wrapping_of(b"1: [engine.cpp::load::9] Error Code 1: x\n2: [builder.cpp::b::9] Error Code 2: y\n") is None


def test_wrappings_lie_around_each_other() -> None:
    text = b"".join(b"> 2026-11-21T07:52:04.1234567Z " + line + b"\n" for line in LINES)
    wrapping = wrapping_of(text.replace(b">", b"&gt;"))
    assert wrapping is not None
    assert wrapping.names == ("HTML entities", "quoted with >", "timestamps of a CI system or a container")


def test_a_log_as_its_logger_wrote_it_has_none() -> None:
    assert wrapping_of(b"".join(line + b"\n" for line in LINES)) is None
    assert wrapping_of(b"") is None
    assert wrapping_of(b"Model | onnx | fp16\nmAP   | 70.7 | 65.8\n") is None


def test_a_window_shows_the_lines_as_they_are_and_has_them_bare() -> None:
    text = wrapped("quoted with >")
    (window,) = WindowCutter().windows([text])
    assert window.lines == text.split(b"\n")[:-1]
    assert window.bare.split(b"\n")[:-1] == LINES


@given(st.lists(st.sampled_from([*LINES, b"> x", b"12: y", b"  [E] z", b"`[TRT] q`", b"&gt;&amp;"]), max_size=12))
def test_no_line_is_added_or_lost(lines: list[bytes]) -> None:
    text = b"".join(line + b"\n" for line in lines)
    wrapping = wrapping_of(text)
    assert wrapping is None or wrapping.undo(text).count(b"\n") == len(lines)


@pytest.mark.parametrize(
    "line",
    [
        b"2026-01-02 03:04:05.123456 [W:onnxruntime:Default, tensorrt_execution_provider.h:75 log] x",
        b"WARNING:torch_tensorrt [TensorRT Conversion Context]:x",
    ],
)
def test_lines_of_other_programs_that_run_tensorrt_may_be_indented(line: bytes) -> None:
    wrapping = wrapping_of(b"    " + line)
    assert wrapping is not None
    assert wrapping.undo(b"    " + line) == line
