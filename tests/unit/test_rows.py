"""What a build leaves for later, and records that are kept in columns, look like fields and tuples."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.model.log import Build, Stage
from trtforensics.model.span import SourceSpan
from trtforensics.model.table import Rows, Table, coded, column, numbers
from trtforensics.model.timings import NO_TACTIC
from trtforensics.parsers.builds.engine import _detailed
from trtforensics.parsers.notation.tensors import details

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

    Load = Callable[[str], BuildLog]

STAGES = tuple(Stage(name, layers, SourceSpan("log", layers, 0), None) for layers, name in enumerate("abcd", 1))


def rows(first: int, behind: int) -> Rows[Stage]:
    def made(line: int, name: str) -> Stage:
        return Stage(name, line, SourceSpan("log", line, 0), None)

    return Rows(Table(made, {"span.line": numbers([1, 2, 3, 4]), "name": coded("abcd")}), first, behind)


def test_rows_are_equal_to_a_tuple_of_their_records() -> None:
    some = rows(1, 3)
    assert some == STAGES[1:3]
    assert STAGES[1:3] == some
    assert some == rows(1, 3)
    assert some != rows(0, 3)
    assert hash(some) == hash(STAGES[1:3])
    assert repr(some) == repr(STAGES[1:3])
    assert (len(some), some[-1], some[:1], [*some]) == (2, STAGES[2], STAGES[1:2], list(STAGES[1:3]))
    assert pickle.loads(pickle.dumps(some)) == STAGES[1:3]  # noqa: S301 - its own
    assert some[0] is some[0]


def test_a_column_is_the_same_of_rows_and_of_records() -> None:
    for path, values in (("name", ("b", "c", "d")), ("span.line", (2, 3, 4))):
        assert tuple(column(rows(1, 4), path)) == column(STAGES[1:], path) == values


def test_what_a_build_leaves_for_later_is_there_when_asked_for(load: Load, samples: list[Path]) -> None:
    build = load("".join(path.read_text(encoding="utf-8") for path in samples)).builds[-1]
    with pytest.raises(AttributeError, match="'Build' object has no attribute 'noted'"):
        _ = build.noted  # type: ignore[attr-defined]
    without = replace(build, notes=())
    assert (without.notes, without.messages) == ((), build.messages)
    assert build.messages is build.messages
    assert build.message_counts.warning + build.message_counts.error == len(build.messages)
    again = pickle.loads(pickle.dumps(build))  # noqa: S301 - its own
    for field in fields(Build):
        if field.name not in {"timings", "myelin_operations"}:  # numpy has no one answer
            assert getattr(again, field.name) == getattr(build, field.name), field.name


PIECES = [
    "TacticValue: 0x12",
    "TacticValue:0x",
    "TacticValue: 0x",
    "TacticName: k",
    "Metadata: m",
    "Foo: {a",
    "b}",
    "[7",
    "x",
]


@examples(300)
@given(
    st.lists(st.sampled_from(PIECES), max_size=6), st.sampled_from(["x", "x, TacticValue: 0xab", "TacticValue: 0x1"])
)
def test_a_tactic_is_read_where_the_fields_of_a_layer_have_it(pieces: list[str], tensor: str) -> None:
    sides = f"[ {{ Name: {tensor}, Dimensions: [1], Format/Datatype: Half }}], Outputs: []"
    text = ", ".join([sides, *pieces])
    read, (tactic, printed) = details(text), _detailed(text)
    if read is None or printed is None:
        assert (read, tactic, printed) == (None, NO_TACTIC, None)
        return
    value = read.fields.pop("TacticValue", "")
    assert tactic == (int(value, 16) if value in {"0x12", "0xab", "0x1"} else NO_TACTIC)
    assert printed.tactic_name == read.fields.pop("TacticName", "")
    read.fields.pop("Metadata", None)
    assert (printed.fields, printed.inputs, printed.outputs) == (read.fields, read.inputs, read.outputs)
