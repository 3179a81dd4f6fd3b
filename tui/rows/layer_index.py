"""The layers of one build for the layer tree: engine layers, their contents, and their tuning results."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import defaultdict
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property
from itertools import chain, groupby
from typing import TYPE_CHECKING

from trtforensics.model.log import CachedResult, Choice, MyelinOperation
from trtforensics.model.profile import TimeSource
from trtforensics.model.times import timed_note
from trtforensics.model.timings import tactic_text
from trtforensics.tui.rows.pieces import plural

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.model.log import Build, EngineLayer, EngineTensor

Subject = Choice | CachedResult | MyelinOperation
"""Whatever the candidates pane can show the candidates of."""

FOREIGN = "ForeignNode["
UNNAMED = "(the log gives no name)"


class RowKind(Enum):
    """The kinds of rows in the tree."""

    LAYER = auto()
    SECTION = auto()
    FOREIGN = auto()
    DETAIL = auto()
    COMBINATION = auto()
    INNER = auto()
    NAME = auto()


@dataclass(frozen=True, slots=True)
class LayerEntry:
    """A layer by name: its engine layer if there is one, and the tuning results for its name.

    ``inside`` names the ForeignNode that a kernel belongs to. The ForeignNode's times are not the kernel's.
    """

    name: str
    layer: EngineLayer | None
    tuned: tuple[Choice | CachedResult, ...]
    final: Choice | CachedResult | None
    inside: str = ""

    @property
    def foreign(self) -> bool:
        """Whether it is a ForeignNode, which Myelin compiled as a whole."""
        return FOREIGN in self.name

    @property
    def subject(self) -> Choice | CachedResult | None:
        """The result to show: the engine's if known, else the fastest."""
        return self.final or min(self.tuned, key=lambda r: math.inf if r.time_ms is None else r.time_ms, default=None)

    @property
    def time_ms(self) -> float | None:
        """The engine layer's time, measured or tuned; of a layer that is not in the engine, that of its subject."""
        if self.layer is not None:
            return self.layer.time_ms
        return self.subject.time_ms if self.subject else None

    @property
    def line(self) -> int | None:
        """The log line to show: where its tactic was chosen, else where the engine dump names it."""
        if self.subject is not None and not self.inside:
            return self.subject.span.line
        return self.layer.span.line if self.layer else None

    @property
    def why(self) -> str:
        """The reason that its timed tactics are unknown."""
        return self.layer.origin if self.layer else ""

    def mentions(self, needle: str) -> bool:
        """Whether its name or one of its ONNX nodes contains a text; case does not count."""
        names = (self.name, *(self.layer.onnx_nodes if self.layer else ()))
        return any(needle in name.casefold() for name in names)


@dataclass(frozen=True, slots=True)
class TreeRow:
    """A row of the tree: its text, its line of the log, and the subject whose candidates it opens.

    ``label`` stands before the text; ``note`` stands after it and is cut first. ``why`` says why it has no candidate.
    """

    kind: RowKind
    text: str
    line: int | None = None
    subject: Subject | None = None
    entry: LayerEntry | None = None
    label: str = ""
    note: str = ""
    why: str = ""


