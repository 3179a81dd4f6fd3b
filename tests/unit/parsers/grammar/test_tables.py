"""The tables in the package are those of the grammars beside them, and nothing is written anywhere to read them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from trtforensics.parsers.grammar import generate, grammar, tables
from trtforensics.parsers.grammar.grammar import compile_rules
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


def test_the_tables_are_fresh() -> None:
    assert Path(tables.PATH).read_text("utf-8") == generate.text_of(generate.derived()), f"run `{GENERATE}`"


def test_what_is_read_is_what_was_derived_with_its_types() -> None:
    derived = generate.derived()
    assert tables.tables() == derived
    assert repr(tables.tables()) == repr(derived)  # (1,) is no [1], b"" no ""
    kinds = {id(kind) for kind in tables.kinds()}
    assert {id(kind) for kind in tables.bare_kinds()} | {id(layout.kind) for layout in tables.layouts()} <= kinds


def test_the_derived_tables_are_those_of_the_grammars() -> None:
    derived = generate.derived()
    for start in GRAMMARS:
        assert derived.kinds[start] == tuple(rule.kind for rule in compile_rules(start))
    assert derived.layouts == tuple(layouts(compile_rules(LINE)))
    assert set(derived.bare) < set(derived.kinds[LINE])


@pytest.mark.parametrize(
    ("directive", "kept", "noted", "bulk"),
    [
        ("", None, False, False),
        ("//: keep\n", ("text", "count"), False, False),
        ("//: keep lines\n", (), False, False),
        ("//: note count\n", ("count",), True, False),
        ("//: bulk\n", None, False, True),
        ("//: bulk keep count text\n", ("count", "text"), False, True),
    ],
)
def test_a_directive_says_what_is_kept(
    bare_rules: Callable[[str], None],
    directive: str,
    kept: tuple[str, ...] | None,
    noted: bool,  # noqa: FBT001 - a column of the table
    bulk: bool,  # noqa: FBT001 - a column of the table
) -> None:
    bare_rules(directive + 'only_here: "only here " TEXT__HERE " and " COUNT\nTEXT__HERE: /[^ ]+/\n')
    (rule,) = [rule for rule in compile_rules(LINE) if rule.kind.name == "only_here"]
    assert (rule.kind.kept, rule.kind.noted, rule.is_bulk) == (kept, noted, bulk)
    derived = generate.derived()
    assert rule.kind in derived.bare
    assert bulk is any(layout.kind == rule.kind for layout in derived.layouts)


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


def test_reading_a_log_writes_no_file_outside(tmp_path: Path, samples: list[Path]) -> None:
    home = tmp_path / "home"
    home.mkdir()
    command = [sys.executable, "-m", "trtforensics", "parse", "--json", str(samples[0])]
    folders = {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "TMPDIR": str(home)}
    path = ":".join(filter(None, sys.path))
    done = subprocess.run(command, env={**folders, "PYTHONPATH": path}, cwd=home, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert list(home.iterdir()) == []
