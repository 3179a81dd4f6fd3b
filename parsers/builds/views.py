"""The events of a log and of its builds: rows of a kind, and columns of their fields.

A log may hold thousands of builds. So the rows of a kind are looked up for all builds at once, and divided afterwards
(:class:`Log`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise, repeat
from operator import attrgetter
from typing import Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from trtforensics.model.arrays import Bools, Numbers, Positions
from trtforensics.model.span import SourceInfo, SourceSpan
from trtforensics.parsers.lines.events import NO_TEXT, Events


class _HasSpan(Protocol):
    @property
    def span(self) -> SourceSpan: ...


_Number = TypeVar("_Number", np.int32, np.int64)
_Columns = tuple[npt.NDArray[Any], ...]
_T = TypeVar("_T")
_Record = TypeVar("_Record", bound=_HasSpan)

ENGINE = ("engine_generated", "engine_generated_old", "engine_layers", "engine_layers_detailed")
"""The kinds of line that announce or list an engine."""
_LINE = attrgetter("span.line")


class LinesView:
    """The events of a run of lines: a log, or a build of one.

    ``spans`` are the rows of every kind that it has any of, where they are known already; ``known`` are the columns of
    the whole log that were sorted so far, by kinds and fields.
    """

    def __init__(
        self,
        events: Events,
        first_line: int,
        last_line: int,
        *,
        spans: Mapping[str, range] | None = None,
        known: dict[tuple[tuple[str, ...], tuple[str, ...]], _Columns] | None = None,
    ) -> None:
        self.events = events
        self.first_line = first_line
        self.last_line = last_line
        self._spans = events.between(first_line, last_line) if spans is None else spans
        self._known = {} if known is None else known

    def kinds(self) -> Iterable[str]:
        """Return the kinds that have a row."""
        return self._spans.keys()

    def present(self, kinds: Iterable[str]) -> list[str]:
        """Return those kinds that have a row."""
        return list(filter(self._spans.__contains__, kinds))

    def each(self, kind: str, *names: str) -> Iterable[tuple[Any, ...]]:
        """Give ``(line, field, field, …)`` for every row of a kind, in line order."""
        if kind not in self._spans:
            return ()
        rows, span = self.events[kind], self._spans[kind]
        columns = [rows.values(name, span) for name in names]
        return zip(rows.lines[span.start : span.stop], *columns, strict=True)

    def columns(self, kinds: tuple[str, ...], *names: str) -> _Columns:
        """Return the line numbers and some fields of all rows of some kinds, as they are stored, sorted by line.

        Texts are indexes. A field that a kind does not have reads as not printed. Do not change the arrays: other
        builds share them.
        """
        if (kinds, names) not in self._known:
            self._known[kinds, names] = _sorted(self.events, kinds, names)
        columns = self._known[kinds, names]
        low, high = columns[0].searchsorted((self.first_line, self.last_line + 1)) if self.has(*kinds) else (0, 0)
        return tuple([column[low:high] for column in columns])

    def text(self, index: int) -> str:
        """Return a text by its index; empty where the line does not print it."""
        return self.events.texts[index] if index != NO_TEXT else ""

    def texts(self, indexes: Numbers) -> list[str]:
        """Return some texts by their indexes, as :meth:`text` does."""
        pool = self.events.texts.all()
        return [pool[index] if index >= 0 else "" for index in indexes.tolist()]

    def read_texts(self, indexes: Numbers, read: Callable[[str], _T]) -> list[_T]:
        """Apply ``read`` to some texts by their indexes; each distinct text is read once."""
        codes = indexes.tolist()
        values = {index: read(self.text(index)) for index in set(codes)}
        return [values[code] for code in codes]

    def lines(self, *kinds: str) -> list[int]:
        """Return the lines of rows of these kinds, sorted."""
        numbers: list[int] = []
        for kind in self.present(kinds):
            span = self._spans[kind]
            numbers.extend(self.events[kind].lines[span.start : span.stop])
        return numbers if len(kinds) == 1 else sorted(numbers)

    def reach(self, *kinds: str) -> tuple[int, int]:
        """Return the first and the last line of rows of these kinds, of which there must be some."""
        rows = [(self.events[kind].lines, self._spans[kind]) for kind in self.present(kinds)]
        return min(lines[span.start] for lines, span in rows), max(lines[span.stop - 1] for lines, span in rows)

    def has(self, *kinds: str) -> bool:
        """Whether there is a row of any of these kinds."""
        return not self._spans.keys().isdisjoint(kinds)


class Log(LinesView):
    """The events of a whole log, and the lines at which its builds begin.

    ``attend`` is called many times while a large log is put together; it may wait, and what it raises ends the work.
    """

    def __init__(
        self, events: Events, edges: Positions, spans: Spans, attend: Callable[[], None] = lambda: None
    ) -> None:
        """``edges`` holds the first line of each build, and last the line behind the log."""
        super().__init__(events, int(edges[0]), int(edges[-1]) - 1)
        self._attend = attend
        self.edges = edges
        self.spans = spans
        self.size = len(edges) - 1
        """The number of builds."""

    def columns(self, kinds: tuple[str, ...], *names: str) -> _Columns:
        """Return columns as a view does."""
        self._attend()
        return super().columns(kinds, *names)

    def build_of(self, lines: Positions) -> Positions:
        """Return for each line the first line of its build."""
        return latest(self.edges, self.edges, lines)

    def places(self, lines: Sequence[int] | Positions) -> list[int]:
        """Return for each line the number of its build."""
        return [place - 1 for place in self.edges.searchsorted(lines, side="right").tolist()]

    def limits(self, lines: Sequence[int] | Positions) -> Positions:
        """Return the position of each build's first line among some sorted lines, and last their number."""
        self._attend()
        return np.asarray(lines, np.int64).searchsorted(self.edges)

    def ranges(self, lines: Sequence[int] | Positions) -> Iterator[tuple[int, int]]:
        """Give by build the range of positions that its lines have among some sorted lines."""
        return pairwise(self.limits(lines).tolist())

    def divide(self, lines: Sequence[int] | Positions, values: Iterable[_T]) -> Sequence[tuple[_T, ...]]:
        """Divide what was read from some sorted lines by builds."""
        whole = tuple(values)
        if not whole:
            return [()] * self.size
        divided: list[tuple[_T, ...]] = [()] * self.size
        limits = self.limits(lines)
        some = np.flatnonzero(limits[1:] > limits[:-1])  # a log may hold ten thousand builds without such a line
        for build, low, high in zip(*(each.tolist() for each in (some, limits[some], limits[some + 1])), strict=True):
            divided[build] = whole[low:high]
        return divided

    def divide_records(self, records: Iterable[_Record]) -> Sequence[tuple[_Record, ...]]:
        """Divide records by builds, each build's in the order of their lines."""
        ordered = sorted(records, key=_LINE)
        return self.divide(list(map(_LINE, ordered)), ordered)

    def in_force(self, kind: str, name: str) -> list[tuple[Any, ...]]:
        """Return by build a field of its rows of a kind, preceded by that of the last row before the build."""
        rows = self.events[kind]
        values = tuple(rows.values(name, range(len(rows.lines))))
        return [values[max(low - 1, 0) : high] for low, high in self.ranges(rows.lines)]

    def placed(self, kind: str, *names: str) -> Iterator[tuple[Any, ...]]:
        """Give ``(build, field, field, …)`` for every row of a kind, in line order."""
        if self.has(kind):
            for place, (_, *values) in zip(self.places(self.events[kind].lines), self.each(kind, *names), strict=True):
                yield place, *values

    def metadata(self, lines: Positions, indexes: Numbers) -> list[str]:
        """Return texts that end in metadata, with what their logger (Polygraphy) broke off at each 0x1E of it."""
        further = self._further_metadata
        return [text + further.get(line, "") for line, text in zip(lines.tolist(), self.texts(indexes), strict=True)]

    @cached_property
    def _further_metadata(self) -> Mapping[int, str]:
        behind: dict[int, str] = {}
        head = at = 0
        for line, text in self.each("metadata_item", "metadata"):
            head, at = (head if line == at + 1 else line - 1), line
            behind[head] = f"{behind.get(head, '')}\x1e{text}"
        return behind

    def having(self, *kinds: str) -> Bools:
        """Return by build whether it has a row of any of these kinds."""
        return self.counts(*kinds) > 0

    def counts(self, *kinds: str) -> Positions:
        """Count each build's rows of these kinds."""
        places = [self.limits(self.events[kind].lines) for kind in self.present(kinds)]
        return np.diff(sum(places, np.zeros(len(self.edges), np.int64)))

    @cached_property
    def views(self) -> list[LinesView]:
        """A view of each build."""
        spans: list[dict[str, range]] = [{} for _ in range(self.size)]
        for kind in self._spans:
            limits = self.limits(self.events[kind].lines)
            some = np.flatnonzero(limits[1:] > limits[:-1])
            rows = map(range, limits[some].tolist(), limits[some + 1].tolist())
            for build, span in zip(some.tolist(), rows, strict=True):
                spans[build][kind] = span
        return [
            LinesView(self.events, first, behind - 1, spans=line_spans, known=self._known)
            for (first, behind), line_spans in zip(pairwise(self.edges.tolist()), spans, strict=True)
        ]


