"""Reads windows of lines into columns of events: the prefix comes off, the grammar gives the kind and its fields.

The grammar is the only judge. Lines of the bulk kinds are read a window at a time (``bulk.py``). Every other line, and
every line of which bulk reading is not sure, is judged by the regex of its kind (``singly.py``).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.layouts import ranks
from trtforensics.parsers.lines.bodies import Bodies
from trtforensics.parsers.lines.bulk import BulkReader
from trtforensics.parsers.lines.dialects import DIALECTS, WEAK_DIALECTS, WRAPPED
from trtforensics.parsers.lines.events import KEPT, NO_TEXT
from trtforensics.parsers.lines.interning import Memo
from trtforensics.parsers.lines.prefixes import PrefixReader
from trtforensics.parsers.lines.scanned import ScannedLines
from trtforensics.parsers.lines.singly import Dispatch, SingleReader
from trtforensics.parsers.text.line_index import LineIndex

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import numpy.typing as npt

    from trtforensics.parsers.grammar.layouts import Layout
    from trtforensics.parsers.grammar.line_kinds import LineKind
    from trtforensics.parsers.lines.bodies import KindRows
    from trtforensics.parsers.lines.events import Texts
    from trtforensics.parsers.lines.prefixes import Prefixes
    from trtforensics.parsers.text.windows import Window

    _Stage = Callable[[Bodies, npt.NDArray[np.bool_]], Iterator[KindRows]]

_STRONG = np.array([name not in WEAK_DIALECTS for name in DIALECTS])
_WRAPPED = np.array([*(name in WRAPPED for name in DIALECTS), False])
"""Whether the logger of each dialect wraps messages; the last entry is for -1, a line without a dialect."""
_IS_MESSAGE = np.zeros(128, np.bool_)
"""Whether lines of a level are messages, by the level's letter."""
_IS_MESSAGE[[ord("E"), ord("W")]] = True


class _LineBatch:
    """Lines of a window that are read at once: those that stand in it, or those that their logger wrapped."""

    def __init__(self, bodies: Bodies, lines: npt.NDArray[np.int64], left: npt.NDArray[np.bool_]) -> None:
        self.bodies = bodies
        self.lines = lines
        """The line of each body in the window, from 0."""
        self.left = left
        """Whether each body is of this batch and still to be read."""

    def drop_blanks(self) -> npt.NDArray[np.int64]:
        """Unmark the lines that are blank, or a prefix with nothing behind it; return them."""
        bodies = self.bodies
        blank = self.left & (bodies.last - bodies.first == bodies.ends - bodies.starts)
        for row in np.flatnonzero(blank & (bodies.ends > bodies.starts)).tolist():
            blank[row] = bodies.text(row).isspace()  # separators are more than white space: 0x1E is one
        self.left &= ~blank
        lines: npt.NDArray[np.int64] = self.lines[blank]
        return lines


@dataclass(slots=True)
class _Singles:
    """Lines of a window, counted from 0, whose meaning depends on the lines around them."""

    unknown: list[tuple[int, bytes]] = field(default_factory=list)
    """Lines of loggers that no rule reads, with their bodies."""
    unprefixed: list[int] = field(default_factory=list)
    """Lines of other programs."""
    headings: list[int] = field(default_factory=list)
    """Headings of dumps of layers."""
    banners: list[tuple[int, bool]] = field(default_factory=list)
    """Banners, each with whether it is a verdict."""


def _stages(
    kinds: tuple[LineKind, ...], found: Sequence[Layout], texts: Texts, *, indented: bool, bulk: bool
) -> Sequence[_Stage]:
    """Return the readers for lines of some kinds; each is tried on the lines that those before it left."""
    rank = ranks(found)
    single = SingleReader(Dispatch(kinds, rank), texts, indented=indented)
    if not bulk:
        return [single.read]
    reader = BulkReader(kinds, found, rank, texts)
    return [reader.read_opened, reader.read_free, single.read]


