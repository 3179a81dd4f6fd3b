"""Builds without an engine, processes that end, and errors that no other rule explains."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.counting import grouped
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.observations import CLASSES, NO_ENGINE, NO_RUN, observe, quoted, says, unexplained
from trtforensics.findings.rule_tables import explained
from trtforensics.model.log import Outcome
from trtforensics.model.run import Ending

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.notes import Note
    from trtforensics.model.run import StepExit


@explained("TF614")
def terminated(case: Case) -> Iterator[Observation]:
    """Name the exception."""
    for note in case.notes("terminated"):
        name = note.text("name")
        title = "An uncaught exception ended the program" + (f": {name}" if name else "")
        settle = "The line what() behind it, and the first error before it"
        yield from observe([note], title, settle=settle, same_as=f"terminated {name}")


@explained("TF615")
def internal_check(case: Case) -> Iterator[Observation]:
    """Quote the assertion, where no other rule knows it."""
    for note in _each_text_once(case, "internal_check"):
        yield from observe(
            [note],
            f"An internal check of TensorRT failed: {quoted(_unwrapped(note.text('text')))}",
            settle="Whether the newest TensorRT builds it, and which part of the model fails alone "
            "(trtforensics reduce)",
            same_as=f"check {note.text('text')}",
        )


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
    return text.strip().removesuffix(" )").removesuffix(")").strip()


_POLYGRAPHY = ("Could not parse ONNX correctly", "Failed to parse ONNX model. Does the model file exist")
_PARTS = ("ModelImporter.cpp", "In node ", "std::exception", "Unknown exception", *_POLYGRAPHY)
"""Lines that belong to an error that the ONNX parser prints in several lines, or that TensorRT 7 hands on."""

_WORDED = (*CLASSES, "internal_check", "call_refused", "cuda_code", "library_call")
"""Causes that rules report where no other rule knows the line (TF911 to TF940, TF615, TF616, TF622, TF624)."""

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"|\{ForeignNode\[.*?\]\}")


@explained("TF717")
def no_engine(case: Case) -> Iterator[Observation]:
    """Report the verdict and the messages that only pass an error on; it follows from the errors before them."""
    build = case.build
    ends = [m for m in build.messages if says(m, (*NO_ENGINE, *NO_RUN))]
    verdicts = [note.span for note in case.notes("banner") if note.text("verdict") == "FAILED"]
    spans = sorted({*(message.span for message in ends), *verdicts}, key=lambda span: span.line)
    if not spans or build.outcome is Outcome.PASSED:
        return
    run = any(says(message, NO_RUN) for message in ends) or bool(build.results)
    engine = any(says(message, NO_ENGINE) for message in ends) or not run
    last = spans[-1].line
    yield Observation(
        "The build gave no engine" if engine else "The run failed",
        spans,
        because=[m.span for m in build.messages if m.severity == "E" and m.span.line <= last and m not in ends],
        same_as="no engine" if engine else "no run",
    )


@explained("TF716")
def other_errors(case: Case) -> Iterator[Observation]:
    """Group errors that no finding cites by their text without names and numbers; errors only where a build failed."""
    known = case.explained | {note.span.line for note in case.notes(*_WORDED)}
    errors = [
        message
        for message in case.build.messages
        if message.severity == "E" and message.text.strip() and message.span.line not in known
    ]
    others = [message for message in errors if not says(message, (*NO_ENGINE, *NO_RUN, *_PARTS))]
    failed = case.build.outcome in {Outcome.FAILED, Outcome.TRUNCATED}
    for shape, messages in grouped(others, lambda message: _shape(message.text)).items():
        yield Observation(
            quoted(messages[0].text.strip()),
            [message.span for message in messages],
            severity=Severity.ERROR if failed else Severity.WARNING,
            same_as=shape,
        )


@explained("TF718")
def of_program(case: Case) -> Iterator[Observation]:
    """Group the lines that say so by their text; TF716 reads those that a logger wrote."""
    known = case.explained | {message.span.line for message in case.build.messages}
    known |= {note.span.line for note in case.notes(*_WORDED)}
    other = [note for note in case.notes("program_error") if note.span.line not in known]
    for shape, notes in grouped(other, lambda note: _shape(note.text("text"))).items():
        text = quoted(notes[0].text("text").strip())
        yield from observe(
            notes,
            "A program reports an error" + (f": {text}" if text else ""),
            confidence=Confidence.POSSIBLE,
            settle="The program's whole output, from its first line, with a verbose logger of TensorRT",
            same_as=f"program {shape}",
        )


_SIGNALS = {
    2: "SIGINT, an interruption",
    6: "SIGABRT, it gave up itself",
    7: "SIGBUS",
    8: "SIGFPE",
    9: "SIGKILL, from outside, most often for want of memory",
    11: "SIGSEGV, an invalid access to memory",
    13: "SIGPIPE: what read its output had ended",
    15: "SIGTERM, from outside, as of a scheduler",
}
_CODES = {124: "the time of timeout was up", 126: "it cannot be executed", 127: "the command was not found"}
"""What the shell and ``timeout`` mean by codes that are no program's own."""


@explained("TF719")
def step_failed(case: Case) -> Iterator[Observation]:
    """Name the steps with their codes, the first first; else the result, where nothing in the log says why."""
    run = case.log.run_of(case.build)
    if run is None or run.outcome.ending in {Ending.PASSED, Ending.NONE}:
        return
    here = range(case.build.first_line, case.build.last_line + 1)
    failed = [each for each in run.outcome.exits if each.code and each.span.line in here]
    outcome, last = run.outcome, max(run.phases, key=lambda phase: phase.last_line, default=None)
    where = f"; the last phase is {last.name} (line {last.last_line})" if last is not None else ""
    if failed and not case.explained.issuperset(each.span.line for each in failed):
        spans = [each.span for each in failed]
        steps = "; ".join(map(_exit, failed[:_SHOWN]))
        yield Observation(f"{steps[:1].upper()}{steps[1:]}{where}", spans, same_as="exit codes")
        return
    known = failed or case.build.message_counts.error or outcome.span is None or outcome.span.line in case.explained
    if outcome.why.startswith("the program's own") and not known and outcome.span and outcome.span.line in here:
        title = f"T{outcome.why.removeprefix('t')}, and no line says why{where}"
        yield Observation(title, [outcome.span], same_as="own")


_SHOWN = 3


def _exit(step: StepExit) -> str:
    meaning = _SIGNALS.get(step.signal, f"signal {step.signal}") if step.signal else _CODES.get(step.code, "")
    code = f"exit code {step.code}" if step.code > 0 else "a signal"
    return f"{f'the step {step.step}' if step.step else 'a step'} ended with {code}{f' ({meaning})' if meaning else ''}"


def _shape(text: str) -> str:
    """Return what texts have in common that differ in names and numbers."""
    return _VARYING.sub("#", text.strip())
