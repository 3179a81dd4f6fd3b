"""What a log lacks, builds without an engine, processes that end, and errors that no other rule explains."""

import re
from collections.abc import Iterator
from itertools import islice

from trtforensics.console.counting import grouped, listed
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Confidence, Observation, Severity, Step
from trtforensics.findings.observations import CLASSES, NO_ENGINE, NO_RUN, is_owners, observe, quoted, says, unexplained
from trtforensics.findings.rule import explained
from trtforensics.findings.rules.failures import being_timed
from trtforensics.findings.rules.gpu import unfitting
from trtforensics.findings.steps.commands import detailed_flags, logged, options, polygraphy_run, trtexec
from trtforensics.knowledge.table import rows
from trtforensics.model.log import Message, Outcome, Tool
from trtforensics.model.notes import Note
from trtforensics.model.run import Ending, PhaseName, Program, StepExit
from trtforensics.parsers.builds.run_outcomes import BENIGN
from trtforensics.parsers.builds.views import Spans
from trtforensics.parsers.lines.unread import ONE_QUESTION
from trtforensics.parsers.text.wrapping import PASTED


@explained("TF615")
def internal_check(case: Case) -> Iterator[Observation]:
    """Quote the assertion, where no other rule knows it."""
    settle = "Whether the newest TensorRT builds it, and which part fails alone (trtforensics reduce)"
    for note in _each_text_once(case, "internal_check"):
        text = note.text("text")
        title = f"An internal check of TensorRT failed{being_timed(case, note)[0]}: {quoted(_unwrapped(text))}"
        yield from observe([note], title, settle=settle, same_as=f"check {text}")


@explained("TF616")
def call_refused(case: Case) -> Iterator[Observation]:
    """Quote the condition, where no other rule knows it."""
    for note in _each_text_once(case, "call_refused"):
        text = note.text("text") or note.text("condition")
        function = note.text("site").rpartition(".cpp::")[2].rpartition("::")[0].rpartition("::")[2]
        where = f" ({function})" if function else ""
        title = f"TensorRT refuses a call{where}: {quoted(_unwrapped(text))}"
        settle = "The arguments of the call that is named, printed right before it"
        yield from observe([note], title, settle=settle, same_as=f"call {text}")


def _each_text_once(case: Case, kind: str) -> list[Note]:
    """Return the first note of each text on lines that no other finding cites."""
    texts = grouped(unexplained(case, kind), lambda note: note.text("text") + note.text("condition"))
    return [notes[0] for notes in texts.values()]


def _unwrapped(text: str) -> str:
    """Return a message without the closing of what wraps it."""
    return text.strip().removesuffix(" )").removesuffix(")").strip().removesuffix(" failed.")


_POLYGRAPHY = ("Could not parse ONNX correctly", "Failed to parse ONNX model. Does the model file exist")
_EXCEPTIONS = ("std::exception", "Unknown exception", "Traceback (most recent call last)")
_PARTS = ("ModelImporter.cpp", "In node ", *_EXCEPTIONS, "== CAPTURED STD", *_POLYGRAPHY)
"""Lines that belong to an error that is printed in several lines, or that TensorRT 7 hands on."""

_WORDED = (*CLASSES, "internal_check", "call_refused", "cuda_code", "library_call")
"""Causes that rules report where no other rule knows the line (TF911 to TF940, TF615, TF616, TF622, TF624)."""

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"|\{ForeignNode\[.*?\]\}")


