"""Reads windows of lines into columns of events: the prefix comes off, the grammar gives the kind and its fields.

The grammar is the only judge. Lines of the bulk kinds are read a window at a time (``bulk.py``). Every other line, and
every line of which bulk reading is not sure, is judged by the regex of its kind (``singly.py``).
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from trtforensics.model.arrays import Bools, Positions
from trtforensics.parsers.grammar import tables
from trtforensics.parsers.grammar.layouts import ranks
from trtforensics.parsers.grammar.line_kinds import LineKind, named_fields
from trtforensics.parsers.lines.bulk import BulkReader, BulkRules
from trtforensics.parsers.lines.dialects import DIALECTS, WEAK_DIALECTS, WRAPPED
from trtforensics.parsers.lines.events import KEPT, NO_TEXT, ScannedLines, Texts
from trtforensics.parsers.lines.interning import Memo
from trtforensics.parsers.lines.prefixes import Bodies, KindRows, Prefixes, PrefixReader, glued_lines
from trtforensics.parsers.lines.singly import Dispatch, SingleReader
from trtforensics.parsers.lines.unread import UnreadLines, is_pasted, mention_tensorrt
from trtforensics.parsers.text.line_index import LineIndex
from trtforensics.parsers.text.windows import Window

_Stage = Callable[[Bodies, Bools], Iterator[KindRows]]

_STRONG = np.array([name not in WEAK_DIALECTS for name in DIALECTS])
_WRAPPED = np.array([*(name in WRAPPED for name in DIALECTS), False])
"""Whether the logger of each dialect wraps messages; the last entry is for -1, a line without a dialect."""
_LONGEST_EXCERPT = 500
"""Lines up to which a text is an excerpt that may have lost prefixes and line ends."""
_MOST_WRAPPED = 3
"""The most lines that were one line before somebody wrapped it."""
_MOST_KEPT = 20_000
"""The most lines that are kept without a rule that reads them; those that name a cause are kept besides."""
_PHRASE = re.compile(r"(?=[A-Za-z ]{14})[A-Za-z]+ [A-Za-z ]+")
"""Words in a literal that make a line unmistakable."""
_BEHIND, _RUNNING = b" &&&& ", b"RUNNING"
_IS_MESSAGE = np.zeros(128, np.bool_)
"""Whether lines of a level are messages, by the level's letter."""
_IS_MESSAGE[[ord("E"), ord("W")]] = True


class _LineBatch:
    """Lines of a window that are read at once: those that stand in it, or those that their logger wrapped."""

    def __init__(self, bodies: Bodies, rows: Positions, lines: Positions, left: Bools) -> None:
        self.bodies = bodies
        self.rows = rows
        """The place of each body among the texts that were read together."""
        self.lines = lines[rows]
        """The line of each body in the window, from 0."""
        self.left = left
        """Whether each body is of this batch and still to be read."""

    def drop_blanks(self) -> Positions:
        """Unmark the lines that are blank, or a prefix with nothing behind it; return them."""
        bodies = self.bodies
        blank = self.left & (bodies.last - bodies.first == bodies.ends - bodies.starts)
        for row in np.flatnonzero(blank & (bodies.ends > bodies.starts)).tolist():
            blank[row] = bodies.text(row).isspace()  # separators are more than white space: 0x1E is one
        self.left &= ~blank
        lines: Positions = self.lines[blank]
        return lines


@dataclass(slots=True)
class _Singles:
    """Lines of a window, counted from 0, whose meaning depends on the lines around them."""

    glued: Mapping[int, list[bytes]] = field(default_factory=dict)
    """The parts of lines in whose middle another message begins."""
    unknown: list[tuple[int, bytes]] = field(default_factory=list)
    """Lines of loggers that no rule reads, with their bodies."""
    unprefixed: list[int] = field(default_factory=list)
    """Lines of other programs."""
    unprefixed_rows: list[int] = field(default_factory=list)
    """The places of those among the texts that were read together."""
    headings: list[int] = field(default_factory=list)
    """Headings of dumps of layers."""
    banners: list[tuple[int, bool]] = field(default_factory=list)
    """Banners, each with whether it is a verdict."""

    def unread(self) -> Positions:
        return np.sort(np.array([*(line for line, _ in self.unknown), *self.unprefixed], np.int64))


