"""Errors that no other rule explains, grouped by their text."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.secrets import masked
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.rule import rule
from trtforensics.model.log import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.log import Message

_CONSEQUENCES = (
    "Engine could not be created from network",
    "Building engine failed",
    "Failed to create engine from model",
    "Engine set up failed",
    "Failed to parse onnx file",
    "Parsing model failed",
    "Inference set up failed",
    "Error occurred during inference",
    "ModelImporter.cpp",
    "Error[2]: [builder.cpp",
    "FAILED | ",
)
"""Messages that trtexec, the parser and Polygraphy add to an error printed before."""

_VARYING = re.compile(r"0x[0-9a-fA-F]+|\d+|'[^']*'|\"[^\"]*\"|\{ForeignNode\[.*?\]\}")


@rule(
    "TF716",
    Severity.WARNING,
    "An error that no rule explains",
    cause="The log holds an error that none of the rules reads. Where the build failed, it may be the reason.",
    confirm="Read the lines around it; search for the text without names and numbers among TensorRT's issues.",
    fixes=("Report the line, so that a rule can be written for it.",),
    sources=("the level that the logger gives each line",),
)
def unexplained(case: Case) -> Iterator[Observation]:
    """Group unexplained errors by their text without names and numbers; errors only where the build failed."""
    explained = {note.span.line for note in case.build.notes}
    groups: dict[str, list[Message]] = {}
    for message in case.build.messages:
        text = message.text.strip()
        known = message.span.line in explained or any(consequence in text for consequence in _CONSEQUENCES)
        if message.severity == "E" and text and not known:
            groups.setdefault(_VARYING.sub("#", text), []).append(message)
    failed = case.build.outcome in {Outcome.FAILED, Outcome.TRUNCATED}
    for shape, messages in groups.items():
        yield Observation(
            f"Unexplained error: {masked(messages[0].text.strip())[:160]}",
            [message.span for message in messages],
            severity=Severity.ERROR if failed else Severity.WARNING,
            same_as=shape,
        )
