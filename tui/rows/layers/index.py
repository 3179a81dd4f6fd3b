"""The layers of one build for the layer tree: engine layers, their contents, and their tuning results."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum, auto
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from rich.cells import cell_len

from trtforensics.console.counting import counted, milliseconds
from trtforensics.engines.facts import EngineFacts, LayerFacts
from trtforensics.engines.why import Reason
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import Build, CachedResult, Choice, EngineLayer, EngineTensor, MyelinOperation
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import NEAR_TIE_RATIO, is_near_tie, tactic_text
from trtforensics.tables.layers import UNKNOWN, compute_text
from trtforensics.tui.rows.layers.columns import ENGINE_ORDER, ColumnLayout, Order, layer_pieces, value_text
from trtforensics.tui.rows.layers.questions import Question, questions
from trtforensics.tui.rows.overview_rows import OverviewRow
from trtforensics.tui.rows.pieces import (
    UNNAMED,
    CitingLine,
    Line,
    Piece,
    Presentation,
    Role,
    clip,
    fit,
    flush,
    line_digits,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.timings import TimeSource
    from trtforensics.onnx_models.checked import CheckedModel
    from trtforensics.tables.columns import TableColumn

_DEPTH = 4
"""Parts of a path that name a group of layers: ``/model/backbone/res_layers.0``."""
_NOWHERE = SourceSpan("", 0, 0)

Subject = Choice | CachedResult | MyelinOperation
"""Whatever the candidates pane can show the candidates of."""


class RowKind(IntEnum):
    """The kinds of rows in the tree; numbers, as sets of them are asked for each row at each key of a filter."""

    LAYER = auto()
    SECTION = auto()
    DETAIL = auto()
    COMBINATION = auto()
    INNER = auto()
    NAME = auto()


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of the tree: ``label``, text, ``note``; ``why`` says why its ``subject`` has no candidate."""

    kind: RowKind
    text: str
    line: int | None = None
    subject: Subject | None = None
    entry: LayerFacts | None = None
    label: str = ""
    note: str = ""
    why: str = ""


