"""Lines in whose middle another message begins are found by single bytes, and cut there and nowhere else."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.parsers.lines.prefixes import PrefixReader, glued_lines
from trtforensics.parsers.text.line_index import LineIndex

STAMP = b"[11/21/2026-07:52:04]"
SECOND = [
    STAMP + b" [W] [TRT] It is odd",
    STAMP + b" [I] Building",
    STAMP + b" [TRT] [E] It failed",
    STAMP + b" " + STAMP + b" [V] [TRT] twice",
    b"[TRT] [E] It failed",
    b"[W] [TRT] It is odd",
    b"[TensorRT] ERROR: It failed",
    b"2026-11-21 07:52:04.123456789 [E:onnxruntime:, executor.cc:12 Run] It failed",
    b"2026-11-21 07:52:04.1 [W:onnxruntime:Default, provider.h:35 log] [2026-11-21 07:52:04 WARNING] It is odd",
    b"WARNING: [Torch-TensorRT] - It is odd",
    b"INTERNAL_ERROR: [Torch-TensorRT TorchScript Conversion Context] - It failed",
    b"ERROR:torch_tensorrt [TensorRT Conversion Context]:It failed",
    b"I1121 07:52:04.123 1 logging.cc:46] It is odd",
    b"E1121 07:52:04.123456 128 core/server.cc:1262] It failed",
]
FIRST = [
    b"Epoch 3",
    STAMP + b" [V] [TRT] node_max_pool2d [MaxPool]",
    b"[TRT] [V] Tactic: 0x1 Time: 0.1",
    b"[TensorRT] VERBOSE: conv [Conv]",
    b"[V] [TRT] conv1 [W] pool",
    b"2026-11-21 07:52:04 app INFO x: conv",
    b"2026-11-21 07:52:04.1 [W:onnxruntime:Default, provider.h:35 log] [2026-11-21 07:52:04 WARNING] conv",
    b"2026-11-21 07:52:04.1 [E:onnxruntime:, executor.cc:12 Run] conv",
    b"DEBUG: [Torch-TensorRT] - Tactic: 0x1 Time: 0.1",
    b"DEBUG:torch_tensorrt [TensorRT Conversion Context]:conv",
    b"I1121 07:52:04.123 1 logging.cc:46] Tactic: 0x1 Time: 0.1",
    b"I1121 07:52:04.123 1 server.cc:9] conv",
]
WHOLE = [
    b"",
    b"    " + STAMP + b" [W] It is indented",
    b"> " + STAMP + b" [W] It is quoted",
    STAMP + b' [E] the file says "' + STAMP + b' [W] [TRT] It is odd"',
    STAMP + b" [V] [TRT] Inputs: [x][y] [TRT] [0:1] [W]",
    STAMP + b" [V] [TRT] [W] [V] [TRT]",
    STAMP + b" " + STAMP + b" [V] [TRT] twice",
    b"[11/21/2026] [07:52:04] [W]",
    STAMP + b" [V] [TRT] [provider.cc:12] x [y] - z",
    STAMP + b" [V] [TRT] a:onnxruntime:b",
    STAMP + b' [E] he said "I1121 07:52:04.123 1 server.cc:9] conv"',
]


def parts_of(*lines: bytes) -> dict[int, list[bytes]]:
    index = LineIndex(b"".join([line + b"\n" for line in lines]))
    return glued_lines(index, PrefixReader().read(index))


@for_each("second", SECOND)
@for_each("first", FIRST)
def test_a_line_is_cut_where_a_further_message_begins(first: bytes, second: bytes) -> None:
    assert parts_of(b"a", first + second, b"b") == {1: [first, second]}
    assert parts_of(first + second) == {0: [first, second]}


def test_a_prefix_without_a_message_is_a_part() -> None:
    assert parts_of(STAMP + b" [V] [TRT] " + SECOND[0]) == {0: [STAMP + b" [V] [TRT] ", SECOND[0]]}


def test_a_line_may_hold_several_messages() -> None:
    assert parts_of(FIRST[1] + SECOND[0] + SECOND[4]) == {0: [FIRST[1], SECOND[0], SECOND[4]]}


@for_each("whole", [*SECOND, *FIRST, *WHOLE])
def test_any_other_line_stays_whole(whole: bytes) -> None:
    assert parts_of(b"a", whole, whole) == {}
    assert parts_of(whole) == {}


@given(st.lists(st.one_of(st.sampled_from(WHOLE), st.tuples(st.sampled_from(FIRST), st.sampled_from(SECOND)))))
def test_lines_around_a_glued_line_do_not_matter(lines: list[bytes | tuple[bytes, bytes]]) -> None:
    found = parts_of(*(line if isinstance(line, bytes) else b"".join(line) for line in lines))
    assert found == {number: list(line) for number, line in enumerate(lines) if isinstance(line, tuple)}


def test_of_no_lines_none_is_glued() -> None:
    assert parts_of() == {}