@explained("TF717")
def no_engine(case: Case) -> Iterator[Observation]:
    """Report the verdict and the messages that only pass an error on; it follows from the errors before them."""
    build = case.build
    ends = [m for m in build.messages if says(m, (*NO_ENGINE, *NO_RUN)) and not BENIGN.search(m.text)]
    verdicts = [note.span for note in case.notes("banner") if note.text("verdict") == "FAILED"]
    spans = sorted({*(message.span for message in ends), *verdicts}, key=lambda span: span.line)
    about, passed = case.log.run_of(build), Ending.PASSED
    if not spans or build.outcome is Outcome.PASSED or (about is not None and about.outcome.ending is passed):
        return
    run = any(says(message, NO_RUN) for message in ends) or bool(build.results)
    engine = any(says(message, NO_ENGINE) for message in ends) or not run
    loads = case.loads_engine or any("deserializ" in message.text for message in ends)
    last = spans[-1].line
    unsaved = any(says(message, ("Saving engine to file failed",)) for message in build.messages)
    without = "engine was not loaded" if loads else "engine was not saved" if unsaved else "build gave no engine"
    yield Observation(
        f"The {without}" if engine else "The run failed",
        spans,
        because=[m.span for m in build.messages if m.severity == "E" and m.span.line <= last and m not in ends],
        same_as="no engine" if engine else "no run",
    )


@explained("TF716")
def other_errors(case: Case) -> Iterator[Observation]:
    """Group errors that no finding cites by their text without names and numbers; errors only where a build failed."""
    known = case.explained | {note.span.line for note in case.notes(*_WORDED)}
    checks = ("Assertion",) if case.notes("internal_check") else ()  # printed once more with its place (TF615)
    of_others = (*NO_ENGINE, *NO_RUN, *_PARTS, *checks)
    errors = (m for m in case.build.messages if m.severity == "E" and m.text.strip() and m.span.line not in known)
    others = [message for message in errors if not says(message, of_others)]
    failed = case.build.outcome in {Outcome.FAILED, Outcome.TRUNCATED}
    for shape, messages in grouped(others, lambda message: _shape(message.text)).items():
        yield Observation(
            quoted(messages[0].text.strip()),
            [message.span for message in messages],
            severity=Severity.ERROR if failed else Severity.WARNING,
            same_as=shape,
        )


def _shape(text: str) -> str:
    """Return what texts have in common that differ in names and numbers."""
    return _VARYING.sub("#", text.strip())


_GOES_ON = re.compile(r"\s*(?:$|If |Check |Please |Add |To |\(|- )|\s{2}")
"""How the further lines of a warning begin."""


def _warnings(case: Case) -> list[Message]:
    """Return the warnings of a short text in which nothing else tells anything."""
    if case.explained or case.build.message_counts.error or case.log.source.lines > ONE_QUESTION:
        return []
    warnings = [message for message in case.build.messages if message.severity == "W" and message.text.strip()]
    return [message for message in warnings if not _GOES_ON.match(message.text)] or warnings[:1]


@explained("TF707")
def warned(case: Case) -> Iterator[Observation]:
    """Quote the warnings, each form once."""
    forms = grouped(_warnings(case), lambda message: _shape(message.text))
    for shape, messages in islice(forms.items(), _SHOWN):
        yield Observation(quoted(messages[0].text.strip()), [m.span for m in messages], same_as=f"warned {shape}")


@explained("TF718")
def of_program(case: Case) -> Iterator[Observation]:
    """Group the lines that say so by their text; TF716 reads those that a logger wrote."""
    spans = (*(message.span for message in case.build.messages), *(note.span for note in case.notes(*_WORDED)))
    known = case.explained.union(span.line for span in spans)
    errors = (note for note in case.notes("program_error") if note.span.line not in known)
    other = [note for note in errors if not is_owners(note.text("text"))]
    for shape, notes in grouped(other, lambda note: _shape(note.text("text"))).items():
        text = quoted(notes[0].text("text").strip())
        yield from observe(
            notes,
            "A program reports an error" + (f": {text}" if text else ""),
            confidence=Confidence.POSSIBLE,
            settle="The program's whole output, from its first line, with a verbose logger of TensorRT",
            same_as=f"program {shape}",
        )


_EXITS = {(row["of"], int(row["number"])): row["meaning"] for row in rows("exits")}
"""What signals mean, and to the shell and ``timeout`` codes that are no program's own."""


