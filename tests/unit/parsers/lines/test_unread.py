"""Lines that no rule reads: causes and TensorRT's name are seen."""

from __future__ import annotations

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.parsers.lines import unread
from trtforensics.parsers.lines.unread import UnreadLines, is_pasted, mention_tensorrt, possible_causes
from trtforensics.parsers.text.line_index import LineIndex

_TENSORRT = b"loading trtexec"
_TELLING = b"RuntimeError: CUDA out of memory"
_PLAIN = b"step 12 of 90"
_CAUSE = b"factory function returned nullptr"
_LONG = 1 << 17


@pytest.mark.parametrize("repeated", [1, 300])
def test_lines_that_name_a_cause_are_found_among_few_and_many(repeated: int) -> None:
    index = LineIndex(b"\n".join([_PLAIN, _TENSORRT, _TELLING] * repeated))
    assert UnreadLines().told(index, np.arange(len(index))).causes == set(range(2, len(index), 3))


def test_of_no_lines_none_is_found() -> None:
    assert UnreadLines().told(LineIndex(b"a\n"), np.zeros(0, np.int64)) == (set(), [])


def test_only_lines_that_are_asked_for_count() -> None:
    index = LineIndex(b"\n".join([_TENSORRT, _TELLING, *[_PLAIN] * 11]))
    assert UnreadLines().told(index, np.array([2])) == (set(), [])
    assert not mention_tensorrt(index, np.array([1, 2]))
    assert mention_tensorrt(index, np.array([0]))


def test_of_a_few_lines_any_error_is_asked_about() -> None:
    assert mention_tensorrt(LineIndex(b"mauve: " + _TELLING), np.array([0]))
    assert not mention_tensorrt(LineIndex(_PLAIN), np.array([0]))


def test_frames_of_a_traceback_make_an_excerpt_of_errors_that_any_program_may_have() -> None:
    index = LineIndex(b'  File "infer.py", line 88, in allocate\n' + _TELLING)
    assert mention_tensorrt(index, np.array([0, 1]))


@for_each(
    ("opening", "expected"),
    [
        (b"trtexec says: no engine", True),
        (b"[E] Engine could not be created", True),
        (b'{\n "replay": {}}', False),
        (b"b0VIM\0\0 polygraphy", False),
    ],
)
def test_documents_and_binary_files_are_no_excerpts(opening: bytes, expected: bool) -> None:  # noqa: FBT001 - a column
    assert is_pasted(opening) is expected


@given(st.from_regex(re.compile(unread._MENTION.pattern, unread._MENTION.flags)))
def test_whatever_mentions_tensorrt_holds_a_hint(text: bytes) -> None:
    assert any(hint in text.lower() for hint in unread._HINTS)


@for_each(
    ("line", "read"),
    [
        (b"[ONNXRuntimeError] : 9 : NOT_IMPLEMENTED : no kernel of onnxruntime", True),
        (b"E0705 13:27:07.000000 1 model_repository_manager.cc:1927] Poll failed", True),
        (b"RuntimeError: [Error thrown at core/util/trt_util.cpp:283] no type", True),
        (b"E0705 is a code of a washing machine", False),
        (b"tritonserver: symbol lookup error: /lib/libwarp.so: undefined symbol: warp", True),
        (b"ERROR: (Unnamed Layer* 7) [ElementWise]: inputs must have same dimensions", True),
    ],
)
def test_errors_of_programs_around_tensorrt_make_an_excerpt(line: bytes, read: bool) -> None:  # noqa: FBT001 - a column
    assert mention_tensorrt(LineIndex(line + b"\n"), np.array([0])) is read


def test_a_few_lines_with_several_times_are_a_question_about_speed() -> None:
    times = [b"crow %d took %d.5ms" % (n, n) for n in range(3)]
    plain = [b"mauve"] * 10
    several, few = (LineIndex(b"\n".join([*plain, *each])) for each in (times, times[1:]))
    assert mention_tensorrt(several, np.arange(13))
    assert not mention_tensorrt(few, np.arange(12))


def test_a_cause_is_found_wherever_it_stands_in_a_long_text() -> None:
    (kind,) = possible_causes([_CAUSE])
    for begin in range(_LONG - len(_CAUSE), _LONG + 1):
        text = b"x" * begin + _CAUSE + b"y" * _LONG
        assert [possible[0].name for possible in possible_causes([text])] == [kind[0].name], begin
    assert not possible_causes([b"x" * _LONG, _CAUSE[:-1]])
