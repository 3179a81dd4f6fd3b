"""The typed model of a TensorRT build log: what the parsers produce and everything else reads.

A fact carries the :class:`SourceSpan` of the line that states it, and does not change once the log is assembled.
Tactic ids are unsigned 64-bit integers, outside ``0x%016x``; durations milliseconds; memory bytes; lines count from 1.

Classes with many instances are plain dataclasses: creating a frozen one takes five times as long.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.model.deferred import Deferred
from trtforensics.model.older_python import StrEnum
from trtforensics.model.timings import is_near_tie, no_timings, tactic_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from trtforensics.model.arrays import Positions
    from trtforensics.model.data_types import ComputePrecision
    from trtforensics.model.notes import Note, Removal, StarvedLayer
    from trtforensics.model.run import Run, RunResult
    from trtforensics.model.span import LineCounts, SourceInfo, SourceSpan, UnknownShape
    from trtforensics.model.timings import Candidate, LayerTime, OpenBlock, ProfileRun, TacticTimings, TimeSource

_NAME = 120
"""Characters of a layer's name in a ``repr``."""


class Tool(StrEnum):
    """Who drove the build, as far as the log's own lines tell."""

    TRTEXEC = "trtexec"
    TENSORRT_PYTHON = "tensorrt-python"
    POLYGRAPHY = "polygraphy"
    TORCH_TENSORRT = "torch-tensorrt"
    ONNXRUNTIME = "onnxruntime"
    TENSORRT_RTX = "tensorrt-rtx"
    UNKNOWN = "unknown"


class Outcome(StrEnum):
    """How a build ended. ``TRUNCATED``: it began and neither a verdict nor an engine follows."""

    PASSED = "passed"
    FAILED = "failed"
    TRUNCATED = "truncated"
    UNKNOWN = "unknown"


@dataclass(slots=True, unsafe_hash=True)
class BackendPass:
    """One run of the builder over the graph (TensorRT >= 10.13 may do several, one a backend strategy).

    ``chosen`` is None where the log does not tell; ``estimated_ms`` is TensorRT's estimate of the inference time, which
    decided between the passes.
    """

    backend_strategy: int | None
    first_line: int
    last_line: int
    chosen: bool | None
    estimated_ms: float | None = None


@dataclass(slots=True, unsafe_hash=True)
class Stage:
    """``Original: N layers`` or ``After …: N layers``; ``name`` is the text before the colon.

    ``pass_index`` is None before the first of several passes.
    """

    name: str
    layers: int
    span: SourceSpan
    pass_index: int | None


@dataclass(frozen=True, slots=True)
class Fusion:
    """Layers the optimiser merged: ``<kind>: Fusing A with B``.

    Kind ``HorizontalMerge`` is ``Merging layers: A || B``; ``ConvScaleWeights`` is TensorRT 7's
    ``Fusing convolution weights from A with scale B``.
    """

    kind: str
    inputs: tuple[str, ...]
    span: SourceSpan
    pass_index: int | None


@dataclass(frozen=True, slots=True)
class ReformatLayer:
    """``Adding reformat layer: <name> (<tensor>) from <source> to <target>``; the formats are as printed."""

    name: str
    tensor: str
    source: str
    target: str
    span: SourceSpan
    pass_index: int | None


@dataclass(frozen=True, slots=True)
class ForeignNode:
    """A ForeignNode and its ONNX members, from its ``metadata:`` line (TensorRT >= 10)."""

    name: str
    onnx_nodes: tuple[str, ...]
    span: SourceSpan
    pass_index: int | None


@dataclass(slots=True, unsafe_hash=True)
class OnnxNode:
    """A node the ONNX parser met: ``Parsing node: <name> [<op>]``, and the layers registered for it.

    Types are the parser's words for the tensors' types, in the order of the tensors: ``FLOAT``, ``HALF``, ``INT64``.
    """

    name: str
    op: str
    layers: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    span: SourceSpan
    input_types: tuple[str, ...] = ()
    output_types: tuple[str, ...] = ()


