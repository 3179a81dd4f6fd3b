"""The map of an engine's time: every unit of its ledger as a bar, and below it kernels, ONNX nodes and their lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain, takewhile

from trtforensics.console.counting import counted, grouped, milliseconds
from trtforensics.engines.facts import EngineFacts, LayerFacts
from trtforensics.findings.finding import Finding
from trtforensics.render.headline import TYPES, UNKNOWN_TYPE, Headline, computed_type, is_mostly_timed
from trtforensics.render.stated_rows import figure
from trtforensics.render.time_rows import TimeRow, no_times
from trtforensics.tui.rows.finding_rows import ROLES
from trtforensics.tui.rows.layers.index import details
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.pieces import TYPE_ROLE, UNNAMED, Line, Piece, Role, bar, clip, fit, flush, stacked_bar

SHOWN = 10
"""Units that the map shows at its root; further ones are in one bar."""
WIDE = 110
"""Width in cells from which a row has room for its reason."""
_STATE = 9
_TYPE = 5
_CODE = 6
_SUMMED = 4
_NO_ROW = "no row of the profile"


@dataclass(frozen=True, slots=True)
class MapRow:
    """A place of the map. ``ms`` is its time and ``parts`` are its shares of the total by compute type, 0 to 1.

    ``scale`` is the share of a full bar. ``state`` says how the time is known, or why there is none. ``entry`` is the
    layer or the unit that it is; ``foreign`` the ForeignNode whose kernels it holds. ``units`` are what a sum holds.
    """

    label: str
    ms: float | None = None
    parts: tuple[tuple[str, float], ...] = ()
    scale: float = 1.0
    state: str = ""
    line: int | None = None
    entry: LayerFacts | None = None
    foreign: str = ""
    units: tuple[MapRow, ...] = ()
    finding: Finding | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)

    @property
    def share(self) -> float:
        """Its part of the ledger's total, 0 to 1."""
        return sum(share for _, share in self.parts)

    @property
    def is_open(self) -> bool:
        """Whether there is something below it."""
        return bool(self.entry is not None or self.foreign or self.units)

    def lines(self, _gutter: int, width: int) -> list[Line]:
        """Lay the row out: bar, share, ms, how that is known, type, name, worst finding, and why, where it has room."""
        cells = 20 if width >= WIDE else 10
        roles = [(TYPE_ROLE.get(kind, Role.BAR), share / self.scale) for kind, share in self.parts]
        look, share = roles[0] if roles else (Role.BAR, 0.0)
        percent = f"{self.share:.1%}" if self.parts else ""
        head = (
            Piece(" ▸ ", Role.DIM),
            *(stacked_bar(roles, cells) if len(roles) > 1 else [Piece(bar(share, cells), look)]),
            Piece(flush(percent, 7)),
            Piece(flush("" if self.ms is None else milliseconds(self.ms), 9) + " ", Role.STRONG),
        )
        room = width - 3 - cells - 17
        if self.units:
            return [(*head, Piece(clip(self.label, room), Role.DIM))]
        known = self.entry.compute_precision if self.entry is not None else None
        kinds = [kind for kind, _ in self.parts] or [TYPES.get(known.type, known.type) if known is not None else ""]
        code = self.finding.code if self.finding is not None else ""
        room -= _STATE + _TYPE + _CODE + 1
        name = room if width < WIDE else room * 3 // 5
        role = Role.WARNING if self.state == "unknown" else Role.DIM
        return [
            (
                *head,
                Piece(fit(self.state, _STATE), role),
                Piece(f"{fit(kinds[0].replace(UNKNOWN_TYPE, '?'), _TYPE - 1)} ", TYPE_ROLE.get(kinds[0], Role.DIM)),
                Piece(fit(self.label, name)),
                Piece(" " + fit(code, _CODE), ROLES[self.finding.severity] if self.finding else Role.DIM),
                Piece(fit(f" {self.reason}", room - name) if room > name else "", Role.DIM),
            )
        ]