class Spans:
    """Makes the source spans of lines."""

    def __init__(self, source: SourceInfo, line_starts: Sequence[int] | Positions) -> None:
        """``line_starts`` are the byte offsets of the lines, the first line's first."""
        self._source = source
        self._starts = np.asarray(line_starts)

    def of(self, line: int) -> SourceSpan:
        """Return the span of a line."""
        file, before = self._source.part_of(line)
        return SourceSpan(file.path, line, int(self._starts[line - 1]), before=before)

    def of_each(self, lines: Positions) -> Iterator[SourceSpan]:
        """Give the span of each line."""
        if self._source.parts:
            return map(self.of, lines.tolist())
        return map(SourceSpan, repeat(self._source.path), lines.tolist(), self._starts[lines - 1].tolist())


def _sorted(events: Events, kinds: tuple[str, ...], names: tuple[str, ...]) -> _Columns:
    tables = [rows for kind in kinds if (rows := events[kind]).lines] or [events[kinds[0]]]
    parts = [(rows.stored_lines(), *map(rows.stored, names)) for rows in tables]
    if events.closed and len(parts) == 1:
        return parts[0]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    return tuple([column[order] for column in columns]) if len(tables) > 1 else tuple(columns)


def latest(
    lines: Positions, values: npt.NDArray[_Number], at: Positions, since: Positions | None = None
) -> npt.NDArray[_Number]:
    """Return for each line ``at`` the value of the last of some sorted lines up to it; -1 where there is none.

    Lines before ``since`` do not count.
    """
    place = lines.searchsorted(at, side="right")
    latest_values = values[place - 1] if len(values) else np.empty(len(place), values.dtype)
    latest_values[place <= (0 if since is None else lines.searchsorted(since))] = -1
    return latest_values
