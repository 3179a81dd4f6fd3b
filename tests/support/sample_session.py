"""A session that replays a hand-made log, so that the TUI is tested without any parser."""

from __future__ import annotations

import threading
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from trtforensics.errors import ForensicsError
from trtforensics.findings.finding import Confidence, Evidence, Finding, Report, Severity, Step
from trtforensics.model.log import (
    Autotuning,
    BackendPass,
    Build,
    BuildLog,
    CachedResult,
    Choice,
    Coverage,
    EngineDump,
    EngineLayer,
    EngineTensor,
    Fact,
    Message,
    MessageCounts,
    MyelinOperation,
    OnnxNode,
    Outcome,
    Stage,
    Tool,
)
from trtforensics.model.run import RunResult
from trtforensics.model.span import LineCounts, SourceInfo, SourceSpan, UnknownShape
from trtforensics.model.timings import NO_TACTIC, Candidate, TacticTimings, TimeSource

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from trtforensics.console.progress import Progress
    from trtforensics.engines.joining import NumberedFile
    from trtforensics.parsers.text.text import Matcher

PREFIX = "[08/17/2022-07:50:54] [V] [TRT] "
PATIENCE = 120.0
"""Seconds that a test waits for what must happen, and a replayed parse for its gate: much, for a busy machine."""

MARKUP_NAME = "(Unnamed Layer* 7) [bold]Shuffle[/bold] [@click=app.quit]"
FOREIGN_NAME = "{ForeignNode[/norm/ReduceMean.../norm/Add]}"


