"""Compiles the grammars, the ``*.lark`` files beside this module, to one byte regex for each kind of line.

Lark reads the grammars. From its rules and terminals this module makes a :class:`LineKind` for every rule: the regex
that judges a whole body, the literals that open a body or must be in it, the fields that it captures, and what the
rule's directive says. A terminal becomes an atomic group: like a lexer, it never gives back what it took.

A log is read without this module and without Lark, by the tables that ``generate.py`` makes of the result.
A reference executor among the tests runs the same grammars through LALR, and both are held equal.
"""

from __future__ import annotations

import itertools
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from lark.load_grammar import load_grammar

from trtforensics.parsers.grammar import line_kinds
from trtforensics.parsers.grammar.patterns import CompiledRule, RuleTerminal, beginnings_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark.grammar import Rule
    from lark.lexer import TerminalDef

BARE_FILE = "bare.lark"
"""The grammar of the lines that also come without a logger prefix."""
_OWN_FILES = {
    line_kinds.PREFIX: "prefixes",
    line_kinds.GLUED: "glued",
    line_kinds.LEVEL: "levels",
    line_kinds.CAUSE: "causes",
    line_kinds.ASIDE: "asides",
    line_kinds.SENTENCE: "sentences",
    line_kinds.KERNEL: "kernels",
    line_kinds.KERNEL_WORD: "kernel_words",
}
"""How the names of the files begin whose rules are no kinds of line."""

_RULE = r"^([a-z][a-z0-9_]*)\s*:"
_DIRECTIVE = r"^//:(?P<words>.*)\n(?:(?P<rule>[a-z][a-z0-9_]*)\s*:)?"
"""A comment such as ``//: bulk keep layer tactic``, and the rule in the next line that it is about."""
_BULK, _KEEP, _NOTE, _LINES, _DECIDED = "bulk", "keep", "note", "lines", "decided "


class _Directive(NamedTuple):
    """What the comment above a rule says of its lines; see the head of ``common.lark``."""

    is_bulk: bool = False
    is_noted: bool = False
    kept: tuple[str, ...] | None = None
    """The fields to keep; those that the rule names where this is empty; None where lines are only counted."""
    decided_by: str = "."

    def kept_of(self, rule: str, fields: tuple[str, ...]) -> tuple[str, ...] | None:
        """Return which of a rule's fields are kept.

        Raises:
            ValueError: the directive names a field that the rule has not.
        """
        if not self.kept:
            return None if self.kept is None else tuple(dict.fromkeys(fields))
        if self.kept == (_LINES,):
            return ()
        absent = [name for name in self.kept if name not in fields]
        if absent:
            raise ValueError(f"{rule} keeps fields that it does not have: {', '.join(absent)}")
        return self.kept


def field_of(terminal: str) -> str | None:
    """Return the field that a terminal fills: ``LAYER__SET`` fills ``layer``; ``_NAME`` and anonymous ones none."""
    return None if terminal.startswith("_") else terminal.partition("__")[0].lower()


@cache
def files() -> dict[str, str]:
    """Return the texts of the grammar files by name, in order."""
    return {path.name: path.read_text("utf-8") for path in sorted(Path(__file__).parent.glob("*.lark"))}


def grammar_text(start: str) -> str:
    """Return a grammar as one text with its start rule: that of line bodies (LINE), prefixes or causes."""
    texts = [text for name, text in files().items() if _start_of(name) == start]
    text = "\n".join(texts)
    return f"{start}: {' | '.join(_rules(text))}\n{text}"


def _start_of(file: str) -> str:
    return next((start for start, beginning in _OWN_FILES.items() if file.startswith(beginning)), line_kinds.LINE)


def bare_names() -> list[str]:
    """Return the names of the kinds of line that also come without a logger prefix."""
    return _rules(files()[BARE_FILE])


def _rules(text: str) -> list[str]:
    return re.findall(_RULE, text, re.MULTILINE)


def _directives(text: str) -> dict[str, _Directive]:
    """Read the directives of a grammar, by the rules they are about; refuse (ValueError) others, or one of no rule."""
    directives = {}
    for directive in re.finditer(_DIRECTIVE, text, re.MULTILINE):
        text = directive["words"].strip()
        if directive["rule"] is not None and text.startswith(_DECIDED):
            directives[directive["rule"]] = _Directive(decided_by=text.removeprefix(_DECIDED))
            continue
        words = text.split()
        is_bulk = words[:1] == [_BULK]
        use, *kept = words[is_bulk:] or [""]
        if directive["rule"] is None or use not in {_KEEP, _NOTE, *[""] * is_bulk}:
            raise ValueError(f"//:{directive['words']} is no directive, or the line below it is no rule")
        directives[directive["rule"]] = _Directive(is_bulk, use == _NOTE, tuple(kept) if use else None)
    return directives


