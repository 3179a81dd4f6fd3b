"""The overview of a build: labelled values, most important first, each with the log line that states it."""

from __future__ import annotations

import textwrap
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain, pairwise
from typing import TYPE_CHECKING

from rich.cells import cell_len

from trtforensics.console.counting import counted, milliseconds
from trtforensics.console.terminal import visible
from trtforensics.findings.finding import in_words
from trtforensics.knowledge.table import rows as table_rows
from trtforensics.model.run import Ending
from trtforensics.render.headline import told_options
from trtforensics.render.runs import result_name, result_text
from trtforensics.tui.rows.pieces import Line, Piece, Role, bar, fit, fit_right, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from trtforensics.engines.joining import NumberedFile
    from trtforensics.findings.finding import Finding
    from trtforensics.model.log import Build, BuildLog, CachedResult, Choice, Stage
    from trtforensics.render.headline import Headline

LABEL_WIDTH = 24
NARROW_LABEL = 13
"""Cells of a label on a screen narrower than ``WIDE``; a longer one takes what it needs."""
WIDE = 100
LEAST_VALUE = 16
BAR_WIDTH = 10
TOP = 5
"""Most shapes of unknown lines that are listed."""

_TELLING = tuple((row["block"], row["name"]) for row in table_rows("telling_options", "trtforensics.tui.rows"))
"""The options to compare first when two builds differ in speed or accuracy, as (block, name printed by trtexec)."""