@dataclass(slots=True, unsafe_hash=True)
class Choice:
    """One ``Chose`` line: the winner of a layer in one combination of formats.

    ``final``: True, the engine uses it; False, it lost to another format or pass; None, the log does not tell.
    ``first_line`` is where its block began: the timed rows of the block are those between it and ``span.line``, counted
    by ``candidates``; none where several choices end in one line. ``tactic`` None: none worked. Formats are as printed
    (``Half(100352,50176:2,224,1)``).
    """

    layer: str
    runner: str
    runner_id: int | None
    tactic: int | None
    time_ms: float | None
    runner_up_ms: float | None
    candidates: int
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    first_line: int
    span: SourceSpan
    pass_index: int | None
    final: bool | None = None
    kernel: str = ""
    """The chosen tactic's kernel, where its row names one."""
    splits: int | None = None
    """Into how many parts its row says that the reduction is split (8.5, 8.6)."""

    def __repr__(self) -> str:
        tactic = "no tactic" if self.tactic is None else tactic_text(self.tactic)
        return f"<choice for {self.layer[:_NAME]}: {self.runner} {tactic}, line {self.span.line:,}>"

    @property
    def margin(self) -> float | None:
        """The runner-up's time over its own; None where one of them is not known."""
        return self.runner_up_ms / self.time_ms if self.time_ms and self.runner_up_ms is not None else None

    @property
    def near_tie(self) -> bool:
        """Whether the runner-up is within 2 % of the chosen tactic."""
        return is_near_tie(self.time_ms, self.runner_up_ms)

    def rows(self, timings: TacticTimings) -> range:
        """Return which rows were timed for the choice; none where nothing tells them from those of other choices."""
        return timings.rows(self.first_line, self.span.line) if self.candidates else range(0)


@dataclass(slots=True, unsafe_hash=True)
class CachedResult:
    """One ``got cached result`` line: as good as a block of timings, but without the alternatives."""

    layer: str
    runner: str
    tactic: int | None
    time_ms: float | None
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    span: SourceSpan
    pass_index: int | None
    final: bool | None = None
    kernel: str = ""
    """The kernel under which the build timed the tactic elsewhere, where that is sure; the line names none."""


@dataclass(slots=True, unsafe_hash=True)
class EngineTensor:
    """A tensor at an engine layer: ``dtype`` as in ``Half``, ``format`` what the log prints of its format.

    ``format`` is empty where a detailed dump prints the type only.
    """

    name: str
    dtype: str
    dims: tuple[int | str, ...]
    format: str = ""
    components: int = 1
    """How many elements a vectorised format packs (``Half[1,32:8,28,28]``: 8); 1 for none, or not printed."""


@dataclass(slots=True, unsafe_hash=True)
class EngineLayer:
    """One layer of the engine, from the dump at the end of a build or from ``--dumpLayerInfo``.

    ``output_types`` lists the distinct types that it writes; ``compute_precision`` is what it computes in, None where
    that is unknown. ``choice`` and ``cached`` index the build's lists; both None when nothing in the log says where
    the layer came from (``origin`` says why). ``time_ms`` is its average time in the build's profile (``time_is``
    measured) or, in a build without a profile, its time when it was tuned; None where it has none of its own, as a
    kernel of a ForeignNode that was tuned as a whole. ``profile`` indexes the build's profile. ``fields`` holds
    whatever else a detailed dump printed, as printed.
    """

    name: str
    type: str
    tactic: int | None
    tactic_name: str
    output_types: tuple[str, ...]
    onnx_nodes: tuple[str, ...]
    inputs: tuple[EngineTensor, ...]
    outputs: tuple[EngineTensor, ...]
    span: SourceSpan
    choice: int | None = None
    cached: int | None = None
    origin: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)
    compute_precision: ComputePrecision | None = None
    time_ms: float | None = None
    time_is: TimeSource | None = None
    profile: int | None = None


@dataclass(frozen=True, slots=True)
class EngineDump:
    """One dump of an engine's layers in a log; ``span`` is its first layer's line."""

    layers: tuple[EngineLayer, ...]
    span: SourceSpan


@dataclass(slots=True, unsafe_hash=True)
class Message:
    """A warning or an error. ``severity`` is ``W`` or ``E`` (internal and critical errors included)."""

    severity: str
    text: str
    span: SourceSpan


@dataclass(slots=True, unsafe_hash=True)
class Fact:
    """A named value with its line: an option, a device property."""

    name: str
    value: str
    span: SourceSpan


@dataclass(frozen=True, slots=True)
class Coverage:
    """What a log lets one judge of a build.

    ``verdict``: how it ended; ``engine_layers``: the engine's layers with their types; ``tactics``: what was chosen for
    them; ``times``: measured, tuned, or None; ``options``: a command or a block of options; ``model``: the model's file
    or its nodes. ``own_lines`` are lines of TensorRT and the programs that drive it, ``other_lines`` those of other
    programs; blank lines are neither.
    """

    verdict: bool = False
    engine_layers: bool = False
    tactics: bool = False
    times: TimeSource | None = None
    options: bool = False
    model: bool = False
    own_lines: int = 0
    other_lines: int = 0


