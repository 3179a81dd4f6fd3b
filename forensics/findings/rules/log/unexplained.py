"""Builds that gave no engine, what led to that, and errors that no rule reads."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.rule import rule
from trtforensics.model.log import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.log import Message

_NO_ENGINE = (
    "Engine could not be created from network",
    "Building engine failed",
    "Failed to create engine from model",
    "Engine set up failed",
    "Assertion engine != nullptr failed",
    "Engine deserialization failed",
    "Invalid Engine",
    "Failed to parse onnx file",
    "Parsing model failed",
)
"""Messages that trtexec, TensorRT and Polygraphy add to an error printed before, where no engine comes of it."""

_NO_RUN = ("Inference set up failed", "Error occurred during inference", "FAILED | ")
"""Messages that trtexec and Polygraphy add to an error of a run."""

_PARTS = ("ModelImporter.cpp", "In node ")
"""Lines of the ONNX parser that belong to an error that it prints in several lines."""

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
    follows=("TF702", "TF701"),
    last=True,
)
def no_engine(case: Case) -> Iterator[Observation]:
    """Report the verdict and the messages that only pass an error on; it follows from the errors before them."""
    build = case.build
    told = [m for m in build.messages if _says(m, (*_NO_ENGINE, *_NO_RUN))]
    verdicts = [note.span for note in case.notes("banner") if note.text("verdict") == "FAILED"]
    spans = sorted({*(message.span for message in told), *verdicts}, key=lambda span: span.line)
    if not spans or build.outcome is Outcome.PASSED:
        return
    engine = any(_says(message, _NO_ENGINE) for message in told) or not build.results
    last = spans[-1].line
    yield Observation(
        "The build gave no engine" if engine else "The run failed",
        spans,
        because=[m.span for m in build.messages if m.severity == "E" and m.span.line <= last and m not in told],
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
    for message in case.build.messages:
        known = message.span.line in case.explained or _says(message, (*_NO_ENGINE, *_NO_RUN, *_PARTS))
        if message.severity == "E" and message.text.strip() and not known:
            groups.setdefault(_VARYING.sub("#", message.text.strip()), []).append(message)
    failed = case.build.outcome in {Outcome.FAILED, Outcome.TRUNCATED}
    for shape, messages in groups.items():
        yield Observation(
            f"No rule reads this error: {messages[0].text.strip()[:160]}",
            [message.span for message in messages],
            severity=Severity.ERROR if failed else Severity.WARNING,
            same_as=shape,
        )


def _says(message: Message, texts: Sequence[str]) -> bool:
    return any(text in message.text for text in texts)