ENDING_ROLES = {Ending.PASSED: Role.GOOD, Ending.FAILED: Role.ERROR, Ending.CRASHED: Role.ERROR, None: Role.DIM}


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A labelled value, or a heading; ``line`` is the log line that states the value.

    ``bare`` shows the value without its label, ``most`` is the number of lines that it may take; 0 for as many as it
    needs. Enter opens ``finding``, or the build with the index ``build``.
    """

    label: str
    value: str = ""
    line: int | None = None
    role: Role = Role.PLAIN
    heading: bool = False
    bare: bool = False
    most: int = 0
    finding: Finding | None = field(default=None, compare=False)
    build: int | None = None

    def lines(self, gutter: int, width: int, column: int = 0, look: Role = Role.DIM) -> list[Line]:
        """Lay the row out behind its line number, ``gutter`` digits wide; a long value is wrapped.

        ``column`` are the cells of labels, 0 for as many as suit the width; ``look`` is their role.
        """
        if self.heading:
            return [(Piece(f" {self.label}", Role.TITLE),)]
        if self.bare:
            texts = self._wrapped(max(width - 3, LEAST_VALUE))
            return [(Piece(f" {'  ' * bool(n)}{text}", self.role),) for n, text in enumerate(texts)]
        column = column or (LABEL_WIDTH if width >= WIDE else NARROW_LABEL)
        label = fit(self.label, min(max(column, cell_len(self.label)), LABEL_WIDTH))
        indent = gutter + column + 2
        room = max(width - indent, LEAST_VALUE)
        longer = " " * (cell_len(label) - column)
        wrapped = self._wrapped(room, longer)
        head = (Piece(f"{self.line or '':>{gutter}} ", Role.DIM), Piece(f"{label} ", look))
        return [
            (*head, Piece(wrapped[0], self.role)),
            *((Piece(" " * indent), Piece(text, self.role)) for text in wrapped[1:]),
        ]

    def _wrapped(self, room: int, longer: str = "") -> list[str]:
        """Break the value into at most ``most`` lines; the first has less room where a ``longer`` label stands."""
        lines = textwrap.wrap(
            visible(self.value.strip()),
            room,
            break_on_hyphens=False,
            initial_indent=longer,
            max_lines=self.most or None,
            placeholder=" …",
        ) or [""]
        return [lines[0].removeprefix(longer), *lines[1:]]


def outcome_piece(headline: Headline, *, reading: bool = False) -> Piece:
    """Return how a run ended, or that its log is still being read."""
    if reading and headline.ending in {Ending.NONE, None}:
        return Piece("reading", Role.WARNING)
    return Piece(visible(headline.outcome), ENDING_ROLES.get(headline.ending, Role.WARNING))


def overview_rows(log: BuildLog, build: Build, joined: Sequence[NumberedFile] = ()) -> list[OverviewRow]:
    """Return what the log tells of a build, most important first. ``joined`` are its further files."""
    telling = (OverviewRow(name, value, span.line) for name, value, span in told_options(build, _TELLING))
    sections: Iterable[tuple[str, Iterable[OverviewRow]]] = (
        ("Build", _build_rows(build)),
        ("Files of this engine", _file_rows(joined)),
        ("Options that matter", telling),
        ("Passes", _pass_rows(build)),
        ("Layers", chain(_stage_rows(build), _engine_rows(build))),
        ("Tuning", _tuning_rows(build)),
        ("Results", (OverviewRow(result_name(each), result_text(each), each.span.line) for each in build.results)),
        ("Log", _log_rows(log)),
        *(
            (f"All {block} options", (OverviewRow(fact.name, fact.value or "-", fact.span.line) for fact in facts))
            for block, facts in build.options.items()
        ),
    )
    rows: list[OverviewRow] = []
    for title, members in sections:
        listed = list(members)
        if listed:
            rows += [OverviewRow(title, heading=True), *listed, OverviewRow("")]
    return rows[:-1]


def waiting_rows(name: str) -> list[OverviewRow]:
    """Return the rows shown before the parse ends."""
    return [
        OverviewRow("Build", heading=True),
        OverviewRow("file", name),
        OverviewRow("state", "reading", role=Role.WARNING),
        OverviewRow("meanwhile", "4 opens the raw log, / searches it"),
    ]


def _file_rows(joined: Sequence[NumberedFile]) -> Iterator[OverviewRow]:
    """Yield each file that was joined, and what of it joined nothing."""
    for file in joined:
        last = (file.first_line or 0) + file.lines - 1
        lines = "" if file.first_line is None else f", here lines {file.first_line:,} to {last:,}"
        yield OverviewRow("file", f"{file.path}: {file.what}{lines}", file.first_line)
        for what in file.unjoined:
            yield OverviewRow("not joined", what, file.first_line, Role.WARNING)


def _build_rows(build: Build) -> Iterator[OverviewRow]:
    yield OverviewRow("coverage", in_words(build.coverage), build.first_line)
    yield OverviewRow("tool", build.tool.value, build.first_line)
    version = build.tensorrt_version or "version unknown"
    yield OverviewRow(
        "TensorRT", version, build.first_line, Role.PLAIN if build.tensorrt_version is not None else Role.DIM
    )
    yield _device_row(build)
    if build.command:
        yield OverviewRow("command", build.command, build.first_line)
    yield OverviewRow("lines", f"{build.first_line:,} to {build.last_line:,}", build.first_line)


def _device_row(build: Build) -> OverviewRow:
    """Return the GPU, its compute capability, SMs and memory in one row."""
    device = {fact.name: fact for fact in build.options.get("device", ())}
    selected = device.get("Selected Device")
    if selected is None:
        return OverviewRow("GPU", "unknown: the log does not say", None, Role.DIM)
    facts = [selected.value]
    for name, spelled in (
        ("Compute Capability", "compute capability {}"),
        ("SMs", "{} SMs"),
        ("Device Global Memory", "{}"),
    ):
        if name in device:
            facts.append(spelled.format(device[name].value))
    return OverviewRow("GPU", ", ".join(facts), selected.span.line)


def _pass_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the passes; a single pass without a strategy is left out."""
    verdicts = {True: "✔ the engine", False: "✗ discarded", None: "? unknown whether the engine is from it"}
    for number, each in enumerate(build.passes):
        if len(build.passes) > 1 or each.backend_strategy is not None:
            estimate = f", estimated {milliseconds(each.estimated_ms)} ms" if each.estimated_ms is not None else ""
            strategy = "pass" if each.backend_strategy is None else f"backend strategy {each.backend_strategy}"
            value = f"{verdicts[each.chosen]}{estimate}, lines {each.first_line:,} to {each.last_line:,}"
            role = Role.GOOD if each.chosen else Role.PLAIN
            yield OverviewRow(f"{number}: {strategy}", value, each.first_line, role)


