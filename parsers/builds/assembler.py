"""Events in, :class:`BuildLog` out: each build cut from the log and put together from its columns."""

from __future__ import annotations

from functools import cached_property
from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from trtforensics.model.log import Build, BuildLog, ForeignNode, Fusion, Message, ReformatLayer, SourceInfo, Stage
from trtforensics.model.span import SourceSpan
from trtforensics.model.table import Column, Rows, Table, coded, numbers, spanned
from trtforensics.parsers.builds import autotuning, header
from trtforensics.parsers.builds.autotuning import formats_of
from trtforensics.parsers.builds.choices import choices
from trtforensics.parsers.builds.engine import engine_layers
from trtforensics.parsers.builds.myelin import myelin_operations
from trtforensics.parsers.builds.notes import NOTED, notes
from trtforensics.parsers.builds.onnx_nodes import onnx_nodes
from trtforensics.parsers.builds.origins import resolve
from trtforensics.parsers.builds.passes import Passes
from trtforensics.parsers.builds.segments import segments
from trtforensics.parsers.builds.starved import SKIPPED, starved_layers
from trtforensics.parsers.builds.views import Log
from trtforensics.parsers.lines.events import NO_TEXT, integer_or_none
from trtforensics.parsers.notation import names

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.model.notes import Note, StarvedLayer
    from trtforensics.model.table import Parts
    from trtforensics.model.timings import TacticTimings
    from trtforensics.parsers.lines.scanned import ScannedLines

    Span = Callable[[int], SourceSpan]


def assemble(scanned: ScannedLines, source: SourceInfo) -> BuildLog:
    """Put a scanned log together."""
    starts, path = scanned.line_starts, source.path

    def span(line: int) -> SourceSpan:
        return SourceSpan(path, line, starts[line - 1])

    def span_in_parts(line: int) -> SourceSpan:
        file, before = source.part_of(line)
        return SourceSpan(file.path, line, starts[line - 1], before=before)

    alone = source.parts[0].lines if source.parts else source.lines
    edges = segments(scanned.events, source.lines, alone) if source.lines else None
    return BuildLog(
        source=source,
        lines=scanned.counts,
        unknown_shapes=len(scanned.drift),
        unknown_samples=scanned.drift.samples(),
        builds=() if edges is None else _builds(Log(scanned.events, edges), span_in_parts if source.parts else span),
        line_starts=np.array(starts, np.int64),
    )


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
    layers, own_choices, cached = resolve(
        engine_layers(log, nodes, foreign, span),
        (choices(log, timed, passes, span), autotuning.cached_results(log, passes, span)),
        (foreign, reformats),
        passes.chosen(),
    )
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


def _stages(log: Log, passes: Passes, span: Span) -> Sequence[Sequence[Stage]]:
    line, stage, count = log.columns(("stage_original", "stage"), "stage", "count")
    pool = log.events.texts.all()

    def name(index: int) -> str:
        return "Original" if index == NO_TEXT else pool[index]

    columns: dict[str, Column[Any]] = {
        "name": Column(stage.astype(np.int64), name),
        "layers": Column(count, integer_or_none),
        "span.line": numbers(line),
        "pass_index": passes.column(line),
    }
    return log.rows(spanned(Stage, span, columns))


def _fusions(log: Log, passes: Passes, span: Span) -> Sequence[Sequence[Fusion]]:
    rows = [
        *((line, kind, (one, other)) for line, kind, one, other in log.each("fusing", "pass", "first", "second")),
        *((line, "ConvScaleWeights", tuple(pair)) for line, *pair in log.each("fusing_weights", "first", "second")),
        *((line, "HorizontalMerge", tuple(layers.split(" || "))) for line, layers in log.each("merging", "layers")),
    ]
    if not rows:
        return log.same(())
    lines, kinds, inputs = zip(*sorted(rows, key=itemgetter(0)), strict=True)
    line = numbers(lines)
    columns: dict[str, Column[Any]] = {
        "kind": coded(kinds),
        "inputs": coded(inputs),
        "span.line": line,
        "pass_index": passes.column(line.codes),
    }
    return log.rows(spanned(Fusion, span, columns))


def _reformats(log: Log, passes: Passes, span: Span) -> Parts[ReformatLayer]:
    line, layer, tensor, *sides = log.columns(("adding_reformat",), "layer", "tensor", "source", "target")
    source, target = formats_of(log, *sides)
    columns: dict[str, Column[Any]] = {
        "name": log.column(layer),
        "tensor": log.column(tensor),
        "source": source.then(", ".join),
        "target": target.then(", ".join),
        "span.line": numbers(line),
        "pass_index": passes.column(line),
    }
    return log.rows(spanned(ReformatLayer, span, columns))


def _foreign_nodes(log: Log, passes: Passes, span: Span) -> Parts[ForeignNode]:
    line, layer, metadata = log.columns(("foreign_node",), "layer", "metadata")
    columns: dict[str, Sequence[Any]] = {
        "name": log.column(layer),
        "onnx_nodes": log.column(metadata).then(names.onnx_nodes),
        "span.line": numbers(line),
        "pass_index": passes.column(line),
    }
    return log.rows(spanned(ForeignNode, span, columns))
