"""The typed model of a TensorRT build log: what the parsers produce and everything else reads.

A fact never changes after it was read (``records.py``), and carries the :class:`SourceSpan` of the line that states it.
Tactic ids are unsigned 64-bit integers, outside ``0x%016x``; durations milliseconds; memory bytes; lines count from 1.
"""

from __future__ import annotations

from dataclasses import field
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from trtforensics.records import Late, record

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import numpy.typing as npt

    from trtforensics.notes import Note, StarvedLayer

    Int32Column = npt.NDArray[np.int32]
    Int64Column = npt.NDArray[np.int64]
    UInt64Column = npt.NDArray[np.uint64]
    Float64Column = npt.NDArray[np.float64]

NO_TACTIC = 0xD15EA5EDD15EA5ED
"""What TensorRT prints for "no tactic worked"; up to 8.2 as the signed decimal -3360065831133338131."""

NEAR_TIE_RATIO = 1.02
"""A runner-up at most this much slower than the chosen tactic is a near tie: build noise may flip it."""


def tactic_text(tactic: int | None) -> str | None:
    """Spell a tactic id the one way this tool prints it; "no tactic" and a missing id give None."""
    return None if tactic is None or tactic == NO_TACTIC else f"0x{tactic:016x}"


@record(frozen=True, slots=True)
class SourceSpan:
    """Where a fact was read: ``file``, physical ``line`` (from 1), ``byte`` offset of the line's start in that file.

    For a compressed or UTF-16 source ``byte`` counts in the decoded stream. Where several sources are one build,
    ``line`` counts on from source to source, and ``before`` of those lines are of the sources before this file.
    """

    file: str
    line: int
    byte: int
    before: int = field(default=0, kw_only=True)

    @property
    def line_in_file(self) -> int:
        """The line as an editor that opens ``file`` counts it."""
        return self.line - self.before

    def __str__(self) -> str:
        return f"{self.file}:{self.line_in_file}"


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


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class Stage:
    """``Original: N layers`` or ``After …: N layers``; ``name`` is the text before the colon.

    ``pass_index`` is None before the first of several passes.
    """

    name: str
    layers: int
    span: SourceSpan
    pass_index: int | None


@record(frozen=True, slots=True)
class Fusion:
    """Layers the optimiser merged: ``<kind>: Fusing A with B``.

    Kind ``HorizontalMerge`` is ``Merging layers: A || B``; ``ConvScaleWeights`` is TensorRT 7's
    ``Fusing convolution weights from A with scale B``.
    """

    kind: str
    inputs: tuple[str, ...]
    span: SourceSpan
    pass_index: int | None


@record(frozen=True, slots=True)
class ReformatLayer:
    """``Adding reformat layer: <name> (<tensor>) from <source> to <target>``; the formats are as printed."""

    name: str
    tensor: str
    source: str
    target: str
    span: SourceSpan
    pass_index: int | None


