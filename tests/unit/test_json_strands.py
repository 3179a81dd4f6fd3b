"""Lists of records are printed from columns as ``json.dumps`` prints the records."""

from __future__ import annotations

import json
import math
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.support.property_settings import examples
from trtforensics.model.table import Column, Parts, Table, coded, numbers, ranges
from trtforensics.model.timings import NO_TACTIC
from trtforensics.render.json_rendering import number, text, woven
from trtforensics.render.json_strands import Record, size, tactic

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMES = ("a%s", "b\0", "100%", '"', "é", "")
FORM = Record(
    {
        "name": ("name", text),
        "tactic": ("tactic", tactic),
        "ms": ("ms", number),
        "rows": ("rows", size),
        "line": ("line", number),
    }
)
ROW = st.tuples(
    st.sampled_from(NAMES),
    st.sampled_from((NO_TACTIC, 0, 7, (1 << 64) - 1)),
    st.sampled_from((math.nan, 0.5, 1e-07, -0.0, 0.0, 1234567.0)),
    st.sampled_from((0, 3, 100_000)),
    st.integers(1, 9),
)


def parts_of(rows: Sequence[tuple[Any, ...]], limits: Sequence[int]) -> Parts[SimpleNamespace]:
    names, tactics, times, sizes, lines = zip(*rows, strict=True) if rows else ((),) * 5
    count = np.array(sizes, np.int64)

    def made(*values: object) -> SimpleNamespace:
        return SimpleNamespace(**dict(zip(("name", "tactic", "ms", "rows", "line"), values, strict=True)))

    columns: dict[str, Column[Any]] = {
        "name": coded(names),
        "tactic": Column(np.array(tactics, np.uint64), lambda code: None if code == NO_TACTIC else code),
        "ms": Column(np.array(times, np.float64), lambda code: None if math.isnan(code) else code),
        "rows": ranges(count * 2, count * 3, list),
        "line": numbers(lines),
    }
    return Parts(Table(made, columns), np.array(limits))


def document(row: tuple[Any, ...]) -> str:
    name, tactic_id, ms, rows, line = row
    values = {
        "name": name,
        "tactic": None if tactic_id == NO_TACTIC else f"0x{tactic_id:016x}",
        "ms": None if math.isnan(ms) else ms,
        "rows": rows,
        "line": line,
    }
    return json.dumps(values)


def expected(rows: Sequence[tuple[Any, ...]]) -> str:
    records = ",\n    ".join(map(document, rows))
    return f"[\n    {records}\n   ]" if rows else "[]"


def printed(parts: Any) -> list[str]:
    return list(map("".join, woven(len(parts), FORM.lists(parts))))


@examples(300)
@given(st.lists(st.lists(ROW, max_size=3), min_size=1, max_size=6), st.integers(1, 3))
def test_records_in_columns_and_records_are_printed_alike(own: list[list[tuple[Any, ...]]], times: int) -> None:
    own = [rows for rows in own for _ in range(times)]  # some are alike
    limits = [sum(map(len, own[:place])) for place in range(len(own) + 1)]
    parts = parts_of([row for rows in own for row in rows], limits)
    wanted = [expected(rows) for rows in own]
    assert printed(parts) == wanted
    assert printed([tuple(records) for records in parts]) == wanted


def test_lists_that_differ_in_whole_numbers_alone_are_woven() -> None:
    rows = [("a%s", 7, math.nan, 3, line) for line in range(1, 9)]
    strands = FORM.lists(parts_of(rows, [0, 2, 4, 6, 8]))
    assert [strand for strand in strands if isinstance(strand, str) and "a%s" in strand]
    assert printed(parts_of(rows, [0, 2, 4, 6, 8])) == [expected(rows[first : first + 2]) for first in (0, 2, 4, 6)]


def test_some_rows_of_parts_stay_in_their_parts() -> None:
    rows = [(name, 7, 0.5, 3, line) for line, name in enumerate(NAMES, 1)]
    some = parts_of(rows, [0, 1, 4, 4, 6]).where([False, True, False, True, True, False])
    assert [[record.line for record in own] for own in some] == [[], [2, 4], [], [5]]
    assert printed(some) == [expected(own) for own in ([], [rows[1], rows[3]], [], [rows[4]])]