@cache
def _rules(*, bare: bool) -> tuple[Dispatch, BulkRules]:
    """Return what reads the lines of loggers, or those that also come without a prefix."""
    kinds = tables.tables().bare if bare else tables.kinds()
    names = {kind.name for kind in kinds}
    layouts = [layout for layout in tables.tables().layouts if layout.kind.name in names]
    rank = ranks(layouts)
    return Dispatch(kinds, rank), BulkRules(kinds, layouts, rank)


@cache
def _banner() -> LineKind:
    return next(kind for kind in tables.tables().bare if kind.name == "banner")


@cache
def _unmistakable() -> Dispatch:
    """Return what finds the kind of a logger's line that lost its prefix."""
    return Dispatch(tuple(filter(_is_unmistakable, tables.kinds())))


def _stages(texts: Texts, *, bare: bool, bulk: bool) -> Sequence[_Stage]:
    """Return the readers of lines; each is tried on the lines that those before it left."""
    dispatch, rules = _rules(bare=bare)
    single = SingleReader(dispatch, texts, indented=bare)
    if not bulk:
        return [single.read]
    reader = BulkReader(rules, texts)
    return [reader.read_opened, reader.read_free, single.read]


def _batches(index: LineIndex, prefixes: Prefixes, lines: Positions, glued: Collection[int]) -> list[_LineBatch]:
    """Return the bodies of an index without glued lines; those that their logger wrapped are a batch of their own."""
    bodies = Bodies(index, index.starts + prefixes.length, prefixes.separators)
    wrapped = _WRAPPED[prefixes.dialect]
    left = ~wrapped
    apart = list(glued)
    left[apart], wrapped[apart] = False, False
    whole = _LineBatch(bodies, np.arange(len(index)), lines, left)
    rows = np.flatnonzero(wrapped)
    if not len(rows):
        return [whole]
    dialects = [DIALECTS[dialect] for dialect in prefixes.dialect[rows].tolist()]
    texts = [WRAPPED[name](text) for name, text in zip(dialects, bodies.texts(rows), strict=True)]
    unwrapped = LineIndex(b"".join([text + b"\n" for text in texts]))
    unwrapped_bodies = Bodies(unwrapped, unwrapped.starts, np.zeros(len(rows), np.int64))
    return [whole, _LineBatch(unwrapped_bodies, rows, lines, np.ones(len(rows), np.bool_))]


def _is_unmistakable(kind: LineKind) -> bool:
    """Whether a line of this kind is known without its prefix: its rule has a phrase that nobody else writes.

    Where the rule is a choice of phrases, in its regex, only a kind that findings read counts.
    """
    return _PHRASE.search(kind.needle) is not None or (kind.noted and _PHRASE.search(kind.regex) is not None)


