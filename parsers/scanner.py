"""Windows of lines in, events out: prefix off, kind found by the compiled grammar, fields into columns.

The grammar is the only judge. Bulk kinds are read a window at a time (``bulk.py``); every other line, and
whatever bulk reading is not sure of, is judged here by its kind's regex: a body's first eight bytes say which
kinds may open so (asked once per distinct beginning), a literal that the kind must hold is looked for, and
then the regex decides.
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, AnyStr, NamedTuple

import numpy as np

from trtforensics.model import LineCounts
from trtforensics.parsers import grammar
from trtforensics.parsers.bulk import Bodies, BulkReader
from trtforensics.parsers.dialects import DIALECTS, WEAK_DIALECTS, WRAPPED, PrefixReader
from trtforensics.parsers.drift import Drift
from trtforensics.parsers.events import KEEP, Events
from trtforensics.parsers.layouts import layouts, ranks

if TYPE_CHECKING:
    import numpy.typing as npt

    from trtforensics.parsers.dialects import Prefixes
    from trtforensics.parsers.events import Tables, Values
    from trtforensics.parsers.grammar import Kind
    from trtforensics.parsers.line_index import LineIndex
    from trtforensics.parsers.windows import Window

    _Group = list[tuple[bytes, Kind]]
    _Groups = tuple[_Group, _Group, _Group]

_KEY_BYTES = 8
_MAX_KEYS = 1 << 16
_LONGEST_KEPT = 120
_MAX_KEPT = 1 << 14
_STRONG = np.array([name not in WEAK_DIALECTS for name in DIALECTS])
_WRAPPED = np.array([*(name in WRAPPED for name in DIALECTS), False])
"""By a line's dialect, of which -1 means that it has none."""
_IS_MESSAGE = np.zeros(128, np.bool_)
"""By the letter of a line's level."""
_IS_MESSAGE[[ord("E"), ord("W")]] = True


class Part(NamedTuple):
    """What a scanner found in the later part of a log, its lines counted from 1; see :meth:`Scanner.join`."""

    tables: Tables
    drift: Drift
    line_starts: array[int]
    counts: tuple[int, int, int, int]
    recognised: bool
    dialect: int
    after_verdict: bool
    first_said: int | None
    first_banner: int | None


class _Known(NamedTuple):
    """What was judged of a body: its kind, None where no rule reads it, and what its row holds if it is kept."""

    kind: str | None
    values: Values | None
    verdict: bytes | None
    """A banner's."""


_UNREAD = _Known(None, None, None)


class Dispatch:
    """Finds the kind of a body among some kinds.

    A body that two can read, as programs that share a file make them, has the one that opens literally, or that of the
    lower rank. Kinds without a rank come last, and of those the one that was found last for such a beginning first.
    """

    def __init__(self, kinds: tuple[Kind, ...], rank: dict[str, int] | None = None) -> None:
        rank = rank or {}
        kinds = tuple(sorted(kinds, key=lambda kind: rank.get(kind.name, len(rank))))
        self._literal = [kind for kind in kinds if "" not in kind.openers]
        # Of the kinds that open with free text any beginning may be.
        free = [(kind.needle.encode("latin-1"), kind) for kind in kinds if "" in kind.openers]
        self._ranked = [one for one in free if one[1].name in rank]
        self._others = [one for one in free if one[1].name not in rank]
        self._openings: dict[bytes, list[Kind]] = {}
        for kind in self._literal:
            for opener in {opener.encode("latin-1")[:_KEY_BYTES] for opener in kind.openers}:
                self._openings.setdefault(opener, []).append(kind)
        self._by_start: dict[bytes, _Groups] = {}

    def fields(self, body: bytes) -> tuple[str, dict[str, bytes | None]] | None:
        """Return the kind's name and its fields, or None where no rule reads the body."""
        key = body[:_KEY_BYTES]
        groups = self._by_start.get(key)
        if groups is None:
            groups = self._candidates(key)
        for candidates in groups:
            for place, (needle, kind) in enumerate(candidates):
                if needle in body:
                    found = kind.match.fullmatch(body)
                    if found:
                        if place and candidates is groups[-1]:  # what was found will be found again
                            candidates.insert(0, candidates.pop(place))
                        return kind.name, named_fields(kind, found.groups())
        return None

    def _candidates(self, key: bytes) -> _Groups:
        """Return the kinds that may open so: with a literal, with free text and a rank, with free text."""
        if len(self._by_start) >= _MAX_KEYS:
            self._by_start.clear()
        if len(key) < _KEY_BYTES:
            opening = [kind for kind in self._literal if kind.can_open(key)]
        else:
            opening = [kind for size in range(1, _KEY_BYTES + 1) for kind in self._openings.get(key[:size], ())]
            opening.sort(key=self._literal.index)
        literal = [(kind.needle.encode("latin-1"), kind) for kind in opening]
        groups = self._by_start[key] = literal, self._ranked, self._others.copy()
        return groups