@dataclass(frozen=True, slots=True)
class LayerTuning:
    """How long TensorRT profiled a layer's tactics, in seconds over all runners and formats; 8.6 and later print it."""

    layer: str
    seconds: float
    span: SourceSpan
    """The layer's first ``profiling completed`` line."""


@dataclass(slots=True, unsafe_hash=True)
class MyelinOperation:
    """An operation whose tactics Myelin timed, inside a ForeignNode or in a network it compiles whole (TensorRT >= 10).

    ``key`` is its key in the editable timing cache (10.8 and later, where the build keeps one), else empty.
    ``foreign_node`` is the layer that was being timed, empty for none. ``selected`` is what the log says was selected;
    where it does not say so, the fastest, with which Myelin's sorted table begins.
    """

    op: str
    key: str
    selected: int | None
    time_ms: float | None
    candidates: Sequence[Candidate] = field(repr=False, compare=False)
    """The tactics of the table, fastest first."""
    span: SourceSpan
    foreign_node: str = ""
    onnx_nodes: tuple[str, ...] = ()
    pass_index: int | None = None


@dataclass(slots=True, unsafe_hash=True)
class Autotuning:
    """Counts of lines: runner blocks, timed tactics, tactics skipped for want of workspace, cached results."""

    runner_blocks: int = 0
    tactics_timed: int = 0
    tactics_skipped: int = 0
    cache_hits: int = 0


@dataclass(slots=True, unsafe_hash=True)
class MessageCounts:
    """Lines at warning level and at error level (internal and critical errors included)."""

    warning: int = 0
    error: int = 0