class LayerIndex:
    """The layers of one build: engine layers, layers that were tuned but are not in the engine, and mere names."""

    def __init__(self, build: Build, model: CheckedModel | None = None) -> None:
        """Look a build's layers up; ``model`` tells the operators of ONNX nodes that the log does not."""
        self.build = build
        self.facts = EngineFacts(build, model=model)
        self.engine = self.facts.listed
        self.others = self.facts.only_tuned
        self._asked: dict[float, tuple[Question, ...]] = {}

    @cached_property
    def time_source(self) -> TimeSource | None:
        return self.facts.time_is or next((entry.time_is for entry in self.others if entry.time_is), None)

    def questions(self, tie: float = NEAR_TIE_RATIO) -> tuple[Question, ...]:
        """Return the questions about the engine's layers; without an engine dump, about the layers that were tuned."""
        if tie not in self._asked:
            self._asked[tie] = questions(self.engine or self.others, self.facts.reasons.asked, tie)
        return self._asked[tie]

    def bare(self, name: str) -> LayerFacts:
        """Return a layer that the log only names."""
        return LayerFacts(self.facts, 0, EngineLayer(name, "", None, "", (), (), (), (), _NOWHERE), in_engine=False)

    def rows(
        self,
        keeps: Callable[[LayerFacts], bool] | None = None,
        mentions: Callable[[str], bool] | None = None,
        order: Order = ENGINE_ORDER,
    ) -> list[TreeRow]:
        """Return the top-level rows: layers by ``keeps``, names and operations by ``mentions``, all without both."""
        engine = [entry for entry in self.engine if keeps is None or keeps(entry)]
        others = [entry for entry in self.others if keeps is None or keeps(entry)]
        by_name = mentions or (lambda _: keeps is None)
        why = "the log gives this layer's name and nothing else"
        names = [TreeRow(RowKind.NAME, name, why=why) for name in self.build.layer_names if by_name(name)]
        inner = [_inner_row(op) for op in self.build.myelin_operations if by_name(op.op)]
        if order != ENGINE_ORDER:
            engine, others = order.sorted(engine), order.sorted(others)
        repeats = self._repeats() if order == ENGINE_ORDER else ()
        row_of = self._layer_rows.__getitem__
        rows = [*repeats, *map(row_of, engine), *(() if keeps else self._coverage())] if engine else []
        tuned = [*map(row_of, others)]
        for title, members in (
            ("tuned, not in the engine" if self.engine else "tuned; the log has no engine dump", tuned),
            ("of these the log prints the names only", names),
            ("operations timed by Myelin", inner),
        ):
            if members:
                rows += [TreeRow(RowKind.SECTION, title, label=f"{len(members):,}"), *members]
        return rows

    def grouped(self, rows: Iterable[TreeRow], column: TableColumn) -> list[TreeRow]:
        """Return the engine's layers by a column, the group of the most time first, each below its sums."""
        groups: dict[str, list[TreeRow]] = {}
        for row in rows:
            if row.entry is not None and row.entry.in_engine:
                name = "/".join(value_text(column, row.entry).split("/")[:_DEPTH])
                groups.setdefault(name or UNKNOWN, []).append(row)
        sums = {name: sum(row.entry.time_ms or 0.0 for row in group if row.entry) for name, group in groups.items()}
        whole = self.facts.ledger.total_ms
        listed: list[TreeRow] = []
        for name in sorted(groups, key=lambda name: -sums[name]):
            share = f" {sums[name] / whole:.1%}" if whole else ""
            label = f"{milliseconds(sums[name])} ms{share}, {counted(len(groups[name]), 'row')}"
            listed += [TreeRow(RowKind.SECTION, name, label=label), *groups[name]]
        return listed

    def children(self, entry: LayerFacts) -> list[TreeRow]:
        """Return the rows below a layer: ONNX nodes, tensors, facts, and every tuned combination of formats."""
        rows = [*node_rows(entry), *(fact_rows(entry) if entry.in_engine else ())]
        if not entry.inside:
            rows += chain.from_iterable(map(self._combination_rows, entry.tuned))
        return rows or [TreeRow(RowKind.DETAIL, "the log says nothing more about it")]

    def at_line(self, line: int) -> LayerFacts | None:
        """Return the layer that a log line belongs to, by its timing block, cached result or engine dump line."""
        if line in self._by_line:
            return self._by_line[line]
        result = self.result_at(line)
        return self._by_name.get(result.layer) if result else None

    def named(self, names: Iterable[str]) -> LayerFacts | None:
        """Return the first layer with one of these names, else the first with an ONNX node of one of these names."""
        wanted = list(names)
        entry = next((self._by_name[name] for name in wanted if name in self._by_name), None)
        return entry or next((self._by_node[name] for name in wanted if name in self._by_node), None)

    def result_at(self, line: int) -> Choice | CachedResult | None:
        """Return the choice whose timing block contains a line, or the cached result on that line."""
        position = bisect_right(self._blocks, line, key=lambda choice: choice.first_line) - 1
        if position >= 0 and line <= self._blocks[position].span.line:
            return self._blocks[position]
        return next((cached for cached in self.build.cached if cached.span.line == line), None)

    @cached_property
    def _layer_rows(self) -> dict[LayerFacts, TreeRow]:
        return {entry: layer_row(entry) for entry in chain(self.engine, self.others)}

    @cached_property
    def _blocks(self) -> list[Choice]:
        return sorted(self.build.choices, key=lambda choice: choice.first_line)

    @cached_property
    def _by_name(self) -> dict[str, LayerFacts]:
        entries: dict[str, LayerFacts] = {}
        for entry in chain(self.engine, self.others):
            for name in (entry.name, *(result.layer for result in entry.tuned)):
                entries.setdefault(name, entry)
        return entries

    @cached_property
    def _by_line(self) -> dict[int, LayerFacts]:
        printed = chain.from_iterable(dump.layers for dump in self.build.engine_dumps)
        named = (layer for layer in printed if layer.name in self._by_name)
        lines = {layer.span.line: self._by_name[layer.name] for layer in named}
        return lines | {entry.span.line: entry for entry in self.engine}

    @cached_property
    def _by_node(self) -> dict[str, LayerFacts]:
        return {name: entry for entry in reversed(self.engine) for name in entry.onnx_nodes}

    def _repeats(self) -> Iterator[TreeRow]:
        """Yield a remark if the log prints the engine's layers more than once."""
        dumps = self.build.engine_dumps
        if len(dumps) > 1:
            shown = self.build.engine_layers[0].span.line
            text = f"printed {len(dumps)} times, this is from line {shown:,}"
            first = next(dump for dump in dumps if dump.span.line != shown).span.line
            yield TreeRow(RowKind.SECTION, text, first, label=f"also from line {first:,}")

    def _coverage(self) -> Iterator[TreeRow]:
        """Yield a remark that says where the times are from, and of how many layers the compute type is unknown."""
        source = self.time_source
        unknown = sum(compute_text(entry) == UNKNOWN for entry in self.engine)
        if source is not None:
            yield TreeRow(RowKind.SECTION, f"ms as {source}", label=self.facts.ledger.note)
        if unknown:
            text = "compute type unknown"
            yield TreeRow(RowKind.SECTION, text, label=f"{unknown:,} of {counted(len(self.engine), 'layer')}")

    def _combination_rows(self, result: Choice | CachedResult) -> Iterator[TreeRow]:
        """Yield a combination of formats and, for a ForeignNode, the operations that Myelin timed in it."""
        note = "" if isinstance(result, Choice) else "cached"
        yield TreeRow(RowKind.COMBINATION, formats_text(result), result.span.line, result, note=note)
        if isinstance(result, Choice) and is_foreign_node(result.layer):
            yield from map(_inner_row, self.build.operations_of(result))


