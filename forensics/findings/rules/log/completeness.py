"""What a log lacks: its end, its errors, the engine's own pass, the engine's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import logged, trtexec
from trtforensics.model.log import Outcome, Tool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.span import SourceSpan


def _last(case: Case) -> SourceSpan | None:
    """Return the last line from which a fact of this build is known."""
    build = case.build
    lists = (build.messages, build.notes, build.stages, build.choices, build.results, build.engine_layers)
    return max((facts[-1].span for facts in lists if facts), key=lambda span: span.line, default=None)


@rule(
    "TF701",
    Severity.ERROR,
    "The log stops in the middle",
    cause="No verdict follows: the process was killed (out of memory, a timeout, kill -9), it crashed, or the log was "
    "cut off when it was copied.",
    confirm="Exit status of the process: 137 is a kill, 139 a segmentation fault. dmesg names the out-of-memory "
    "killer.",
    fixes=("Keep the whole log and the exit status: trtexec … > build.log 2>&1; echo $? >> build.log.",),
    sources=("trtexec's source: one RUNNING line, one verdict as the last line",),
)
def truncated(case: Case) -> Iterator[Observation]:
    """Report a truncated log at its last known line."""
    last = _last(case)
    if case.build.outcome is Outcome.TRUNCATED and last is not None:
        stage = case.build.stages[-1].name if case.build.stages else ""
        yield Observation(
            "The log stops without a verdict" + (f", after the stage '{stage}'" if stage else ""),
            (last,),
            confidence=Confidence.LIKELY,
            settle="The exit status of the process, and whether the file was cut",
            steps=(Step("Build again with everything in one file", logged(case)),),
            same_as="truncated",
        )


@rule(
    "TF702",
    Severity.ERROR,
    "The build failed, and the errors are not in the log",
    cause="trtexec writes errors and warnings to stderr, the rest to stdout: with '> build.log' alone they are "
    "missing.",
    confirm="The log holds no line at level E or W.",
    fixes=("Redirect both: trtexec … > build.log 2>&1.",),
    sources=("trtexec's source (samples/common/logging.h)",),
)
def no_errors(case: Case) -> Iterator[Observation]:
    """Report a verdict FAILED in a log without any error."""
    verdicts = [note for note in case.notes("banner") if note.text("verdict") == "FAILED"]
    if verdicts and not case.build.message_counts.error:
        yield Observation(
            "The build failed, but the log holds no error: stderr was not captured",
            [note.span for note in verdicts],
            confidence=Confidence.LIKELY,
            settle="A log with both streams",
            steps=(Step("Build again with both streams in the file", logged(case)),),
            same_as="stderr",
        )


@rule(
    "TF703",
    Severity.NOTE,
    "The last pass in the log is not the engine's",
    cause="The builder made several engines, one for each backend strategy, and kept the engine that it estimated "
    "fastest. Lines near the end of the log may belong to an engine that it discarded.",
    confirm="The lines 'Use', 'Chose' and 'Skip backend strategy'.",
    fixes=(Fix("Read trtforensics parse, which marks what the engine uses.", "10.13"),),
    sources=("10.14 and 10.16 logs at optimisation level 5",),
)
def passes(case: Case) -> Iterator[Observation]:
    """Report discarded passes only where the last pass of the log is one of them."""
    runs = case.build.passes
    if len(runs) > 1 and runs[-1].chosen is False:
        kept = next((index for index, run in enumerate(runs) if run.chosen), None)
        stages = [s for s in case.build.stages if s.pass_index is not None and s.name == "reformat layers"]
        spans = [next((s.span for s in case.build.stages if s.pass_index == i), None) for i in range(len(runs))]
        shown = [span for span in spans if span is not None] or [s.span for s in stages]
        which = f"; the engine is from pass {kept + 1} of {len(runs)}" if kept is not None else ""
        if shown:
            yield Observation(f"The last of {len(runs)} passes was discarded{which}", shown, same_as="passes")


@rule(
    "TF704",
    Severity.NOTE,
    "The engine is printed by names only",
    cause="Without detailed profiling verbosity the engine's layers carry no types, tactics or kernels: the log does "
    "not show in which precision a layer runs.",
    confirm="The Profiling verbosity line of the options prints 0.",
    fixes=(
        Fix("Build with --profilingVerbosity=detailed.", "8.2"),
        Fix("Build with --nvtxMode=verbose.", before="8.2"),
    ),
    sources=("NVIDIA/TensorRT#4020, #4070",),
)
def names_only(case: Case) -> Iterator[Observation]:
    """Report a dump that holds only names, or the message that says so."""
    notes = case.notes("names_only", "names_only_inspected")
    facts = [fact for fact in case.build.options.get("build", ()) if fact.name == "Profiling verbosity"]
    spans = [note.span for note in notes] or ([fact.span for fact in facts] if case.build.layer_names else [])
    if spans and case.build.tool is Tool.TRTEXEC and not case.build.engine_layers:
        old = case.version is not None and case.version.has(before="8.2")
        flags = ("--nvtxMode=verbose",) if old else ("--profilingVerbosity=detailed", "--dumpLayerInfo")
        step = Step("Build with detailed verbosity", trtexec(case, *flags))
        yield Observation("The engine's layers are known by name only", spans, steps=(step,), same_as="names")
