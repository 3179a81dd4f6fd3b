"""Windows of lines in, events out: prefix off, kind found by the compiled grammar, fields into columns.

The grammar is the only judge. A body's first eight bytes say which kinds may open so (asked once per
distinct beginning), a literal that the kind must hold is looked for, and then the kind's regex decides.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING

from trtforensics.model import LineCounts
from trtforensics.parsers import grammar
from trtforensics.parsers.dialects import WEAK_DIALECTS, Prefix, prefix_of
from trtforensics.parsers.drift import Drift
from trtforensics.parsers.events import KEEP, Events

if TYPE_CHECKING:
    from trtforensics.parsers.grammar import Kind
    from trtforensics.parsers.source import Window

_KEY_BYTES = 8
_MAX_KEYS = 1 << 16


class Dispatch:
    """Finds the kind of a body among some kinds."""

    def __init__(self, kinds: tuple[Kind, ...]) -> None:
        self._kinds = kinds
        self._by_start: dict[bytes, list[tuple[bytes, Kind]]] = {}

    def fields(self, body: bytes) -> tuple[str, dict[str, bytes | None]] | None:
        """Return the kind's name and its fields, or None where no rule reads the body."""
        key = body[:_KEY_BYTES]
        candidates = self._by_start.get(key)
        if candidates is None:
            candidates = self._candidates(key)
        for needle, kind in candidates:
            if needle in body:
                found = kind.match.fullmatch(body)
                if found:
                    return kind.name, _named(kind.fields, found.groups())
        return None

    def _candidates(self, key: bytes) -> list[tuple[bytes, Kind]]:
        if len(self._by_start) >= _MAX_KEYS:
            self._by_start.clear()
        able = [(k.needle.encode("latin-1"), k) for k in self._kinds if k.can_open(key)]
        able.sort(key=lambda pair: "" in pair[1].openers)  # free text last: most bodies open with a literal
        self._by_start[key] = able
        return able


def _named(names: tuple[str, ...], values: tuple[bytes | None, ...]) -> dict[str, bytes | None]:
    fields: dict[str, bytes | None] = {}
    for name, value in zip(names, values, strict=True):
        if value is not None or name not in fields:
            fields[name] = value
    return fields


class Scanner:
    """Reads windows one after the other; ``events``, ``counts`` and ``drift`` are complete after the last."""

    def __init__(self) -> None:
        self.events = Events()
        self.drift = Drift()
        self.line_starts = array("q")
        self.recognised = False
        """Whether any line is TensorRT's or trtexec's beyond doubt."""
        self._typed = self._unprefixed = self._blank = self._unknown = 0
        self._any = Dispatch(grammar.kinds())
        self._bare = Dispatch(grammar.bare_kinds())
        self._dialect = ""
        self._after_verdict = False
        self._in_names = False

    @property
    def counts(self) -> LineCounts:
        """The lines so far, each in one class."""
        return LineCounts(self._typed, self._unprefixed, self._blank, self._unknown)

    def feed(self, window: Window) -> None:
        """Read the lines of a window."""
        self.line_starts.extend(window.starts)
        for number, line in enumerate(window.lines, window.first_line):
            prefix = prefix_of(line)
            if prefix is None:
                self._bare_line(number, line.lstrip(b" "))
            else:
                self._prefixed_line(number, prefix, line[prefix.end :])

    def _bare_line(self, number: int, body: bytes) -> None:
        if not body or body.isspace():
            self._blank += 1
            self._in_names = False
            return
        found = self._bare.fields(body)
        if found is not None:
            self._store(number, *found)
            return
        self._unprefixed += 1
        if self._in_names:
            self.events["layer_name"].add(number, {"name": body})

    def _prefixed_line(self, number: int, prefix: Prefix, body: bytes) -> None:
        self._in_names = False
        self.recognised = self.recognised or prefix.dialect not in WEAK_DIALECTS
        if prefix.dialect != self._dialect:
            self._dialect = prefix.dialect
            self.events["dialect"].add(number, {"dialect": prefix.dialect.encode()})
        if prefix.severity in "EW":
            self.events["message"].add(number, {"severity": prefix.severity.encode(), "text": body})
        if not body or body.isspace():
            self._blank += 1
            return
        if self._after_verdict:
            self._after_verdict = False
            self.events["resumed"].add(number, {})
        found = self._any.fields(body)
        if found is None:
            self._unknown += 1
            self.drift.add(number, body)
        else:
            self._store(number, *found)

    def _store(self, number: int, kind: str, fields: dict[str, bytes | None]) -> None:
        self._typed += 1
        self.recognised = True
        if kind in KEEP:
            self.events[kind].add(number, fields)
        if kind == "engine_layers_detailed":
            self._in_names = True
        elif kind == "banner":
            self._after_verdict = fields["verdict"] != b"RUNNING"
        else:
            self._in_names = False
