"""The grammars of the ``*.lark`` files beside this module, compiled to one byte regex a kind of line.

Lark reads the grammars; from its rules and terminals this module makes a :class:`Kind` for every
rule: the regex that judges a whole line body, the literals that open it or must be in it, and the
fields it captures. A terminal becomes an atomic group, which is what a lexer does: it never gives
back. The result is plain data, which ``tables.py`` keeps, so that Lark itself is not imported in
daily use; ``reference.py`` runs the same grammars through LALR and tests hold both equal.
"""

from __future__ import annotations

import itertools
import os
import re
from functools import cache, cached_property
from typing import TYPE_CHECKING

from trtforensics.model.records import record

if TYPE_CHECKING:
    from collections.abc import Iterable

    from lark.grammar import Rule
    from lark.lexer import TerminalDef

LINE = "line"
PREFIX = "prefix"
CAUSE = "cause"
BARE_FILE = "bare.lark"
"""The grammar of the lines that also come without a logger prefix."""
_OWN_FILES = {PREFIX: "prefixes.lark", CAUSE: "causes.lark"}
"""The grammars that are no kinds of line."""
_OWNED = frozenset(_OWN_FILES.values())

REGEX_FLAGS = re.ASCII | re.MULTILINE
"""ASCII: classes such as ``\\S`` mean the same for bytes and for latin-1 text. MULTILINE: ``$`` as Lark compiles it."""

_FOLDER = os.path.dirname(__file__)  # noqa: PTH120 - every start would pay for pathlib


@record(frozen=True, slots=True)
class Part:
    """A terminal in an alternative: a literal text, or a regex that may fill a field."""

    literal: str
    regex: str
    field: str | None


@record(frozen=True, slots=False)
class Kind:
    """A kind of line. ``fields`` names the capture groups in order; a name may occur twice (two alternatives)."""

    name: str
    regex: str
    fields: tuple[str, ...]
    openers: tuple[str, ...]
    """The literals that can open a body of this kind; an empty one means that some alternative opens with free text."""
    needle: str
    """A literal that every body of this kind holds; empty where there is none."""

    @cached_property
    def match(self) -> re.Pattern[bytes]:
        """The compiled regex; use ``fullmatch``."""
        return re.compile(self.regex.encode("latin-1"), REGEX_FLAGS)

    @cached_property
    def names_are_unique(self) -> bool:
        """Whether no two capture groups fill one field."""
        return len(set(self.fields)) == len(self.fields)

    def can_open(self, start: bytes) -> bool:
        """Whether a body that starts with these bytes may be of this kind."""
        text = start.decode("latin-1")
        return any(opener.startswith(text) or text.startswith(opener) for opener in self.openers)


@record(frozen=True, slots=True)
class CompiledRule:
    """A rule: the kind of line that it reads, and the sequences of terminals that the kind's regex stands for."""

    kind: Kind
    alternatives: tuple[tuple[Part, ...], ...]


def field_of(terminal: str) -> str | None:
    """Return the field that a terminal fills: ``LAYER__SET`` fills ``layer``; ``_NAME`` and anonymous ones none."""
    return None if terminal.startswith("_") else terminal.partition("__")[0].lower()


@cache
def files() -> dict[str, bytes]:
    """Return the grammar files by their names, in order."""
    found = {}
    for name in sorted(os.listdir(_FOLDER)):  # noqa: PTH208 - see _FOLDER
        if name.endswith(".lark"):
            with open(os.path.join(_FOLDER, name), "rb") as file:  # noqa: PTH118, PTH123 - see _FOLDER
                found[name] = file.read()
    return found


def grammar_text(start: str) -> str:
    """Return a grammar as one text, with its start rule: of the line bodies (LINE), the prefixes or the causes."""
    own = _OWN_FILES.get(start)
    texts = [text for name, text in files().items() if name == own or (own is None and name not in _OWNED)]
    text = b"\n".join(texts).decode()
    return f"{start}: {' | '.join(_rules(text))}\n{text}"


