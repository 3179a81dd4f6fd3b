"""Choices that the next build may make differently: near ties, ForeignNodes, unstable clocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.engine_facts import in_engine, is_foreign, spans_of, timing_of, tuned_ms
from trtforensics.findings.finding import Fix, Observation, Severity
from trtforensics.findings.line_observations import count
from trtforensics.findings.machine import clocks
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import timings_kept
from trtforensics.model.timings import NEAR_TIE_RATIO

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


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
    """Report near ties among the engine's own choices, where these are known with their share of the tuned time."""
    build = case.build
    near = [c for c in build.choices if c.near_tie and c.final is not False and in_engine(build, c.pass_index)]
    if not near:
        return
    used = [c.time_ms or 0 for c in build.choices if c.final] + [c.time_ms or 0 for c in build.cached if c.final]
    total = sum(used)
    mine = sum(c.time_ms or 0 for c in near if c.final)
    share = f", {mine / total:.0%} of the tuned time" if used and total and all(c.final for c in near) else ""
    near.sort(key=lambda c: (c.runner_up_ms or 0) / (c.time_ms or 1))
    whose = f"of {count(len(used), 'choice')} of the engine" if share else "among the choices that may be the engine's"
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
    """Report the share of ForeignNodes in the layers, and in the tuned time where that is known."""
    layers = case.engine
    foreign = [layer for layer in layers if is_foreign(layer)]
    if foreign:
        timed = all(timing_of(case.build, layer) is not None for layer in foreign)
        whole = tuned_ms(case.build, layers)
        share = f", {tuned_ms(case.build, foreign) / whole:.0%} of the tuned time" if timed and whole else ""
        nodes = list(dict.fromkeys(node for layer in foreign for node in layer.onnx_nodes))
        yield Observation(
            f"{len(foreign)} of {count(len(layers), 'engine layer')} {'are' if len(foreign) > 1 else 'is'} "
            f"Myelin's{share}: "
            "a replay cannot pin them",
            spans_of(foreign),
            layers=[layer.name for layer in foreign],
            onnx_nodes=nodes,
            same_as="coverage",
        )


@rule(
    "TF508",
    Severity.WARNING,
    "GPU time was unstable",
    cause="Clocks changed while measuring: timings of this build, and of its tactics, are noise beyond a few per cent.",
    confirm="nvidia-smi --query-gpu=clocks.sm --format=csv --loop=1 while building.",
    fixes=("Lock the clocks, cool the GPU, leave it alone while building.",),
    sources=("trtexec's source: above 2.5 % of variation",),
)
def unstable(case: Case) -> Iterator[Observation]:
    """Quote the variation."""
    for note in case.notes("unstable"):
        variation = note.number("number")
        told_variation = f" (coefficient of variance {variation:.3g} %)" if variation is not None else ""
        yield Observation(
            f"GPU compute time was unstable{told_variation}",
            (note.span,),
            steps=(clocks(case),),
        )