class Scanner:
    """Reads windows one after the other; ``scanned`` is complete after the last.

    With ``bulk`` False every line is judged by its regex alone; tests hold both ways equal.
    """

    def __init__(self, *, bulk: bool = True) -> None:
        self.scanned = ScannedLines()
        self._prefixes = PrefixReader()
        self._messages = Memo()
        self._unread = UnreadLines()
        texts = self.scanned.events.texts
        self._severities = np.zeros(len(_IS_MESSAGE), np.int32)
        """The text of each level, as its index in the pool, by the level's letter."""
        for letter in np.flatnonzero(_IS_MESSAGE).tolist():
            self._severities[letter] = texts.id(bytes((letter,)))
        self._stages = _stages(texts, bare=False, bulk=bulk)
        """The readers of loggers' lines, in turn."""
        self._bare_stages = _stages(texts, bare=True, bulk=bulk)
        """The readers of lines without a prefix, in turn."""
        self._may_be_excerpt = False
        """Whether the source is a text that somebody may have pasted."""
        self._first_line = 1
        """The number of the first line of the window that is read."""
        self._names_line = -1
        """The last line of a names-only dump, while it goes on."""

    def feed(self, window: Window) -> None:
        """Read the lines of a window."""
        index, self._first_line = window.index, window.first_line
        if window.bare is window.data:
            self.scanned.line_starts.frombytes((index.starts + window.offset).tobytes())
        else:
            self.scanned.line_starts.extend(window.starts)
        before = self.scanned.events.sizes()
        prefixes = self._prefixes.read(index)
        singles = _Singles(glued_lines(index, prefixes))
        self._note_loggers(prefixes.dialect, np.flatnonzero(prefixes.dialect >= 0))
        batches, blank = self._read_all(index, prefixes, np.arange(len(index)), singles)
        speaks = prefixes.dialect >= 0
        speaks[blank] = False
        self._read_verdicts(index, singles)
        telling, asides = self._unread.told(index, singles.unread())
        self._note_asides(asides)
        self._read_glued(singles)
        if window.first_line == 1:
            self._may_be_excerpt = is_pasted(window.data)
        if window.first_line == 1 and self._may_be_excerpt and len(index) <= _LONGEST_EXCERPT:
            self._read_cut(batches[0].bodies, singles)
        self._note_unknown(sorted(singles.unknown))
        self._note_untyped(batches[0].bodies, singles, telling, prefixes.severity)
        if self._may_be_excerpt and not (self.scanned.recognised or self.scanned.mentioned):
            self.scanned.mentioned = mention_tensorrt(index, singles.unread())
        self._note_names(batches[0].bodies, sorted(singles.headings), singles.unprefixed)
        certain = speaks.copy()
        certain[[line for line, _ in singles.unknown if not _STRONG[prefixes.dialect[line]]]] = False
        self._note_first(speaks, certain, sorted(singles.banners))
        self._note_resumed(np.flatnonzero(certain), sorted(singles.banners))
        self.scanned.events.sort(before)

    def _read_all(
        self, index: LineIndex, prefixes: Prefixes, lines: Positions, singles: _Singles
    ) -> tuple[list[_LineBatch], Positions]:
        """Read the texts of an index, which stand on these lines of the window; return the lines of blank ones too."""
        prefixed = prefixes.dialect >= 0
        batches = _batches(index, prefixes, lines, singles.glued)
        blanks = [np.zeros(0, np.int64)]
        for batch in batches:
            self._note_messages(batch, prefixes.severity[batch.rows])
            blank = batch.drop_blanks()
            self.scanned.counts.blank += len(blank)
            self.scanned.events["blank"].extend(blank + self._first_line, {})
            blanks.append(blank)
            self._read(batch, prefixed[batch.rows], singles)
        return batches, np.concatenate(blanks)

    def _read_glued(self, singles: _Singles) -> None:
        """Read the parts of glued lines.

        Such a line counts as unknown where no rule reads one of its loggers' parts, else as typed.
        """
        glued = singles.glued
        if not glued:
            return
        index = LineIndex(b"".join([part + b"\n" for parts in glued.values() for part in parts]))
        lines = np.array([line for line, parts in glued.items() for _ in parts])
        counts, singles_of_parts = self.scanned.counts, _Singles()
        typed, blank = counts.typed, counts.blank
        prefixes = self._prefixes.read(index)
        dialects = prefixes.dialect[prefixes.dialect >= 0]
        self.scanned.recognised = self.scanned.recognised or bool(_STRONG[dialects].any())
        self._read_all(index, prefixes, lines, singles_of_parts)
        unknown = dict(reversed(singles_of_parts.unknown))  # the first such part of each line
        counts.typed, counts.blank = typed + len(glued) - len(unknown), blank
        singles.headings += singles_of_parts.headings
        singles.banners += singles_of_parts.banners
        self._note_unknown(sorted(unknown.items()))
        told = self._unread.told(index, np.array(sorted(singles_of_parts.unprefixed_rows), np.int64))
        telling = sorted(told.causes)
        self._note_asides([(int(lines[row]), kind, fields) for row, kind, fields in told.asides])
        texts = Bodies(index, index.starts, np.zeros(len(index), np.int64)).texts(np.array(telling, np.int64))
        self._keep_untyped([*singles_of_parts.unknown, *zip(lines[telling].tolist(), texts, strict=True)])

    def _read_joined(self, lines: range, texts: Mapping[int, bytes]) -> range:
        """Read some lines as one; return them if a rule reads that, else none."""
        matched = _unmistakable().find(b" ".join([texts[line].strip() for line in lines]))
        if matched is None:
            return lines[:0]
        kind, match = matched
        self.scanned.mentioned = True
        self.scanned.counts.typed += len(lines)
        if kind.kept is not None:
            self.scanned.events[kind.name].add(self._first_line + lines[0], named_fields(kind, match.groups()))
        return lines

    def _read_cut(self, bodies: Bodies, singles: _Singles) -> None:
        """Read the lines of an excerpt that lost their prefix, or that were wrapped: two or three lines are one."""
        unprefixed = set(singles.unprefixed)
        left = dict(singles.unknown) | {line: bodies.text(line) for line in unprefixed}
        read: set[int] = set()
        for size in range(1, _MOST_WRAPPED + 1):  # a line that is whole is no part of another one
            for line in sorted(left.keys() - read):
                lines = range(line, line + size)
                if unprefixed.issuperset(lines[1:]) and not read.intersection(lines):
                    read.update(self._read_joined(lines, left))
        singles.unknown = [row for row in singles.unknown if row[0] not in read]
        singles.unprefixed = [line for line in singles.unprefixed if line not in read]

    def _note_loggers(self, dialects: Positions, lines: Positions) -> None:
        if not len(lines):
            return
        dialects = dialects[lines]
        self.scanned.recognised = self.scanned.recognised or bool(_STRONG[dialects].any())
        changes = np.flatnonzero(dialects != np.concatenate(([self.scanned.dialect], dialects[:-1])))
        for change in changes.tolist():
            name = DIALECTS[dialects[change]].encode()
            self.scanned.events["dialect"].add(self._first_line + int(lines[change]), {"dialect": name})
        self.scanned.dialect = int(dialects[-1])

    def _note_messages(self, batch: _LineBatch, severity: Positions) -> None:
        index = batch.bodies.index
        spans = batch.bodies.spans(np.flatnonzero(batch.left & _IS_MESSAGE[severity]))
        text = self._messages.values(index, spans, lambda new: self.scanned.events.texts.ids(new.texts(index.data)))
        columns = {"severity": self._severities[severity[spans.lines]], "text": text}
        self.scanned.events["message"].extend(batch.lines[spans.lines] + self._first_line, columns)

    def _read(self, batch: _LineBatch, prefixed: Bools, singles: _Singles) -> None:
        for stages, of_logger in (self._stages, prefixed), (self._bare_stages, ~prefixed):
            for stage in stages:
                wanted = batch.left & of_logger
                if not wanted.any():
                    break
                for kind, bodies, columns in stage(batch.bodies, wanted):
                    batch.left[bodies] = False
                    lines = batch.lines[bodies]
                    if kind is not None:
                        self._note_typed(kind, lines + self._first_line, columns)
                        self._note_single(kind, lines, columns, singles)
                    elif of_logger is prefixed:
                        singles.unknown += zip(lines.tolist(), batch.bodies.texts(bodies), strict=True)
                    else:
                        singles.unprefixed += lines.tolist()
                        singles.unprefixed_rows += batch.rows[bodies].tolist()

    def _note_typed(self, kind: str, numbers: Positions, columns: Mapping[str, npt.NDArray[Any]]) -> None:
        self.scanned.counts.typed += len(numbers)
        self.scanned.recognised = True
        if kind in KEPT:
            self.scanned.events[kind].extend(numbers, columns)

    def _note_single(
        self, kind: str, lines: Positions, columns: Mapping[str, npt.NDArray[Any]], singles: _Singles
    ) -> None:
        if kind == "banner":
            texts = self.scanned.events.texts
            both = zip(lines.tolist(), columns["verdict"].tolist(), strict=True)
            singles.banners += [(line, texts[verdict] != "RUNNING") for line, verdict in both if verdict != NO_TEXT]
        elif kind == "engine_layers_detailed":
            singles.headings += lines.tolist()

    def _read_verdicts(self, index: LineIndex, singles: _Singles) -> None:
        """Read the banners that stand behind anything else in a line: stamps whose messages went elsewhere, say."""
        if not singles.unprefixed or not index.has(_BEHIND[1:2]):  # a whole literal is searched for ten times as long
            return
        marks = np.flatnonzero(index.bytes == _BEHIND[1])
        marks = marks[index.holds(marks - 1, _BEHIND)]
        left = dict.fromkeys(singles.unprefixed)
        for at, line in zip(marks.tolist(), index.ends.searchsorted(marks).tolist(), strict=True):
            match = _banner().match.fullmatch(index.data, at, int(index.ends[line]))
            if match is not None and line in left:
                fields = named_fields(_banner(), match.groups())
                self.scanned.events["banner"].add(self._first_line + line, fields)
                self.scanned.counts.typed += 1
                self.scanned.recognised = True
                singles.banners.append((line, fields["verdict"] != _RUNNING))
                del left[line]
        singles.unprefixed = list(left)

    def _note_asides(self, asides: list[tuple[int, str, dict[str, bytes | None]]]) -> None:
        for line, kind, fields in asides:
            self.scanned.events[kind].add(self._first_line + line, fields)
            self.scanned.mentioned = self.scanned.mentioned or kind.startswith(("poly_", "trt_"))

    def _note_unknown(self, unknown: list[tuple[int, bytes]]) -> None:
        self.scanned.counts.unknown += len(unknown)
        for line, body in unknown:
            self.scanned.drift.add(self._first_line + line, body)

    def _note_untyped(self, bodies: Bodies, singles: _Singles, telling: set[int], levels: Positions) -> None:
        """Keep the lines that no rule reads, since several together may name a cause; of many, those that name one."""
        room = _MOST_KEPT - len(self.scanned.events["untyped"].lines)
        kept = telling.union(singles.unread()[: max(room, 0)].tolist())
        unknown = [row for row in singles.unknown if row[0] in kept]
        unprefixed = [line for line in singles.unprefixed if line in kept]
        texts = bodies.texts(np.array(unprefixed, np.int64))
        self._keep_untyped([*unknown, *zip(unprefixed, texts, strict=True)], levels)

    def _keep_untyped(self, texts: list[tuple[int, bytes]], levels: Positions | None = None) -> None:
        for line, text in sorted(texts):
            level = bytes((int(levels[line]),)) if levels is not None and levels[line] else None
            self.scanned.events["untyped"].add(self._first_line + line, {"text": text, "severity": level})

    def _note_names(self, bodies: Bodies, headings: list[int], unprefixed: list[int]) -> None:
        """Note the lines of other programs; right behind a ``Layers:`` line they are names of layers."""
        self.scanned.counts.unprefixed += len(unprefixed)
        others = np.array(unprefixed, np.int64)
        if headings or self._names_line == self._first_line - 1:
            names = set(unprefixed)
            for heading in (self._names_line - self._first_line, *headings):
                line = heading + 1
                while line in names:
                    self.scanned.events["layer_name"].add(
                        self._first_line + line, {"name": bodies.text(line).lstrip(b" ")}
                    )
                    names.remove(line)
                    line += 1
                self._names_line = self._first_line + line - 1
            others = np.array(sorted(names), np.int64)
        self.scanned.events["other"].extend(others + self._first_line, {})

    def _note_first(self, speaks: Bools, certain: Bools, banners: list[tuple[int, bool]]) -> None:
        if self.scanned.first_said is None and speaks.any():
            self.scanned.first_said = self._first_line + int(speaks.argmax())
        if self.scanned.first_own is None and certain.any():
            self.scanned.first_own = self._first_line + int(certain.argmax())
        if self.scanned.first_banner is None and banners:
            self.scanned.first_banner = self._first_line + banners[0][0]

    def _note_resumed(self, certain: Positions, banners: list[tuple[int, bool]]) -> None:
        """Note the first line of TensorRT or its programs behind a verdict, unless a new run begins before it."""
        pending = self.scanned.after_verdict
        at = 0
        for line, is_verdict in [*banners, (-1, False)]:
            limit = len(certain) if line < 0 else int(certain.searchsorted(line))
            if pending and at < limit:
                self.scanned.events["resumed"].add(self._first_line + int(certain[at]), {})
                pending = False
            if line >= 0:
                pending = is_verdict
                at = limit
        self.scanned.after_verdict = pending
