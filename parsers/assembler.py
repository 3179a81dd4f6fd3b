"""Events in, :class:`BuildLog` out: each build cut from the log and put together from its columns."""

from __future__ import annotations

from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from trtforensics.model import (
    Build,
    BuildLog,
    ForeignNode,
    Fusion,
    Message,
    ReformatLayer,
    SourceInfo,
    SourceSpan,
    Stage,
)
from trtforensics.parsers import autotuning, header, names
from trtforensics.parsers.choices import CHOSEN, choices
from trtforensics.parsers.engine import engine_layers
from trtforensics.parsers.events import NO_TEXT, integer_or_none
from trtforensics.parsers.formats import both_sides
from trtforensics.parsers.myelin import myelin_operations
from trtforensics.parsers.notes import NOTED, notes
from trtforensics.parsers.onnx_nodes import onnx_nodes
from trtforensics.parsers.origins import resolve
from trtforensics.parsers.passes import Passes
from trtforensics.parsers.segments import segments
from trtforensics.parsers.starved import SKIPPED, starved_layers
from trtforensics.parsers.views import Log
from trtforensics.rows import Column, Rows, Table, coded, numbers

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model import CachedResult, Choice, EngineLayer, TacticTimings
    from trtforensics.notes import Note, StarvedLayer
    from trtforensics.parsers.scanner import Scanner

    Span = Callable[[int], SourceSpan]
    _Record = TypeVar("_Record")


def assemble(scanner: Scanner, source: SourceInfo) -> BuildLog:
    """Put a scanned log together."""
    starts, path = scanner.line_starts, source.path

    def span(line: int) -> SourceSpan:
        return SourceSpan(path, line, starts[line - 1])

    def span_in_parts(line: int) -> SourceSpan:
        file, before = source.part_of(line)
        return SourceSpan(file.path, line, starts[line - 1], before=before)

    alone = source.parts[0].lines if source.parts else source.lines
    edges = segments(scanner.events, source.lines, alone) if source.lines else None
    return BuildLog(
        source=source,
        lines=scanner.counts,
        unknown_shapes=len(scanner.drift),
        unknown_samples=scanner.drift.samples(),
        builds=() if edges is None else _builds(Log(scanner.events, edges), span_in_parts if source.parts else span),
        line_starts=np.array(starts, np.int64),
    )


_RESOLVED = ("layer_short", "layer_detailed", *CHOSEN, "cached_result")
_LATE = ("messages", "notes", "starved", "timings")


class _Late:
    """What nobody may ask for: the fields of builds that are not put together with them, a list a field.

    Of a log's tables it keeps those that it reads.
    """

    def __init__(self, log: Log, timed: TacticTimings, span: Span) -> None:
        self._events, self._edges = log.events.only(("message", *NOTED, *SKIPPED)), log.edges
        self._timed, self._span = timed, span

    @cached_property
    def _log(self) -> Log:
        return Log(self._events, self._edges)

    @cached_property
    def messages(self) -> Sequence[tuple[Message, ...]]:
        rows = self._log.each("message", "severity", "text")
        return self._log.parted(Message(severity, text, self._span(line)) for line, severity, text in rows)

    @cached_property
    def notes(self) -> Sequence[tuple[Note, ...]]:
        return notes(self._log, self._span)

    @cached_property
    def starved(self) -> list[tuple[StarvedLayer, ...]]:
        return [
            starved_layers(view, timed, self._span) for view, timed in zip(self._log.views, self.timings, strict=True)
        ]

    @cached_property
    def timings(self) -> list[TacticTimings]:
        return autotuning.timings_of_builds(self._timed, self._log)


def _builds(log: Log, span: Span) -> Rows[Build]:
    """Put the builds together from what is made for all of them at once; what few ask for is left for later."""
    passes = Passes(log)
    timed = autotuning.timings(log)
    nodes, foreign = onnx_nodes(log, span), _foreign_nodes(log, passes, span)
    reformats = _reformats(log, passes, span)
    dumps = engine_layers(log, nodes, foreign, span)
    tuned = choices(log, timed, passes, span), autotuning.cached_results(log, passes, span)
    layers, own_choices, cached = _resolved(log, (dumps, *tuned), (foreign, reformats), passes)
    columns: dict[str, Sequence[Any]] = {
        "index": numbers(np.arange(log.size)),
        "first_line": numbers(log.edges[:-1]),
        "last_line": numbers(log.edges[1:] - 1),
        "tool": header.tools(log),
        "tensorrt_version": header.tensorrt_versions(log),
        "command": header.commands(log),
        "outcome": header.outcomes(log),
        "options": header.options(log, span),
        "passes": passes.of_builds,
        "stages": _stages(log, passes, span),
        "fusions": _fusions(log, passes, span),
        "reformats": reformats,
        "onnx_nodes": nodes,
        "foreign_nodes": foreign,
        "autotuning": autotuning.counts(log),
        "tuning": autotuning.layer_tuning(log, span),
        "choices": own_choices,
        "cached": cached,
        "engine_layers": layers,
        "layer_names": log.part(log.lines("layer_name"), (name for _, name in log.each("layer_name", "name"))),
        "myelin_operations": myelin_operations(log, passes, span),
        "message_counts": header.message_counts(log),
        "results": header.results(log, passes, span),
        "runner_ids": autotuning.runner_ids(log),
        **dict.fromkeys(_LATE, log.same(())),
    }
    late = _Late(log, timed, span)

    def made(*values: Any) -> Build:  # noqa: ANN401 - any field
        build = Build(*values)
        build.leave(_LATE, late, build.index)
        return build

    return Rows(Table(made, {name: columns[name] for name in Build.__dataclass_fields__}), 0, log.size)