@record(frozen=True, slots=True)
class ForeignNode:
    """A ForeignNode and its ONNX members, from its ``metadata:`` line (TensorRT >= 10)."""

    name: str
    onnx_nodes: tuple[str, ...]
    span: SourceSpan
    pass_index: int | None


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class Choice:
    """One ``Chose`` line: the winner of a layer in one combination of formats.

    ``final``: True, the engine uses it; False, it lost to another format or pass; None, the log does not tell.
    ``first_line`` is where its block began: the timed rows of the block are those between it and ``span.line``, counted
    by ``candidates``. ``tactic`` None: none worked. Formats are as printed (``Half(100352,50176:2,224,1)``).
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

    @property
    def near_tie(self) -> bool:
        """Whether the runner-up is within 2 % of the chosen tactic."""
        if self.time_ms is None or self.runner_up_ms is None:
            return False
        return self.runner_up_ms <= self.time_ms * NEAR_TIE_RATIO


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class EngineTensor:
    """A tensor at an engine layer: ``dtype`` as in ``Half``, ``format`` what the log prints of its format.

    ``format`` is empty where a detailed dump prints the type only.
    """

    name: str
    dtype: str
    dims: tuple[int | str, ...]
    format: str = ""
    components: int = 1
    """How many elements a vectorised format packs (``Half[1,32:8,28,28]``: 8); 1 for none, or not told."""


@record(frozen=True, slots=True)
class EngineLayer:
    """One layer of the engine, from the dump at the end of a build or from ``--dumpLayerInfo``.

    ``precision`` lists the distinct types of its outputs. ``choice`` and ``cached`` index the build's lists; both None
    when nothing in the log says where the layer came from (``origin`` says why). ``fields`` holds whatever else a
    detailed dump printed, as printed.
    """

    name: str
    type: str
    tactic: int | None
    tactic_name: str
    precision: tuple[str, ...]
    onnx_nodes: tuple[str, ...]
    inputs: tuple[EngineTensor, ...]
    outputs: tuple[EngineTensor, ...]
    span: SourceSpan
    choice: int | None = None
    cached: int | None = None
    origin: str = ""
    fields: Mapping[str, str] = field(default_factory=dict)


@record(frozen=True, slots=True)
class Message:
    """A warning or an error. ``severity`` is ``W`` or ``E`` (internal and critical errors included)."""

    severity: str
    text: str
    span: SourceSpan


@record(frozen=True, slots=True)
class Fact:
    """A named value with its line: an option, a device property, a result of the performance summary."""

    name: str
    value: str
    span: SourceSpan


@record(frozen=True, slots=True)
class Candidate:
    """One timed tactic of a block. ``kernel`` is empty where the log names none."""

    tactic: int | None
    time_ms: float | None
    runner: str
    kernel: str
    line: int


@record(frozen=True, slots=True)
class TacticTimings:
    """Every timed tactic and every runner block of one build, in numpy columns sorted by line.

    ``line``, ``tactic``, ``ms`` (NaN: the log printed no finite time) and ``kernel`` have one entry a timed tactic;
    ``runner_line``, ``runner_layer`` and ``runner_name`` one a ``Timing Runner`` line. Kernels, layers and runners are
    indexes into ``texts``; -1 is "not printed".
    """

    line: Int64Column
    tactic: UInt64Column
    ms: Float64Column
    kernel: Int32Column
    runner_line: Int64Column
    runner_layer: Int32Column
    runner_name: Int32Column
    texts: Sequence[str]

    def rows(self, first_line: int, last_line: int) -> range:
        """Return which rows were timed on these lines, both ends included."""
        return range(*self.line.searchsorted((first_line, last_line + 1)).tolist())

    def fastest_first(self, rows: range) -> npt.NDArray[np.intp]:
        """Return rows by their times, untimed ones last."""
        return self.ms[rows.start : rows.stop].argsort(kind="stable") + rows.start

    def between(self, first_line: int, last_line: int) -> tuple[Candidate, ...]:
        """Return the tactics timed on these lines (both ends included), fastest first."""
        return tuple(self.candidate(int(row)) for row in self.fastest_first(self.rows(first_line, last_line)))

    def candidate(self, row: int) -> Candidate:
        """Return one timed tactic."""
        line = int(self.line[row])
        tactic, ms, kernel = int(self.tactic[row]), float(self.ms[row]), int(self.kernel[row])
        runner = int(self.runner_line.searchsorted(line)) - 1
        name = int(self.runner_name[runner]) if runner >= 0 else -1
        return Candidate(
            tactic=None if tactic == NO_TACTIC else tactic,
            time_ms=None if ms != ms else ms,  # noqa: PLR0124 - NaN is the only value unequal to itself
            runner=self.texts[name] if name >= 0 else "",
            kernel=self.texts[kernel] if kernel >= 0 else "",
            line=line,
        )


@record(frozen=True, slots=True)
class LayerTuning:
    """How long TensorRT profiled a layer's tactics, in seconds over all runners and formats; 8.6 and later print it."""

    layer: str
    seconds: float
    span: SourceSpan
    """The layer's first ``profiling completed`` line."""


@record(frozen=True, slots=True)
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


@record(frozen=True, slots=True)
class Autotuning:
    """Counts of lines: runner blocks, timed tactics, tactics skipped for want of workspace, cached results."""

    runner_blocks: int
    tactics_timed: int
    tactics_skipped: int
    cache_hits: int


@record(frozen=True, slots=True)
class MessageCounts:
    """Lines at warning level and at error level (internal and critical errors included)."""

    warning: int
    error: int


