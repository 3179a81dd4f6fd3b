"""Filter expressions over rows with named fields."""

from __future__ import annotations

from operator import itemgetter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.for_each import for_each
from trtforensics.tables.columns import Sort, TableColumn
from trtforensics.tables.table import FilterError, completions, parse_filter

FIELDS = (
    TableColumn("layer", itemgetter("layer"), aliases=("name",)),
    TableColumn("type", itemgetter("type"), types=True),
    TableColumn("time_ms", itemgetter("time"), Sort.NUMBER, "ms", ("time",)),
    TableColumn("margin", itemgetter("margin"), Sort.NUMBER, "ratio"),
    TableColumn("weights_bytes", itemgetter("weights"), Sort.NUMBER, "bytes", ("weights",)),
    TableColumn("line", itemgetter("line"), plain=False),
)
ROWS: list[dict[str, Any]] = [
    {"layer": "Conv_0 + Relu_1", "type": "Half", "time": 0.06, "margin": 0.01, "weights": 2048, "line": "17"},
    {"layer": "a:1 || b", "type": ("Float", "Int8"), "time": 0.2, "margin": None, "weights": 0, "line": "9"},
    {"layer": "Reformatting x", "type": (), "time": None, "margin": 0.5, "weights": None, "line": "5"},
]


def kept(text: str) -> list[int]:
    found = parse_filter(text, FIELDS)
    return [place for place, row in enumerate(ROWS) if found.keeps(row)]


@for_each(
    ("text", "places"),
    [
        ("", [0, 1, 2]),
        ("   ", [0, 1, 2]),
        ("relu", [0]),
        ("relu|REFORMAT", [0, 2]),
        ("-reformat", [0, 1]),
        ('"a:1 || b"', [1]),
        ('name:"conv_0 +"', [0]),
        ("type:half", [0]),
        ("type:fp16", [0]),
        ("type:int8|half", [0, 1]),
        ("type=int", []),
        ("type=int8", [1]),
        ("type!=half", [1]),
        ("-type=half", [1, 2]),
        ("type:?", [2]),
        ("type!=?", [0, 1]),
        ("time>0.05 margin<2%", [0]),
        ("time>=60us", [0, 1]),
        ("time<=0.00006s", [0]),
        ("time > 0.1", [1]),
        ("time=60us|0.2", [0, 1]),
        ("time!=0.2", [0]),
        ("time:?", [2]),
        ("-time<1", [2]),
        ("weights>=2KiB", [0]),
        ("weights<1k", [1]),
        ("17", []),
        ("line:17", [0]),
    ],
)
def test_a_filter_keeps_the_rows_where_every_term_holds(text: str, places: list[int]) -> None:
    assert kept(text) == places


@for_each(
    ("text", "column", "said"),
    [
        ("relu tpe:half", 6, "Did you mean 'type'?"),
        ("zzz:1", 1, "The fields are"),
        ("time>fast", 6, "'fast' is no number"),
        ("time>2%", 6, "no unit of 'time_ms'"),
        ("layer<3", 6, "a text, which is neither more nor less"),
        ("time>1|2", 8, "takes one number"),
        ("time>?", 5, "stands alone"),
        ("type:", 6, "a value should stand here"),
        ('relu "abc', 6, "a quote is not closed"),
        ("relu |", 7, "a value should stand here"),
        ("| relu", 1, "'|' cannot stand here"),
        ("relu -", 7, "a value should stand here"),
    ],
)
def test_a_filter_that_cannot_be_read_is_refused_at_its_column(text: str, column: int, said: str) -> None:
    with pytest.raises(FilterError, match=r"column \d+") as caught:
        parse_filter(text, FIELDS)
    assert caught.value.column == column
    assert said in str(caught.value)


@for_each(
    ("text", "column", "found"),
    [
        ("", 1, ("name:", "layer:", "type:", "time>", "time_ms>", "margin>", "weights>", "weights_bytes>", "line:")),
        ("ti", 3, ("time>", "time_ms>")),
        ("relu -ty", 9, ("type:",)),
        ("ma type:half", 3, ("margin>",)),
        ("type:f", 7, ("type:float", "type:fp8")),
        ("type=b", 7, ("type=bfloat16",)),
        ("zzz:f", 6, ()),
    ],
)
def test_the_word_before_the_cursor_is_completed(text: str, column: int, found: tuple[str, ...]) -> None:
    assert completions(text, column, FIELDS) == found


@given(st.text(alphabet='abtype:<>=!-|"? 1%.', max_size=14))
def test_any_text_is_read_or_refused_at_a_place_in_it(text: str) -> None:
    column = 0
    try:
        found = parse_filter(text, FIELDS)
    except FilterError as error:
        column = error.column
    if column:
        assert column <= len(text) + 1
    else:
        assert all(isinstance(found.keeps(row), bool) for row in ROWS)


@given(st.text(alphabet=st.characters(blacklist_characters='"', blacklist_categories=("Cs", "Cc")), min_size=1))
def test_a_quoted_text_finds_the_rows_that_hold_it(text: str) -> None:
    row = {**ROWS[0], "layer": f"x{text}y"}
    assert parse_filter(f'layer:"{text}"', FIELDS).keeps(row)
    assert not parse_filter(f'-layer:"{text}"', FIELDS).keeps(row)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_orders_of_numbers_divide_the_rows_that_have_one(bound: float, value: float) -> None:
    row = {**ROWS[0], "time": value}
    less, more = (parse_filter(f"time{order}{bound!r}", FIELDS).keeps(row) for order in ("<", ">="))
    assert less != more