class LayerIndex:
    """The layers of one build: engine layers, layers that were tuned but are not in the engine, and mere names."""

    def __init__(self, build: Build) -> None:
        self._build = build
        self._tuned: dict[str, list[Choice | CachedResult]] = defaultdict(list)
        results: Iterable[Choice | CachedResult] = chain(build.choices, build.cached)
        for result in results:
            self._tuned[result.layer].append(result)
        self.engine = tuple(self._engine_entry(layer) for layer in build.engine_layers)
        in_engine = {entry.name for entry in self.engine} | {r.layer for entry in self.engine for r in entry.tuned}
        self.others = tuple(self._entry(name) for name in self._tuned if name not in in_engine)

    def rows(self, needle: str = "", *, slowest_first: bool = False) -> list[TreeRow]:
        """Return the top-level rows; with ``needle`` only the rows that mention it."""
        needle = needle.casefold()
        engine = [entry for entry in self.engine if entry.mentions(needle)]
        others = [layer_row(entry) for entry in self.others if entry.mentions(needle)]
        names = [_name_row(name) for name in self._build.layer_names if needle in name.casefold()]
        inner = [_inner_row(op) for op in self._build.myelin_operations if needle in op.op.casefold()]
        if slowest_first:
            rows = [*self._times(), *(layer_row(entry) for entry in sorted(engine, key=_slowness))]
            others.sort(key=lambda row: _slowness(row.entry))
        else:
            rows = [*self._repeats(), *self._grouped(engine), *(() if needle else self._times())]
        rows = rows if engine else []
        for title, members in (
            ("tuned, not in the engine" if self.engine else "tuned; the log has no engine dump", others),
            ("of these the log prints the names only", names),
            ("operations timed by Myelin", inner),
        ):
            if members:
                rows += [TreeRow(RowKind.SECTION, title, label=f"{len(members):,}"), *members]
        return rows

    def children(self, entry: LayerEntry) -> list[TreeRow]:
        """Return the rows below a layer: ONNX nodes, tensors, facts, and every tuned combination of formats."""
        rows = [*self._onnx_rows(entry), *_engine_rows(entry)]
        if not entry.inside:
            rows += chain.from_iterable(map(self._combination_rows, entry.tuned))
        return rows or [TreeRow(RowKind.DETAIL, "the log says nothing more about it")]

    def at_line(self, line: int) -> LayerEntry | None:
        """Return the layer that a log line belongs to, by its timing block, cached result or engine dump line."""
        if line in self._by_line:
            return self._by_line[line]
        result = self.result_at(line)
        return self._by_name.get(result.layer) if result else None

    def named(self, names: Iterable[str]) -> LayerEntry | None:
        """Return the first layer with one of these names, else the first with an ONNX node of one of these names."""
        wanted = list(names)
        entry = next((self._by_name[name] for name in wanted if name in self._by_name), None)
        return entry or next((self._by_node[name] for name in wanted if name in self._by_node), None)

    def result_at(self, line: int) -> Choice | CachedResult | None:
        """Return the choice whose timing block contains a line, or the cached result on that line."""
        position = bisect_right(self._block_starts, line) - 1
        if position >= 0 and line <= self._blocks[position].span.line:
            return self._blocks[position]
        return self._cached_at.get(line)

    @cached_property
    def _blocks(self) -> list[Choice]:
        return sorted(self._build.choices, key=lambda choice: choice.first_line)

    @cached_property
    def _block_starts(self) -> list[int]:
        return [choice.first_line for choice in self._blocks]

    @cached_property
    def _cached_at(self) -> dict[int, CachedResult]:
        return {cached.span.line: cached for cached in self._build.cached}

    @cached_property
    def _by_name(self) -> dict[str, LayerEntry]:
        entries: dict[str, LayerEntry] = {}
        for entry in chain(self.engine, self.others):
            for name in (entry.name, *(result.layer for result in entry.tuned)):
                entries.setdefault(name, entry)
        return entries

    @cached_property
    def _by_line(self) -> dict[int, LayerEntry]:
        printed = chain.from_iterable(dump.layers for dump in self._build.engine_dumps)
        named = (layer for layer in printed if layer.name in self._by_name)
        lines = {layer.span.line: self._by_name[layer.name] for layer in named}
        return lines | {entry.layer.span.line: entry for entry in self.engine if entry.layer}

    @cached_property
    def _by_node(self) -> dict[str, LayerEntry]:
        return {name: entry for entry in reversed(self.engine) if entry.layer for name in entry.layer.onnx_nodes}

    @cached_property
    def _onnx(self) -> dict[str, tuple[str, int]]:
        return {node.name: (node.op, node.span.line) for node in self._build.onnx_nodes}

    def _engine_entry(self, layer: EngineLayer) -> LayerEntry:
        """Join an engine layer with its tuning results, by the parser's link and else by name."""
        final: Choice | CachedResult | None = None
        if layer.choice is not None:
            final = self._build.choices[layer.choice]
        elif layer.cached is not None:
            final = self._build.cached[layer.cached]
        inside = final.layer if final and FOREIGN in final.layer and FOREIGN not in layer.name else ""
        tuned = tuple(self._tuned.get(final.layer if final else layer.name, ()))
        return LayerEntry(layer.name, layer, tuned, final, inside)

    def _entry(self, name: str) -> LayerEntry:
        """Return the entry of a layer that is not in the engine."""
        tuned = tuple(self._tuned[name])
        return LayerEntry(name, None, tuned, next((result for result in tuned if result.final), None))

    def _repeats(self) -> Iterator[TreeRow]:
        """Yield a remark if the log prints the engine's layers more than once."""
        dumps = self._build.engine_dumps
        if len(dumps) > 1:
            shown = self._build.engine_layers[0].span.line
            text = f"printed {len(dumps)} times, this is from line {shown:,}"
            first = next(dump for dump in dumps if dump.span.line != shown).span.line
            yield TreeRow(RowKind.SECTION, text, first, label=f"also from line {first:,}")

    def _times(self) -> Iterator[TreeRow]:
        """Yield a remark that says where the times are from, and how many layers have one."""
        known = {entry.layer.time_is for entry in self.engine if entry.layer}
        source = next((source for source in TimeSource if source in known), None)
        if source is not None:
            yield TreeRow(RowKind.SECTION, f"ms as {source}", label=timed_note(self._build))

    def _grouped(self, entries: Iterable[LayerEntry]) -> Iterator[TreeRow]:
        """Yield the rows of layers. Kernels of a ForeignNode come after a row for the ForeignNode."""
        for inside, members in groupby(entries, key=lambda entry: entry.inside):
            listed = list(members)
            if inside:
                subject = listed[0].final
                line = subject.span.line if subject else None
                yield TreeRow(RowKind.FOREIGN, inside, line, subject, note=plural(len(listed), "kernel"))
            yield from map(layer_row, listed)

    def _combination_rows(self, result: Choice | CachedResult) -> Iterator[TreeRow]:
        """Yield a combination of formats and, for a ForeignNode, the operations that Myelin timed in it."""
        yield _combination_row(result)
        if isinstance(result, Choice) and FOREIGN in result.layer:
            yield from map(_inner_row, self._build.operations_of(result))

    def _onnx_rows(self, entry: LayerEntry) -> Iterator[TreeRow]:
        """Yield the ONNX nodes fused into a layer, each with the line at which TensorRT's ONNX parser logged it."""
        for name in entry.layer.onnx_nodes if entry.layer else ():
            op, line = self._onnx.get(name, ("", entry.line))
            yield TreeRow(RowKind.DETAIL, name, line, entry.subject, label="onnx", note=op, why=entry.why)


