"""Layouts are derived from the grammar: what the bulk kinds become, and that each of them becomes something."""

from __future__ import annotations

from tests.support.grammar_rules import rules_of
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.layouts import Content, Layout, ranks

_LAYOUTS = tables.tables().layouts


def _bulk() -> list[str]:
    return [rule.kind.name for rule in rules_of() if rule.is_bulk]


def _of(kind: str) -> list[Layout]:
    return [layout for layout in _LAYOUTS if layout.kind.name == kind]


def test_every_bulk_kind_has_a_layout() -> None:
    assert "tactic_timed" in _bulk()
    assert [kind for kind in _bulk() if not _of(kind)] == []


def test_the_fields_of_a_timed_tactic_are_read_as_numbers() -> None:
    contents = [[(s.content, s.fields) for s in layout.segments][-2:] for layout in _of("tactic_timed")]
    assert contents == [[(Content.TACTIC, ("tactic",)), (Content.NUMBER, ("ms",))]] * 4


def test_places_count_blanks_from_the_right_behind_free_text() -> None:
    free = [x for x in _of("set_tactic_name") if len(x.segments) == 3 and not x.opener]
    (layout,) = [x for x in free if not x.anchors[1].searched]
    assert [(a.text, a.place, a.from_right) for a in layout.anchors[1:]] == [
        (b" Set Tactic Name: ", 6, True),
        (b" Tactic: ", 2, True),
    ]
    assert [s.content for s in layout.segments] == [Content.FREE, Content.NONBLANK, Content.TACTIC]


def test_what_stands_between_two_free_texts_is_searched_for() -> None:
    (layout,) = [x for x in _of("cached_result") if len(x.segments) == 6]
    assert [(a.text, a.place, a.searched) for a in layout.anchors[1:5]] == [
        (b" [", None, True),
        (b" -> ", None, True),
        (b"] got cached result: ", 8, False),
        (b", tactic ", 4, False),
    ]


def test_anchors_behind_a_name_are_searched_from_the_right_where_one_that_is_counted_ends_them() -> None:
    assert {kind for kind in _bulk() if any(layout.from_right for layout in _of(kind))} == {
        "cached_result",
        "format_combination",
        "reformat_combination",
    }


def test_a_line_of_two_kinds_has_the_one_that_is_asked_first_everywhere() -> None:
    rank = ranks(_LAYOUTS)
    assert rank["cached_result"] < rank["profiling_completed"] < rank["fusing"] < rank["node_inputs"]
    assert set(rank) == set(_bulk())


def test_a_layout_without_free_text_knows_its_separators() -> None:
    assert {layout.separators for layout in _of("tactic_timed")} == {3, 6, None}
    assert {layout.separators for layout in _of("timing_runner")} == {None}


def test_opening_literals_come_first() -> None:
    opened = [bool(layout.opener) for layout in _LAYOUTS]
    assert opened == sorted(opened, reverse=True)
