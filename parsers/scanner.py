"""Windows of lines in, events out: prefix off, kind found by the compiled grammar, fields into columns.

The grammar is the only judge. Bulk kinds are read a window at a time (``bulk.py``); every other line, and
whatever bulk reading is not sure of, is judged by its kind's regex (``singly.py``).
"""

from __future__ import annotations

from array import array
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from trtforensics.model import LineCounts
from trtforensics.parsers import grammar
from trtforensics.parsers.bulk import Bodies, BulkReader
from trtforensics.parsers.dialects import DIALECTS, WEAK_DIALECTS, WRAPPED, PrefixReader
from trtforensics.parsers.drift import Drift
from trtforensics.parsers.events import KEEP, NO_TEXT, Events
from trtforensics.parsers.interning import Memo, Spans
from trtforensics.parsers.layouts import layouts, ranks
from trtforensics.parsers.line_index import LineIndex
from trtforensics.parsers.singly import Dispatch, SingleReader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import numpy.typing as npt

    from trtforensics.parsers.dialects import Prefixes
    from trtforensics.parsers.events import Tables
    from trtforensics.parsers.windows import Window

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


class _Lines(Bodies):
    """The bodies of a window; those that their logger wrapped are taken out of it, into a text of their own."""

    def __init__(self, index: LineIndex, prefixes: Prefixes) -> None:
        super().__init__(index, index.starts + prefixes.length, prefixes.separators)
        self.wrapped = np.flatnonzero(_WRAPPED[prefixes.dialect])
        """The lines of those."""
        dialects = [DIALECTS[dialect] for dialect in prefixes.dialect[self.wrapped].tolist()]
        texts = [WRAPPED[name](text) for name, text in zip(dialects, super().texts(self.wrapped), strict=True)]
        self.unwrapped = LineIndex(b"".join([text + b"\n" for text in texts]))

    def text(self, line: int) -> bytes:
        """Return a body."""
        place = int(self.wrapped.searchsorted(line))
        if place == len(self.wrapped) or self.wrapped[place] != line:
            return super().text(line)
        return self.unwrapped.data[int(self.unwrapped.starts[place]) : int(self.unwrapped.ends[place])]

    def spans(self, wanted: npt.NDArray[np.bool_]) -> Iterator[tuple[LineIndex, Spans, npt.NDArray[np.int64]]]:
        """Give where the bodies of these lines are, in which text, and the lines."""
        plain = wanted.copy()
        plain[self.wrapped] = False
        lines = np.flatnonzero(plain)
        yield self.index, Spans(lines, self.starts[lines], self.ends[lines]), lines
        places = np.flatnonzero(wanted[self.wrapped])
        spans = Spans(places, self.unwrapped.starts[places], self.unwrapped.ends[places])
        yield self.unwrapped, spans, self.wrapped[places]


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
        self._messages = Memo()
        self._severities = np.zeros(len(_IS_MESSAGE), np.int32)
        """By the letter of a line's level: the text that it is."""
        for letter in np.flatnonzero(_IS_MESSAGE).tolist():
            self._severities[letter] = self.events.texts.id(bytes((letter,)))
        all_kinds, bare_kinds = grammar.kinds(), grammar.bare_kinds()
        found = layouts(all_kinds)
        rank = ranks(found)
        bare = {kind.name for kind in bare_kinds}
        without_prefix = [layout for layout in found if layout.kind.name in bare]
        self._bulk = BulkReader(all_kinds, found, rank, self.events.texts) if bulk else None
        self._bare_bulk = BulkReader(bare_kinds, without_prefix, rank, self.events.texts) if bulk else None
        self._bare_single = SingleReader(Dispatch(bare_kinds, rank), self.events.texts, indented=True)
        self._single = SingleReader(Dispatch(all_kinds, rank), self.events.texts, indented=False)
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
        before = self.events.sizes()
        self._note_prefixes(window.first_line, prefixes, prefixed, bodies)
        banners = self._read(window.first_line, bodies, prefixed, blank)
        self._note_first(window.first_line, said, banners)
        self._note_resumed(window.first_line, np.flatnonzero(said), banners)
        self.events.sort(before)

    def forget(self) -> None:
        """Give back the memory of everything that only helps to read further lines; none may follow."""
        self._bulk = self._bare_bulk = None
        self._single = self._bare_single = SingleReader(Dispatch(()), self.events.texts, indented=False)
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
        for line in bodies.wrapped.tolist():
            blank[line] = not bodies.text(line).strip()
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
        for index, spans, of_piece in bodies.spans(_IS_MESSAGE[prefixes.severity]):
            severity = self._severities[prefixes.severity[of_piece]]
            text = self._messages.values(index, spans, self.events.texts.reader(index.data))
            self.events["message"].extend(of_piece + first_line, {"severity": severity, "text": text})

    def _read(
        self, first_line: int, bodies: _Lines, prefixed: npt.NDArray[np.bool_], blank: npt.NDArray[np.bool_]
    ) -> list[tuple[int, bool]]:
        """Read every line that is not blank; return the banners, each with whether it is a verdict."""
        left = ~blank
        left[bodies.wrapped] = False
        for bulk, of_logger in (self._bulk, prefixed), (self._bare_bulk, ~prefixed):
            wanted = left & of_logger
            if bulk is None or not wanted.any():
                continue
            for found in bulk.read(bodies, wanted):
                left[found.lines] = False
                self._note_typed(first_line, found.kind, found.lines, found.columns)
        left[bodies.wrapped] = ~blank[bodies.wrapped]
        return self._read_singly(first_line, bodies, prefixed, left)

    def _note_typed(
        self, first_line: int, kind: str, lines: npt.NDArray[np.int64], columns: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        self._typed += len(lines)
        self.recognised = True
        if kind in KEEP:
            self.events[kind].extend(lines + first_line, columns)

    def _read_singly(
        self, first_line: int, bodies: _Lines, prefixed: npt.NDArray[np.bool_], left: npt.NDArray[np.bool_]
    ) -> list[tuple[int, bool]]:
        """Have each of these lines judged; return the banners, each with whether it is a verdict."""
        banners: list[tuple[int, bool]] = []
        headings: list[int] = []
        unread: dict[bool, list[int]] = {True: [], False: []}
        for reader, of_logger in (self._single, True), (self._bare_single, False):
            for index, spans, lines in bodies.spans(left & (prefixed == of_logger)):
                for kind, rows, columns in reader.read(index, spans):
                    if kind is None:
                        unread[of_logger] += lines[rows].tolist()
                        continue
                    self._note_typed(first_line, kind, lines[rows], columns)
                    if kind == "banner":
                        banners += self._verdicts(lines[rows], columns["verdict"])
                    elif kind == "engine_layers_detailed":
                        headings += lines[rows].tolist()
        self._note_unknown(first_line, bodies, sorted(unread[True]))
        self._unprefixed += len(unread[False])
        self._note_names(first_line, bodies, sorted(headings), unread[False])
        return sorted(banners)

    def _verdicts(self, lines: npt.NDArray[np.int64], verdicts: npt.NDArray[np.int32]) -> list[tuple[int, bool]]:
        """Return each of these banners with whether it is a verdict."""
        texts = self.events.texts
        both = zip(lines.tolist(), verdicts.tolist(), strict=True)
        return [(line, texts[verdict] != "RUNNING") for line, verdict in both if verdict != NO_TEXT]

    def _note_unknown(self, first_line: int, bodies: _Lines, lines: list[int]) -> None:
        """Count a logger's lines that no rule reads."""
        self._unknown += len(lines)
        for line in lines:
            self.drift.add(first_line + line, bodies.text(line))

    def _note_names(self, first_line: int, bodies: _Lines, headings: list[int], unread: list[int]) -> None:
        """Note the layers' names: lines without a prefix that no rule reads, right behind a ``Layers:`` line."""
        names = set(unread) if headings or self._names_line == first_line - 1 else ()
        for heading in (self._names_line - first_line, *headings):
            line = heading + 1
            while line in names:
                self.events["layer_name"].add(first_line + line, {"name": bodies.text(line).lstrip(b" ")})
                line += 1
            self._names_line = first_line + line - 1

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