@explained("TF719")
def step_failed(case: Case) -> Iterator[Observation]:
    """Name the steps with their codes, the first first; else the result, where nothing in the log says why."""
    run = case.log.run_of(case.build)
    if run is None or run.outcome.ending in {Ending.PASSED, Ending.NONE}:
        return
    here = range(case.build.first_line, case.build.last_line + 1)
    boxed = {note.span.line + _BOX for note in case.notes("pip_build")}
    codes = (each for each in run.outcome.exits if each.code)
    failed = [each for each in codes if each.span.line in here and each.span.line not in boxed]
    outcome, last = run.outcome, max(run.phases, key=lambda phase: phase.last_line, default=None)
    where = f"; the last phase is {last.name} (line {last.last_line})" if last is not None else ""
    items = next((text for text, _ in run.facts if text.startswith("failed: ")), "")
    # a program's own checks say what came of it, before any exit code of its helpers
    if re.search(r"own result is \w+: ", outcome.why) and outcome.span and outcome.span.line in here:
        yield Observation(f"T{outcome.why.removeprefix('t')}", [outcome.span], same_as="gates")
        return
    if failed and not case.explained.issuperset(each.span.line for each in failed):
        spans = [each.span for each in failed]
        steps = "; ".join([*dict.fromkeys(map(_exit, failed))][:_SHOWN])
        yield Observation(f"{steps[:1].upper()}{steps[1:]}{where}{items and f'; {items}'}", spans, same_as="exit codes")
        return
    place = outcome.span
    others = case.notes(*_WORDED, "program_error")
    told = any(note.kind != "program_error" or note.span != place for note in others) or case.build.message_counts.error
    known = failed or told or case.worst is Severity.ERROR or place is None or place.line in case.explained
    if outcome.why.startswith("the program's own") and not known and place and place.line in here:
        title = f"T{outcome.why.removeprefix('t')}, {items or 'and no other line says why'}{where}"
        yield Observation(title, [place], same_as="own")


_SHOWN = 3
_BOX = 3
"""Lines from the head of pip's box to the exit code in it."""


def _exit(step: StepExit) -> str:
    of, number = ("signal", step.signal) if step.signal else ("code", step.code)
    meaning = _EXITS.get((of, number), f"signal {number}" * bool(step.signal))
    code = f"exit code {step.code}" if step.code > 0 else "a signal"
    return f"{f'the step {step.step}' if step.step else 'a step'} ended with {code}{f' ({meaning})' if meaning else ''}"