class TimeMap:
    """The map of one engine. Its root adds up to the ledger's total."""

    def __init__(self, facts: EngineFacts) -> None:
        self.facts = facts
        self.findings: Sequence[Finding] | None = None
        """Worst first; None before the rules have run."""
        self._reasons: dict[int, str] = {}
        self.told: tuple[Sequence[Headline], Sequence[TimeRow], Sequence[OverviewRow]] | None = None
        """What the first screen says beside map and findings, once worked out: the log's headlines, times, the rest."""

    @cached_property
    def _entries(self) -> dict[int, LayerFacts]:
        """What stands for each unit, by the unit's ``id``."""
        return {id(entry.unit): entry for entry in self.facts.listed if entry.unit is not None}

    @cached_property
    def _silent(self) -> list[LayerFacts]:
        """The layers that are in no unit: they run no kernel."""
        return [entry for entry in self.facts.layers if self.facts.ledger.of_layer(entry.index) is None]

    @cached_property
    def _bars(self) -> tuple[MapRow, ...]:
        """Every unit: those whose time counts, slowest first, then those without a time."""
        ledger = self.facts.ledger
        units = (*ledger.slowest, *(unit for unit in ledger.units if unit.share is None))
        return tuple(self._row(self._entries[id(unit)]) for unit in units)

    @cached_property
    def _scale(self) -> float:
        return max((unit.share or 0.0 for unit in self.facts.ledger.units), default=0.0) or 1.0

    def _row(self, entry: LayerFacts) -> MapRow:
        """Return the row of a layer, also without a time of its own: inside a ForeignNode, or without a kernel."""
        unit, name = entry.unit, entry.name or UNNAMED
        if unit is None:
            state = "in whole" if self.facts.ledger.of_layer(entry.index) is not None else "no kernel"
            return MapRow(name, state=state, line=entry.span.line, entry=entry)
        parts = () if unit.share is None else ((computed_type(self.facts.build, unit), unit.share),)
        foreign = entry.name if entry.name in self._inside else ""
        return MapRow(name, unit.time_ms, parts, self._scale, unit.state, unit.span.line, entry, foreign=foreign)

    @cached_property
    def _inside(self) -> dict[str, list[LayerFacts]]:
        """The kernels of each ForeignNode, by its name."""
        return grouped((entry for entry in self.facts.layers if entry.inside), lambda entry: entry.inside)

    @property
    def headline(self) -> str:
        """The total, how it is known, and of how many layers."""
        ledger = self.facts.ledger
        if ledger.total_ms is None:
            return f"time unknown by layer: {no_times(self.facts.build)}"
        note = ledger.note if ledger.layers else f"{counted(len(ledger.slowest), 'row')} of the profile"
        few = "" if is_mostly_timed(ledger) else "; shares of these alone"
        return f"{figure(ledger.total_ms)} ms {ledger.time_is} · {note}{few}"

    def root(self) -> list[MapRow]:
        """Return the slowest units, and what is left as one row: further units, layers without a time or a kernel."""
        bars = self._bars
        shown, rest = bars[:SHOWN], bars[SHOWN:]
        cut = (self.facts.ledger.total_ms or 0.0) - (self.facts.ledger.booked_ms or 0.0)
        rows = list(map(self._told, shown))
        if rest or cut or self._silent:
            rows.append(self._rest(rest, cut))
        return rows

    def _rest(self, rest: Sequence[MapRow], cut: float) -> MapRow:
        """Return the row that adds up what is left, by compute type."""
        timed = [row for row in rest if row.parts]
        sums: dict[str, list[float]] = {}
        for kind, share in chain.from_iterable(row.parts for row in timed):
            sums.setdefault(kind, []).append(share)
        total = self.facts.ledger.total_ms
        if cut and total:
            sums[_NO_ROW] = [cut / total]
        by_type = sorted(sums.items(), key=lambda item: -sum(item[1]))
        counts = {kind: f" ({len(shares):,})" if kind != _NO_ROW else "" for kind, shares in by_type}
        words = [f"{kind} {sum(shares):.1%}{counts[kind]}" for kind, shares in by_type[:_SUMMED]]
        words += [f"{len(by_type) - _SUMMED} more types"] if len(by_type) > _SUMMED else []
        states = [row.state for row in rest if not row.parts]
        words += [f"{states.count(state):,} {state}" for state in dict.fromkeys(states)]
        words += [f"{len(self._silent):,} no kernel"] if self._silent else []
        silent = tuple(map(self._row, self._silent))
        label = f"the rest, {counted(len(rest) + len(silent), 'row')}: {', '.join(words)}"
        parts = tuple((kind, sum(shares)) for kind, shares in by_type)
        ms = sum(row.ms or 0.0 for row in timed) + cut if parts else None
        scale = max(self._scale, sum(share for _, share in parts))
        return MapRow(label, ms, parts, scale, units=(*rest, *silent) or (MapRow(_NO_ROW),))

    def _told(self, row: MapRow) -> MapRow:
        """Return a row with the worst finding about it and its first reason."""
        entry = row.entry
        if entry is None:
            return row
        if id(entry) not in self._reasons:
            reasons = entry.why()
            self._reasons[id(entry)] = reasons[0].text if reasons else ""
        return replace(row, finding=next(iter(self._findings_of(row)), None), reason=self._reasons[id(entry)])

    def _findings_of(self, row: MapRow) -> Sequence[Finding]:
        """Return the findings about a row's layer, kernels or ONNX nodes: worst first, then of fewest layers."""
        if row.entry is None:
            return ()
        names = {row.entry.name, *row.entry.onnx_nodes, *(kernel.name for kernel in self._inside.get(row.foreign, ()))}
        about = (each for each in self.findings or () if not names.isdisjoint((*each.layers, *each.onnx_nodes)))
        return sorted(about, key=lambda finding: (-finding.severity, len(finding.layers)))

    def path_to(self, path: tuple[MapRow, ...], row: MapRow) -> tuple[MapRow, ...]:
        """Return the way to a row from where it is listed: a kernel stands below its ForeignNode."""
        inside = row.entry.inside if row.entry is not None else ""
        if not inside or any(step.foreign == inside for step in path):
            return (*path, row)
        return (*path, self._foreign_row(inside), row)

    def renewed(self, path: Sequence[MapRow]) -> tuple[MapRow, ...]:
        """Return the way in this map to the place that a path led to in another; as far as it is there."""
        known = {row.label: row for row in (*map(self._row, self.facts.layers), *self._bars, *self.root())}
        known |= {name: self._foreign_row(name) for name in self._inside}
        return tuple(known[row.label] for row in takewhile(lambda row: row.label in known, path))

    def _foreign_row(self, name: str) -> MapRow:
        """Return the row of a ForeignNode: its own unit, else the sum of its kernels."""
        whole = next((row for row in self._bars if row.foreign == name), None)
        if whole is not None:
            return whole
        kernels = [self._row(entry) for entry in self._inside[name]]
        return MapRow(name, *_sum(kernels), line=kernels[0].line, foreign=name, state=kernels[0].state)

    def inside(self, row: MapRow) -> list[MapRow | OverviewRow]:
        """Return what stands below a row: kernels and ONNX nodes of a ForeignNode, all of a layer, members of a sum."""
        if row.units:
            return [*map(self._told, row.units)]
        facts = [
            OverviewRow("finding", f"{each.code} {each.title}", each.line, ROLES[each.severity], most=1, finding=each)
            for each in self._findings_of(row)
        ]
        if row.foreign:
            return [*_time_rows(row), *facts, *self._kernel_rows(row), *self._node_rows(row)]
        if row.entry is None:
            return [*facts]
        first, *rows = details(row.entry, row.entry.why())
        return [first, *facts, *rows]

    def _kernel_rows(self, row: MapRow) -> Iterable[MapRow | OverviewRow]:
        kernels = sorted(map(self._row, self._inside.get(row.foreign, ())), key=lambda kernel: -kernel.share)
        title = f"Kernels: {len(kernels):,}" + ("" if any(kernel.parts for kernel in kernels) else ", timed as one")
        shown, rest = kernels[:SHOWN], tuple(kernels[SHOWN:])
        rows: list[MapRow | OverviewRow] = [OverviewRow(title, heading=True), *map(self._told, shown)]
        if rest:
            rows.append(MapRow(f"the rest, {counted(len(rest), 'kernel')}", *_sum(rest), rest[0].scale, units=rest))
        return rows

    def _node_rows(self, row: MapRow) -> Iterable[OverviewRow]:
        nodes = {node.name: node for node in self.facts.build.onnx_nodes}
        listed = next((node for node in reversed(self.facts.build.foreign_nodes) if node.name == row.foreign), None)
        names = dict.fromkeys(listed.onnx_nodes if listed is not None else ())
        names |= dict.fromkeys(chain.from_iterable(kernel.onnx_nodes for kernel in self._inside.get(row.foreign, ())))
        yield OverviewRow(f"ONNX nodes: {len(names):,}", heading=True)
        for name in names:
            span = nodes[name].span if name in nodes else listed.span if listed is not None else None
            yield OverviewRow(self.facts.operators.get(name, "?"), name, span.line if span is not None else row.line)
        if not names:
            yield OverviewRow("", "the log does not name them", role=Role.DIM)


