"""What the cache folder holds is what the grammars say, and whatever is wrong with it, they are asked again."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from trtforensics.parsers.grammar import grammar, tables
from trtforensics.parsers.grammar.grammar import CAUSE, LINE, PREFIX, compile_rules
from trtforensics.parsers.grammar.layouts import layouts

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

DERIVED = tables.derived()
"""Fresh from the grammars, whatever the cache folder of who runs the tests holds."""

read = tables.tables.__wrapped__


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a cache folder that has been written once."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    read()
    (written,) = tmp_path.rglob("*.*")
    return written


def test_the_derived_tables_are_those_of_the_grammars() -> None:
    for start in (LINE, PREFIX, CAUSE):
        assert DERIVED.kinds[start] == tuple(rule.kind for rule in compile_rules(start))
    assert DERIVED.layouts == tuple(layouts(compile_rules(LINE)))
    assert set(DERIVED.bare) < set(DERIVED.kinds[LINE])


def test_a_cached_table_gives_the_very_same_kinds_and_layouts(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "derived", lambda: pytest.fail(f"{table} was not read"))
    cached = read()
    assert cached == DERIVED
    assert repr(cached) == repr(DERIVED)  # types too: (1,) is no [1], b"" no ""
    kinds = {id(kind) for kind in cached.kinds[LINE]}
    assert {id(kind) for kind in cached.bare} | {id(layout.kind) for layout in cached.layouts} <= kinds


@pytest.mark.parametrize("damage", [b"", b"{", b"[[1]]", b"{}", b"\xff", b"null"])
def test_a_damaged_table_is_derived_and_written_again(table: Path, damage: bytes) -> None:
    whole = table.read_bytes()
    table.write_bytes(damage)
    assert read() == DERIVED
    assert table.read_bytes() == whole


def _without_layout_fields(found: dict[str, Any]) -> None:
    del found["layouts"][0][1:]


def _with_an_unknown_content(found: dict[str, Any]) -> None:
    found["layouts"][0][2][0][0] = "LETTERS"


def _with_a_layout_of_no_kind(found: dict[str, Any]) -> None:
    found["layouts"][0][0] = "of_no_grammar"


def _with_a_number_for_a_literal(found: dict[str, Any]) -> None:
    found["layouts"][0][1][0][0] = 7


def _with_a_short_kind(found: dict[str, Any]) -> None:
    found["kinds"][PREFIX][0].pop()


def _without_a_grammar(found: dict[str, Any]) -> None:
    del found["kinds"][CAUSE]


@pytest.mark.parametrize(
    "damage",
    [
        _without_layout_fields,
        _with_an_unknown_content,
        _with_a_layout_of_no_kind,
        _with_a_number_for_a_literal,
        _with_a_short_kind,
        _without_a_grammar,
    ],
)
def test_a_table_of_another_shape_is_derived_again(table: Path, damage: Callable[[dict[str, Any]], None]) -> None:
    found = json.loads(table.read_bytes())
    damage(found)
    table.write_text(json.dumps(found))
    assert read() == DERIVED


def test_a_changed_grammar_has_a_table_of_its_own(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = grammar.files()
    more = {"bare.lark": files["bare.lark"] + b'only_here: "only here"\n'}
    monkeypatch.setattr(grammar, "files", lambda: files | more)
    assert {kind.name for kind in read().bare} - {kind.name for kind in DERIVED.bare} == {"only_here"}
    assert len(list(table.parent.iterdir())) == 2


def test_a_cache_folder_that_cannot_be_written_is_no_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")
    monkeypatch.setenv("XDG_CACHE_HOME", str(blocked))
    assert read() == DERIVED


def test_who_has_no_home_gets_no_cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.chdir(tmp_path)
    assert read() == DERIVED
    assert not list(tmp_path.iterdir())
