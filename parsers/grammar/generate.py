"""Compiles the grammars into ``tables.json``; to be run after each change of a grammar, or of what derives from it.

Usage: ``python -m trtforensics.parsers.grammar.generate``
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.grammar import bare_names, compile_rules
from trtforensics.parsers.grammar.layouts import layouts
from trtforensics.parsers.grammar.line_kinds import CAUSE, GRAMMARS, LINE
from trtforensics.parsers.grammar.patterns import patterns_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.parsers.grammar.layouts import Layout
    from trtforensics.parsers.grammar.line_kinds import LineKind


def derived() -> tables.GrammarTables:
    """Compile the grammars, which takes about a second.

    Raises:
        ValueError: a directive of a rule is wrong.
    """
    rules = {start: tuple(compile_rules(start)) for start in GRAMMARS}
    kinds = {start: tuple(rule.kind for rule in compiled) for start, compiled in rules.items()}
    bare = set(bare_names())
    noted = (rule for rule in (*rules[LINE], *rules[CAUSE]) if rule.kind.noted or rule in rules[CAUSE])
    return tables.GrammarTables(
        kinds,
        tuple(kind for kind in kinds[LINE] if kind.name in bare),
        tuple(layouts(rules[LINE])),
        {rule.kind.name: patterns_of(rule) for rule in noted},
    )


def text_of(found: tables.GrammarTables) -> str:
    """Return tables as their digest and JSON text, one kind or layout a line, so that a change is read in a line."""
    kinds = [f"{json.dumps(start)}: {_lines(map(_kind_row, own))}" for start, own in found.kinds.items()]
    bare = json.dumps([kind.name for kind in found.bare])
    layout_rows = _lines(map(_layout_row, found.layouts))
    patterns = ",\n".join(f"{json.dumps(kind)}: {json.dumps(own)}" for kind, own in found.patterns.items())
    text = (
        f'{{"kinds": {{{", ".join(kinds)}}},\n"bare": {bare},\n"layouts": {layout_rows},\n'
        f'"patterns": {{\n{patterns}\n}}}}\n'
    )
    return f"{tables.digest_of(text.encode())}\n{text}"


def main() -> None:
    """Write the tables beside the grammars."""
    Path(tables.PATH).resolve().write_text(text_of(derived()), "utf-8")


def _lines(rows: Iterable[tuple[Any, ...]]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]"


def _kind_row(kind: LineKind) -> tuple[Any, ...]:
    return kind.name, kind.regex, kind.fields, kind.openers, kind.needle, kind.kept, kind.noted


def _layout_row(layout: Layout) -> tuple[Any, ...]:
    return (
        layout.kind.name,
        [(a.text.decode("latin-1"), a.offset, a.place, a.from_right, a.searched) for a in layout.anchors],
        [(s.content.name, s.fields, s.regex, s.terminal) for s in layout.segments],
        layout.separators,
        layout.closed,
        layout.first_byte.decode("latin-1"),
    )


if __name__ == "__main__":
    main()
