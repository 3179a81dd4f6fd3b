"""What a log lacks: its end, its errors, the engine's own pass, the engine's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.observations import observe
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.rules.gpu import unfitting
from trtforensics.findings.steps.commands import detailed_flags, logged, options, polygraphy_run, trtexec
from trtforensics.findings.steps.loading import loads_engine
from trtforensics.model.log import Outcome, Tool
from trtforensics.model.run import Ending, PhaseName
from trtforensics.model.span import SourceSpan
from trtforensics.parsers.text.wrapping import PASTED

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


def _last(case: Case) -> SourceSpan | None:
    """Return the last line from which a fact of this build is known."""
    build = case.build
    lists = (build.messages, build.notes, build.stages, build.choices, build.results, build.engine_layers)
    return max((facts[-1].span for facts in lists if facts), key=lambda span: span.line, default=None)


@explained("TF701")
def truncated(case: Case) -> Iterator[Observation]:
    """Report a truncated log at its last known line, as a note where the log was pasted: few pastes are whole."""
    last, run = _last(case), case.log.run_of(case.build)
    told = run is not None and run.outcome.ending is Ending.CRASHED  # the line is another finding's
    if case.build.outcome is Outcome.TRUNCATED and last is not None and not told:
        stage = case.build.stages[-1].name if case.build.stages else ""
        pasted = not PASTED.isdisjoint(case.log.source.wrapped_in)
        yield Observation(
            ("The pasted text ends" if pasted else "The log stops")
            + " without a verdict"
            + (f", after the stage '{stage}'" if stage else ""),
            (last,),
            severity=Severity.NOTE if pasted else Severity.ERROR,
            settle="The exit status of the process, and whether the file was cut",
            steps=(Step("Build again with everything in one file", logged(case)),),
            same_as="truncated",
        )


@explained("TF705")
def not_shown(case: Case) -> Iterator[Observation]:
    """Name what is missing: a warning where nothing shown says what is wrong; nothing where the build failed."""
    build, known = case.build, case.build.coverage
    failed = build.outcome in {Outcome.FAILED, Outcome.TRUNCATED}
    loads = loads_engine(case.log, case.build)
    if not case.log.lines.total:
        return  # no log was given: the engine's own files describe it
    ended = known.verdict
    missing = [] if ended or failed else ["how the build ended"]
    shown = known.engine_layers or build.layer_names or case.notes("names_only", "names_only_inspected")  # TF704
    missing += [] if shown or failed else ["the engine's layers"]
    prints_tactics = not case.ran("11")  # Myelin compiles everything there, and in TensorRT-RTX
    missing += [] if known.tactics or failed or loads or not prints_tactics else ["the tactics"]
    told = case.worst is not None and case.worst > Severity.NOTE
    if missing:
        first = SourceSpan(case.log.source.path, build.first_line, int(case.log.line_starts[build.first_line - 1]))
        yield Observation(
            f"The log does not show {listed(missing)}",
            (first,),
            cause=not_shown.variants["loaded"][0] if loads else "",
            severity=Severity.NOTE if ended or known.engine_layers or told else Severity.WARNING,
            steps=(_whole_log(case, loads=loads, ended=ended),),
            same_as="coverage",
        )


def _whole_log(case: Case, *, loads: bool, ended: bool) -> Step:
    """Return the step that logs what is missing; its command has options that the log's own lacks."""
    wanted = ("--dumpLayerInfo",) if loads else ("--verbose", *detailed_flags(case))
    lacking = [flag for flag in wanted if flag not in options(case) and trtexec(case, flag)]
    if not lacking and loads and (ended or not options(case)):
        return Step("Read the log of the run that built the engine")
    if not options(case):
        more = not {"-v", "--verbose"}.isdisjoint((case.build.command or "").split())
        what = "Build again with -vv, which prints more" if more else "Build again with a verbose logger"
        return Step(what, polygraphy_run(case, "-vv"))
    if not lacking:
        return Step("Run it again and keep the whole log", logged(case))
    what = "Build again with a verbose logger" if "--verbose" in lacking else "Build again with the layers printed"
    return Step("Load the engine again with its layers printed" if loads else what, logged(case, *lacking))


@explained("TF702")
def no_errors(case: Case) -> Iterator[Observation]:
    """Report a verdict FAILED in a log without any error."""
    verdicts = [note for note in case.notes("banner") if note.text("verdict") == "FAILED"]
    if not case.build.message_counts.error and case.worst is not Severity.ERROR:
        run = case.log.run_of(case.build)
        reached = {phase.name for phase in run.phases} if run is not None else set()
        at = " when it loaded the engine" if reached == {PhaseName.LOAD} else ""
        what = f"run failed{at}" if loads_engine(case.log, case.build) else "build failed"
        yield from observe(
            verdicts,
            f"The {what}, but the log holds no error: stderr was not captured{unfitting(case)}",
            settle="A log with both streams",
            steps=(Step("Build again with both streams in the file", logged(case)),),
            same_as="stderr",
        )


@explained("TF703")
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


@explained("TF704")
def names_only(case: Case) -> Iterator[Observation]:
    """Report a dump that holds only names, or the message that says so."""
    notes = case.notes("names_only", "names_only_inspected")
    facts = case.printed("build", "Profiling verbosity")
    spans = [note.span for note in notes] or ([fact.span for fact in facts] if case.build.layer_names else [])
    if spans and case.build.tool is Tool.TRTEXEC and not case.build.engine_layers:
        step = Step("Build with detailed verbosity", trtexec(case, *detailed_flags(case)))
        yield Observation("The engine's layers are known by name only", spans, steps=(step,), same_as="names")
    elif notes and any(option.startswith("--exportLayerInfo") for option in options(case)):
        step = Step("Build with detailed verbosity", trtexec(case, "--profilingVerbosity=detailed"))
        title = "The file of --exportLayerInfo holds the layers' names only"
        yield Observation(title, spans, steps=(step,), same_as="exported names")