def layer_row(entry: LayerEntry) -> TreeRow:
    """Return the row of a layer."""
    return TreeRow(RowKind.LAYER, entry.name or UNNAMED, entry.line, entry.subject, entry, why=entry.why)


def tensor_text(tensor: EngineTensor) -> str:
    """Spell a tensor's type, size and packing; a format that states all three is returned as it is."""
    if tensor.format.startswith(f"{tensor.dtype}["):
        return tensor.format
    dims = ",".join(map(str, tensor.dims))
    packed = f":{tensor.components}" if tensor.components > 1 else ""
    return f"{tensor.dtype}[{dims}]{packed}"


def formats_text(result: Choice | CachedResult) -> str:
    """Spell a combination of formats as the log does; without formats, say that the log has none."""
    inputs, outputs = ", ".join(result.inputs), ", ".join(result.outputs)
    return f"{inputs} → {outputs}" if inputs or outputs else f"formats not told (line {result.span.line:,})"


def subject_name(subject: Subject) -> str:
    """Return the name of the subject of the candidates pane."""
    return (subject.op if isinstance(subject, MyelinOperation) else subject.layer) or UNNAMED


def _slowness(entry: LayerEntry | None) -> float:
    """Return what sorts entries slowest first; those without a time come last."""
    return math.inf if entry is None or entry.time_ms is None else -entry.time_ms


def _engine_rows(entry: LayerEntry) -> Iterator[TreeRow]:
    """Yield what the engine dump says about a layer."""
    layer = entry.layer
    if layer is None:
        return
    tactic = " ".join(filter(None, (tactic_text(layer.tactic), layer.tactic_name)))
    yield _fact(entry, "type", layer.type)
    if layer.compute_precision is not None:
        yield _fact(entry, "in type", layer.compute_precision.type, f"by its {layer.compute_precision.source}")
    if layer.time_ms is not None:
        yield _fact(entry, "ms", f"{layer.time_ms:g} {layer.time_is}")
    if tactic:
        yield _fact(entry, "tactic", tactic)
    for label, tensors in (("in", layer.inputs), ("out", layer.outputs)):
        for tensor in tensors:
            note = "" if tensor.format.startswith(f"{tensor.dtype}[") else tensor.format
            yield _fact(entry, label, f"{tensor_text(tensor)} {tensor.name}", note)
    if layer.origin:
        yield _fact(entry, "origin", layer.origin)
    elif entry.inside:
        yield _fact(entry, "origin", f"a kernel of {entry.inside}, which was tuned as a whole")
    for name, value in layer.fields.items():
        yield _fact(entry, "", f"{name}: {value}")


def _fact(entry: LayerEntry, label: str, text: str, note: str = "") -> TreeRow:
    line = entry.layer.span.line if entry.layer else None
    return TreeRow(RowKind.DETAIL, text, line, entry.subject, label=label, note=note, why=entry.why)


def _combination_row(result: Choice | CachedResult) -> TreeRow:
    note = "" if isinstance(result, Choice) else "cached"
    return TreeRow(RowKind.COMBINATION, formats_text(result), result.span.line, result, note=note)


def _inner_row(operation: MyelinOperation) -> TreeRow:
    return TreeRow(RowKind.INNER, operation.op, operation.span.line, operation)


def _name_row(name: str) -> TreeRow:
    return TreeRow(RowKind.NAME, name, why="the log gives this layer's name and nothing else")
