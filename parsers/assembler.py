"""Events in, :class:`BuildLog` out: each build cut from the log and put together from its columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from trtforensics.model import (
    Build,
    BuildLog,
    ForeignNode,
    Fusion,
    Message,
    MessageCounts,
    ReformatLayer,
    SourceInfo,
    SourceSpan,
    Stage,
)
from trtforensics.parsers import autotuning, header
from trtforensics.parsers.choices import Choices
from trtforensics.parsers.engine import OnnxMembers, engine_layers, foreign_metadata
from trtforensics.parsers.formats import both_sides
from trtforensics.parsers.myelin import myelin_operations
from trtforensics.parsers.notes import notes
from trtforensics.parsers.onnx_nodes import onnx_nodes
from trtforensics.parsers.origins import resolve
from trtforensics.parsers.passes import Passes
from trtforensics.parsers.segments import segments
from trtforensics.parsers.starved import starved_layers
from trtforensics.parsers.views import View, cut

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model import TacticTimings
    from trtforensics.parsers.scanner import Scanner

    Span = Callable[[int], SourceSpan]


def assemble(scanner: Scanner, source: SourceInfo) -> BuildLog:
    """Put a scanned log together."""
    starts = scanner.line_starts

    def span(line: int) -> SourceSpan:
        return SourceSpan(source.path, line, starts[line - 1])

    def span_in_parts(line: int) -> SourceSpan:
        file, before = source.part_of(line)
        return SourceSpan(file.path, line, starts[line - 1], before=before)

    spans = span_in_parts if source.parts else span
    alone = source.parts[0].lines if source.parts else source.lines
    builds = segments(scanner.events, source.lines, alone) if source.lines else []
    begins = np.array([build.first_line for build in builds], np.int64)
    whole = View(scanner.events, 1, source.lines)
    timed = autotuning.timings(whole, begins)
    choices = Choices(whole, timed, begins)
    views = cut(scanner.events, builds)
    return BuildLog(
        source=source,
        lines=scanner.counts,
        unknown_shapes=len(scanner.drift),
        unknown_samples=scanner.drift.samples(),
        builds=tuple(
            _build(index, view, autotuning.timings_of(timed, view), choices, spans) for index, view in enumerate(views)
        ),
        line_starts=np.array(starts, np.int64),
    )


def _build(index: int, view: View, timed: TacticTimings, chosen: Choices, span: Span) -> Build:
    passes = Passes(view)
    nodes = onnx_nodes(view, span)
    foreign = _foreign_nodes(view, passes, span)
    reformats = _reformats(view, passes, span)
    tuned = chosen.of(view, passes, span), autotuning.cached_results(view, passes, span)
    dump = engine_layers(view, OnnxMembers(nodes, foreign), span)
    layers, choices, cached = resolve(dump, tuned, (foreign, reformats), passes)
    messages = tuple(Message(s, text, span(line)) for line, s, text in view.each("message", "severity", "text"))
    errors = sum(1 for message in messages if message.severity == "E")
    return Build(
        index=index,
        first_line=view.first_line,
        last_line=view.last_line,
        tool=header.tool(view),
        tensorrt_version=header.tensorrt_version(view),
        command=header.command(view),
        outcome=header.outcome(view),
        options=header.options(view, span),
        passes=passes.passes,
        stages=_stages(view, passes, span),
        fusions=_fusions(view, passes, span),
        reformats=reformats,
        onnx_nodes=nodes,
        foreign_nodes=foreign,
        autotuning=autotuning.counts(view),
        timings=timed,
        tuning=autotuning.layer_tuning(view, span),
        choices=choices,
        cached=cached,
        engine_layers=layers,
        layer_names=tuple(name for _, name in view.each("layer_name", "name")),
        myelin_operations=myelin_operations(view, passes, span),
        message_counts=MessageCounts(warning=len(messages) - errors, error=errors),
        messages=messages,
        results=header.results(view, passes, span),
        notes=notes(view, span),
        starved=starved_layers(view, timed, span),
        runner_ids=autotuning.runner_ids(view),
    )


def _stages(view: View, passes: Passes, span: Span) -> tuple[Stage, ...]:
    original = [(line, "Original", layers) for line, layers in view.each("stage_original", "count")]
    later = list(view.each("stage", "stage", "count"))
    return tuple(
        Stage(name, layers, span(line), passes.index(line)) for line, name, layers in sorted([*original, *later])
    )


def _fusions(view: View, passes: Passes, span: Span) -> tuple[Fusion, ...]:
    rows = [
        *(
            (line, kind, (first, second))
            for line, kind, first, second in view.each("fusing", "pass", "first", "second")
        ),
        *((line, "ConvScaleWeights", pair) for line, *pair in view.each("fusing_weights", "first", "second")),
        *((line, "HorizontalMerge", layers.split(" || ")) for line, layers in view.each("merging", "layers")),
    ]
    ordered = sorted(rows, key=lambda row: row[0])
    return tuple(Fusion(kind, tuple(inputs), span(line), passes.index(line)) for line, kind, inputs in ordered)


def _reformats(view: View, passes: Passes, span: Span) -> tuple[ReformatLayer, ...]:
    reformats = []
    for line, layer, tensor, *sides in view.each("adding_reformat", "layer", "tensor", "source", "target"):
        source, target = map(", ".join, both_sides(*sides))
        reformats.append(ReformatLayer(layer, tensor, source, target, span(line), passes.index(line)))
    return tuple(reformats)


def _foreign_nodes(view: View, passes: Passes, span: Span) -> tuple[ForeignNode, ...]:
    return tuple(
        ForeignNode(name, nodes, span(line), passes.index(line)) for line, name, nodes in foreign_metadata(view)
    )
