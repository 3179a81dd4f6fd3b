"""Events in, :class:`BuildLog` out: the log is cut into builds, and each field is read for all builds at once."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import compress
from operator import itemgetter
from typing import Any

import numpy as np

from trtforensics.model.log import (
    Build,
    BuildLog,
    CachedResult,
    Choice,
    EngineLayer,
    Fusion,
    Message,
    ReformatLayer,
    Stage,
)
from trtforensics.model.notes import Note, Removal, StarvedLayer
from trtforensics.model.run import Run
from trtforensics.model.span import SourceInfo
from trtforensics.model.timings import OpenBlock, TacticTimings
from trtforensics.parsers.builds import autotuning, header
from trtforensics.parsers.builds.autotuning import OF_BLOCKS, open_blocks
from trtforensics.parsers.builds.engine import engine_dumps, engine_layers, name_kernels
from trtforensics.parsers.builds.header import coverages
from trtforensics.parsers.builds.myelin import foreign_nodes, myelin_operations
from trtforensics.parsers.builds.notes import NOTED, SAYING, SKIPPED, notes, starved_layers
from trtforensics.parsers.builds.onnx_nodes import onnx_nodes
from trtforensics.parsers.builds.origins import Tuning, resolve
from trtforensics.parsers.builds.passes import Passes
from trtforensics.parsers.builds.results import profiles, results, with_times
from trtforensics.parsers.builds.run_edges import RunEdges
from trtforensics.parsers.builds.runs import runs
from trtforensics.parsers.builds.views import Log, Spans
from trtforensics.parsers.lines.events import NO_TEXT, ScannedLines, give_back, integer_or_none
from trtforensics.parsers.notation.precision import compute_precision

_LARGE = 1 << 32
"""Bytes from which on the places of lines take 64 bits."""


def assemble(scanned: ScannedLines, source: SourceInfo, attend: Callable[[], None] = lambda: None) -> BuildLog:
    """Put a scanned log together. It takes the line starts over, so ``scanned`` must get no more lines.

    ``attend`` is called many times meanwhile: it may wait, and what it raises ends the work.
    """
    alone = source.parts[0].lines if source.parts else source.lines
    starts = np.frombuffer(scanned.line_starts, np.int64)
    if len(starts) and starts[-1] < _LARGE:
        starts, scanned.line_starts = starts.astype(np.uint32), scanned.line_starts[:0]
    builds: tuple[Build, ...] = ()
    of_source: tuple[Run, ...] = ()
    if source.lines:
        cut = RunEdges(scanned.events, source.lines, alone)
        builds, of_source = _builds(Log(scanned.events, cut.edges, Spans(source, starts), attend), cut)
        give_back(source.lines)
    return BuildLog(
        source=source,
        lines=scanned.counts,
        unknown_shapes=len(scanned.drift),
        unknown_samples=scanned.drift.samples(),
        builds=builds,
        line_starts=starts,
        runs=of_source,
    )


def _builds(log: Log, cut: RunEdges) -> tuple[tuple[Build, ...], tuple[Run, ...]]:
    """Put the builds and the runs together; the builds' deferred fields are computed on first access."""
    passes, timed = Passes(log), autotuning.timings(log)
    # What takes most memory comes first, while little else is held.
    tuning_times, choices = autotuning.layer_tuning(log), autotuning.choices(log, timed, passes)
    give_back(int(log.edges[-1]))
    nodes, foreign, reformats = onnx_nodes(log), foreign_nodes(log, passes), _reformats(log, passes)
    dumps = engine_dumps(log, nodes, foreign)
    layers = engine_layers(dumps, passes)
    cached = autotuning.cached_results(log, passes)
    for tuning in zip(layers, choices, cached, foreign, reformats, passes.of_builds, strict=True):
        if any(tuning[:3]):
            resolve(Tuning(*tuning))
    _describe(log, layers, choices, cached, timed)
    measured = list(map(with_times, layers, profiles(log), choices, cached))
    in_numbers = results(log, passes)
    of_source = tuple(runs(log, cut, nodes, in_numbers))
    columns: dict[str, Sequence[Any]] = {
        "index": range(log.size),
        "first_line": log.edges[:-1].tolist(),
        "last_line": (log.edges[1:] - 1).tolist(),
        "tool": header.tools(log),
        "tensorrt_version": header.tensorrt_versions(log),
        "command": header.commands(log),
        "outcome": header.outcomes(log, of_source),
        "options": header.options(log),
        "passes": passes.of_builds,
        "stages": _stages(log, passes),
        "fusions": _fusions(log, passes),
        "reformats": reformats,
        "onnx_nodes": nodes,
        "foreign_nodes": foreign,
        "autotuning": autotuning.counts(log),
        "tuning": tuning_times,
        "choices": choices,
        "cached": cached,
        "engine_layers": layers,
        "layer_names": log.divide(log.lines("layer_name"), (name for _, name in log.each("layer_name", "name"))),
        "myelin_operations": myelin_operations(log, passes),
        "message_counts": header.message_counts(log),
        "results": in_numbers,
        "engine_dumps": dumps,
        "profiles": measured,
        "runner_ids": autotuning.runner_ids(log),
        **dict.fromkeys(_DEFERRED, [()] * log.size),
    }
    columns["coverage"] = coverages(log, columns)
    builds = tuple(map(Build, *(columns[name] for name in Build.__dataclass_fields__)))
    deferred = _DeferredFields(log, timed, passes)
    for build in builds:
        build.defer(_DEFERRED, deferred, build.index)
    return builds, of_source