def _batches(index: LineIndex, prefixes: Prefixes) -> list[_LineBatch]:
    """Return the window's bodies; bodies that their logger wrapped are unwrapped into a batch of their own."""
    bodies = Bodies(index, index.starts + prefixes.length, prefixes.separators)
    wrapped = _WRAPPED[prefixes.dialect]
    whole = _LineBatch(bodies, np.arange(len(index)), ~wrapped)
    lines = np.flatnonzero(wrapped)
    if not len(lines):
        return [whole]
    dialects = [DIALECTS[dialect] for dialect in prefixes.dialect[lines].tolist()]
    texts = [WRAPPED[name](text) for name, text in zip(dialects, bodies.texts(lines), strict=True)]
    unwrapped = LineIndex(b"".join([text + b"\n" for text in texts]))
    own = Bodies(unwrapped, unwrapped.starts, np.zeros(len(lines), np.int64))
    return [whole, _LineBatch(own, lines, np.ones(len(lines), np.bool_))]


class Scanner:
    """Reads windows one after the other; ``scanned`` is complete after the last.

    With ``bulk`` False every line is judged by its regex alone; tests hold both ways equal.
    """

    def __init__(self, *, bulk: bool = True) -> None:
        self.scanned = ScannedLines()
        self._prefixes = PrefixReader()
        self._messages = Memo()
        texts = self.scanned.events.texts
        self._severities = np.zeros(len(_IS_MESSAGE), np.int32)
        """The text of each level, as its index in the pool, by the level's letter."""
        for letter in np.flatnonzero(_IS_MESSAGE).tolist():
            self._severities[letter] = texts.id(bytes((letter,)))
        found, bare_kinds = tables.layouts(), tables.bare_kinds()
        bare = {kind.name for kind in bare_kinds}
        without_prefix = [layout for layout in found if layout.kind.name in bare]
        self._stages = _stages(tables.kinds(), found, texts, indented=False, bulk=bulk)
        """The readers of loggers' lines, in turn."""
        self._bare_stages = _stages(bare_kinds, without_prefix, texts, indented=True, bulk=bulk)
        """The readers of lines without a prefix, in turn."""
        self._names_line = -1
        """The last line of a names-only dump, while it goes on."""

    def feed(self, window: Window) -> None:
        """Read the lines of a window."""
        index = window.index
        if window.text is window.data:
            self.scanned.line_starts.frombytes((index.starts + window.offset).tobytes())
        else:
            self.scanned.line_starts.extend(window.starts)
        prefixes = self._prefixes.read(index)
        prefixed = prefixes.dialect >= 0
        before = self.scanned.events.sizes()
        self._note_loggers(window.first_line, prefixes.dialect, np.flatnonzero(prefixed))
        said, singles = prefixed.copy(), _Singles()
        batches = _batches(index, prefixes)
        for batch in batches:
            self._note_messages(window.first_line, batch, prefixes.severity[batch.lines])
            blank = batch.drop_blanks()
            self.scanned.blank += len(blank)
            self.scanned.events["blank"].extend(blank + window.first_line, {})
            said[blank] = False
            self._read(window.first_line, batch, prefixed[batch.lines], singles)
        self._note_unknown(window.first_line, sorted(singles.unknown))
        self._note_names(window.first_line, batches[0].bodies, sorted(singles.headings), singles.unprefixed)
        own = said.copy()
        own[[line for line, _ in singles.unknown if not _STRONG[prefixes.dialect[line]]]] = False
        self._note_first(window.first_line, said, own, sorted(singles.banners))
        self._note_resumed(window.first_line, np.flatnonzero(own), sorted(singles.banners))
        self.scanned.events.sort(before)

    def _note_loggers(self, first_line: int, dialects: npt.NDArray[np.int64], lines: npt.NDArray[np.int64]) -> None:
        """Note where the logger changes."""
        if not len(lines):
            return
        dialects = dialects[lines]
        self.scanned.recognised = self.scanned.recognised or bool(_STRONG[dialects].any())
        changes = np.flatnonzero(dialects != np.concatenate(([self.scanned.dialect], dialects[:-1])))
        for change in changes.tolist():
            name = DIALECTS[dialects[change]].encode()
            self.scanned.events["dialect"].add(first_line + int(lines[change]), {"dialect": name})
        self.scanned.dialect = int(dialects[-1])

    def _note_messages(self, first_line: int, batch: _LineBatch, severity: npt.NDArray[np.int64]) -> None:
        """Note every warning and error."""
        index = batch.bodies.index
        spans = batch.bodies.spans(np.flatnonzero(batch.left & _IS_MESSAGE[severity]))
        text = self._messages.values(index, spans, lambda new: self.scanned.events.texts.ids(new.texts(index.data)))
        columns = {"severity": self._severities[severity[spans.lines]], "text": text}
        self.scanned.events["message"].extend(batch.lines[spans.lines] + first_line, columns)

    def _read(self, first_line: int, batch: _LineBatch, prefixed: npt.NDArray[np.bool_], singles: _Singles) -> None:
        """Read the lines that are left of a batch."""
        for stages, of_logger in (self._stages, prefixed), (self._bare_stages, ~prefixed):
            for stage in stages:
                wanted = batch.left & of_logger
                if not wanted.any():
                    break
                for kind, bodies, columns in stage(batch.bodies, wanted):
                    batch.left[bodies] = False
                    lines = batch.lines[bodies]
                    if kind is not None:
                        self._note_typed(kind, lines + first_line, columns)
                        self._note_single(kind, lines, columns, singles)
                    elif of_logger is prefixed:
                        singles.unknown += zip(lines.tolist(), batch.bodies.texts(bodies), strict=True)
                    else:
                        singles.unprefixed += lines.tolist()

    def _note_typed(self, kind: str, numbers: npt.NDArray[np.int64], columns: Mapping[str, npt.NDArray[Any]]) -> None:
        """Count lines of a kind, and keep their fields where the kind is kept."""
        self.scanned.typed += len(numbers)
        self.scanned.recognised = True
        if kind in KEPT:
            self.scanned.events[kind].extend(numbers, columns)

    def _note_single(
        self, kind: str, lines: npt.NDArray[np.int64], columns: Mapping[str, npt.NDArray[Any]], singles: _Singles
    ) -> None:
        if kind == "banner":
            texts = self.scanned.events.texts
            both = zip(lines.tolist(), columns["verdict"].tolist(), strict=True)
            singles.banners += [(line, texts[verdict] != "RUNNING") for line, verdict in both if verdict != NO_TEXT]
        elif kind == "engine_layers_detailed":
            singles.headings += lines.tolist()

    def _note_unknown(self, first_line: int, unknown: list[tuple[int, bytes]]) -> None:
        """Count the lines of loggers that no rule reads."""
        self.scanned.unknown += len(unknown)
        for line, body in unknown:
            self.scanned.drift.add(first_line + line, body)

    def _note_names(self, first_line: int, bodies: Bodies, headings: list[int], unprefixed: list[int]) -> None:
        """Note the lines of other programs; right behind a ``Layers:`` line they are names of layers."""
        self.scanned.unprefixed += len(unprefixed)
        others = np.array(unprefixed, np.int64)
        if headings or self._names_line == first_line - 1:
            names = set(unprefixed)
            for heading in (self._names_line - first_line, *headings):
                line = heading + 1
                while line in names:
                    self.scanned.events["layer_name"].add(first_line + line, {"name": bodies.text(line).lstrip(b" ")})
                    names.remove(line)
                    line += 1
                self._names_line = first_line + line - 1
            others = np.array(sorted(names), np.int64)
        self.scanned.events["other"].extend(others + first_line, {})

    def _note_first(
        self,
        first_line: int,
        said: npt.NDArray[np.bool_],
        own: npt.NDArray[np.bool_],
        banners: list[tuple[int, bool]],
    ) -> None:
        if self.scanned.first_said is None and said.any():
            self.scanned.first_said = first_line + int(said.argmax())
        if self.scanned.first_own is None and own.any():
            self.scanned.first_own = first_line + int(own.argmax())
        if self.scanned.first_banner is None and banners:
            self.scanned.first_banner = first_line + banners[0][0]

    def _note_resumed(self, first_line: int, own: npt.NDArray[np.int64], banners: list[tuple[int, bool]]) -> None:
        """Note the first line of TensorRT or its programs behind a verdict, unless a new run begins before it."""
        pending = self.scanned.after_verdict
        at = 0
        for line, is_verdict in [*banners, (-1, False)]:
            limit = len(own) if line < 0 else int(own.searchsorted(line))
            if pending and at < limit:
                self.scanned.events["resumed"].add(first_line + int(own[at]), {})
                pending = False
            if line >= 0:
                pending = is_verdict
                at = limit
        self.scanned.after_verdict = pending
