"""What is kept of lines takes little memory, and is handed on without a second copy."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from trtforensics.parsers.builds.views import LinesView
from trtforensics.parsers.lines.events import NO_INTEGER, EventColumns, Events, Texts

KIND, LINES = "tactic_timed", np.arange(1, 4)


def test_a_field_that_no_line_prints_has_no_column_until_one_does() -> None:
    rows = EventColumns(KIND, Texts())
    rows.extend(LINES, {"ms": np.array([1.0, 2.0, 3.0])})
    rows.add(4, {"ms": b"4"})
    assert list(rows.columns) == ["ms"]
    assert rows.values("kernel", range(4)) == [None] * 4
    assert rows.stored("splits").tolist() == [NO_INTEGER] * 4
    rows.add(5, {"ms": b"5", "splits": b"2"})
    rows.extend(LINES + 5, {"ms": np.array([6.0, 7.0, 8.0])})
    assert rows.values("splits", range(8)) == [None] * 4 + [2] + [None] * 3
    assert rows.values("ms", range(8)) == [1, 2, 3, 4, 5, 6, 7, 8]


@pytest.mark.parametrize("closed", [True, False])
def test_columns_of_one_table_are_looked_at_where_they_are_once_no_line_comes(closed: bool) -> None:  # noqa: FBT001
    events = Events()
    events[KIND].extend(LINES, {"ms": np.array([1.0, 2.0, 3.0])})
    if closed:
        events.close()
    lines, times = LinesView(events, 1, 3).columns((KIND, "tactic_old"), "ms")
    shared = np.shares_memory(lines, events[KIND].stored_lines()), np.shares_memory(times, events[KIND].stored("ms"))
    assert shared == (closed, closed)
    assert times.tolist() == [1, 2, 3]


def test_tables_that_were_sent_are_given_up() -> None:
    events = Events()
    events[KIND].add(1, {"ms": b"4", "kernel": b"k"})
    received: Events = pickle.loads(pickle.dumps(events, 5))  # noqa: S301 - made here
    assert events.sizes() == {}
    assert received[KIND].values("kernel", range(1)) == ["k"]


def test_tables_that_were_joined_are_given_up() -> None:
    first, second = Events(), Events()
    second[KIND].add(1, {"kernel": b"k"})
    first.extend(second, 5)
    assert (first.sizes(), second.sizes()) == ({KIND: 1}, {})
    assert list(first[KIND].lines) == [6]
