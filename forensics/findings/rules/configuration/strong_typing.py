"""Strongly and weakly typed networks, and flags that contradict strong typing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.requests import WEAK_FLAGS, command_span, precision_fact
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import autocast, options, trtexec, typed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@rule(
    "TF405",
    Severity.ERROR,
    "A precision flag was given for a strongly typed network",
    cause="A strongly typed network takes its types from the model; FP16, INT8 and their like contradict it.",
    confirm="The message names the flag.",
    fixes=("Leave the precision flags out, and put the types into the model (Cast, Q/DQ, AutoCast).",),
    sources=("a 10.16 log (createNetworkBuildConfig)",),
)
def precision_flag(case: Case) -> Iterator[Observation]:
    """Name the flags."""
    step = Step("Leave the precision flags out", trtexec(case, without=WEAK_FLAGS))
    title = "A strongly typed network was given the precision flag {names}"
    yield from observe(case.notes("precision_flag"), title, names="flag", steps=(step,))


@rule(
    "TF406",
    Severity.ERROR,
    "A layer's type was set in a strongly typed network",
    cause="Layer precision and output types cannot be set where the model's own types are binding.",
    confirm="The message names the call.",
    fixes=("Use Cast in the model instead.",),
    sources=("the message table of 10.16",),
)
def typed_setter(case: Case) -> Iterator[Observation]:
    """Name the calls."""
    yield from observe(case.notes("typed_setter"), "{names} was called for a strongly typed network", names="setter")


@rule(
    "TF407",
    Severity.NOTE,
    "Weak typing is deprecated, and gone with TensorRT 11",
    cause="With weak typing TensorRT picks types by speed; 11 takes them from the model only. --fp16, --int8, layer "
    "precisions and precision constraints are gone there.",
    confirm="The warning is printed from 10.16 on; the Precision line of the options shows flags instead of types.",
    fixes=(Fix("Convert the model with ModelOpt AutoCast and build with --stronglyTyped.", "10", "11"),),
    sources=("10.16 logs", "the 10.x to 11.x migration guide"),
)
def weak_typing(case: Case) -> Iterator[Observation]:
    """Report the warning together with the line of the precision options, or flags of a log without stderr."""
    facts = [fact for fact in (precision_fact(case.build),) if fact is not None]
    notes, span, flags = case.notes("weak_typing"), command_span(case.build), _weak_flags(case)
    if notes:
        yield Observation(
            "The network is weakly typed, which TensorRT 11 no longer knows",
            (*(note.span for note in notes), *(fact.span for fact in facts)),
            steps=(autocast(case), typed(case)),
        )
    elif flags and span is not None:
        yield Observation(
            f"The command asks for weak typing ({listed(flags)}), which TensorRT 11 no longer knows",
            (span, *(fact.span for fact in facts)),
            steps=(autocast(case), typed(case)),
            same_as="weak flags",
        )


def _weak_flags(case: Case) -> list[str]:
    """Return the command's flags of weak typing, where a version that warns of them cannot: stderr is missing."""
    counts, version = case.build.message_counts, case.version
    if counts.warning or counts.error or version is None or not version.has("10.16", "11"):
        return []
    given = {option.partition("=")[0] for option in options(case)}
    return [] if given & {"--stronglyTyped", "--loadEngine"} else sorted(given & {*WEAK_FLAGS})


@rule(
    "TF415",
    Severity.NOTE,
    "TensorRT-RTX takes its types from the model",
    cause="TensorRT-RTX builds strongly typed by default: no flag asks for FP16, an FP32 model gives an FP32 engine.",
    confirm="The warning; the types of the model's weights.",
    fixes=("Put the types into the model, with Casts or by ModelOpt AutoCast.",),
    sources=("TensorRT-RTX 1.7.1 logs",),
)
def rtx_types(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    yield from observe(case.notes("strongly_typed"), "Strong typing is on: types come from the model alone")