def node_rows(entry: LayerFacts) -> Iterator[TreeRow]:
    """Yield the ONNX nodes fused into a layer, each with the line at which TensorRT's ONNX parser logged it."""
    lines = {node.name: node.span.line for node in entry.engine.build.onnx_nodes}
    for name in entry.onnx_nodes:
        op = entry.engine.operators.get(name, "")
        note = f"{op}, by the ONNX model" if op and name not in lines else op
        line = lines.get(name, line_of(entry))
        yield TreeRow(RowKind.DETAIL, name, line, entry.subject, label="onnx", note=note, why=entry.layer.origin)


def layer_row(entry: LayerFacts) -> TreeRow:
    """Return the row of a layer."""
    return TreeRow(RowKind.LAYER, entry.name or UNNAMED, line_of(entry), entry.subject, entry, why=entry.layer.origin)


def line_of(entry: LayerFacts) -> int:
    """Return the log line to show of a layer: where its tactic was chosen, else where the engine dump names it."""
    return (entry.span if entry.subject is None or entry.inside else entry.subject.span).line


def tensor_text(tensor: EngineTensor) -> str:
    """Spell a tensor's type, size and packing; a format that states all three is returned as it is."""
    if tensor.format.startswith(f"{tensor.dtype}["):
        return tensor.format
    dims = ",".join(map(str, tensor.dims))
    packed = f":{tensor.components}" if tensor.components > 1 else ""
    return f"{tensor.dtype}[{dims}]{packed}"


def tensor_layout(tensor: EngineTensor) -> str:
    """Return the printed format of a tensor, "" where it states type, size and packing alone, as its text does."""
    return "" if tensor.format.startswith(f"{tensor.dtype}[") else tensor.format


def formats_text(result: Choice | CachedResult) -> str:
    """Spell a combination of formats as the log does; without formats, say that the log has none."""
    inputs, outputs = ", ".join(result.inputs), ", ".join(result.outputs)
    return f"{inputs} → {outputs}" if inputs or outputs else f"formats unknown (line {result.span.line:,})"


def fact_rows(entry: LayerFacts) -> Iterator[TreeRow]:
    """Yield what the log says about a layer, an engine's or one that was tuned alone."""
    layer, known = entry.layer, entry.compute_precision
    yield _fact(entry, "type", layer.type or "?")
    yield _fact(entry, "in type", compute_text(entry), f"by its {known.source}" if known else "")
    share = f", {entry.share:.1%} of the engine's time".replace("%", " %") if entry.share is not None else ""
    time = "?" if entry.time_ms is None else f"{milliseconds(entry.time_ms)} {entry.time_is or ''}{share}"
    yield replace(_fact(entry, "ms", time), line=line_of(entry))
    tactic = " ".join(filter(None, (tactic_text(layer.tactic), layer.tactic_name)))
    if entry.in_engine and tactic:
        yield _fact(entry, "tactic", tactic)
    for label, tensors in (("in", layer.inputs), ("out", layer.outputs)):
        for tensor in tensors if entry.in_engine else ():
            yield _fact(entry, label, f"{tensor_text(tensor)} {tensor.name}", tensor_layout(tensor))
    if layer.origin:
        yield _fact(entry, "origin", layer.origin)
    elif entry.inside:
        yield _fact(entry, "origin", f"a kernel of {entry.inside}, which was tuned as a whole")
    for name, value in layer.fields.items() if entry.in_engine else ():
        yield _fact(entry, "printed", f"{name}: {value}")


def _fact(entry: LayerFacts, label: str, text: str, note: str = "") -> TreeRow:
    return TreeRow(RowKind.DETAIL, text, entry.span.line, entry.subject, label=label, note=note, why=entry.layer.origin)


