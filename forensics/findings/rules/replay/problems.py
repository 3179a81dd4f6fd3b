"""Problems that ``replay lint`` reports for a replay in this build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.case import Need
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed
from trtforensics.findings.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.replay import Problem

_REFUSED = {"format-not-offered", "tactic-not-offered", "wrong-runner"}
_WITHOUT_EFFECT = {"missing-layer", "renamed-layer", "wrong-profile", "no-selector"}
_SOURCES = ("NVIDIA/TensorRT#4040", "Polygraphy's algorithm selector, 0.29 to 0.53")


def _problems(case: Case, *codes: str) -> list[Problem]:
    """Return the problems of the replay in this build that have one of these codes."""
    return [problem for problem in case.replay_problems if problem.code in codes]


def _observed(case: Case, problems: list[Problem], title: str) -> Iterator[Observation]:
    if problems:
        layers = list(dict.fromkeys(problem.layer for problem in problems if problem.layer))
        entries = "1 entry" if len(problems) == 1 else f"{len(problems)} entries"
        command = f"trtforensics replay lint {case.the_replay.replay.source.path} --log {case.log.source.path}"
        yield Observation(
            title.replace("{count}", entries).replace("{names}", listed(layers)),
            [problem.span for problem in problems],
            cause=". ".join(dict.fromkeys(problem.what for problem in problems[:3])),
            layers=layers,
            steps=(Step("See every field that differs", command),),
            same_as=problems[0].code,
        )


@rule(
    "TF801",
    Severity.ERROR,
    "The replay asks for what this build does not offer",
    cause="An entry's runner, tactic or tensors equal no choice that TensorRT offers: the build stops there.",
    confirm="trtforensics replay lint prints the nearest choice, field by field.",
    fixes=("Record the replay from a build with these flags, or correct the fields that differ.",),
    sources=_SOURCES,
    needs=(Need.REPLAY,),
)
def not_offered(case: Case) -> Iterator[Observation]:
    """Report entries that equal no choice of the log."""
    yield from _observed(case, _problems(case, *_REFUSED), "{count} of the replay will be refused: {names}")


@rule(
    "TF802",
    Severity.ERROR,
    "The replay changes types of a ForeignNode",
    cause="A ForeignNode offers what Myelin compiled; a replay edited from HALF to FLOAT there equals no choice and "
    "is refused.",
    confirm="trtforensics replay lint prints the types that the log offers.",
    fixes=(
        Fix("Put Casts into the model and build strongly typed.", "10"),
        Fix("Mark an output to take the layer out of the ForeignNode.", before="11"),
    ),
    sources=_SOURCES,
    needs=(Need.REPLAY,),
)
def foreign_types(case: Case) -> Iterator[Observation]:
    """Report entries with types that the log does not offer for the ForeignNode."""
    problems = _problems(case, "foreign-node-dtype")
    yield from _observed(case, problems, "The replay changes the types of {names}, which will be refused")


@rule(
    "TF803",
    Severity.ERROR,
    "Part of the replay is without effect",
    cause="A layer of the replay does not exist in this build, or has another name: TensorRT chooses the tactic there.",
    confirm="trtforensics replay lint names the layer that it may have become.",
    fixes=("Record the replay again: names change with the TensorRT version, the model and its outputs.",),
    sources=_SOURCES,
    needs=(Need.REPLAY,),
)
def without_effect(case: Case) -> Iterator[Observation]:
    """Report entries whose layer the build does not tune."""
    yield from _observed(case, _problems(case, *_WITHOUT_EFFECT), "{count} of the replay without effect: {names}")


@rule(
    "TF804",
    Severity.WARNING,
    "The build has layers that the replay does not pin",
    cause="A layer that is not in the replay gets the tactic that is fastest in this build.",
    confirm="trtforensics replay lint lists them.",
    fixes=("Record the replay from a whole build with these flags.",),
    sources=_SOURCES,
    needs=(Need.REPLAY,),
)
def unpinned(case: Case) -> Iterator[Observation]:
    """Report layers of the log without an entry."""
    yield from _observed(case, _problems(case, "unpinned-layer"), "The replay does not pin {names}")


@rule(
    "TF805",
    Severity.NOTE,
    "The replay cannot pin what is inside its ForeignNodes",
    cause="A ForeignNode is one entry with tactic 0; the kernels inside are Myelin's own choice.",
    confirm="The entry's tactic is 0.",
    fixes=(Fix("Use keys of an editable timing cache for them: trtforensics bisect cache.", "10.8"),),
    sources=("Polygraphy's example of flaky tactics", "NVIDIA/TensorRT#2576"),
    needs=(Need.REPLAY,),
)
def inside(case: Case) -> Iterator[Observation]:
    """Report entries of ForeignNodes."""
    problems = _problems(case, "foreign-nodes")
    yield from _observed(case, problems, "The replay has ForeignNodes, inside which it pins nothing: {names}")
