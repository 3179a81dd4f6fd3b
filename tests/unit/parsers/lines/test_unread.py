"""Lines that no rule reads: glued ones are cut, causes and TensorRT's name are seen."""

from __future__ import annotations

import numpy as np
import pytest

from trtforensics.parsers.lines.unread import UnreadLines, cut_glued, is_pasted, mention_tensorrt
from trtforensics.parsers.text.line_index import LineIndex

_GLUED = b"loading[01/02/2024-10:11:12] [I] [TRT] done"
_TELLING = b"RuntimeError: CUDA out of memory"
_PLAIN = b"step 12 of 90"


@pytest.mark.parametrize("repeated", [1, 300])
def test_glued_lines_and_those_that_name_a_cause_are_found_among_few_and_many(repeated: int) -> None:
    index = LineIndex(b"\n".join([_PLAIN, _GLUED, _TELLING] * repeated))
    glued, telling = UnreadLines().sort_out(index, np.arange(len(index)))
    assert glued == list(range(1, len(index), 3))
    assert telling == set(range(2, len(index), 3))


def test_of_no_lines_none_is_found() -> None:
    assert UnreadLines().sort_out(LineIndex(b"a\n"), np.zeros(0, np.int64)) == ([], set())


def test_only_lines_that_are_asked_for_count() -> None:
    index = LineIndex(b"\n".join([_GLUED, _TELLING, _PLAIN]))
    assert UnreadLines().sort_out(index, np.array([2])) == ([], set())
    assert not mention_tensorrt(index, np.array([1, 2]))
    assert mention_tensorrt(index, np.array([0]))


def test_a_glued_line_is_cut_where_each_further_message_begins() -> None:
    index = LineIndex(_PLAIN + b"\n" + _GLUED + b"[01/02/2024-10:11:13] [W] next")
    assert cut_glued(index, [1]) == [
        (1, b"loading"),
        (1, b"[01/02/2024-10:11:12] [I] [TRT] done"),
        (1, b"[01/02/2024-10:11:13] [W] next"),
    ]


@pytest.mark.parametrize(
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