@dataclass(slots=True, unsafe_hash=True)
class Build(Deferred):
    """One build (or load-only run, or excerpt): a run of lines that belongs to no other build.

    What is not told of it is empty, so that its place and lines make a build. ``options`` maps a block (``build``,
    ``model``, ``inference``, ``device``, ``system``, ``reporting``) to its facts, in the log's order.
    """

    index: int
    first_line: int
    last_line: int
    tool: Tool = Tool.UNKNOWN
    tensorrt_version: str | None = None
    command: str | None = None
    outcome: Outcome = Outcome.UNKNOWN
    options: Mapping[str, Sequence[Fact]] = field(default_factory=dict)
    passes: Sequence[BackendPass] = ()
    stages: Sequence[Stage] = ()
    fusions: Sequence[Fusion] = ()
    reformats: Sequence[ReformatLayer] = ()
    onnx_nodes: Sequence[OnnxNode] = ()
    foreign_nodes: Sequence[ForeignNode] = ()
    autotuning: Autotuning = field(default_factory=Autotuning)
    timings: TacticTimings = field(default_factory=no_timings)
    tuning: Sequence[LayerTuning] = ()
    """Slowest first; empty before 8.6."""
    choices: Sequence[Choice] = ()
    cached: Sequence[CachedResult] = ()
    engine_layers: Sequence[EngineLayer] = ()
    layer_names: tuple[str, ...] = ()
    myelin_operations: Sequence[MyelinOperation] = ()
    message_counts: MessageCounts = field(default_factory=MessageCounts)
    messages: tuple[Message, ...] = ()
    results: tuple[RunResult, ...] = ()
    coverage: Coverage = field(default_factory=Coverage)
    engine_dumps: tuple[EngineDump, ...] = ()
    """Every dump of engine layers, in the log's order; ``engine_layers`` are those of one of them."""
    profiles: tuple[ProfileRun, ...] = ()
    """Every profile (``--dumpProfile``) that the log prints or that was given beside it, in order."""
    own_lines: tuple[Message, ...] = ()
    """Lines of programs that no rule reads, with their level, or an empty text; of very many the first."""
    notes: tuple[Note, ...] = ()
    """Lines without a field of their own that findings read, and the causes that messages name; in the log's order."""
    open_blocks: tuple[OpenBlock, ...] = ()
    """The blocks of autotuning that no ``Chose`` line ends, in the log's order."""
    starved: tuple[StarvedLayer, ...] = ()
    """The layers that wanted more workspace than there was, most wanting first."""
    removals: tuple[Removal, ...] = ()
    """The layers that the optimiser removed, in the log's order."""
    runner_ids: Mapping[str, int] = field(default_factory=dict)
    """The id of each runner that a ``Timing Runner`` line names with one (``Myelin[0x80000023]``, since 8.6)."""

    def __repr__(self) -> str:
        return f"<record of build {self.index + 1}, lines {self.first_line:,} to {self.last_line:,}>"

    def fact(self, block: str, name: str) -> Fact | None:
        """Return an option of a block, or None where the log does not print it."""
        return next((fact for fact in self.options.get(block, ()) if fact.name == name), None)

    def option(self, block: str, name: str) -> str | None:
        """Return the value of an option as printed, or None where the log does not print it."""
        fact = self.fact(block, name)
        return None if fact is None else fact.value

    @property
    def loads_engine(self) -> bool:
        """Whether trtexec loads an engine: the build options that it prints are defaults, not those of the engine."""
        return bool((self.option("build", "Load engine") or "").strip()) or "--loadEngine" in (self.command or "")

    @property
    def has_own_cache(self) -> bool:
        """Whether the timing cache is of this build alone, or new: what it serves was timed in this build."""
        return any(note.kind == "cache_unread" or note.text("scope") == "Local" for note in self.notes)

    def result(self, key: str) -> RunResult | None:
        """Return the last result of this key, or None where the log does not state it."""
        return next((result for result in reversed(self.results) if result.key == key), None)

    def number(self, key: str) -> float | None:
        """Return the value of a result that was measured once, or None where the log does not state it."""
        result = self.result(key)
        return None if result is None else result.number

    def figures(self, key: str) -> Mapping[str, float]:
        """Return the figures of a result that was measured often; empty where the log does not state it."""
        result = self.result(key)
        return {} if result is None else result.figures

    @property
    def profile_info(self) -> ProfileRun | None:
        """The profile that layers' times are from: the last one."""
        return self.profiles[-1] if self.profiles else None

    @property
    def profile(self) -> tuple[LayerTime, ...]:
        """The rows of the last profile."""
        return self.profiles[-1].layers if self.profiles else ()

    @property
    def tuned_results(self) -> tuple[Choice | CachedResult, ...]:
        """The choices, then the results from the timing cache."""
        return (*self.choices, *self.cached)

    @property
    def timing_cache_keys(self) -> tuple[MyelinOperation, ...]:
        """The operations whose key in the editable timing cache the log tells."""
        return tuple(operation for operation in self.myelin_operations if operation.key)

    def may_be_in_engine(self, pass_index: int | None) -> bool:
        """Whether facts of a pass hold, or may hold, for the engine: the log does not say that it was discarded."""
        return pass_index is None or not self.passes or self.passes[pass_index].chosen is not False

    def origin_of(self, layer: EngineLayer) -> Choice | CachedResult | None:
        """Return what a layer of the engine came from; for a ForeignNode's kernel, what was tuned for the whole."""
        if layer.choice is not None:
            return self.choices[layer.choice]
        return None if layer.cached is None else self.cached[layer.cached]

    def operations_of(self, choice: Choice) -> tuple[MyelinOperation, ...]:
        """Return the operations that Myelin timed for a choice of a ForeignNode."""
        return tuple(op for op in self.myelin_operations if choice.first_line <= op.span.line <= choice.span.line)

    def candidates(self, choice: Choice) -> tuple[Candidate, ...]:
        """Return the tactics timed for a choice, fastest first."""
        rows = self.timings.fastest_first(choice.rows(self.timings))
        return tuple(self.timings.candidate(int(row)) for row in rows)


@dataclass(frozen=True)
class BuildLog:
    """A parsed build log: its builds, and an honest account of the lines that were not understood."""

    source: SourceInfo
    lines: LineCounts
    unknown_shapes: int
    unknown_samples: tuple[UnknownShape, ...]
    builds: Sequence[Build]
    line_starts: Positions = field(repr=False)
    """Byte offset of each line's start in the (decoded) text; one entry a line."""
    runs: tuple[Run, ...] = ()
    """The runs that the builds belong to, in the log's order; a line is in one or in none."""

    def __repr__(self) -> str:
        return f"<build log {self.source.path}: {self.source.lines:,} lines, {len(self.builds)} builds>"

    def run_of(self, build: Build) -> Run | None:
        """Return the run that a build belongs to; None where no run is known, as for an engine's files alone."""
        return self._runs_of_builds.get(build.index)

    @cached_property
    def _runs_of_builds(self) -> dict[int, Run]:
        return {build: run for run in self.runs for build in run.builds}

    def place_of(self, span: SourceSpan) -> str:
        """Return a place as ``line 3``; with its file, where that is another than the log's."""
        files = {source.path for source in (self.source, *self.source.parts)}
        return f"line {span.line}" if span.file in files else str(span)

    def build_at(self, line: int) -> Build | None:
        """Return the build a line belongs to."""
        return next((b for b in self.builds if b.first_line <= line <= b.last_line), None)