def _sum(rows: Sequence[MapRow]) -> tuple[float | None, tuple[tuple[str, float], ...]]:
    """Return the time of some rows in ms and their shares; no time where none has a share."""
    parts = tuple(chain.from_iterable(row.parts for row in rows))
    return sum(row.ms or 0.0 for row in rows) if parts else None, parts


def _time_rows(row: MapRow) -> Iterator[OverviewRow]:
    if row.ms is not None:
        share = f", {row.share:.1%} of the engine's time" if row.parts else ", beside the times that count"
        yield OverviewRow("time", f"{milliseconds(row.ms)} ms {row.state}{share}", row.line, Role.STRONG)
    elif row.state != "no kernel":
        why = {"cached": "taken from the timing cache, which tells no time", "in whole": "timed with its ForeignNode"}
        yield OverviewRow("time", why.get(row.state, "the log tells none"), row.line, Role.WARNING)


def address(path: Sequence[MapRow], width: int) -> Line:
    """Return where one is in the map, such as the engine, a ForeignNode and a kernel in it, in a width."""
    names = ["the rest" if row.units else row.label for row in path]
    room = max((width - 8) // max(len(names), 1) - 3, 8)
    steps = [piece for name in names for piece in (Piece(" › ", Role.DIM), Piece(clip(name, room), Role.STRONG))]  # noqa: RUF001 - an arrowhead
    return (Piece(" engine", Role.TITLE if not path else Role.DIM), *steps)
