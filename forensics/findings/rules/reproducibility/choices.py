"""Choices that the next build may make differently: near ties, ForeignNodes, unstable clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.membership import in_engine
from trtforensics.findings.engine_facts import is_foreign, spans_of, time_share
from trtforensics.findings.finding import Fix, Observation, Severity
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import timings_kept
from trtforensics.findings.steps.machine import clocks
from trtforensics.model.timings import NEAR_TIE_RATIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.log import CachedResult, Choice


@rule(
    "TF506",
    Severity.NOTE,
    "Choices are near ties",
    cause="The runner-up is within 2 % of the chosen tactic: noise decides, so the next build may choose the other "
    "one, which rounds differently.",
    confirm="Build again with the same command and compare: trtforensics diff FIRST SECOND.",
    fixes=(
        "Lock the GPU's clocks while building (nvidia-smi --lock-gpu-clocks).",
        Fix("Keep a timing cache, so that the same tactic wins again.", "8.0"),
        Fix("Pin tactics by an editable timing cache (BuilderFlag.EDITABLE_TIMING_CACHE).", "10.8"),
        Fix("Pin tactics by a replay: polygraphy run --save-tactics, --load-tactics.", "8.5", "11"),
    ),
    sources=("NVIDIA/TensorRT#4730, #3316, #568, #1071, #2955", "TensorRT-Model-Connect#416"),
)
def near_ties(case: Case) -> Iterator[Observation]:
    """Report near ties among the engine's own choices, where these are known with their share of the engine's time."""
    build = case.build
    tied = {
        place: choice
        for place, choice in enumerate(build.choices)
        if choice.near_tie and choice.final is not False and in_engine(build, choice.pass_index)
    }
    near = list(tied.values())
    if not near:
        return
    every: tuple[Choice | CachedResult, ...] = (*build.choices, *build.cached)
    used = [one for one in every if one.final]
    layers = [layer for layer in build.engine_layers if layer.choice in tied]
    cost = time_share(build, layers) if all(choice.final for choice in near) else None
    share = f", {cost}" if cost is not None else ""
    near.sort(key=lambda c: (c.runner_up_ms or 0) / (c.time_ms or 1))
    whose = (
        f"of {counted(len(used), 'choice')} of the engine" if share else "among the choices that may be the engine's"
    )
    yield Observation(
        f"Near ties (runner-up within {NEAR_TIE_RATIO - 1:.0%}): {len(near)} {whose}{share}",
        [c.span for c in near],
        layers=list(dict.fromkeys(c.layer for c in near)),
        steps=timings_kept(case),
        same_as="near ties",
    )


@rule(
    "TF507",
    Severity.NOTE,
    "Part of the engine is inside ForeignNodes",
    cause="A ForeignNode is one entry to an algorithm selector, with tactic 0: a replay cannot pin the kernels "
    "inside, and two builds with one replay may differ there.",
    confirm="The replay's entry of the ForeignNode has tactic 0.",
    fixes=(
        Fix("Pin what is inside by keys of an editable timing cache.", "10.8"),
        Fix("Break it up by marking outputs, or by Casts.", before="10.8"),
        Fix("Steer Myelin by a build route (--setBuildRoute).", "11.1"),
    ),
    sources=("NVIDIA/TensorRT#2576, #4040", "Polygraphy's example of flaky tactics"),
)
def coverage(case: Case) -> Iterator[Observation]:
    """Report the share of ForeignNodes in the layers, and in the engine's time where that is known."""
    layers = case.engine
    foreign = [layer for layer in layers if is_foreign(layer)]
    if foreign:
        cost = time_share(case.build, foreign)
        share = f", {cost}" if cost is not None else ""
        nodes = list(dict.fromkeys(node for layer in foreign for node in layer.onnx_nodes))
        yield Observation(
            f"{len(foreign)} of {counted(len(layers), 'engine layer')} {'are' if len(foreign) > 1 else 'is'} "
            f"Myelin's{share}: "
            "a replay cannot pin them",
            spans_of(foreign),
            layers=[layer.name for layer in foreign],
            onnx_nodes=nodes,
            same_as="coverage",
        )


_SHAKY = 5.0
"""Coefficient of variance in per cent from which measured times are doubtful; below, only close ones are."""


@rule(
    "TF508",
    Severity.WARNING,
    "GPU time was unstable",
    cause="Clocks that change while measuring do this, another program on the GPU, or runs that are too short to time. "
    "Timings of this build, and of its tactics, are noise beyond a few per cent.",
    confirm="nvidia-smi --query-gpu=clocks.sm --format=csv --loop=1 while building.",
    fixes=("Lock the clocks, cool the GPU, leave it alone while building.",),
    sources=("trtexec's performance summary, 8.0 to 11.1: it warns from 1 % of variation on",),
)
def unstable(case: Case) -> Iterator[Observation]:
    """Quote the variation."""
    for note in case.notes("unstable"):
        variation = note.number("number")
        told_variation = f" (coefficient of variance {variation:.3g} %)" if variation is not None else ""
        shaky = variation is None or variation >= _SHAKY
        yield Observation(
            f"GPU compute time was unstable{told_variation}",
            (note.span,),
            severity=Severity.WARNING if shaky else Severity.NOTE,
            steps=(clocks(case),),
        )
