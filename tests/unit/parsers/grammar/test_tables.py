"""The tables in the package are those of the grammars beside them, and nothing is written anywhere to read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.support.grammar_rules import rules_of
from trtforensics.errors import DamagedTablesError
from trtforensics.parsers.grammar import generate, grammar, tables
from trtforensics.parsers.grammar.layouts import layouts
from trtforensics.parsers.grammar.line_kinds import GRAMMARS, LINE

if TYPE_CHECKING:
    from collections.abc import Callable

GENERATE = "python -m trtforensics.parsers.grammar.generate"


@pytest.fixture
def bare_rules(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Add rules to a grammar."""
    files = grammar.files()

    def add(text: str) -> None:
        monkeypatch.setattr(grammar, "files", lambda: files | {"bare.lark": files["bare.lark"] + text})

    return add


@pytest.fixture(scope="module")
def derived() -> tables.GrammarTables:
    """Return what the grammars say now, from the rules that other tests compile too."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(generate, "compile_rules", rules_of)
        return generate.derived()


def test_the_tables_are_fresh(derived: tables.GrammarTables) -> None:
    assert Path(tables.PATH).read_text("utf-8") == generate.text_of(derived), f"run `{GENERATE}`"


def test_what_is_read_is_what_was_derived_with_its_types(derived: tables.GrammarTables) -> None:
    assert tables.tables() == derived
    assert repr(tables.tables()) == repr(derived)  # (1,) is no [1], b"" no ""
    kinds = {id(kind) for kind in tables.kinds()}
    assert {id(kind) for kind in tables.tables().bare} | {
        id(layout.kind) for layout in tables.tables().layouts
    } <= kinds


def test_lines_without_a_prefix_are_of_kinds_of_lines(derived: tables.GrammarTables) -> None:
    assert derived.kinds.keys() == {*GRAMMARS}
    assert set(derived.bare) < set(derived.kinds[LINE])


DIRECTIVES = {
    "": (None, False, False),
    "//: keep\n": (("text", "count"), False, False),
    "//: keep lines\n": ((), False, False),
    "//: note count\n": (("count",), True, False),
    "//: bulk\n": (None, False, True),
    "//: bulk keep count text\n": (("count", "text"), False, True),
}
"""Directives above a rule; of its kind: which fields are kept, whether they are noted, and whether it is bulk."""


def test_a_directive_says_what_is_kept(bare_rules: Callable[[str], None]) -> None:
    names = [f"only_here_{number}" for number in range(len(DIRECTIVES))]
    bare_rules(
        "".join(
            f'{directive}{name}: "{name} " TEXT__HERE " and " COUNT\n'
            for name, directive in zip(names, DIRECTIVES, strict=True)
        )
        + "TEXT__HERE: /[^ ]+/\n"
    )
    rules = [*grammar.compile_rules(LINE)]
    kinds = {rule.kind.name: rule.kind for rule in rules}
    bare, with_layout = grammar.bare_names(), {layout.kind for layout in layouts(rules)}
    for name, (kept, noted, bulk) in zip(names, DIRECTIVES.values(), strict=True):
        kind = kinds[name]
        assert (kind.kept, kind.noted) == (kept, noted)
        assert name in bare
        assert bulk is (kind in with_layout)


@pytest.mark.parametrize(
    "text",
    [
        '//: keep layer\nonly_here: "only here"\n',
        '//: kept\nonly_here: "only here"\n',
        '//:\nonly_here: "only here"\n',
        '//: bulk count\nonly_here: "only here" COUNT\n',
        '//: keep\n\nonly_here: "only here"\n',
        '//: keep\nonly_here: "only here " COUNT " of " COUNT\n',
        '//: keep count\nonly_here: "only here " COUNT " of " COUNT__ALL\nCOUNT__ALL: /[0-9]+/\n',
    ],
)
def test_a_directive_that_does_not_fit_its_rule_is_an_error(bare_rules: Callable[[str], None], text: str) -> None:
    bare_rules(text)
    with pytest.raises(ValueError, match=r"directive|fields"):
        generate.derived()


@pytest.mark.parametrize("damage", ["digit", "cut", "empty", "grammar"])
def test_tables_that_are_not_of_the_grammars_are_refused(
    damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = Path(tables.PATH).resolve().parent
    for file in (*folder.glob("*.lark"), folder / "tables.json"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    copy, other = tmp_path / "tables.json", tmp_path / "bare.lark"
    monkeypatch.setattr(tables, "PATH", str(copy))
    assert tables.tables.__wrapped__() == tables.tables()
    whole = copy.read_bytes()
    copy.write_bytes(
        {"digit": whole.replace(b"Computing", b"Computinh", 1), "cut": whole[:-2], "empty": b""}.get(damage, whole)
    )
    if damage == "grammar":
        other.write_bytes(other.read_bytes() + b"\n")
    with pytest.raises(DamagedTablesError):
        tables.tables.__wrapped__()


def test_reading_a_log_writes_no_file_outside(tmp_path: Path, samples: list[Path]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = [sys.executable, "-m", "trtforensics", "parse", "--json", str(samples[0])]
    folders = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home)}
    path = ":".join(filter(None, sys.path))
    done = subprocess.run(command, env={**folders, "PYTHONPATH": path}, cwd=home, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == []
