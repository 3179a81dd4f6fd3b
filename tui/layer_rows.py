"""The layer tree as rows, without any widget: the engine's layers, what is inside one, what was tuned for it."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from trtforensics.model import CachedResult, Choice, TimingCacheKey, tactic_text
from trtforensics.tui.pieces import Line, Piece, Role, clip, fit, fit_right, milliseconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.model import Build, EngineLayer, EngineTensor

Subject = Choice | CachedResult | TimingCacheKey
"""What candidates can be shown for."""

TYPE_COLUMN_FROM = 66
"""Width from which a layer's row has room for its type."""

PRECISION_COLUMN_FROM = 32
"""Width from which a layer's row has room for its precision."""


class RowKind(Enum):
    """What a row of the tree stands for."""

    LAYER = auto()
    SECTION = auto()
    DETAIL = auto()
    COMBINATION = auto()
    INNER = auto()
    NAME = auto()


@dataclass(frozen=True, slots=True)
class LayerEntry:
    """A layer by name: its engine layer if there is one, and everything that was tuned under its name."""

    name: str
    layer: EngineLayer | None
    tuned: tuple[Choice | CachedResult, ...]
    final: Choice | CachedResult | None

    @property
    def foreign(self) -> bool:
        """Whether Myelin compiled it: its members are fused where TensorRT does not see."""
        return "ForeignNode[" in self.name

    @property
    def subject(self) -> Choice | CachedResult | None:
        """What to show first: the result the engine uses, else the first one tuned."""
        return self.final or (self.tuned[0] if self.tuned else None)

    @property
    def line(self) -> int | None:
        """The line in question: where its tactic was chosen, else where the engine dump names it."""
        if self.subject is not None:
            return self.subject.span.line
        return self.layer.span.line if self.layer else None

    def mentions(self, needle: str) -> bool:
        """Whether its name or one of its ONNX nodes holds a text; case does not count."""
        names = (self.name, *(self.layer.onnx_nodes if self.layer else ()))
        return any(needle in name.casefold() for name in names)


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of the tree: its text, the line of the log and the candidates it stands for."""

    kind: RowKind
    text: str
    line: int | None = None
    subject: Subject | None = None
    entry: LayerEntry | None = None
    label: str = ""


class LayerIndex:
    """The layers of one build: those of the engine, those tuned but not in it, and names without more."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._tuned: dict[str, list[Choice | CachedResult]] = defaultdict(list)
        results: Iterable[Choice | CachedResult] = chain(build.choices, build.cached)
        for result in results:
            self._tuned[result.layer].append(result)
        self.engine = tuple(self._engine_entry(layer) for layer in build.engine_layers)
        in_engine = {entry.name for entry in self.engine} | {r.layer for entry in self.engine for r in entry.tuned}
        self.others = tuple(self._entry(name) for name in self._tuned if name not in in_engine)

    def rows(self, needle: str = "") -> list[TreeRow]:
        """Return the top rows, only those that mention ``needle`` when there is one."""
        needle = needle.casefold()
        engine = [layer_row(entry) for entry in self.engine if entry.mentions(needle)]
        others = [layer_row(entry) for entry in self.others if entry.mentions(needle)]
        names = [TreeRow(RowKind.NAME, name) for name in self._build.layer_names if needle in name.casefold()]
        inner = [_inner_row(key) for key in self._build.timing_cache_keys if needle in key.op.casefold()]
        rows = list(engine)
        for title, members in (
            ("tuned, not in the engine" if self.engine else "tuned; the log has no engine dump", others),
            ("named, nothing else told", names),
            ("operations inside ForeignNodes", inner),
        ):
            if members:
                rows += [TreeRow(RowKind.SECTION, title, label=f"{len(members):,}"), *members]
        return rows

    def children(self, entry: LayerEntry) -> list[TreeRow]:
        """Return what is inside a layer: ONNX nodes, tensors, facts, and every combination that was tuned."""
        rows = [*self._onnx_rows(entry), *_engine_rows(entry)]
        rows += [_combination_row(result) for result in entry.tuned]
        return rows or [TreeRow(RowKind.DETAIL, "the log says nothing more about it")]

    def at_line(self, line: int) -> LayerEntry | None:
        """Return the layer a line of the log belongs to: its tuning block, its cached result, its line in the dump."""
        return self._by_line.get(line) or self._tuned_around(line)

    def _tuned_around(self, line: int) -> LayerEntry | None:
        """Return the layer whose block of timings holds a line."""
        position = bisect_right(self._block_starts, line) - 1
        if position < 0:
            return None
        choice = self._blocks[position]
        return self._by_name.get(choice.layer) if line <= choice.span.line else None

    @cached_property
    def _blocks(self) -> list[Choice]:
        return sorted(self._build.choices, key=lambda choice: choice.first_line)

    @cached_property
    def _block_starts(self) -> list[int]:
        return [choice.first_line for choice in self._blocks]

    @cached_property
    def _by_name(self) -> dict[str, LayerEntry]:
        entries: dict[str, LayerEntry] = {}
        for entry in chain(self.engine, self.others):
            for name in (entry.name, *(result.layer for result in entry.tuned)):
                entries.setdefault(name, entry)
        return entries

    @cached_property
    def _by_line(self) -> dict[int, LayerEntry]:
        lines = {cached.span.line: self._by_name[cached.layer] for cached in self._build.cached}
        return lines | {entry.layer.span.line: entry for entry in self.engine if entry.layer}

    @cached_property
    def _onnx(self) -> dict[str, tuple[str, int]]:
        return {node.name: (node.op, node.span.line) for node in self._build.onnx_nodes}

    def _engine_entry(self, layer: EngineLayer) -> LayerEntry:
        """Join a layer of the engine with what was tuned for it; the link counts where the names differ."""
        final: Choice | CachedResult | None = None
        if layer.choice is not None:
            final = self._build.choices[layer.choice]
        elif layer.cached is not None:
            final = self._build.cached[layer.cached]
        tuned = tuple(self._tuned.get(final.layer if final else layer.name, ()))
        return LayerEntry(layer.name, layer, tuned, final)

    def _entry(self, name: str) -> LayerEntry:
        """Return a layer that only its tuning names."""
        tuned = tuple(self._tuned[name])
        return LayerEntry(name, None, tuned, next((result for result in tuned if result.final), None))

    def _onnx_rows(self, entry: LayerEntry) -> Iterator[TreeRow]:
        """Yield the ONNX nodes fused into a layer, each with the line at which the parser met it."""
        for name in entry.layer.onnx_nodes if entry.layer else ():
            op, line = self._onnx.get(name, ("", entry.line))
            yield TreeRow(RowKind.DETAIL, f"{name}  [{op}]" if op else name, line, entry.subject, label="onnx")


def layer_row(entry: LayerEntry) -> TreeRow:
    """Return the row of a layer itself."""
    return TreeRow(RowKind.LAYER, entry.name, entry.line, entry.subject, entry)


def row_pieces(row: TreeRow, width: int, *, expanded: bool) -> Line:
    """Lay a row out in exactly ``width`` cells."""
    if row.kind is RowKind.SECTION:
        return (Piece(f" ── {row.text} ", Role.TITLE), Piece(row.label, Role.DIM))
    if row.kind is RowKind.LAYER and row.entry is not None:
        return _layer_pieces(row.entry, width, expanded=expanded)
    if row.kind is RowKind.COMBINATION:
        return _combination_pieces(row, width)
    if row.kind is RowKind.INNER and isinstance(row.subject, TimingCacheKey):
        right = fit_right(milliseconds(row.subject.time_ms), 8)
        return (Piece("   ◇ ", Role.ACCENT), Piece(fit(row.text, max(width - 16, 1))), Piece(f" {right}  "))
    label = "   " if row.kind is RowKind.NAME else f"     {row.label:<7}"
    return (Piece(label, Role.DIM), Piece(clip(row.text, max(width - len(label), 1))))


def _layer_pieces(entry: LayerEntry, width: int, *, expanded: bool) -> Line:
    """Lay out a layer: name, type where there is room, precision, time, near tie."""
    layer, subject = entry.layer, entry.subject
    kind = f" {fit(layer.type, 16)}" if layer and width >= TYPE_COLUMN_FROM else ""
    precision = f" {fit('/'.join(layer.precision) if layer else '', 6)}" if width >= PRECISION_COLUMN_FROM else ""
    time = fit_right(milliseconds(subject.time_ms) if subject else "", 8)
    tie = "≈" if isinstance(subject, Choice) and subject.near_tie else " "
    arrow = " ▾ " if expanded else " ▸ "
    mark = "◈ " if entry.foreign else ""
    room = max(width - len(arrow) - len(mark) - len(kind) - len(precision) - 11, 1)
    role = Role.DIM if layer and layer.type in {"Reformat", "NoOp"} else Role.PLAIN
    return (
        Piece(arrow, Role.DIM),
        Piece(mark, Role.ACCENT),
        Piece(fit(entry.name, room), role),
        Piece(kind, Role.DIM),
        Piece(precision, Role.ACCENT),
        Piece(f" {time}", role),
        Piece(f" {tie}", Role.WARNING),
    )


def _combination_pieces(row: TreeRow, width: int) -> Line:
    """Lay out one tuned combination of formats: whether the engine uses it, the formats, the time."""
    result = row.subject
    final = result.final if isinstance(result, Choice | CachedResult) else None
    mark, role = {True: ("✔", Role.GOOD), False: ("✗", Role.DIM), None: ("?", Role.WARNING)}[final]
    time = fit_right(milliseconds(result.time_ms) if result else "", 8)
    tie = "≈" if isinstance(result, Choice) and result.near_tie else " "
    return (
        Piece(f"     {mark} ", role),
        Piece(fit(row.text, max(width - 18, 1)), Role.DIM if final is False else Role.PLAIN),
        Piece(f" {time}"),
        Piece(f" {tie}", Role.WARNING),
    )


def _engine_rows(entry: LayerEntry) -> Iterator[TreeRow]:
    """Yield what the engine dump says about a layer."""
    layer = entry.layer
    if layer is None:
        return
    facts = [
        ("type", layer.type),
        ("tactic", " ".join(filter(None, (tactic_text(layer.tactic), layer.tactic_name)))),
        *(("in", tensor_text(tensor)) for tensor in layer.inputs),
        *(("out", tensor_text(tensor)) for tensor in layer.outputs),
        ("origin", layer.origin),
        *(("", f"{name}: {value}") for name, value in layer.fields.items()),
    ]
    for label, text in facts:
        if text:
            yield TreeRow(RowKind.DETAIL, text, layer.span.line, entry.subject, label=label)


def tensor_text(tensor: EngineTensor) -> str:
    """Spell a tensor: its type and size first, since names are long."""
    dims = ",".join(map(str, tensor.dims))
    packed = f":{tensor.components}" if tensor.components > 1 else ""
    return " ".join(filter(None, (f"{tensor.dtype}[{dims}]{packed}", tensor.format, tensor.name)))


def formats_text(result: Choice | CachedResult) -> str:
    """Spell a combination of formats as the log does, without the lists where there are none."""
    inputs, outputs = ", ".join(result.inputs), ", ".join(result.outputs)
    return f"{inputs} → {outputs}" if inputs or outputs else f"formats not told (line {result.span.line:,})"


def subject_name(subject: Subject) -> str:
    """Name what candidates are shown for."""
    return subject.op if isinstance(subject, TimingCacheKey) else subject.layer


def _combination_row(result: Choice | CachedResult) -> TreeRow:
    text = formats_text(result)
    suffix = "" if isinstance(result, Choice) else "  (cached)"
    return TreeRow(RowKind.COMBINATION, f"{text}{suffix}", result.span.line, result)


def _inner_row(key: TimingCacheKey) -> TreeRow:
    return TreeRow(RowKind.INNER, key.op, key.span.line, key)
