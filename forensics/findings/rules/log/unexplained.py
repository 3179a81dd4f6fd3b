"""Builds that gave no engine, what led to that, and errors that no rule reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.secrets import masked
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.rule import rule
from trtforensics.model.log import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.log import Message
    from trtforensics.model.notes import Note

_NO_ENGINE = (
    "Engine could not be created from network",
    "Building engine failed",
    "Failed to create engine from model",
    "Engine set up failed",
    "Assertion engine != nullptr failed",
    "Assertion enginePtr != nullptr failed",
    "Network And Config setup failed",
    "Engine deserialization failed",
    "eserialize the cuda engine failed",
    "Invalid Engine",
    "Failed to parse onnx file",
    "Parsing model failed",
    "Network validation failed",
    "Builder failed while analyzing shapes",
    "Engine creation failed",
)
"""Messages that trtexec, TensorRT and Polygraphy add to an error printed before, where no engine comes of it."""

_NO_RUN = ("Inference set up failed", "Error occurred during inference", "FAILED | ")
"""Messages that trtexec and Polygraphy add to an error of a run."""

_PARSER = ("TF108", "TF132", "TF134", "TF146", "TF148", "TF149", "TF150", "TF153", "TF156", "TF157")
"""Errors of the parser, which it prints without a level in part."""

_POLYGRAPHY = ("Could not parse ONNX correctly", "Failed to parse ONNX model. Does the model file exist")
_PARTS = ("ModelImporter.cpp", "In node ", "std::exception", "Unknown exception", *_POLYGRAPHY)
"""Lines that belong to an error that the ONNX parser prints in several lines, or that TensorRT 7 hands on."""

_WORDED = ("internal_check", "call_refused", "cuda_code", "library_call")
"""Causes that rules report where no other rule knows the line (TF615, TF616, TF622, TF624)."""

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"|\{ForeignNode\[.*?\]\}")


@rule(
    "TF717",
    Severity.ERROR,
    "No engine, or no run, came of it",
    cause="The program stopped because of an error before it. Where no such error is in the log, the log does not tell "
    "why: it was printed elsewhere, or not at all.",
    confirm="The findings that this one follows from; the exit status of the program.",
    fixes=("Mend the first error of the log; what follows it goes with it.",),
    sources=("trtexec's source, 7.2 to 11.1", "Polygraphy's runner, 0.38 to 0.53"),
    follows=("TF216", "TF702", "TF701", *_PARSER),
    last=True,
)
def no_engine(case: Case) -> Iterator[Observation]:
    """Report the verdict and the messages that only pass an error on; it follows from the errors before them."""
    build = case.build
    ends = [m for m in build.messages if _says(m, (*_NO_ENGINE, *_NO_RUN))]
    verdicts = [note.span for note in case.notes("banner") if note.text("verdict") == "FAILED"]
    spans = sorted({*(message.span for message in ends), *verdicts}, key=lambda span: span.line)
    if not spans or build.outcome is Outcome.PASSED:
        return
    run = any(_says(message, _NO_RUN) for message in ends) or bool(build.results)
    engine = any(_says(message, _NO_ENGINE) for message in ends) or not run
    last = spans[-1].line
    yield Observation(
        "The build gave no engine" if engine else "The run failed",
        spans,
        because=[m.span for m in build.messages if m.severity == "E" and m.span.line <= last and m not in ends],
        same_as="no engine" if engine else "no run",
    )


@rule(
    "TF716",
    Severity.WARNING,
    "An error that no rule reads",
    cause="The log holds an error that none of the rules reads. Where the build failed, it may be the reason.",
    confirm="Read the lines around it; search for the text without names and numbers among TensorRT's issues.",
    fixes=("Report the line, so that a rule can be written for it.",),
    sources=("the level that the logger gives each line",),
    follows=("TF309", "TF310", "TF314", "TF10*"),
    last=True,
)
def unexplained(case: Case) -> Iterator[Observation]:
    """Group errors that no finding cites by their text without names and numbers; errors only where a build failed."""
    groups: dict[str, list[Message]] = {}
    worded = {note.span.line for note in case.notes(*_WORDED)}
    for message in case.build.messages:
        known = message.span.line in case.explained | worded or _says(message, (*_NO_ENGINE, *_NO_RUN, *_PARTS))
        if message.severity == "E" and message.text.strip() and not known:
            groups.setdefault(_VARYING.sub("#", message.text.strip()), []).append(message)
    failed = case.build.outcome in {Outcome.FAILED, Outcome.TRUNCATED}
    for shape, messages in groups.items():
        yield Observation(
            f"No rule reads this error: {masked(messages[0].text.strip())[:160]}",
            [message.span for message in messages],
            severity=Severity.ERROR if failed else Severity.WARNING,
            same_as=shape,
        )


@rule(
    "TF718",
    Severity.WARNING,
    "An error of another program",
    cause="A line that is not of TensorRT's logger says that something failed, and none of the rules reads it. It may "
    "be the reason, or only pass an error on that is not in this text.",
    confirm="Read the lines around it, and the whole output of the program from its start.",
    fixes=("Run the program with a logger of level VERBOSE, and report its whole output.",),
    sources=("error lines of programs in public threads",),
    follows=("TF1*", "TF3*", "TF4*", "TF6*", "TF2*", "TF716", "TF717"),
    last=True,
)
def of_program(case: Case) -> Iterator[Observation]:
    """Group the lines that say so by their text; TF716 reads those that a logger wrote."""
    known = case.explained | {message.span.line for message in case.build.messages}
    known |= {note.span.line for note in case.notes(*_WORDED)}
    groups: dict[str, list[Note]] = {}
    for note in case.notes("program_error"):
        if note.span.line not in known:
            groups.setdefault(_VARYING.sub("#", note.text("text").strip()), []).append(note)
    for shape, notes in groups.items():
        text = masked(notes[0].text("text").strip())[:160]
        yield Observation(
            "A program reports an error that no rule reads" + (f": {text}" if text else ""),
            [note.span for note in notes],
            confidence=Confidence.POSSIBLE,
            settle="The program's whole output, from its first line, with a verbose logger of TensorRT",
            same_as=f"program {shape}",
        )


def _says(message: Message, texts: Sequence[str]) -> bool:
    return any(text in message.text for text in texts)