def _resolved(
    log: Log,
    found: tuple[Sequence[tuple[EngineLayer, ...]], Sequence[tuple[Choice, ...]], Sequence[tuple[CachedResult, ...]]],
    network: tuple[Sequence[tuple[ForeignNode, ...]], Sequence[Sequence[ReformatLayer]]],
    passes: Passes,
) -> tuple[Sequence[Any], ...]:
    """Return what was found in each build, its layers joined to what they came from."""
    if not log.has(*_RESOLVED):
        return found
    layers, *tuned = found
    joined = map(resolve, layers, zip(*tuned, strict=True), zip(*network, strict=True), passes.chosen())
    return tuple(zip(*joined, strict=True))


def _stages(log: Log, passes: Passes, span: Span) -> Sequence[Sequence[Stage]]:
    line, stage, count = log.columns(("stage_original", "stage"), "stage", "count")
    pool = log.events.texts.all()

    def name(index: int) -> str:
        return "Original" if index == NO_TEXT else pool[index]

    columns: dict[str, Column[Any]] = {
        "span.line": numbers(line),
        "name": Column(stage.astype(np.int64), name),
        "layers": Column(count, integer_or_none),
        "pass_index": passes.column(line),
    }
    return log.rows(Table(_made_in_pass(Stage, span), columns))


def _fusions(log: Log, passes: Passes, span: Span) -> Sequence[Sequence[Fusion]]:
    rows = [
        *((line, kind, (one, other)) for line, kind, one, other in log.each("fusing", "pass", "first", "second")),
        *((line, "ConvScaleWeights", tuple(pair)) for line, *pair in log.each("fusing_weights", "first", "second")),
        *((line, "HorizontalMerge", tuple(layers.split(" || "))) for line, layers in log.each("merging", "layers")),
    ]
    return _in_passes(log, passes, span, Fusion, ("kind", "inputs"), rows)


def _reformats(log: Log, passes: Passes, span: Span) -> Sequence[Sequence[ReformatLayer]]:
    rows = [
        (line, layer, tensor, ", ".join(source), ", ".join(target))
        for line, layer, tensor, *sides in log.each("adding_reformat", "layer", "tensor", "source", "target")
        for source, target in (both_sides(*sides),)
    ]
    return _in_passes(log, passes, span, ReformatLayer, ("name", "tensor", "source", "target"), rows)


def _in_passes(  # noqa: PLR0913, PLR0917 - what makes a record, and its fields
    log: Log,
    passes: Passes,
    span: Span,
    kind: Callable[..., _Record],
    names: tuple[str, ...],
    rows: list[tuple[Any, ...]],
) -> Sequence[Sequence[_Record]]:
    """Return records of rows that begin with their line; each has the line's place and pass behind its other fields."""
    if not rows:
        return log.same(())
    lines, *values = zip(*sorted(rows, key=itemgetter(0)), strict=True)
    line = numbers(lines)
    columns = {"span.line": line, **dict(zip(names, map(coded, values), strict=True))}
    return log.rows(Table(_made_in_pass(kind, span), columns | {"pass_index": passes.column(line.codes)}))


def _made_in_pass(kind: Callable[..., _Record], span: Span) -> Callable[..., _Record]:
    """Return what makes a record of its line, its fields and its pass."""

    def made(line: int, *values: Any) -> _Record:  # noqa: ANN401 - any field
        return kind(*values[:-1], span(line), values[-1])

    return made


def _foreign_nodes(log: Log, passes: Passes, span: Span) -> Sequence[tuple[ForeignNode, ...]]:
    return log.parted(
        ForeignNode(name, names.onnx_nodes(metadata or ""), span(line), passes.index(line))
        for line, name, metadata in log.each("foreign_node", "layer", "metadata")
    )
