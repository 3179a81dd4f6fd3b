"""Bodies judged one by one: each distinct one once, and every row has what its own body says."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from tests.support.judging import fields_of
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.layouts import ranks
from trtforensics.parsers.lines import singly
from trtforensics.parsers.lines.events import NO_TEXT, Texts
from trtforensics.parsers.lines.prefixes import Bodies
from trtforensics.parsers.lines.singly import Dispatch, SingleReader
from trtforensics.parsers.text.line_index import LineIndex

if TYPE_CHECKING:
    import re

    import numpy.typing as npt
    import pytest

    from trtforensics.parsers.grammar.line_kinds import LineKind

    Bools = npt.NDArray[np.bool_]
    _Said = dict[str | None, list[tuple[object, ...]]]

BODIES = [
    b"Engine generation completed in 1.5 seconds.",
    b"no rule reads this",
    b"&&&& RUNNING TensorRT.trtexec [TensorRT v8601] # trtexec",
    b"Engine generation completed in 2.5 seconds.",
    b"Engine generation completed in 1.5 seconds.",
]


class _Counting(Dispatch):
    """Remembers what it was asked."""

    def __init__(self) -> None:
        super().__init__(tables.kinds())
        self.asked: list[bytes] = []

    def find(self, body: bytes) -> tuple[LineKind, re.Match[bytes]] | None:
        self.asked.append(body)
        return super().find(body)


class _Bench:
    """A reader, and what it says of bodies: by kind the rows, with the columns' values."""

    def __init__(self, *, indented: bool = False) -> None:
        self.texts = Texts()
        self.dispatch = _Counting()
        self._reader = SingleReader(self.dispatch, self.texts, indented=indented)

    def read(self, bodies: list[bytes]) -> _Said:
        index = LineIndex(b"".join(body + b"\n" for body in bodies))
        found: _Said = {}
        for kind, lines, columns in self._reader.read(
            Bodies(index, index.starts, np.zeros(len(index), np.int64)), np.ones(len(index), np.bool_)
        ):
            rows = zip(lines.tolist(), *(column.tolist() for column in columns.values()), strict=True)
            found.setdefault(kind, []).extend(rows)
        return found


def test_the_file_and_line_before_a_message_of_the_importer_are_no_part_of_it() -> None:
    said = "Adding network input: crow:0 with dtype: float32, dimensions: (-1, 3)"
    sites = ("", "ModelImporter.cpp:203: ", "/src/onnx/ImporterContext.hpp:97: ", "crow.cpp:3: ")
    read = _Bench().read([f"{site}{said}".encode() for site in sites])
    assert [row[0] for row in read["adding_input"]] == [0, 1, 2]
    assert read[None] == [(3,)]


def test_rows_come_kind_by_kind_in_their_order() -> None:
    bench = _Bench()
    read = bench.read(BODIES)
    assert read["engine_generated"] == [(0, 1.5), (3, 2.5), (4, 1.5)]
    assert read[None] == [(1,)]
    ((row, verdict, *_),) = read["banner"]
    assert isinstance(verdict, int)
    assert (row, bench.texts[verdict]) == (2, "RUNNING")


def test_a_body_is_judged_once_however_often_it_stands_in_however_many_windows() -> None:
    bench = _Bench()
    once = bench.read(BODIES)
    assert bench.read(BODIES) == once
    many = bench.read(BODIES * 100)  # enough of them to be hashed
    assert [row for row, *_ in many["engine_generated"][:4]] == [0, 3, 4, 5]
    assert {ms for _, ms in many["engine_generated"]} == {1.5, 2.5}
    asked = Counter(bench.dispatch.asked)
    assert set(asked) == set(BODIES)
    assert max(asked.values()) <= 2  # by few, and by many


def test_what_is_forgotten_is_judged_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(singly, "_MAX_BODIES", 2)
    bench = _Bench()
    bench.read(BODIES)
    again = bench.read(BODIES[::-1])
    assert again["engine_generated"] == [(0, 1.5), (1, 2.5), (4, 1.5)]
    assert again[None] == [(3,)]
    assert len(bench.dispatch.asked) == 2 * len(set(BODIES))


def test_blanks_before_a_body_count_only_where_they_are_the_bodys() -> None:
    indented = [b"   &&&& PASSED TensorRT.trtexec [TensorRT v8601] # trtexec"]
    assert list(_Bench(indented=True).read(indented)) == ["banner"]
    assert list(_Bench().read(indented)) == [None]


def test_a_field_that_a_body_does_not_print_is_not_there() -> None:
    read = _Bench().read([b"&&&& RUNNING TensorRT.trtexec # trtexec", BODIES[2]])
    (_, _, _, first, _), (_, _, _, second, _) = read["banner"]
    assert first == NO_TEXT
    assert second != NO_TEXT


def test_of_two_kinds_that_open_alike_the_one_that_is_read_in_bulk_has_the_line() -> None:
    """A line of one ran into a line of the other, as programs that share a file make them."""
    body = b"Name: conv1, IOMode: InputName: conv2, LayerType: kgen, Inputs: [ { Name: x }]"
    found = fields_of(Dispatch(tables.kinds(), ranks(tables.tables().layouts)), body)
    assert found is not None
    assert found[0] == "layer_detailed"