@record(frozen=True, slots=True)
class Build(Late):
    """One build (or load-only run, or excerpt): a run of lines that belongs to nobody else.

    ``options`` maps a block (``build``, ``model``, ``inference``, ``device``, ``system``, ``reporting``) to its facts,
    in the log's order.
    """

    index: int
    first_line: int
    last_line: int
    tool: Tool
    tensorrt_version: str | None
    command: str | None
    outcome: Outcome
    options: Mapping[str, Sequence[Fact]]
    passes: Sequence[BackendPass]
    stages: Sequence[Stage]
    fusions: Sequence[Fusion]
    reformats: Sequence[ReformatLayer]
    onnx_nodes: Sequence[OnnxNode]
    foreign_nodes: Sequence[ForeignNode]
    autotuning: Autotuning
    timings: TacticTimings
    tuning: Sequence[LayerTuning]
    """Slowest first; empty before 8.6."""
    choices: Sequence[Choice]
    cached: Sequence[CachedResult]
    engine_layers: Sequence[EngineLayer]
    layer_names: tuple[str, ...]
    myelin_operations: Sequence[MyelinOperation]
    message_counts: MessageCounts
    messages: tuple[Message, ...]
    results: tuple[Fact, ...]
    notes: tuple[Note, ...] = ()
    """Lines without a field of their own that findings read, and the causes that messages name; in the log's order."""
    starved: tuple[StarvedLayer, ...] = ()
    """The layers that wanted more workspace than there was, most wanting first."""
    runner_ids: Mapping[str, int] = field(default_factory=dict)
    """The id of each runner that a ``Timing Runner`` line names with one (``Myelin[0x80000023]``, since 8.6)."""

    def option(self, block: str, name: str) -> str | None:
        """Return the value of an option as printed, or None where the log does not print it."""
        return next((fact.value for fact in self.options.get(block, ()) if fact.name == name), None)

    @property
    def timing_cache_keys(self) -> tuple[MyelinOperation, ...]:
        """The operations whose key in the editable timing cache the log tells."""
        return tuple(operation for operation in self.myelin_operations if operation.key)

    def operations_of(self, choice: Choice) -> tuple[MyelinOperation, ...]:
        """Return the operations that Myelin timed for a choice of a ForeignNode."""
        return tuple(op for op in self.myelin_operations if choice.first_line <= op.span.line <= choice.span.line)

    def candidates(self, choice: Choice) -> tuple[Candidate, ...]:
        """Return the tactics timed for a choice, fastest first."""
        return self.timings.between(choice.first_line, choice.span.line)


@record(frozen=True, slots=True)
class SourceInfo:
    """The file as stored: ``bytes`` and ``sha256`` are of the stored (compressed) form, ``lines`` of the text.

    ``cut`` says that the last line has no line ending. Several sources that are one build are one SourceInfo: its
    ``sha256`` is that of the files one behind the other, and ``parts`` are the files; else there are no parts.
    """

    path: str
    bytes: int
    lines: int
    sha256: str
    cut: bool = False
    parts: tuple[SourceInfo, ...] = ()

    def part_of(self, line: int) -> tuple[SourceInfo, int]:
        """Return the file that holds a line, and how many lines are of the files before it."""
        before = 0
        for part in self.parts:
            if line <= before + part.lines:
                return part, before
            before += part.lines
        return self, 0


@record(frozen=True, slots=True)
class LineCounts:
    """Every physical line in exactly one class; the four add up to the lines of the source."""

    typed: int = 0
    unprefixed: int = 0
    blank: int = 0
    unknown: int = 0

    @property
    def total(self) -> int:
        """All lines."""
        return self.typed + self.unprefixed + self.blank + self.unknown


@record(frozen=True, slots=True)
class UnknownShape:
    """A shape of line that no rule reads: how often, and the first line that has it."""

    line: int
    text: str
    count: int


@record(frozen=True, slots=False)
class BuildLog:
    """A parsed build log: its builds, and an honest account of the lines that were not understood."""

    source: SourceInfo
    lines: LineCounts
    unknown_shapes: int
    unknown_samples: tuple[UnknownShape, ...]
    builds: Sequence[Build]
    line_starts: Int64Column = field(repr=False)
    """Byte offset of each line's start in the (decoded) text; one entry a line."""

    @cached_property
    def prefixed_lines(self) -> int:
        """Lines that a logger prefix opens and that say something, whether understood or not."""
        return self.lines.typed + self.lines.unknown

    def build_at(self, line: int) -> Build | None:
        """Return the build a line belongs to."""
        return next((b for b in self.builds if b.first_line <= line <= b.last_line), None)
