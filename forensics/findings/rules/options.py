"""Options that exclude each other, are unknown or deprecated, or have no effect for some layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.engines.requests import WEAK_FLAGS, command_span
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.observations import observe
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.steps.commands import default_level, given_flags, trtexec
from trtforensics.findings.steps.trtexec_flags import flags_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@explained("TF413")
def unknown_option(case: Case) -> Iterator[Observation]:
    """Name the options."""
    names = tuple(note.text("name").partition("=")[0] for note in case.notes("unknown_option"))
    step = Step("Take it out", trtexec(case, without=names))
    yield from observe(case.notes("unknown_option"), "trtexec does not know {names}", names="name", steps=(step,))
    yield from observe(case.notes("options_unrecognized"), "Polygraphy does not know {names}", names="name")


@explained("TF418")
def idle_flags(case: Case) -> Iterator[Observation]:
    """Name the flags."""
    given = given_flags(case)
    at_work = {"--onnx"} if "--shapes" in given else {"--onnx", "--optShapes"}
    idle = [name for name in given if name in flags_of("build") - at_work]
    span = command_span(case.build)
    if "--loadEngine" in given and idle and span is not None:
        step = Step("Leave them out", trtexec(case, without=idle))
        yield Observation(
            f"{listed(idle)} {'does' if len(idle) == 1 else 'do'} nothing beside --loadEngine",
            (span,),
            severity=Severity.WARNING if {*idle} & {*WEAK_FLAGS} else Severity.NOTE,
            steps=(step,),
            same_as="idle flags",
        )
    if "--calib" in given and span is not None and {*given}.isdisjoint({"--int8", "--best", "--loadEngine"}):
        cause, fix = idle_flags.variants["calib"]
        step = Step("Build in INT8 with it", trtexec(case, "--int8"))
        yield Observation("--calib does nothing without --int8", (span,), steps=(step,), cause=cause, fix=fix)


@explained("TF444")
def old_parser(case: Case) -> Iterator[Observation]:
    """Name the parser by the format of the model that trtexec prints."""
    for fact in case.printed("model", "Format"):
        if fact.value in {"Caffe", "UFF"}:
            yield Observation(
                f"The model is read by the {fact.value} parser, which TensorRT 10 does not have",
                (fact.span,),
                same_as=fact.value,
            )


_BELOW_DEFAULT = {"0", "1", "2"}
"""The optimisation levels below the default."""


@explained("TF446")
def low_level(case: Case) -> Iterator[Observation]:
    """Report the level that trtexec prints."""
    for fact in case.printed("build", "BuilderOptimizationLevel"):
        level = fact.value.strip()
        if level in _BELOW_DEFAULT:
            title = f"The optimisation level is {level}"
            yield Observation(title, (fact.span,), steps=(default_level(case),), same_as="level")


@explained("TF447")
def random_weights(case: Case) -> Iterator[Observation]:
    """Report a command with a Caffe network and no file of its weights."""
    given, span = {*given_flags(case)}, command_span(case.build)
    if "--deploy" in given and not given & {"--model", "--loadEngine"} and span is not None:
        yield Observation("No --model beside --deploy: the weights are random", (span,), same_as="random weights")