@explained("TF701")
def truncated(case: Case) -> Iterator[Observation]:
    """Report a truncated log at its last known line, as a note of a paste, or of options alone: few are whole."""
    build, run = case.build, case.log.run_of(case.build)
    lists = (build.messages, build.notes, build.stages, build.choices, build.results, build.engine_layers)
    last = max((facts[-1].span for facts in lists if facts), key=lambda span: span.line, default=None)
    told = run is not None and run.outcome.ending is Ending.CRASHED  # the line is another finding's
    if build.outcome is Outcome.TRUNCATED and last is not None and not told:
        stage = f", after the stage '{build.stages[-1].name}'" if build.stages else ""
        pasted = not (run is None or run.phases or build.messages or case.notes("init_cuda"))
        pasted = pasted or not PASTED.isdisjoint(case.log.source.wrapped_in)
        below = build.last_line > last.line and case.log.source.path == last.file  # nothing is known from it
        ends = (last, Spans(case.log.source, case.log.line_starts).of(build.last_line))
        yield Observation(
            f"{'The pasted text ends' if pasted else 'The log stops'} without a verdict{stage}",
            ends if below else (last,),
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
    loads = case.loads_engine
    run = case.log.run_of(build)
    beside = run is not None and not (run.phases or build.command) and len(case.log.builds) > 1  # an export, say
    if not case.log.lines.total or beside or (run is not None and (not run.uses_tensorrt or run.only_reads)):
        return  # no log was given: the engine's own files describe it; or there is no engine
    ended = known.verdict or (run is not None and bool(run.outcome.reached) and run.outcome.survived is None)
    builds = (
        run is None or not run.phases or any(phase.name in {PhaseName.IMPORT, PhaseName.BUILD} for phase in run.phases)
    )
    missing = [] if ended or failed or loads or not builds else ["how the build ended"]
    shown = known.engine_layers or build.layer_names or case.notes("names_only", "names_only_inspected")  # TF704
    missing += [] if shown or failed else ["the engine's layers"]
    prints_tactics = not case.ran("11")  # Myelin compiles everything there, and in TensorRT-RTX
    missing += [] if known.tactics or failed or loads or not prints_tactics else ["the tactics"]
    measured = any(each.key != "loaded_engine_mib" for each in build.results) or (run and run.comparisons)
    otherwise = case.explained or measured or _warnings(case)
    answered = otherwise or case.notes("program_error", *_WORDED)
    told = case.log.source.lines <= ONE_QUESTION and not options(case) and otherwise
    if told or (not (ended and (known.own_lines or loads)) and (answered or not (known.own_lines or build.command))):
        return  # the lines that a verbose logger would add change nothing
    harmless = any((ended, loads, known.engine_layers, not builds))
    if missing:
        yield Observation(
            f"The log does not show {listed(missing)}",
            (Spans(case.log.source, case.log.line_starts).of(build.first_line),),
            cause=not_shown.variants["loaded"][0] if loads else "",
            severity=Severity.NOTE if harmless else Severity.WARNING,
            steps=(_whole_log(case, loads=loads, ended=ended),),
            same_as="coverage",
        )


def _whole_log(case: Case, *, loads: bool, ended: bool) -> Step:
    """Return the step that logs what is missing; its command has options that the log's own lacks."""
    wanted = ("--dumpLayerInfo",) if loads else ("--verbose", *detailed_flags(case))
    lacking = [flag for flag in wanted if flag not in options(case) and trtexec(case, flag)]
    run = case.log.run_of(case.build)
    if not lacking and loads and (ended or not options(case)):
        if run is not None and run.program is Program.TENSORRT_LLM:
            return Step("Read the JSON file beside the engine: it names its types, plugins and greatest lengths")
        if run is not None and run.loaded_file and run.program in _PLAIN_PLANS:
            command = f"trtexec --loadEngine={run.loaded_file} --dumpLayerInfo"
            return Step(f"Print its layers: {command} (8.2 and later, with the libraries of its plugins)")
        return Step("Read the log of the run that built the engine")
    if not options(case):
        more = not {"-v", "--verbose"}.isdisjoint((case.build.command or "").split())
        what = "Build again with -vv, which prints more" if more else "Build again with a verbose logger"
        return Step(what, polygraphy_run(case, "-vv"))
    if not lacking:
        return Step("Run it again and keep the whole log", logged(case))
    what = "Build again with a verbose logger" if "--verbose" in lacking else "Build again with the layers printed"
    return Step("Load the engine again with its layers printed" if loads else what, logged(case, *lacking))


_PLAIN_PLANS = {Program.DEEPSTREAM, Program.MLPERF, Program.CPP}
"""Programs whose engine files trtexec reads too; Ultralytics, in Python, writes its own head before the plan."""


@explained("TF702")
def no_errors(case: Case) -> Iterator[Observation]:
    """Report a verdict FAILED in a log without any error."""
    verdicts = [note for note in case.notes("banner") if note.text("verdict") == "FAILED"]
    counts = case.build.message_counts  # warnings go to stderr too
    if not counts.error and not counts.warning and case.worst is not Severity.ERROR:
        run = case.log.run_of(case.build)
        reached = {phase.name for phase in run.phases} if run is not None else set()
        at = " when it loaded the engine" if reached == {PhaseName.LOAD} else ""
        what = f"run failed{at}" if case.loads_engine else "build failed"
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