def _inner_row(operation: MyelinOperation) -> TreeRow:
    return TreeRow(RowKind.INNER, operation.op, operation.span.line, operation)


NOTE_FROM = 32
"""Width from which a row has room for its note."""


def row_pieces(row: TreeRow, layout: ColumnLayout, *, expanded: bool) -> Line:
    """Lay a row out in at most the layout's width."""
    width = layout.width
    if row.kind is RowKind.LAYER and row.entry is not None:
        return layer_pieces(row.text, row.entry, layout, expanded=expanded)
    if row.kind is RowKind.COMBINATION:
        return _combination_pieces(row, width, layout.tie)
    if row.kind is RowKind.SECTION:
        room = max(width - len(row.label) - 6, 1)
        return (Piece(f" ── {clip(row.text, room)} ", Role.TITLE), Piece(row.label, Role.DIM))
    if row.kind is RowKind.INNER:
        return _timed_pieces(row, width)
    label = "   " if row.kind is RowKind.NAME else f"     {row.label:<8}"
    return (Piece(label, Role.DIM), *_noted(row, max(width - len(label), 1)))


def _combination_pieces(row: TreeRow, width: int, tie: float) -> Line:
    """Lay out a tuned combination of formats: whether the engine uses it, the formats, the time."""
    result = row.subject
    final = result.final if isinstance(result, Choice | CachedResult) else None
    text, role = _FINAL[final]
    time = flush(milliseconds(result.time_ms) if result else "", 8)
    near = isinstance(result, Choice) and is_near_tie(result.time_ms, result.runner_up_ms, tie)
    note = f" {row.note}" if row.note and width >= NOTE_FROM else ""
    return (
        Piece(f"     {text[0]} ", role),
        Piece(fit(row.text, max(width - 18 - len(note), 1)), Role.DIM if final is False else Role.PLAIN),
        Piece(note, Role.DIM),
        Piece(f" {time}"),
        Piece(" ≈" if near else "  ", Role.WARNING),
    )


def _timed_pieces(row: TreeRow, width: int) -> Line:
    """Lay out an operation inside a ForeignNode."""
    time = row.subject.time_ms if row.subject else None
    right = flush(milliseconds(time) if time is not None else "", 8)
    return (Piece("   ◇ ", Role.ACCENT), Piece(fit(row.text, max(width - 16, 1))), Piece(f" {right}  "))


def _noted(row: TreeRow, width: int) -> Line:
    """Lay out a text and its note. The note gets the room that the text leaves, at least a third of the width."""
    if not row.note:
        return (Piece(clip(row.text, width)),)
    note = clip(row.note, max(width - cell_len(row.text) - 2, width // 3))
    return (Piece(clip(row.text, max(width - cell_len(note) - 2, 1))), Piece(f"  {note}", Role.DIM))


_LABEL = 9
_FINAL = {True: ("✔ in the engine", Role.GOOD), False: ("✗ lost", Role.DIM), None: ("? unknown", Role.WARNING)}


def details(entry: LayerFacts, why: Iterable[Reason]) -> list[OverviewRow]:
    """Return the facts about a layer, why it is as it is first."""
    line = entry.span.line
    rows = [OverviewRow("layer", entry.name or UNNAMED, line, Role.STRONG)]
    rows += [OverviewRow("why", reason.text, reason.span.line if reason.span else None) for reason in why]
    told = chain(fact_rows(entry), node_rows(entry))
    rows += (OverviewRow(row.label, f"{row.text}  {row.note}".rstrip(), row.line) for row in told)
    return [*rows, *_tuned(entry)]


def _tuned(entry: LayerFacts) -> Iterator[OverviewRow]:
    for result in entry.tuned if not entry.inside else ():
        time = "no time" if result.time_ms is None else f"{milliseconds(result.time_ms)} ms"
        tactic = f"{result.runner} {tactic_text(result.tactic) or ''}"
        final, role = _FINAL[result.final]
        text = f"{final}  {time}  {formats_text(result)}  {tactic}"
        yield OverviewRow("tuned", f"{text} {result.kernel}".rstrip(), result.span.line, role)


def labelled(rows: Sequence[OverviewRow]) -> Presentation[OverviewRow]:
    """Return how the facts about a layer look in a list."""
    gutter = line_digits(row.line for row in rows)
    return Presentation(
        wrapped=lambda row, width: (
            CitingLine(line, row.line) for line in row.lines(gutter, width - 1, _LABEL, Role.ACCENT)
        )
    )
