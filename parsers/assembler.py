"""Events in, :class:`BuildLog` out: each build cut from the log and put together from its columns."""

from __future__ import annotations

from functools import cached_property
from itertools import repeat, starmap
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
from trtforensics.parsers.choices import choices
from trtforensics.parsers.engine import engine_layers
from trtforensics.parsers.events import NO_INTEGER, NO_TEXT
from trtforensics.parsers.formats import both_sides
from trtforensics.parsers.myelin import myelin_operations
from trtforensics.parsers.notes import NOTED, notes
from trtforensics.parsers.onnx_nodes import onnx_nodes
from trtforensics.parsers.origins import resolve
from trtforensics.parsers.passes import Passes
from trtforensics.parsers.segments import segments
from trtforensics.parsers.starved import SKIPPED, starved_layers
from trtforensics.parsers.views import Log
from trtforensics.rows import Table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from trtforensics.model import TacticTimings
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
    runs = segments(scanner.events, source.lines, alone) if source.lines else []
    return BuildLog(
        source=source,
        lines=scanner.counts,
        unknown_shapes=len(scanner.drift),
        unknown_samples=scanner.drift.samples(),
        builds=_builds(Log(scanner.events, runs), span_in_parts if source.parts else span) if runs else (),
        line_starts=np.array(starts, np.int64),
    )


_LATE = ("messages", "notes", "starved", "timings")


class _Late:
    """What nobody may ask for: the fields of builds that are not put together with them, a list a field.

    Of a log's tables it keeps those that it reads.
    """

    def __init__(self, log: Log, timed: TacticTimings, span: Span) -> None:
        self._events, self._builds = log.events.only(("message", *NOTED, *SKIPPED)), log.builds
        self._timed, self._span = timed, span

    @cached_property
    def _log(self) -> Log:
        return Log(self._events, self._builds)

    @cached_property
    def messages(self) -> list[tuple[Message, ...]]:
        rows = self._log.each("message", "severity", "text")
        return self._log.parted(Message(severity, text, self._span(line)) for line, severity, text in rows)

    @cached_property
    def notes(self) -> list[tuple[Note, ...]]:
        return notes(self._log, self._span)

    @cached_property
    def starved(self) -> list[tuple[StarvedLayer, ...]]:
        return [
            starved_layers(view, timed, self._span) for view, timed in zip(self._log.views, self.timings, strict=True)
        ]

    @cached_property
    def timings(self) -> list[TacticTimings]:
        return autotuning.timings_of_builds(self._timed, self._log)


def _builds(log: Log, span: Span) -> tuple[Build, ...]:
    """Put the builds together from what is made for all of them at once; what few ask for is left for later."""
    passes = Passes(log)
    timed = autotuning.timings(log)
    nodes, foreign = log.parted(onnx_nodes(log, span)), _foreign_nodes(log, passes, span)
    reformats = _reformats(log, passes, span)
    tuned = choices(log, timed, passes, span), autotuning.cached_results(log, passes, span)
    dumps = engine_layers(log, nodes, foreign, span)
    joined = map(resolve, dumps, zip(*tuned, strict=True), zip(foreign, reformats, strict=True), passes.of_builds)
    layers, own_choices, cached = zip(*joined, strict=True)
    first_lines, last_lines = zip(*log.builds, strict=True)
    columns: dict[str, Iterable[Any]] = {
        "index": range(len(log.builds)),
        "first_line": first_lines,
        "last_line": last_lines,
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
        **dict.fromkeys(_LATE, [()] * len(log.builds)),
    }
    builds = tuple(starmap(Build, zip(*[columns[name] for name in Build.__dataclass_fields__], strict=True)))
    late = _Late(log, timed, span)
    for build in builds:
        build.leave(_LATE, late, build.index)
    return builds


def _stages(log: Log, passes: Passes, span: Span) -> list[Sequence[Stage]]:
    line, stage, count = log.columns(("stage_original", "stage"), "stage", "count")
    pool = log.events.texts.all()
    columns = {
        "span.line": tuple(line.tolist()),
        "name": tuple(["Original" if index == NO_TEXT else pool[index] for index in stage.tolist()]),
        "layers": tuple([None if layers == NO_INTEGER else layers for layers in count.tolist()]),
        "pass_index": passes.indexes(line),
    }
    return log.rows(Table(_made_in_pass(Stage, span), columns))


def _fusions(log: Log, passes: Passes, span: Span) -> list[Sequence[Fusion]]:
    rows = [
        *((line, kind, (one, other)) for line, kind, one, other in log.each("fusing", "pass", "first", "second")),
        *((line, "ConvScaleWeights", tuple(pair)) for line, *pair in log.each("fusing_weights", "first", "second")),
        *((line, "HorizontalMerge", tuple(layers.split(" || "))) for line, layers in log.each("merging", "layers")),
    ]
    return _in_passes(log, passes, span, Fusion, ("kind", "inputs"), rows)


def _reformats(log: Log, passes: Passes, span: Span) -> list[Sequence[ReformatLayer]]:
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
) -> list[Sequence[_Record]]:
    """Return records of rows that begin with their line; each has the line's place and pass behind its other fields."""
    paths = ("span.line", *names)
    ordered = zip(*sorted(rows, key=itemgetter(0)), strict=True) if rows else repeat(())
    columns = dict(zip(paths, ordered, strict=False))
    columns["pass_index"] = passes.indexes(np.array(columns["span.line"], np.int64))
    return log.rows(Table(_made_in_pass(kind, span), columns))


def _made_in_pass(kind: Callable[..., _Record], span: Span) -> Callable[..., _Record]:
    """Return what makes a record of its line, its fields and its pass."""

    def made(line: int, *values: Any) -> _Record:  # noqa: ANN401 - any field
        return kind(*values[:-1], span(line), values[-1])

    return made


def _foreign_nodes(log: Log, passes: Passes, span: Span) -> list[tuple[ForeignNode, ...]]:
    return log.parted(
        ForeignNode(name, names.onnx_nodes(metadata or ""), span(line), passes.index(line))
        for line, name, metadata in log.each("foreign_node", "layer", "metadata")
    )
