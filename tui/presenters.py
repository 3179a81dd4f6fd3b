"""Pure presenters: the model as rows of the overview and the messages, as titles and as progress."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING

from trtforensics.model import Outcome
from trtforensics.tui.pieces import Line, Piece, Role, bar, fit, fit_right, milliseconds, plural, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.model import BackendPass, Build, BuildLog, CachedResult, Choice, Fact, Message, Stage
    from trtforensics.tui.protocol import ParseProgress

LABEL_WIDTH = 24
TOP = 5
"""How many of the slowest layers, the most tuned layers and the unknown shapes are listed."""

TELLING_OPTIONS = (
    ("build", "Precision"),
    ("build", "LayerPrecisions"),
    ("build", "Memory Pools"),
    ("build", "Workspace"),
    ("build", "BuilderOptimizationLevel"),
    ("build", "Builder optimization level"),
    ("build", "Sparsity"),
    ("build", "Calibration"),
    ("build", "avgTiming"),
    ("build", "Tactic sources"),
    ("build", "timingCacheMode"),
    ("build", "timingCacheFile"),
    ("build", "Preview Features"),
    ("build", "Input build shapes"),
    ("build", "Input build shape"),
    ("model", "Model"),
)
"""The options asked for first when numbers differ between two builds, by block and by the names trtexec prints."""

GPU_FACTS = ("Selected Device", "Compute Capability", "SMs", "Device Global Memory")

OUTCOME_ROLES = {Outcome.PASSED: Role.GOOD, Outcome.FAILED: Role.ERROR, Outcome.TRUNCATED: Role.WARNING}


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A labelled value, or a heading where there is no value; ``line`` is the one that states it."""

    label: str
    value: str = ""
    line: int | None = None
    role: Role = Role.PLAIN
    heading: bool = False

    def pieces(self) -> Line:
        """Lay the row out; long values scroll sideways."""
        if self.heading:
            return (Piece(f" {self.label}", Role.TITLE),)
        return (Piece(f" {fit(self.label, LABEL_WIDTH)} ", Role.DIM), Piece(self.value, self.role))


def overview_rows(log: BuildLog, build: Build) -> list[OverviewRow]:
    """Return everything the overview says about a build, the most telling first."""
    sections: Iterable[tuple[str, Iterable[OverviewRow]]] = (
        ("Build", _build_rows(build)),
        ("Options that matter", _telling_rows(build)),
        ("Passes", _pass_rows(build)),
        ("Layers", _stage_rows(build)),
        ("Tuning", _tuning_rows(build)),
        ("Slowest layers", _slowest_rows(build)),
        ("Most tactics timed", _most_tuned_rows(build)),
        ("Log", _log_rows(log, build)),
        ("Results", map(_fact_row, build.results)),
        *((f"All {block} options", map(_fact_row, facts)) for block, facts in build.options.items()),
    )
    rows: list[OverviewRow] = []
    for title, members in sections:
        listed = list(members)
        if listed:
            rows += [OverviewRow(title, heading=True), *listed, OverviewRow("")]
    return rows[:-1]


def waiting_rows(name: str) -> list[OverviewRow]:
    """Return what the overview says before the parse ends."""
    return [
        OverviewRow("Build", heading=True),
        OverviewRow("file", name),
        OverviewRow("state", "reading", role=Role.WARNING),
        OverviewRow("", "the raw log is there"),
        OverviewRow("", "already: 4, and / to search"),
    ]


def title_line(name: str, log: BuildLog | None, build: Build | None) -> Line:
    """Return the title: which file, which build of it, and how that build ended."""
    pieces = [Piece(" trtforensics ", Role.TITLE), Piece(f" {name} ")]
    if log is None or build is None:
        return tuple(pieces)
    if len(log.builds) > 1:
        pieces.append(Piece(f" build {build.index + 1} of {len(log.builds)} [ ] ", Role.ACCENT))
    version = f"TensorRT {build.tensorrt_version}" if build.tensorrt_version else "TensorRT version not told"
    pieces += [
        Piece(f" {version} · {build.tool} · ", Role.DIM),
        Piece(build.outcome.value, OUTCOME_ROLES.get(build.outcome, Role.DIM)),
    ]
    return tuple(pieces)


