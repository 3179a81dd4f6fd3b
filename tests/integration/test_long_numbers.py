"""Numbers of thousands of digits, which Python refuses to read and no TensorRT prints, are not told; nothing fails."""

from __future__ import annotations

import re
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING

import pytest

from tests.support.repository import LOGS
from trtforensics.findings.judging import Inputs, judge
from trtforensics.findings.suppression import Suppression
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.lines.singly import Dispatch
from trtforensics.render.log_json import in_pieces
from trtforensics.sources.quoting import read_log

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from trtforensics.model.log import BuildLog

_LOGS = sorted(LOGS.glob("*.log"))
_DIGITS = re.compile(rb"[0-9]+")
_LONG = b"7" * 5000
_AROUND = 12
_MOST_NUMBERS = 6
_PREFIX = re.compile(rb"(?:\[[^\]]*\] ?)+")
_READER = Dispatch(tables.kinds())


@cache
def _damaged() -> dict[Path, list[bytes]]:
    """Return the lines around each line of a kind, with one of its numbers made long, each number in turn.

    They stand at the first log that has the kind.
    """
    seen: set[tuple[str, int]] = set()
    damaged = {log: [*_damaged_of(log.read_bytes().split(b"\n"), seen)] for log in _LOGS}
    assert sum(map(len, damaged.values())) > 600
    return damaged


def _damaged_of(lines: list[bytes], seen: set[tuple[str, int]]) -> Iterator[bytes]:
    for place, line in enumerate(lines):
        found = _READER.find(_PREFIX.sub(b"", line))
        before, behind = lines[max(0, place - _AROUND) : place], lines[place + 1 : place + _AROUND]
        for which, number in enumerate([*_DIGITS.finditer(line)][:_MOST_NUMBERS]):
            form = found[0].name if found else "", which
            if form not in seen:
                seen.add(form)
                longer = line[: number.start()] + _LONG + line[number.start() :]
                yield b"\n".join([*before, longer, *behind, b""])


def _read(text: bytes, folder: Path) -> BuildLog:
    """Read a log, print it and ask every rule about it."""
    path = folder / "build.log"
    path.write_bytes(text)
    read = read_log(str(path), max_bytes=1 << 30, on_progress=lambda _: None)
    assert "".join(in_pieces(read.log)).endswith("}\n")
    judge(Inputs([read]), Suppression())
    return read.log


def test_a_number_that_is_too_long_is_no_number(tmp_path: Path) -> None:
    for text in islice(_damaged_of(_LOGS[0].read_bytes().split(b"\n"), set()), 0, None, 20):
        assert _read(b"[I] [TRT] \n" + text, tmp_path).builds


@pytest.mark.slow
@pytest.mark.parametrize("log", _LOGS, ids=lambda log: log.stem)
def test_a_number_of_any_kind_that_is_too_long_is_no_number(log: Path, tmp_path: Path) -> None:
    for text in _damaged()[log][::4]:
        assert _read(b"[I] [TRT] \n" + text, tmp_path).builds


@pytest.mark.parametrize(
    "line",
    [
        b"[V] [TRT] Original: %s layers" % _LONG,
        b"[I] TensorRT version: 10.%s.3" % _LONG,
        b"[I]     tensorrt        | Version: 10.%s.3 | Path: x" % _LONG,
        b"[V] Marking %s tensors as outputs" % _LONG,
        b"[V] [TRT] Tactic %s time 0.5" % _LONG,
        b"&&&& RUNNING TensorRT.trtexec [TensorRT v%s] # trtexec" % _LONG,
        b"[V] [TRT] *************** Autotuning format combination: Float(%s,1) -> Half(1:%s,1) ***************"
        % (_LONG, _LONG),
        b"[V] [TRT] Layer(CaskConvolution): a_myl%s_1, Tactic: 0x1, x (Half[-1,%s:%s]) -> y (Half[--5,1])"
        % (_LONG, _LONG, _LONG),
        b"Name: a [profile %s], LayerType: kgen, Inputs: [ { Name: x, Dimensions: [%s], Format/Datatype: Half }], "
        b"Outputs: []" % (_LONG, _LONG),
    ],
    ids=["count", "dotted", "module", "marked", "tactic", "version", "strides", "dimensions", "detailed"],
)
def test_each_kind_of_number(line: bytes, tmp_path: Path) -> None:
    text = b"[I] [TRT] Engine Layer Information:\n%s\n[V] [TRT] Engine generation completed in 1 seconds.\n" % line
    assert _read(text, tmp_path).lines.total == 3