def named_fields(kind: Kind, values: tuple[AnyStr | None, ...]) -> dict[str, AnyStr | None]:
    """Return what was captured under its names; a name that occurs twice has the alternative that was."""
    if kind.names_are_unique:
        return dict(zip(kind.fields, values, strict=True))
    fields: dict[str, AnyStr | None] = {}
    for name, value in zip(kind.fields, values, strict=True):
        if value is not None or name not in fields:
            fields[name] = value
    return fields


class _Lines(Bodies):
    """The bodies of a window, those that their logger wrapped taken out of it one by one."""

    def __init__(self, index: LineIndex, prefixes: Prefixes) -> None:
        super().__init__(index, index.starts + prefixes.length, prefixes.separators)
        self.unwrapped: dict[int, bytes] = {}
        for line in np.flatnonzero(_WRAPPED[prefixes.dialect]).tolist():
            self.unwrapped[line] = WRAPPED[DIALECTS[prefixes.dialect[line]]](super().text(line))

    def text(self, line: int) -> bytes:
        """Return a body."""
        unwrapped = self.unwrapped.get(line)
        return super().text(line) if unwrapped is None else unwrapped

    def texts(self, lines: npt.NDArray[np.int64]) -> list[bytes]:
        """Return some bodies."""
        if self.unwrapped:
            return [self.text(line) for line in lines.tolist()]
        return super().texts(lines)