def bare_names() -> list[str]:
    """Return the names of the kinds of line that also come without a logger prefix."""
    return _rules(files()[BARE_FILE].decode())


def _rules(text: str) -> list[str]:
    return re.findall(r"^([a-z][a-z0-9_]*)\s*:", text, re.MULTILINE)


def compile_rules(start: str) -> Iterable[CompiledRule]:
    """Compile a grammar's rules, in the grammar's order."""
    # Not through ``Lark(...)``: it would build tables for a parser or a lexer that nobody runs here, and with
    # the package interegular installed compare every two terminals, which takes minutes.
    from lark.load_grammar import load_grammar  # noqa: PLC0415 - Lark is not needed when the table is cached

    grammar, _ = load_grammar(grammar_text(start), "trtforensics", [], False)  # type: ignore[no-untyped-call]  # noqa: FBT003 - Lark's own form
    terminal_list, rules, _ = grammar.compile([start], "*")
    terminals = {terminal.name: terminal for terminal in terminal_list}
    for name, sequences in _sequences(start, rules).items():
        alternatives = tuple(tuple(_part(n, terminals[n]) for n in s) for s in sequences)
        yield CompiledRule(_kind(name, sequences, terminals), alternatives)


def _sequences(start: str, rules: Iterable[Rule]) -> dict[str, list[tuple[str, ...]]]:
    """Return the alternatives of each kind as sequences of terminal names."""
    alternatives: dict[str, list[tuple[str, ...]]] = {}
    for rule in rules:
        if rule.origin.name != start:
            alternatives.setdefault(str(rule.origin.name), []).append(tuple(s.name for s in rule.expansion))
    return alternatives


def _kind(name: str, sequences: list[tuple[str, ...]], terminals: dict[str, TerminalDef]) -> Kind:
    regex, fields = _Writer(terminals).write(sequences)
    literal = {n: t.pattern.value if t.pattern.type == "str" else "" for n, t in terminals.items()}
    common = [n for n in sequences[0] if all(n in s for s in sequences)]
    return Kind(
        name=name,
        regex=regex,
        fields=fields,
        openers=tuple(sorted({literal[s[0]] for s in sequences})),
        needle=max((literal[n] for n in common), key=len, default=""),
    )


def _part(name: str, terminal: TerminalDef) -> Part:
    pattern = terminal.pattern
    return Part(pattern.value, "", None) if pattern.type == "str" else Part("", pattern.value, field_of(name))


class _Writer:
    """Writes alternatives as one regex and remembers which capture group is which field."""

    def __init__(self, terminals: dict[str, TerminalDef]) -> None:
        self._terminals = terminals
        self._fields: list[str] = []

    def write(self, sequences: list[tuple[str, ...]]) -> tuple[str, tuple[str, ...]]:
        regex = self._alternatives(sequences)
        return regex, tuple(self._fields)

    def _alternatives(self, sequences: list[tuple[str, ...]]) -> str:
        """Write alternatives, common beginnings first, so that optional parts become optional again."""
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
        written = "|".join(self._alternatives(group) for group in groups.values())
        return f"(?:{written})" + ("?" if empty else "")

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
    """Return the terminals that every sequence begins with."""
    columns = zip(*sequences, strict=False)
    same = itertools.takewhile(lambda column: len(set(column)) == 1, columns)
    return tuple(column[0] for column in same)


def _optional_opening(sequences: list[tuple[str, ...]]) -> tuple[str, ...]:
    """Return the opening that can be left out of every sequence that has it: {P x, x} gives P."""
    longest = max(sequences, key=len)
    for size in range(len(longest), 0, -1):
        opening = longest[:size]
        with_opening = {s[size:] for s in sequences if s[:size] == opening}
        without = {s for s in sequences if s[:size] != opening}
        if with_opening == without:
            return opening
    return ()
