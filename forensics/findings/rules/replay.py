"""Tactic replays: what the build log says of the one that the build followed, and what ``replay lint`` reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.observations import observe
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.steps.commands import replay_path, trtforensics
from trtforensics.model.layer_types import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


def _lint(case: Case) -> Step:
    """Return the step that judges the replay that was given, or that the log's command loads."""
    path = replay_path(case)
    command = trtforensics("replay", "lint", path, "--log", case.log.source.path) if path else ""
    return Step("Compare the replay with the log", command)


@explained("TF319")
def refused(case: Case) -> Iterator[Observation]:
    """Name the layers, and the reason where it is a ForeignNode."""
    notes = case.notes("replay_refused")
    layers = list(dict.fromkeys(note.text("layer") for note in notes))
    for layer in layers:
        spans = [n.span for n in notes if n.text("layer") == layer]
        spans += [n.span for n in case.notes("selector_threw") if n.span not in spans]
        foreign = is_foreign_node(layer)
        yield Observation(
            f"The replay's tactic for {layer} is refused"
            + (": a ForeignNode offers what it recorded only" if foreign else ""),
            spans,
            layers=(layer,),
            steps=(_lint(case),),
            same_as="refused" + (" foreign" if foreign else ""),
        )


@explained("TF321")
def partly(case: Case) -> Iterator[Observation]:
    """Report layers that the replay lacks, and tactics of the replay that were not taken."""
    title = "The replay does not hold {names}"
    yield from observe(case.notes("replay_unknown"), title, names="layer", steps=(_lint(case),), same_as="missing")
    title = "TensorRT did not take the replay's tactic for {names}"
    notes = case.notes("replay_ignored")
    yield from observe(notes, title, names="layer", steps=(_lint(case),), severity=Severity.ERROR, same_as="ignored")


def _observed(case: Case, title: str, *codes: str) -> Iterator[Observation]:
    """Give one observation of the replay's problems in this build that have one of these codes."""
    problems = [problem for problem in case.replay_problems if problem.code in codes]
    if problems:
        layers = list(dict.fromkeys(problem.layer for problem in problems if problem.layer))
        entries = "1 entry" if len(problems) == 1 else f"{len(problems)} entries"
        yield Observation(
            title.replace("{count}", entries).replace("{names}", listed(layers)),
            [problem.span for problem in problems],
            cause=". ".join(dict.fromkeys(problem.what for problem in problems[:3])),
            layers=layers,
            steps=(_lint(case),),
            same_as=problems[0].code,
        )


@explained("TF801")
def not_offered(case: Case) -> Iterator[Observation]:
    """Report entries that equal no choice of the log."""
    codes = ("format-not-offered", "tactic-not-offered", "wrong-runner")
    yield from _observed(case, "{count} of the replay will be refused: {names}", *codes)


@explained("TF802")
def foreign_types(case: Case) -> Iterator[Observation]:
    """Report entries with types that the log does not offer for the ForeignNode."""
    title = "The replay changes the types of {names}, which will be refused"
    yield from _observed(case, title, "foreign-node-dtype")


@explained("TF803")
def without_effect(case: Case) -> Iterator[Observation]:
    """Report entries whose layer the build does not tune."""
    codes = ("missing-layer", "renamed-layer", "wrong-profile", "no-selector")
    yield from _observed(case, "{count} of the replay without effect: {names}", *codes)


@explained("TF804")
def unpinned(case: Case) -> Iterator[Observation]:
    """Report layers of the log without an entry."""
    yield from _observed(case, "The replay does not pin {names}", "unpinned-layer")


@explained("TF805")
def inside(case: Case) -> Iterator[Observation]:
    """Report entries of ForeignNodes."""
    yield from _observed(case, "The replay has ForeignNodes, inside which it pins nothing: {names}", "foreign-nodes")
