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
from trtforensics.parsers import autotuning, header, names
from trtforensics.parsers.choices import choices
from trtforensics.parsers.engine import engine_layers
from trtforensics.parsers.formats import both_sides
from trtforensics.parsers.myelin import myelin_operations
from trtforensics.parsers.notes import notes
from trtforensics.parsers.onnx_nodes import onnx_nodes
from trtforensics.parsers.origins import resolve
from trtforensics.parsers.passes import Passes
from trtforensics.parsers.segments import segments
from trtforensics.parsers.starved import starved_layers
from trtforensics.parsers.views import Log

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.parsers.scanner import Scanner

    Span = Callable[[int], SourceSpan]


def assemble(scanner: Scanner, source: SourceInfo) -> BuildLog:
    """Put a scanned log together."""
    starts, path = scanner.line_starts, source.path

    def span(line: int) -> SourceSpan:
        return SourceSpan(path, line, starts[line - 1])

    def span_in_parts(line: int) -> SourceSpan:
        file, before = source.part_of(line)
        return SourceSpan(file.path, line, starts[line - 1], before=before)

    alone = source.parts[0].lines if source.parts else source.lines
    runs = segments(scanner.events, source.lines, alone) if source.lines else []
    return BuildLog(
        source=source,
        lines=scanner.counts,
        unknown_shapes=len(scanner.drift),
        unknown_samples=scanner.drift.samples(),
        builds=_builds(Log(scanner.events, runs), span_in_parts if source.parts else span) if runs else (),
        line_starts=np.array(starts, np.int64),
    )


def _builds(log: Log, span: Span) -> tuple[Build, ...]:
    """Put the builds together from what is made for all of them at once, and what has to be made for each."""
    views = log.views()
    passes = Passes(views)
    timed = autotuning.timings(log)
    timings = autotuning.timings_of_builds(timed, log)
    messages = log.parted(Message(s, text, span(line)) for line, s, text in log.each("message", "severity", "text"))
    nodes, foreign = log.parted(onnx_nodes(log, span)), _foreign_nodes(log, passes, span)
    reformats = _reformats(log, passes, span)
    tuned = zip(choices(log, timed, passes, span), autotuning.cached_results(log, passes, span), strict=True)
    options, results = header.options(log, span), header.results(log, passes, span)
    stages, fusions = _stages(log, passes, span), _fusions(log, passes, span)
    counts, runner_ids = autotuning.counts(log), autotuning.runner_ids(log)
    tuning = autotuning.layer_tuning(log, span)
    layer_names = log.part(log.lines("layer_name"), (name for _, name in log.each("layer_name", "name")))
    noted = notes(log, span)
    dialects = log.in_force("dialect", "dialect")
    builds = []
    for index, (view, own) in enumerate(zip(views, tuned, strict=True)):
        dump = engine_layers(view, nodes[index], foreign[index], span)
        network = foreign[index], reformats[index]
        layers, own_choices, cached = resolve(dump, own, network, passes.of_builds[index])
        builds.append(
            Build(
                index=index,
                first_line=view.first_line,
                last_line=view.last_line,
                tool=header.tool(view, dialects[index]),
                tensorrt_version=header.tensorrt_version(view),
                command=header.command(view),
                outcome=header.outcome(view, messages[index]),
                options=options[index],
                passes=passes.of_builds[index],
                stages=stages[index],
                fusions=fusions[index],
                reformats=reformats[index],
                onnx_nodes=nodes[index],
                foreign_nodes=foreign[index],
                autotuning=counts[index],
                timings=timings[index],
                tuning=tuning[index],
                choices=own_choices,
                cached=cached,
                engine_layers=layers,
                layer_names=layer_names[index],
                myelin_operations=myelin_operations(view, passes, span),
                message_counts=_message_counts(messages[index]),
                messages=messages[index],
                results=results[index],
                notes=noted[index],
                starved=starved_layers(view, timings[index], span),
                runner_ids=runner_ids[index],
            )
        )
    return tuple(builds)


def _message_counts(messages: tuple[Message, ...]) -> MessageCounts:
    errors = sum([message.severity == "E" for message in messages])
    return MessageCounts(warning=len(messages) - errors, error=errors)


def _stages(log: Log, passes: Passes, span: Span) -> list[tuple[Stage, ...]]:
    original = [(line, "Original", layers) for line, layers in log.each("stage_original", "count")]
    return log.parted(
        Stage(name, layers, span(line), passes.index(line))
        for line, name, layers in (*original, *log.each("stage", "stage", "count"))
    )


def _fusions(log: Log, passes: Passes, span: Span) -> list[tuple[Fusion, ...]]:
    rows = [
        *((line, kind, (one, other)) for line, kind, one, other in log.each("fusing", "pass", "first", "second")),
        *((line, "ConvScaleWeights", tuple(pair)) for line, *pair in log.each("fusing_weights", "first", "second")),
        *((line, "HorizontalMerge", tuple(layers.split(" || "))) for line, layers in log.each("merging", "layers")),
    ]
    return log.parted(Fusion(kind, inputs, span(line), passes.index(line)) for line, kind, inputs in rows)


def _reformats(log: Log, passes: Passes, span: Span) -> list[tuple[ReformatLayer, ...]]:
    return log.parted(
        ReformatLayer(layer, tensor, ", ".join(source), ", ".join(target), span(line), passes.index(line))
        for line, layer, tensor, *sides in log.each("adding_reformat", "layer", "tensor", "source", "target")
        for source, target in (both_sides(*sides),)
    )


def _foreign_nodes(log: Log, passes: Passes, span: Span) -> list[tuple[ForeignNode, ...]]:
    return log.parted(
        ForeignNode(name, names.onnx_nodes(metadata or ""), span(line), passes.index(line))
        for line, name, metadata in log.each("foreign_node", "layer", "metadata")
    )