def progress_line(progress: ParseProgress, width: int) -> Line:
    """Return how far the parse is: a bar where the size is known, and the counts."""
    counts = f" {size(progress.bytes_done)}"
    lines = plural(progress.lines, "line")
    if not progress.bytes_total:
        return (Piece(" reading ", Role.WARNING), Piece(f"{counts} · {lines}"))
    fraction = progress.bytes_done / progress.bytes_total
    room = max(width // 4, 8)
    done = bar(fraction, room).rstrip()
    return (
        Piece(" reading ", Role.WARNING),
        Piece(done, Role.CHOSEN_BAR),
        Piece("░" * (room - len(done)), Role.DIM),
        Piece(f" {fraction:4.0%}", Role.STRONG),
        Piece(f" {counts} of {size(progress.bytes_total)} · {lines}", Role.DIM),
    )


def message_pieces(message: Message) -> Line:
    """Lay out a warning or an error behind its line number."""
    role = Role.WARNING if message.severity == "W" else Role.ERROR
    return (Piece(f"{message.span.line:>8,} ", Role.DIM), Piece(f"{message.severity} ", role), Piece(message.text))


def _build_rows(build: Build) -> Iterator[OverviewRow]:
    yield OverviewRow("outcome", build.outcome.value, build.last_line, OUTCOME_ROLES.get(build.outcome, Role.PLAIN))
    yield OverviewRow("tool", build.tool.value, build.first_line)
    yield OverviewRow("TensorRT", build.tensorrt_version or "version not told", build.first_line)
    device = {fact.name: fact for fact in build.options.get("device", ())}
    for name, label in zip(GPU_FACTS, ("GPU", "compute capability", "SMs", "GPU memory"), strict=True):
        if name in device:
            yield OverviewRow(label, device[name].value, device[name].span.line)
    if build.command:
        yield OverviewRow("command", build.command, build.first_line)
    yield OverviewRow("lines", f"{build.first_line:,} to {build.last_line:,}", build.first_line)


def _telling_rows(build: Build) -> Iterator[OverviewRow]:
    for block, name in TELLING_OPTIONS:
        for fact in build.options.get(block, ()):
            if fact.name == name and fact.value:
                yield _fact_row(fact)


def _pass_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the passes; a single one that names no strategy says nothing and is left out."""
    for number, one in enumerate(build.passes):
        if len(build.passes) > 1 or one.backend_strategy is not None:
            yield _pass_row(number, one)


def _pass_row(number: int, one: BackendPass) -> OverviewRow:
    mark = {True: "✔ chosen", False: "✗ not chosen", None: "? not told if chosen"}[one.chosen]
    estimate = f"  estimated {milliseconds(one.estimated_ms)} ms" if one.estimated_ms is not None else ""
    strategy = "" if one.backend_strategy is None else f" · strategy {one.backend_strategy}"
    role = Role.GOOD if one.chosen else Role.PLAIN
    return OverviewRow(f"pass {number}{strategy}", f"{mark}{estimate}", one.first_line, role)


def _stage_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield how many layers each stage left; a pass's first stage names the pass."""
    before: Stage | None = None
    for stage in build.stages:
        new_pass = before is None or before.pass_index != stage.pass_index
        tag = f"   pass {stage.pass_index}" if new_pass and stage.pass_index and len(build.passes) > 1 else ""
        change = "" if new_pass or before is None else _change(stage.layers - before.layers)
        yield OverviewRow(f"{stage.layers:>10,}{change}", f"{stage.name}{tag}", stage.span.line)
        before = stage
    if build.engine_layers:
        precisions = Counter("/".join(layer.precision) or "?" for layer in build.engine_layers)
        shares = ", ".join(f"{count:,} {name}" for name, count in precisions.most_common())
        line = build.engine_layers[0].span.line
        yield OverviewRow(f"{len(build.engine_layers):>10,}", f"In the engine: {shares}", line, Role.STRONG)


def _change(by: int) -> str:
    return f"  {by:+,}" if by else ""


def _tuning_rows(build: Build) -> Iterator[OverviewRow]:
    tuning = build.autotuning
    ties = [choice for choice in build.choices if choice.near_tie]
    final = sum(tie.final is True for tie in ties)
    first = build.choices[0].first_line if build.choices else None
    yield OverviewRow("tactics timed", f"{tuning.tactics_timed:>6,}", first)
    if tuning.tactics_skipped:
        yield OverviewRow("tactics skipped", f"{tuning.tactics_skipped:>6,}  for want of workspace", None, Role.WARNING)
    yield OverviewRow("choices", f"{len(build.choices):>6,}", build.choices[0].span.line if build.choices else None)
    hit = build.cached[0].span.line if build.cached else None
    yield OverviewRow("cached results", f"{tuning.cache_hits:>6,}", hit)
    role = Role.WARNING if ties else Role.PLAIN
    line = ties[0].span.line if ties else None
    yield OverviewRow("near ties ≈", f"{len(ties):>6,}  {final:,} in the engine", line, role)


def _slowest_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the layers of the engine that take longest by the time their tactic was chosen at."""
    results: Iterable[Choice | CachedResult] = chain(build.choices, build.cached)
    finals = [result for result in results if result.final and result.time_ms]
    for result in sorted(finals, key=lambda result: -(result.time_ms or 0.0))[:TOP]:
        yield OverviewRow(f"{fit_right(milliseconds(result.time_ms), 10)} ms", result.layer, result.span.line)


def _most_tuned_rows(build: Build) -> Iterator[OverviewRow]:
    """Yield the layers that took the tuner longest to go through."""
    timed: Counter[str] = Counter()
    lines: dict[str, int] = {}
    for choice in build.choices:
        timed[choice.layer] += choice.candidates
        lines.setdefault(choice.layer, choice.first_line)
    for layer, count in timed.most_common(TOP):
        if count:
            yield OverviewRow(f"{count:>10,} tactics", layer, lines[layer])


def _log_rows(log: BuildLog, build: Build) -> Iterator[OverviewRow]:
    counts = build.message_counts
    first = {message.severity: message.span.line for message in reversed(build.messages)}
    warning, error = Role.WARNING if counts.warning else Role.PLAIN, Role.ERROR if counts.error else Role.PLAIN
    yield OverviewRow("warnings", f"{counts.warning:>6,}", first.get("W"), warning)
    yield OverviewRow("errors", f"{counts.error:>6,}", first.get("E"), error)
    share = log.lines.unknown / log.prefixed_lines if log.prefixed_lines else 0.0
    yield OverviewRow("not understood", f"{log.lines.unknown:>6,}  {share:.1%} of the file's log lines")
    for shape in log.unknown_samples[:TOP]:
        yield OverviewRow(f"{shape.count:>10,} times", shape.text, shape.line, Role.DIM)
    if log.source.cut:
        yield OverviewRow("end of file", "the last line is cut", log.source.lines, Role.WARNING)


def _fact_row(fact: Fact) -> OverviewRow:
    return OverviewRow(fact.name, fact.value or "-", fact.span.line)