def _stage_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the number of layers after each stage; stages without a change are only counted."""
    stages = [stage for stage in build.stages if build.may_be_in_engine(stage.pass_index)]
    if not stages:
        return
    yield _stage_row(stages[0], 0)
    quiet = 0
    for before, stage in pairwise(stages):
        if stage.layers == before.layers:
            quiet += 1
        else:
            yield _stage_row(stage, stage.layers - before.layers)
    if quiet:
        yield OverviewRow("", f"{counted(quiet, 'more stage')} changed nothing", role=Role.DIM)


def _stage_row(stage: Stage, change: int) -> OverviewRow:
    by = f"{change:+,}" if change else ""
    return OverviewRow(f"{stage.layers:>8,}  {by}", stage.name, stage.span.line)


def _engine_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the fusions, the reformat layers and the engine's layers."""
    fusions = [fusion for fusion in build.fusions if build.may_be_in_engine(fusion.pass_index)]
    if fusions:
        kinds = _tally(fusion.kind for fusion in fusions)
        yield OverviewRow("fusions", f"{len(fusions):,}: {kinds}", fusions[0].span.line)
    reformats = [reformat for reformat in build.reformats if build.may_be_in_engine(reformat.pass_index)]
    if reformats:
        added = f"{counted(len(reformats), 'reformat layer')} added"
        yield OverviewRow("reformats", added, reformats[0].span.line)
    dump = build.engine_layers
    if dump:
        types = _tally(layer.type for layer in dump)
        line = dump[0].span.line
        yield OverviewRow("engine", f"{counted(len(dump), 'layer')}: {types}", line, Role.STRONG)
        computes = (layer.compute_precision for layer in dump)
        yield OverviewRow("computes in", _tally(known.type if known else "unknown" for known in computes), line)
        yield OverviewRow("output types", _tally(kind for layer in dump for kind in layer.output_types), line)
        if build.choices or build.cached:
            joined = sum(layer.choice is not None or layer.cached is not None for layer in dump)
            yield OverviewRow("", f"{joined:,} of them traced to the choice or cached result they came from", line)
        others = [other for other in build.engine_dumps if other.span != dump[0].span]
        if others:
            text = f"printed {len(others) + 1} times, these are the layers from line {line:,}"
            yield OverviewRow("", text, others[0].span.line)
    elif build.layer_names:
        layers = counted(len(build.layer_names), "layer")
        yield OverviewRow("engine", f"{layers}; the log prints their names only")
    elif build.stages or build.choices:
        yield OverviewRow("engine", "layers unknown: the log does not list them", role=Role.DIM)


def _tuning_rows(build: Build) -> Iterator[OverviewRow]:
    tuning = build.autotuning
    if not (tuning.tactics_timed or tuning.cache_hits or build.choices):
        yield OverviewRow("tactics", "none timed in this log", role=Role.DIM)
        return
    first = build.choices[0].first_line if build.choices else None
    blocks = f" in {counted(tuning.runner_blocks, 'runner block')}" if tuning.runner_blocks else ""
    yield OverviewRow("tactics timed", f"{tuning.tactics_timed:>6,}{blocks}", first)
    if tuning.tactics_skipped:
        yield OverviewRow(
            "tactics skipped", f"{tuning.tactics_skipped:>6,} for want of scratch memory", None, Role.WARNING
        )
    results: tuple[tuple[str, Sequence[Choice | CachedResult]], ...] = (
        ("choices", build.choices),
        ("cached results", build.cached),
    )
    for label, made in results:
        if made:
            known = [result.final for result in made if result.final is not None]
            used = f"{sum(known):,} used by the engine" if known else "unknown which of them the engine uses"
            yield OverviewRow(label, f"{len(made):>6,}, {used}", made[0].span.line)


def barred(text: str, value: float | None, most: float | None) -> str:
    """Put a bar behind a number: its share of the largest number."""
    return f"{fit_right(text, LABEL_WIDTH - BAR_WIDTH - 1)} {bar((value or 0.0) / (most or 1.0), BAR_WIDTH)}"


def _log_rows(log: BuildLog) -> Iterator[OverviewRow]:
    source = log.source
    held = f"{counted(source.lines, 'line')}, {size(source.bytes)}, {counted(len(log.builds), 'build')}"
    yield OverviewRow("file", f"{held}: [ and ] switch" if len(log.builds) > 1 else held)
    unknown = log.lines.unknown
    if not unknown:
        ours = sum(build.coverage.own_lines for build in log.builds)
        others = sum(build.coverage.other_lines for build in log.builds)
        foreign = f"; {counted(others, 'line')} of other programs" if others else ""
        yield OverviewRow("not understood", f"none of {counted(ours, 'line')} of TensorRT and its tools{foreign}")
    else:
        lines = f"{counted(unknown, 'line')} of {counted(log.unknown_shapes, 'shape')}, most often:"
        yield OverviewRow("not understood", lines, log.unknown_samples[0].line, Role.WARNING)
    for shape in log.unknown_samples[:TOP]:
        times = "once" if shape.count == 1 else f"{shape.count:,} times"
        yield OverviewRow(fit_right(times, LABEL_WIDTH), shape.text, shape.line, Role.DIM)
    if source.cut:
        text = "the last line has no line ending, as where a log is cut"
        yield OverviewRow("end of file", text, source.lines, Role.WARNING)


def _tally(items: Iterable[str]) -> str:
    return ", ".join(f"{item} {count:,}" for item, count in Counter(items).most_common(6))