def compile_rules(start: str) -> Iterable[CompiledRule]:
    """Compile a grammar's rules, in the grammar's order.

    Raises:
        ValueError: a directive cannot be read or names a field that its rule has not, or a line fills a
            kept field twice.
    """
    # Not through ``Lark(...)``: that builds tables for a parser or a lexer, which are not needed here. Where the
    # package interegular is installed it also compares every two terminals, which takes minutes.
    text = grammar_text(start)
    directives = _directives(text)
    grammar, _ = load_grammar(text, "trtforensics", [], False)  # type: ignore[no-untyped-call]  # noqa: FBT003 - Lark's own form
    terminal_list, rules, _ = grammar.compile([start], "*")
    terminals = {terminal.name: terminal for terminal in terminal_list}
    for name, sequences in _sequences(start, rules).items():
        alternatives = tuple(tuple(_terminal(n, terminals[n]) for n in s) for s in sequences)
        directive = directives.get(name, _Directive())
        kind = _kind(name, sequences, terminals, directive)
        _refuse_doubles(kind, alternatives)
        yield CompiledRule(kind, alternatives, directive.is_bulk, directive.decided_by)


def _refuse_doubles(kind: line_kinds.LineKind, alternatives: Iterable[tuple[RuleTerminal, ...]]) -> None:
    """Refuse (ValueError) a kept field that one line fills twice: only the last value would be kept."""
    for alternative in alternatives:
        fields = [terminal.field for terminal in alternative if terminal.field in (kind.kept or ())]
        if len(set(fields)) < len(fields):
            raise ValueError(f"a line of {kind.name} fills one of its kept fields twice: {', '.join(map(str, fields))}")


def _sequences(start: str, rules: Iterable[Rule]) -> dict[str, list[tuple[str, ...]]]:
    """Return the alternatives of each kind as sequences of terminal names."""
    alternatives: dict[str, list[tuple[str, ...]]] = {}
    for rule in rules:
        if rule.origin.name != start:
            alternatives.setdefault(str(rule.origin.name), []).append(tuple(s.name for s in rule.expansion))
    return alternatives


def _kind(
    name: str, sequences: list[tuple[str, ...]], terminals: dict[str, TerminalDef], directive: _Directive
) -> line_kinds.LineKind:
    regex, fields = _RegexWriter(terminals).write(sequences)
    literal = {n: t.pattern.value if t.pattern.type == "str" else "" for n, t in terminals.items()}
    common = [n for n in sequences[0] if all(n in s for s in sequences)]
    return line_kinds.LineKind(
        name=name,
        regex=regex,
        fields=fields,
        openers=tuple(sorted({literal[s[0]] for s in sequences})),
        starts=beginnings_of(regex),
        needle=max((literal[n] for n in common), key=len, default=""),
        kept=directive.kept_of(name, fields),
        noted=directive.is_noted,
    )


def _terminal(name: str, terminal: TerminalDef) -> RuleTerminal:
    pattern = terminal.pattern
    if pattern.type == "str":
        return RuleTerminal(pattern.value, "", None)
    return RuleTerminal("", pattern.value, field_of(name))


class _RegexWriter:
    """Writes alternatives as one regex and remembers the field of each capture group."""

    def __init__(self, terminals: dict[str, TerminalDef]) -> None:
        self._terminals = terminals
        self._fields: list[str] = []

    def write(self, sequences: list[tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
        regex = self._alternatives(sequences)
        return regex, tuple(self._fields)

    def _alternatives(self, sequences: list[tuple[str, ...]]) -> str:
        """Write alternatives with their common beginnings taken out, so that optional parts become optional again."""
        if len(sequences) == 1:
            return "".join(self._terminal(name) for name in sequences[0])
        shared = _common_opening(sequences)
        if shared:
            return self._alternatives([shared]) + self._alternatives([s[len(shared) :] for s in sequences])
        optional = _optional_opening(sequences)
        if optional:
            rest = [s for s in sequences if s[: len(optional)] != optional]
            return f"(?:{self._alternatives([optional])})?" + (self._alternatives(rest) if any(rest) else "")
        groups: dict[str, list[tuple[str, ...]]] = {}
        for sequence in sequences:
            groups.setdefault(sequence[0] if sequence else "", []).append(sequence)
        empty = groups.pop("", None)
        by_rest = itertools.groupby(groups.values(), key=lambda group: group[0][1:] if len(group) == 1 else ())
        written = "|".join([self._same_rest(list(same), rest) for rest, same in by_rest])
        return f"(?:{written})" + ("?" if empty else "")

    def _same_rest(self, groups: list[list[tuple[str, ...]]], rest: tuple[str, ...]) -> str:
        """Write neighbours that differ in their first terminal alone, with the ``rest`` behind it written once."""
        if not rest or len(groups) == 1:
            return "|".join(map(self._alternatives, groups))
        firsts = "|".join([self._terminal(sequence[0]) for (sequence,) in groups])
        return f"(?:{firsts}){self._alternatives([rest])}"

    def _terminal(self, name: str) -> str:
        pattern = self._terminals[name].pattern
        if pattern.type == "str":
            return re.escape(pattern.value)
        field = field_of(name)
        if field is None:
            return f"(?>{pattern.value})"
        self._fields.append(field)
        return f"((?>{pattern.value}))"


def _common_opening(sequences: list[tuple[str, ...]]) -> tuple[str, ...]:
    columns = zip(*sequences, strict=False)
    same = itertools.takewhile(lambda column: len(set(column)) == 1, columns)
    return tuple(column[0] for column in same)


def _optional_opening(sequences: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the opening that every sequence that has it also does without: {P x, x} gives P."""
    longest = max(sequences, key=len)
    for size in range(len(longest), 0, -1):
        opening = longest[:size]
        with_opening = {s[size:] for s in sequences if s[:size] == opening}
        without = {s for s in sequences if s[:size] != opening}
        if with_opening == without:
            return opening
    return ()
