"""Compiles the grammars into ``tables.json``; to be run after each change of a grammar, or of what derives from it.

Usage: ``python -m trtforensics.parsers.grammar.generate``
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import astuple
from pathlib import Path
from typing import Any

from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.grammar import bare_names, compile_rules
from trtforensics.parsers.grammar.layouts import Layout, layouts
from trtforensics.parsers.grammar.line_kinds import CAUSE, GLUED, GRAMMARS, LINE, PREFIX, SENTENCE
from trtforensics.parsers.grammar.patterns import neighbours_of, patterns_of


def derived() -> tables.GrammarTables:
    """Compile the grammars, which takes about a second.

    Raises:
        ValueError: a directive of a rule is wrong.
    """
    rules = {start: tuple(compile_rules(start)) for start in GRAMMARS}
    kinds = {start: tuple(rule.kind for rule in compiled) for start, compiled in rules.items()}
    bare = set(bare_names())
    noted = (*(rule for rule in rules[LINE] if rule.kind.noted), *rules[CAUSE])
    return tables.GrammarTables(
        kinds,
        tuple(kind for kind in kinds[LINE] if kind.name in bare),
        tuple(layouts(rules[LINE])),
        {rule.kind.name: patterns_of(rule) for rule in noted}
        | {kind.name: ("…",) for kind in kinds[SENTENCE] if not kind.fields},
        {rule.kind.name: rule.decided_by for rule in rules[PREFIX]},
        tuple(near for rule in rules[GLUED] for near in neighbours_of(rule)),
    )


def text_of(derived_tables: tables.GrammarTables) -> str:
    """Return tables as their digest and JSON text, one kind or layout a line, so that a change is read in a line."""
    kinds = [f"{json.dumps(start)}: {_lines(map(astuple, rows))}" for start, rows in derived_tables.kinds.items()]
    bare = json.dumps([kind.name for kind in derived_tables.bare])
    layout_rows = _lines(map(_layout_row, derived_tables.layouts))
    patterns = ",\n".join(f"{json.dumps(kind)}: {json.dumps(rows)}" for kind, rows in derived_tables.patterns.items())
    text = (
        f'{{"kinds": {{{", ".join(kinds)}}},\n"bare": {bare},\n"layouts": {layout_rows},\n'
        f'"patterns": {{\n{patterns}\n}},\n'
        f'"decided_by": {json.dumps(derived_tables.decided_by)},\n"neighbours": {_lines(derived_tables.neighbours)}}}\n'
    )
    return f"{tables.digest_of(text.encode())}\n{text}"


def main() -> None:
    """Write the tables beside the grammars."""
    Path(tables.PATH).resolve().write_text(text_of(derived()), "utf-8")


def _lines(rows: Iterable[Sequence[Any]]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, rows)) + "\n]"


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
