"""Rows of drawn tables, whose cells may go on below."""

from __future__ import annotations

from trtforensics.parsers.notation.table_rows import whole_rows


def _read(table: str) -> dict[int, list[str]]:
    return whole_rows({line: [text] for line, text in enumerate(table.strip("\n").split("\n"), 1)})


def test_a_cell_that_is_cut_anywhere_is_one_text() -> None:
    assert _read("""
| birch | 1 | Internal: unable to cre |
|       |   | ate a thing: the file i |
|       |   | s bad                   |
| elm   | 2 | READY                   |
""") == {
        1: ["| birch | 1 | Internal: unable to create a thing: the file is bad"],
        4: ["| elm | 2 | READY"],
    }


def test_a_cell_that_is_broken_at_blanks_is_one_text() -> None:
    table = "| birch | unable to load    |\n|       | the whole tree    |\n|       | now               |"
    assert _read(table) == {1: ["| birch | unable to load the whole tree now"]}


def test_without_the_left_edge() -> None:
    assert _read("birch | unable to loa |\n      | d             |") == {1: ["birch | unable to load"]}


def test_a_row_with_other_bars_or_a_first_cell_is_its_own() -> None:
    table = "| birch | 1 |\n|     |   |\n| elm   | 2 |\n\n|       | 3 |"
    assert _read(table) == {
        1: ["| birch | 1"], 2: ["|  |"], 3: ["| elm | 2"], 4: [""], 5: ["|  | 3"],
    }  # fmt: skip


def test_other_lines_stay_as_they_are() -> None:
    assert _read("a | b\nc |\n[E] x |") == {1: ["a | b"], 2: ["c |"], 3: ["[E] x |"]}