class Scanner:
    """Reads windows one after the other; ``events``, ``counts`` and ``drift`` are complete after the last.

    ``bulk`` False judges every line by its regex alone, which tests hold equal.
    """

    def __init__(self, *, bulk: bool = True) -> None:
        self.events = Events()
        self.drift = Drift()
        self.line_starts = array("q")
        self.recognised = False
        """Whether any line is TensorRT's or trtexec's beyond doubt."""
        self._typed = self._unprefixed = self._blank = self._unknown = 0
        self._prefixes = PrefixReader()
        all_kinds, bare_kinds = grammar.kinds(), grammar.bare_kinds()
        found = layouts(all_kinds)
        rank = ranks(found)
        bare = {kind.name for kind in bare_kinds}
        without_prefix = [layout for layout in found if layout.kind.name in bare]
        self._bulk = BulkReader(all_kinds, found, rank, self.events.texts) if bulk else None
        self._bare_bulk = BulkReader(bare_kinds, without_prefix, rank, self.events.texts) if bulk else None
        self._any, self._bare = Dispatch(all_kinds, rank), Dispatch(bare_kinds, rank)
        self._known: tuple[dict[bytes, _Known], dict[bytes, _Known]] = {}, {}
        """Short bodies that were judged before, without a prefix and with one: logs repeat many word for word."""
        self._dialect = -1
        self._after_verdict = False
        self._names_line = -1
        """The last line of a names-only dump, while it goes on."""
        self._first_said: int | None = None
        self._first_banner: int | None = None

    @property
    def counts(self) -> LineCounts:
        """The lines so far, each in one class."""
        return LineCounts(self._typed, self._unprefixed, self._blank, self._unknown)

    def feed(self, window: Window) -> None:
        """Read the lines of a window."""
        index = window.index
        if window.text is window.data:
            self.line_starts.frombytes((index.starts + window.offset).tobytes())
        else:
            self.line_starts.extend(window.starts)
        prefixes = self._prefixes.read(index)
        bodies = _Lines(index, prefixes)
        prefixed = prefixes.dialect >= 0
        blank = self._blanks(bodies)
        said = prefixed & ~blank
        self._blank += int(blank.sum())
        self._note_prefixes(window.first_line, prefixes, prefixed, bodies)
        before = self.events.sizes()
        banners = self._read(window.first_line, bodies, prefixed, blank)
        self._note_first(window.first_line, said, banners)
        self._note_resumed(window.first_line, np.flatnonzero(said), banners)
        self.events.sort(before)

    def forget(self) -> None:
        """Give back the memory of everything that only helps to read further lines; none may follow."""
        self._bulk = self._bare_bulk = None
        self._any = self._bare = Dispatch(())
        self._known = {}, {}
        self._prefixes = PrefixReader()

    def part(self) -> Part:
        """Return everything, to be joined to the scanner of what comes before."""
        return Part(
            self.events.tables(),
            self.drift,
            self.line_starts,
            (self._typed, self._unprefixed, self._blank, self._unknown),
            self.recognised,
            self._dialect,
            self._after_verdict,
            self._first_said,
            self._first_banner,
        )

    def join(self, part: Part) -> None:
        """Take over what another scanner found in the lines that follow, the first of which carries a prefix."""
        shift = len(self.line_starts)
        before = self.events.sizes()
        self.events.extend(part.tables, shift)
        if part.first_said is not None:
            if part.dialect >= 0 and self._dialect >= 0:
                self._drop_same_dialect(before["dialect"])
            own = part.first_banner is None or part.first_said < part.first_banner
            if self._after_verdict and own:
                self.events["resumed"].add(part.first_said + shift, {})
                self.events.sort(before)
        self.drift.join(part.drift, shift)
        self.line_starts.extend(part.line_starts)
        typed, unprefixed, blank, unknown = part.counts
        self._typed += typed
        self._unprefixed += unprefixed
        self._blank += blank
        self._unknown += unknown
        self.recognised = self.recognised or part.recognised
        self._dialect, self._after_verdict = part.dialect, part.after_verdict

    def _drop_same_dialect(self, row: int) -> None:
        """Forget a change of logger that is none: the part before ended with the same."""
        rows = self.events["dialect"]
        if rows.values("dialect", range(row, row + 1)) == [DIALECTS[self._dialect]]:
            rows.delete(row)

    @staticmethod
    def _blanks(bodies: _Lines) -> npt.NDArray[np.bool_]:
        """Return the lines that are blank, or a prefix with nothing behind it."""
        blank: npt.NDArray[np.bool_] = bodies.last - bodies.first == bodies.ends - bodies.starts
        for line in np.flatnonzero(blank & (bodies.ends > bodies.starts)).tolist():
            blank[line] = bodies.text(line).isspace()  # a separator is also what no isspace() knows, 0x1E say
        for line, text in bodies.unwrapped.items():
            blank[line] = not text.strip()
        return blank

    def _note_prefixes(
        self, first_line: int, prefixes: Prefixes, prefixed: npt.NDArray[np.bool_], bodies: _Lines
    ) -> None:
        """Note which loggers wrote, where they change, and every warning and error."""
        lines = np.flatnonzero(prefixed)
        dialects = prefixes.dialect[lines]
        if len(lines):
            self.recognised = self.recognised or bool(_STRONG[dialects].any())
            changes = np.flatnonzero(dialects != np.concatenate(([self._dialect], dialects[:-1])))
            for change in changes.tolist():
                name = DIALECTS[dialects[change]].encode()
                self.events["dialect"].add(first_line + int(lines[change]), {"dialect": name})
            self._dialect = int(dialects[-1])
        for line in np.flatnonzero(_IS_MESSAGE[prefixes.severity]).tolist():
            fields = {"severity": bytes((int(prefixes.severity[line]),)), "text": bodies.text(line)}
            self.events["message"].add(first_line + line, fields)

    def _read(
        self, first_line: int, bodies: _Lines, prefixed: npt.NDArray[np.bool_], blank: npt.NDArray[np.bool_]
    ) -> list[tuple[int, bool]]:
        """Read every line that is not blank; return the banners, each with whether it is a verdict."""
        wrapped = list(bodies.unwrapped)
        left = ~blank
        left[wrapped] = False
        for bulk, of_logger in (self._bulk, prefixed), (self._bare_bulk, ~prefixed):
            wanted = left & of_logger
            if bulk is None or not wanted.any():
                continue
            for found in bulk.read(bodies, wanted):
                left[found.lines] = False
                self._typed += len(found.lines)
                self.recognised = True
                if found.kind in KEEP:
                    self.events[found.kind].extend(found.lines + first_line, found.columns)
        left[wrapped] = ~blank[wrapped]
        return self._read_singly(first_line, bodies, prefixed, np.flatnonzero(left))

    def _read_singly(
        self, first_line: int, bodies: _Lines, prefixed: npt.NDArray[np.bool_], lines: npt.NDArray[np.int64]
    ) -> list[tuple[int, bool]]:
        """Have each of these lines judged; return the banners, each with whether it is a verdict."""
        banners: list[tuple[int, bool]] = []
        rows: dict[str, tuple[list[int], list[Values]]] = {}
        unread = 0
        for line, body, of_logger in zip(lines.tolist(), bodies.texts(lines), prefixed[lines].tolist(), strict=True):
            kind, values, verdict = self._known[of_logger].get(body) or self._judge(body, of_logger=of_logger)
            if kind is None:
                unread += 1
                self._note_unread(first_line + line, body, of_logger=of_logger)
                continue
            if values is not None:
                kept = rows.get(kind)
                if kept is None:
                    kept = rows[kind] = [], []
                kept[0].append(first_line + line)
                kept[1].append(values)
            if verdict is not None:
                banners.append((line, verdict != b"RUNNING"))
            elif kind == "engine_layers_detailed":
                self._names_line = first_line + line
        self._typed += len(lines) - unread
        self.recognised = self.recognised or unread < len(lines)
        for kind, (of_kind, read) in rows.items():
            self.events[kind].add_all(of_kind, read)
        return banners

    def _judge(self, body: bytes, *, of_logger: bool) -> _Known:
        """Find a body's kind and read its fields, or say that no rule reads it."""
        found = self._any.fields(body) if of_logger else self._bare.fields(body.lstrip(b" "))
        known = _UNREAD
        if found is not None:
            kind, fields = found
            values = self.events[kind].values_of(fields) if kind in KEEP else None
            known = _Known(kind, values, fields["verdict"] if kind == "banner" else None)
        if len(body) <= _LONGEST_KEPT:
            memo = self._known[of_logger]
            if len(memo) >= _MAX_KEPT:
                memo.clear()
            memo[body] = known
        return known

    def _note_unread(self, number: int, body: bytes, *, of_logger: bool) -> None:
        """Count a line that no rule reads; without a prefix, right behind a ``Layers:`` line, it is a layer's name."""
        if of_logger:
            self._unknown += 1
            self.drift.add(number, body)
            return
        self._unprefixed += 1
        if number == self._names_line + 1:
            self.events["layer_name"].add(number, {"name": body.lstrip(b" ")})
            self._names_line = number

    def _note_first(self, first_line: int, said: npt.NDArray[np.bool_], banners: list[tuple[int, bool]]) -> None:
        if self._first_said is None and said.any():
            self._first_said = first_line + int(said.argmax())
        if self._first_banner is None and banners:
            self._first_banner = first_line + banners[0][0]

    def _note_resumed(self, first_line: int, said: npt.NDArray[np.int64], banners: list[tuple[int, bool]]) -> None:
        """Note the first line that a logger writes behind a verdict, unless a new run begins first."""
        pending = self._after_verdict
        at = 0
        for line, is_verdict in [*banners, (-1, False)]:
            limit = len(said) if line < 0 else int(said.searchsorted(line))
            if pending and at < limit:
                self.events["resumed"].add(first_line + int(said[at]), {})
                pending = False
            if line >= 0:
                pending = is_verdict
                at = limit
        self._after_verdict = pending