def _describe(
    log: Log,
    engines: Sequence[tuple[EngineLayer, ...]],
    choices: Iterable[tuple[Choice, ...]],
    cached: Sequence[tuple[CachedResult, ...]],
    timed: TacticTimings,
) -> None:
    """Add what follows from the tuning and from types: the layers' kernels, and what they compute in."""
    described = list(map(any, zip(engines, cached, strict=True)))
    by_build = autotuning.timings_of_builds(timed, log, described)
    for layers, chosen, known, timings in compress(zip(engines, choices, cached, by_build, strict=True), described):
        name_kernels(layers, chosen, known, timings)
        for layer in layers:
            layer.compute_precision = compute_precision(layer)


_LINES_OF_A_RUN = 12
"""Most lines from an optimisation's ``Running`` line to a removal that it did."""
_REMOVING = ("removing", "eliminating_slice", "eliminating_concat")
"""The kinds of line that name a removed layer, and of duplicates no other; dead-layer removal names none."""
_DEFERRED = ("messages", "own_lines", "notes", "open_blocks", "removals", "starved", "timings")


class _DeferredFields:
    """The build fields that are computed on first access, for all builds at once: a list under each field's name.

    Of the log's events only the kinds that they read are kept.
    """

    def __init__(self, log: Log, timed: TacticTimings, passes: Passes) -> None:
        removing = (*_REMOVING, "eliminating_duplicate", "running")
        self._events = log.events.only((*SAYING, *NOTED, *SKIPPED, *OF_BLOCKS, *removing))
        self._edges, self._spans = log.edges, log.spans
        self._timed, self._passes = timed, passes

    @cached_property
    def _log(self) -> Log:
        return Log(self._events, self._edges, self._spans)

    @cached_property
    def messages(self) -> Sequence[tuple[Message, ...]]:
        return self._said("message")

    @cached_property
    def own_lines(self) -> Sequence[tuple[Message, ...]]:
        return self._said("untyped")

    def _said(self, kind: str) -> Sequence[tuple[Message, ...]]:
        rows = self._log.each(kind, "severity", "text")
        return self._log.divide_records(
            Message(severity or "", text, self._spans.of(line)) for line, severity, text in rows
        )

    @cached_property
    def notes(self) -> Sequence[tuple[Note, ...]]:
        return notes(self._log)

    @cached_property
    def open_blocks(self) -> Sequence[tuple[OpenBlock, ...]]:
        return open_blocks(self._log, self._timed)

    @cached_property
    def removals(self) -> Sequence[tuple[Removal, ...]]:
        return _removals(self._log, self._passes)

    @cached_property
    def starved(self) -> list[tuple[StarvedLayer, ...]]:
        builds = zip(self._log.views, self.timings, strict=True)
        return [starved_layers(view, timed, self._spans) for view, timed in builds]

    @cached_property
    def timings(self) -> list[TacticTimings]:
        return autotuning.timings_of_builds(self._timed, self._log)


def _stages(log: Log, passes: Passes) -> Sequence[tuple[Stage, ...]]:
    line, stage, count = log.columns(("stage_original", "stage"), "stage", "count")
    pool = log.events.texts.all()
    stages = ["Original" if index == NO_TEXT else pool[index] for index in stage.tolist()]
    counts = map(integer_or_none, count.tolist())
    return log.divide(line, map(Stage, stages, counts, log.spans.of_each(line), passes.indexes(line)))  # type: ignore[arg-type]  # the rule has a count


def _fusions(log: Log, passes: Passes) -> Sequence[tuple[Fusion, ...]]:
    rows: list[tuple[int, str, tuple[str, ...]]] = [
        *((line, kind, (first, second)) for line, kind, first, second in log.each("fusing", "pass", "first", "second")),
        *((line, "ConvScaleWeights", tuple(pair)) for line, *pair in log.each("fusing_weights", "first", "second")),
        *((line, "HorizontalMerge", tuple(layers.split(" || "))) for line, layers in log.each("merging", "layers")),
    ]
    rows.sort(key=itemgetter(0))
    lines = np.array([line for line, _, _ in rows], np.int64)
    kinds, inputs = [kind for _, kind, _ in rows], [inputs for _, _, inputs in rows]
    return log.divide(lines, map(Fusion, kinds, inputs, log.spans.of_each(lines), passes.indexes(lines)))


def _reformats(log: Log, passes: Passes) -> Sequence[tuple[ReformatLayer, ...]]:
    line, layer, tensor, *sides = log.columns(("adding_reformat",), "layer", "tensor", "source", "target")
    made = map(
        ReformatLayer,
        log.texts(layer),
        log.texts(tensor),
        *(map(", ".join, formats) for formats in autotuning.formats_of(log, *sides)),
        log.spans.of_each(line),
        passes.indexes(line),
    )
    return log.divide(line, made)


def _removals(log: Log, passes: Passes) -> Sequence[tuple[Removal, ...]]:
    removed = [(line, layer, "") for kind in _REMOVING for line, layer in log.each(kind, "layer")]
    rows = sorted((*removed, *log.each("eliminating_duplicate", "first", "second")))
    lines = np.array([line for line, _, _ in rows], np.int64)
    runs = list(log.each("running", "pass", "layer"))
    before = np.array([line for line, _, _ in runs], np.int64).searchsorted(lines) - 1
    removals = []
    for (line, layer, other), pass_index, at in zip(rows, passes.indexes(lines), before.tolist(), strict=True):
        ran, by, on = runs[at] if at >= 0 else (0, "", "")
        if line - ran > _LINES_OF_A_RUN:
            by = on = ""
        removals.append(Removal(layer, log.spans.of(line), pass_index, other, by, on or ""))
    return log.divide_records(removals)