class ReplayedText:
    """Lines of text; ``readable`` limits how many of them the TUI sees."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines = list(lines)
        self.readable = len(self.lines)

    def __len__(self) -> int:
        return self.readable

    def line(self, number: int) -> str:
        """Return a line."""
        return self.lines[number - 1]

    def find(self, needle: str, start: int, *, backwards: bool = False) -> int | None:
        """Return the next line that holds the needle."""
        fold = str if needle != needle.lower() else str.casefold
        numbers = range(start, 0, -1) if backwards else range(start, len(self) + 1)
        return next((number for number in numbers if needle in fold(self.line(number))), None)

    def matches(self, matcher: Matcher) -> list[list[int]]:
        """Return the lines that match, a line at once."""
        return [[number] for number in range(1, len(self) + 1) if [*matcher.places(self.line(number).encode())]]


@dataclass
class ReplayedSession:
    """A session whose parse reports progress, waits at its gate, and returns or raises its outcome."""

    name: str
    text: ReplayedText
    outcome: BuildLog | Exception
    reports: Sequence[Progress] = ()
    so_far: BuildLog | None = None
    verdict: Report | ForensicsError = field(default_factory=lambda: Report((), ()))
    gate: threading.Event = field(default_factory=threading.Event)
    started: threading.Event = field(default_factory=threading.Event)
    was_cancelled: threading.Event = field(default_factory=threading.Event)
    files: Sequence[NumberedFile] = ()
    model: None = None

    def place(self, line: int) -> tuple[str, int]:
        """Return a line of the log."""
        return self.name, line

    @property
    def is_file(self) -> bool:
        """Return False: there is nothing to follow."""
        return False

    def parse(
        self,
        on_progress: Callable[[Progress], None],
        on_log: Callable[[BuildLog], None],
        cancelled: Callable[[], bool],
    ) -> BuildLog | None:
        """Report progress, wait at the gate, return or raise the outcome."""
        self.started.set()
        for report in self.reports:
            on_progress(report)
        if self.so_far is not None:
            on_log(self.so_far)
        end = time.monotonic() + PATIENCE
        while not self.gate.wait(0.01):
            if cancelled():
                self.was_cancelled.set()
                return None
            if time.monotonic() > end:
                raise TimeoutError("nobody opened the gate")
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def judge(self, log: BuildLog) -> Report:
        """Return or raise the verdict."""
        assert log is self.outcome
        if isinstance(self.verdict, ForensicsError):
            raise self.verdict
        return self.verdict


class Scribe:
    """Writes a log line by line and collects the facts that the lines state."""

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.timed: list[tuple[int, int, float, str]] = []
        self.runners: list[tuple[int, str, str]] = []

    def say(self, text: str, prefix: str = PREFIX) -> SourceSpan:
        """Write a line; its span has no byte offset."""
        self.lines.append(prefix + text)
        return SourceSpan("build.log", len(self.lines), 0)

    def tune(  # noqa: PLR0913 - the facts of a block
        self,
        layer: str,
        formats: tuple[str, str],
        blocks: dict[str, dict[int, float]],
        *,
        kernel: str = "",
        final: bool | None = True,
        pass_index: int | None = 0,
    ) -> Choice:
        """Write a block of timings as TensorRT does, and return the choice it ends with."""
        first = self.say(f"*************** Autotuning format combination: {formats[0]} -> {formats[1]} ***************")
        results = []
        for runner, tactics in blocks.items():
            span = self.say(f"--------------- Timing Runner: {layer} ({runner})")
            self.runners.append((span.line, layer, runner))
            for tactic, ms in tactics.items():
                line = self.say(f"Tactic: 0x{tactic:016x} Time: {ms}").line
                self.timed.append((line, tactic, ms, f"{kernel}_{tactic & 0xFF:02x}" if kernel else ""))
                results.append((ms, tactic, runner))
        results.sort()
        best, rest = results[0], results[1:]
        span = self.say(f">>>>>>>>>>>>>>> Chose Runner Type: {best[2]} Tactic: 0x{best[1]:016x}")
        return Choice(
            layer=layer,
            runner=best[2],
            runner_id=None,
            tactic=best[1],
            time_ms=best[0],
            runner_up_ms=rest[0][0] if rest else None,
            candidates=len(results),
            inputs=(formats[0],),
            outputs=(formats[1],),
            first_line=first.line,
            span=span,
            pass_index=pass_index,
            final=final,
        )

    def timings(self) -> TacticTimings:
        """Return the columns of everything timed so far."""
        texts: list[str] = []

        def index(text: str) -> int:
            if text and text not in texts:
                texts.append(text)
            return texts.index(text) if text else -1

        return TacticTimings(
            line=np.array([row[0] for row in self.timed], dtype=np.int64),
            tactic=np.array([row[1] for row in self.timed], dtype=np.uint64),
            ms=np.array([row[2] for row in self.timed], dtype=np.float64),
            kernel=np.array([index(row[3]) for row in self.timed], dtype=np.int32),
            runner_line=np.array([row[0] for row in self.runners], dtype=np.int64),
            runner_layer=np.array([index(row[1]) for row in self.runners], dtype=np.int32),
            runner_name=np.array([index(row[2]) for row in self.runners], dtype=np.int32),
            texts=texts,
        )


def _operation(scribe: Scribe, line: SourceSpan) -> MyelinOperation:
    """Return an operation inside a ForeignNode; its table is the two lines behind ``line``."""
    rows = (scribe.say("0, 0.0112, 1.0, sm80_gemm, 0x665d,"), scribe.say("1, 0.0200, 1.79, sm80_other, 0x777,"))
    table = (
        Candidate(0x665D, 0.0112, "", "sm80_gemm", rows[0].line),
        Candidate(0x777, 0.02, "", "sm80_other", rows[1].line),
    )
    return MyelinOperation("matMul1", "0x1814", 0x665D, 0.0112, table, line, "", ("matMul1",))


def unknown_build(scribe: Scribe, first_line: int = 1, index: int = 0) -> Build:
    """Return a build of which only its lines and its timings are known."""
    count = len(scribe.lines)
    return Build(index, first_line, count, timings=scribe.timings(), coverage=Coverage(own_lines=count))


def log_of(scribe: Scribe, *builds: Build) -> BuildLog:
    """Return the parsed log of some builds."""
    count = len(scribe.lines)
    return BuildLog(
        source=SourceInfo("build.log", 4096, count, "0" * 64),
        lines=LineCounts(typed=count - 3, unprefixed=1, unknown=2),
        unknown_shapes=1,
        unknown_samples=(UnknownShape(3, "A line [of] a shape nobody knows", 2),),
        builds=builds,
        line_starts=np.zeros(count, dtype=np.int64),
    )


def _options(scribe: Scribe) -> dict[str, tuple[Fact, ...]]:
    def block(facts: dict[str, str]) -> tuple[Fact, ...]:
        return tuple(
            Fact(name, value, scribe.say(f"{name}: {value}", "[08/17/2022-07:50:52] [I] "))
            for name, value in facts.items()
        )

    return {
        "build": block(
            {
                "Precision": "FP32+FP16",
                "Memory Pools": "workspace: 4096 MiB, dlaSRAM: default",
                "BuilderOptimizationLevel": "3",
                "Sparsity": "Disabled",
            }
        ),
        "device": block({"Selected Device": "NVIDIA A10G", "Compute Capability": "8.6", "SMs": "80"}),
    }


def _tensors(*names: str) -> tuple[EngineTensor, ...]:
    return tuple(EngineTensor(name, "Half", (1, 64, 56, 56), "", 8) for name in names)


def _choices(scribe: Scribe) -> tuple[Choice, ...]:
    half = ("Half(150528,50176:2,224,1)", "Half(200704,3136:8,56,1)")
    single = ("Float(150528,50176,224,1)", "Float(200704,3136,56,1)")
    cask = {0x94119B4C514B211A + n: round(0.0412 + 0.0131 * n, 6) for n in range(12)}
    return (
        scribe.tune("conv1 + relu1", single, {"CudnnConvolution": {0: 0.214, 1: 0.187}}, final=False),
        scribe.tune(
            "conv1 + relu1",
            half,
            {"CudnnConvolution": {0: 0.118432, 1: 0.0975705}, "CaskConvolution": cask},
            kernel="sm80_xmma_fprop_implicit_gemm_f16f16_f16f16_f16_nhwckrsc_nhwc_tilesize128x64x32_stage5",
        ),
        scribe.tune("pool1", half, {"TiledPooling": {0x540101: 0.00674909, 0x630101: 0.0067}}),
        scribe.tune(MARKUP_NAME, half, {"Shuffle": {0x1: 0.0031, NO_TACTIC: 0.9}}),
        scribe.tune("fc_unused", single, {"CublasLt": {0x2: 1.25, 0x3: 2.5}}, final=None),
    )


def _engine_layer(scribe: Scribe, name: str, kind: str, nodes: tuple[str, ...], **links: int) -> EngineLayer:
    span = scribe.say(f"Layer({kind}): {name}, Tactic: 0x0000000000000001, a (Half[1]) -> b (Half[1])", "")
    return EngineLayer(
        name=name,
        type=kind,
        tactic=1,
        tactic_name="",
        output_types=("Half",),
        onnx_nodes=nodes,
        inputs=_tensors("input.0"),
        outputs=_tensors("output.0"),
        span=span,
        choice=links.get("choice"),
        cached=links.get("cached"),
        origin="" if links else "Myelin compiled it",
    )


def _engine(scribe: Scribe) -> tuple[EngineLayer, ...]:
    scribe.say("Engine Layer Information:")
    return (
        _engine_layer(scribe, "conv1 + relu1", "CaskConvolution", ("conv1", "relu1"), choice=1),
        _engine_layer(scribe, "pool1", "TiledPooling", ("pool1",), choice=2),
        _engine_layer(scribe, "Reformatting CopyNode for Input Tensor 0 to fc", "Reformat", (), cached=0),
        _engine_layer(scribe, MARKUP_NAME, "Shuffle", ("[red]shuffle[/red]",), choice=3),
        _engine_layer(scribe, FOREIGN_NAME, "Myelin", ("/norm/ReduceMean", "/norm/Add")),
    )


def _timed(layer: EngineLayer, choices: Sequence[Choice], cached: CachedResult) -> EngineLayer:
    """Return a layer with the time at which it was tuned."""
    origin = choices[layer.choice] if layer.choice is not None else cached if layer.cached is not None else None
    time_ms = origin.time_ms if origin else None
    return replace(layer, time_ms=time_ms, time_is=None if time_ms is None else TimeSource.TUNED)


def _cached(scribe: Scribe) -> CachedResult:
    layer = "Reformatting CopyNode for Input Tensor 0 to fc"
    span = scribe.say(
        f"{layer} [Half(1) -> Float(1)] got cached result: Reformat, tactic 0x00000000000003e8, 0.0028 ms"
    )
    return CachedResult(layer, "Reformat", 0x3E8, 0.0028, ("Half(1)",), ("Float(1)",), span, 0, final=True)


def _first_build(scribe: Scribe) -> Build:
    command = scribe.say("&&&& RUNNING TensorRT.trtexec [TensorRT v8510] # trtexec --onnx=model.onnx --fp16", "")
    options = _options(scribe)
    warning = scribe.say(
        "[TRT] Weights [w] are \x1b[31mout of range\x1b[0m \x1e and were clipped.", "[08/17/2022-07:50:53] [W] "
    )
    error = scribe.say("[TRT] 10: Could not find any implementation for node x.", "[08/17/2022-07:50:53] [E] ")
    node = scribe.say("Parsing node: conv1 [Conv]")
    stages = tuple(
        Stage(name, layers, scribe.say(f"{name}: {layers} layers"), 0)
        for name, layers in (("Original", 105), ("After dead-layer removal", 101), ("After vertical fusions", 57))
    )
    choices, cached = _choices(scribe), _cached(scribe)
    inner = scribe.say("matMul1 key 0x1814 selected 0x665d")
    operation = _operation(scribe, inner)
    engine = _engine(scribe)
    scribe.say("x" * 12_000)
    scribe.say("&&&& PASSED TensorRT.trtexec [TensorRT v8510]", "")
    return replace(
        unknown_build(scribe),
        tool=Tool.TRTEXEC,
        tensorrt_version="8.5.1",
        command="trtexec --onnx=model.onnx --fp16",
        outcome=Outcome.PASSED,
        options=options,
        passes=(
            BackendPass(4, command.line, inner.line, chosen=True, estimated_ms=0.812),
            BackendPass(2, inner.line, inner.line, chosen=False),
        ),
        stages=stages,
        onnx_nodes=(OnnxNode("conv1", "Conv", ("conv1",), ("input.0",), ("c1",), node),),
        autotuning=Autotuning(7, 22, 1, 1),
        choices=choices,
        cached=(cached,),
        engine_layers=tuple(_timed(layer, choices, cached) for layer in engine),
        myelin_operations=(operation,),
        message_counts=MessageCounts(1, 1),
        messages=(
            Message("W", "Weights [w] are \x1b[31mout of range\x1b[0m \x1e and were clipped.", warning),
            Message("E", "10: Could not find any implementation for node x.", error),
        ),
        results=(RunResult("throughput_qps", 1234.5, SourceSpan("build.log", len(scribe.lines), 0)),),
        engine_dumps=(EngineDump(engine, engine[0].span),),
    )


def _second_build(scribe: Scribe) -> Build:
    start = scribe.say("=== excerpt of another build, without an engine dump").line
    choice = scribe.tune(
        "second_conv", ("Float(1)", "Float(1)"), {"CaskConvolution": {0xAB: 0.5, 0xCD: 0.75}}, final=None
    )
    return replace(
        unknown_build(scribe, start, 1),
        choices=(choice,),
        autotuning=Autotuning(1, 2, 0, 0),
        layer_names=("only a name",),
    )


def _bare(code: str, severity: Severity, title: str, build: int, evidence: Evidence) -> Finding:
    """Return a finding without a layer that has a title only."""
    return Finding(code, severity, title, "", Confidence.CERTAIN, "", 0, (build,), (evidence,), 1)


def _found(lines: Sequence[str], first: Build, second: Build) -> Report:
    """Return findings about the sample: about a layer, about no layer, about the other build."""

    def evidence(span: SourceSpan) -> Evidence:
        return Evidence(span, lines[span.line - 1])

    message, pool = first.messages[0].span, first.choices[2]
    return Report(
        sources=(),
        findings=(
            Finding(
                code="TF900",
                severity=Severity.ERROR,
                title="pool1 took a tactic of another format",
                cause="Its tactic was timed with other strides, so that the time it won with is not its own.",
                confidence=Confidence.LIKELY,
                settle="Time it again.",
                source=0,
                builds=(0,),
                evidence=(evidence(pool.span), evidence(message)),
                evidence_total=5,
                fixes=("Time it in its own format.",),
                next_steps=(Step("Build again", "trtexec --onnx=model.onnx --verbose"),),
                layers=("no such layer", "pool1"),
            ),
            _bare("TF901", Severity.NOTE, "Weights were clipped", 0, evidence(message)),
            _bare("TF902", Severity.WARNING, "Of the second build", 1, evidence(second.choices[0].span)),
        ),
    )


def sample_session() -> ReplayedSession:
    """Return a session of two builds: one with everything, one without an engine dump."""
    scribe = Scribe()
    first = _first_build(scribe)
    second = _second_build(scribe)
    log = log_of(scribe, first, second)
    return ReplayedSession("build.log", ReplayedText(scribe.lines), log, verdict=_found(scribe.lines, first, second))
