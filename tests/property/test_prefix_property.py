"""Prefixes of many lines at once are those that the grammar reads line by line, whatever was read before."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.parsers.lines.dialects import DIALECTS, prefix_of
from trtforensics.parsers.lines.prefixes import PrefixReader
from trtforensics.parsers.text.line_index import LineIndex

if TYPE_CHECKING:
    from pathlib import Path

_STAMP = b"[11/21/2026-10:05:00] "
_HEADS = [
    _STAMP,
    b"[V] ",
    b"[E] [TRT] ",
    b"[TRT] ",
    b"[TRT]: ",
    b"[TRT]    ",
    b"> ",
    b"[node-1] ",
    b"[TensorRT] ",
    b"[TensorRT] ERROR: ",
    b"[TensorRT] 12: ",
    b"WARNING: ",
    b"[WARNING] ",
    b"[My Logger] ",
    b"(10:05:00) ",
    b"[run.py:12] ",
    b"My Logger: Severity.INFO ",
    b"[TRT-LLM] [MPI_Rank 0] [W] ",
    b"[TensorRT-LLM][INFO][0] ",
    b"DEBUG: [Torch-TensorRT TorchScript Conversion Context] - ",
    b"INFO:torch_tensorrt [TensorRT Conversion Context]:",
    b"2026-09-20 12:15:43.123456789 [W:onnxruntime:, x.h:88 log] [2026-09-20 12:15:43 WARNING] ",
    b"E onnxruntime: [2026-09-20 12:15:43   ERROR] ",
    b"I1121 07:52:04.123456 123 logging.cc:49] ",
    b'I1121 07:52:04.123456 123 logging.cc:49] "',
    b"2026-11-21T07:52:04Z I 123 logging.cc:46] ",
    b"ERROR: [TRT]: ",
    b"0:00:01.234 123 0x7f3c WARN nvinfer gst.cpp:638:log:<p> [TRT]: ",
    b"INFO TRT: ",
    b"[2026-09-20 12:15:43][Info][TRT] ",
    b"[GIE] ",
    b"2026-11-21 07:52:04 [Log] [TRT] ",
    b"",
]
_BODIES = [
    b"Tactic: 0x00000000000003e8 Time: 0.5",
    b"[MemUsageChange] Init CUDA",
    b"(Unnamed Layer* 3) [Convolution]",
    b"Severity.ERROR again",
    b"a layer on DLA",
    b"[I] again",
    b"12345678: an error",
    b"3",
    b"",
    b"\xff\xfe \x1e",
    b"a name that goes on " * 30,
]
_BYTES = b"0123456789[]() :.TRVx"

_clean = st.builds(
    lambda heads, body: b"".join(heads) + body, st.lists(st.sampled_from(_HEADS), max_size=3), st.sampled_from(_BODIES)
)


def _damaged(line: bytes, seed: int) -> bytes:
    """Put other digits in, and now and then another byte or one less."""
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    text = bytearray(chance.choice(b"0123456789") if 0x30 <= byte < 0x3A else byte for byte in line)
    if text and chance.random() < 0.5:
        place = chance.randrange(len(text))
        text[place : place + chance.randrange(2)] = bytes((chance.choice(_BYTES),))
    return bytes(text)


_line = st.one_of(_clean, st.builds(_damaged, _clean, st.integers(0, 2**32)))


def _assert_read(reader: PrefixReader, lines: list[bytes]) -> None:
    found = reader.read(LineIndex(b"".join(line + b"\n" for line in lines)))
    for number, line in enumerate(lines):
        prefix = prefix_of(line[:512])
        read = tuple(int(column[number]) for column in found)
        if prefix is None:
            assert read == (-1, 0, 0, 0), line
        else:
            separators = sum(byte <= 0x20 for byte in line[: prefix.end])
            expected = (DIALECTS.index(prefix.dialect), ord(prefix.severity), prefix.end, separators)
            assert read == expected, line


@examples(60)
@given(lines=st.lists(_line, min_size=1, max_size=40), seed=st.integers(0, 2**32))
def test_many_lines_are_read_as_each_by_itself(lines: list[bytes], seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - nothing secret
    reader = PrefixReader()
    for count in (30, 600, 300):  # below and above what is looked up one by one
        _assert_read(reader, chance.choices(lines, k=count))


@pytest.mark.parametrize("times", [1, 300])
@pytest.mark.parametrize(
    "lines",
    [
        (b"[V] [Conv] a", b"[V] [TRT] a"),
        (b"[V] (a) b", b"[V] (10:05:00) b"),
        (b"[TRT]  [I] a", b"[TRT]  a layer"),
        (b"[TensorRT] 12: a", b"[TensorRT] 1 layer"),
        (b"INFO TRT: Some", b"INFO TRT: Severity.INFO a"),
        (b"INFO TRT: Severity.LOST a", b"INFO TRT: Severity.INFO a"),
        (b"0:00:01.234 123 0x7f3c WARN nvinfer a [TRT]: b", b"0:00:01.234 123 2x7f3c WARN nvinfer a [TRT]: b"),
        (b"WARNING: Fusing a with b", b"WARNING: Fusion of a"),
        (b"[Log] a layer whose name is long indeed on DLA", b"[Log] a layer whose name is long indeed"),
    ],
    ids=lambda lines: lines[0].decode(),
)
def test_lines_that_begin_alike_are_told_apart(lines: tuple[bytes, ...], times: int) -> None:
    for order in lines, lines[::-1]:
        reader = PrefixReader()
        for line in order:
            for _ in range(2):  # the first time tells how many bytes decide, the second learns them
                _assert_read(reader, [line] * times)


def test_a_clock_that_ticks_costs_no_reading_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = 0

    def counted(text: bytes) -> object:
        nonlocal asked
        asked += 1
        return prefix_of(text)

    monkeypatch.setattr("trtforensics.parsers.lines.prefixes.prefix_of", counted)
    head = b"I1121 07:52:04.%06d 123 logging.cc:49] Tactic: 0x%016x"
    _assert_read(PrefixReader(), [head % (111_111 + number % 800, number) for number in range(5000)])
    assert asked < 100


@pytest.mark.corpus
@pytest.mark.slow
def test_every_corpus_line_is_read_as_by_itself(corpus: Path) -> None:
    chance = random.Random(1)  # noqa: S311 - nothing secret
    reader = PrefixReader()
    every: list[bytes] = []
    for log in sorted((corpus / "buildlog").iterdir()):
        lines = log.read_bytes().replace(b"\r", b"").split(b"\n")
        every += chance.sample(lines, min(len(lines), 1000))
    chance.shuffle(every)
    _assert_read(reader, every)
    _assert_read(reader, every[::-1])
