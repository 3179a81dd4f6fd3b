"""Strongly and weakly typed networks: flags that contradict strong typing, silent FP32 engines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, listed
from trtforensics.engines.onnx_nodes import foreign_members
from trtforensics.engines.requests import WEAK_FLAGS, allows, command_span, precision_fact, strongly_typed
from trtforensics.findings.finding import Confidence, Observation, Step
from trtforensics.findings.layers import FULL, layer_types, output_types, spans_of
from trtforensics.findings.observations import observe
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.steps.commands import autocast, given_flags, trtexec, typed, typed_step
from trtforensics.model.layer_types import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@explained("TF405")
def precision_flag(case: Case) -> Iterator[Observation]:
    """Name the flags."""
    step = Step("Leave the precision flags out", trtexec(case, without=WEAK_FLAGS))
    title = "A strongly typed network was given the precision flag {names}"
    yield from observe(case.notes("precision_flag"), title, names="flag", steps=(step,))


@explained("TF407")
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
    counts = case.build.message_counts
    if counts.warning or counts.error or not case.ran("10.16", "11"):
        return []
    given = {*given_flags(case)}
    return [] if given & {"--stronglyTyped", "--loadEngine"} else sorted(given & {*WEAK_FLAGS})


_REDUCTIONS = {"LayerNormalization", "Softmax", "Pow", "ReduceMean", "ReduceSum", "InstanceNormalization"}


@explained("TF213")
def silent_float(case: Case) -> Iterator[Observation]:
    """Report an engine with FP32 outputs only, where it is strongly typed or a reduced type was allowed."""
    layers = [layer for layer in case.engine if output_types(layer)]
    hidden = any(is_foreign_node(layer.name) for layer in layers)  # their inner types are not printed
    if not layers or hidden or any(layer_types(layer) - {FULL} for layer in layers):
        return
    fact = precision_fact(case.build)
    spans = [*([fact.span] if fact else []), *(n.span for n in case.notes("strongly_typed")), *spans_of(layers)]
    if strongly_typed(case.build):
        title = f"All {len(layers)} layers of this strongly typed engine give FP32"
        yield Observation(title, spans, steps=_converted(case), same_as="typed")
    elif allows(case.build, "FP16", "BF16", "INT8"):
        yield Observation(
            f"A reduced precision was allowed, but all {len(layers)} layers give FP32",
            spans,
            cause="TensorRT was free to use a reduced type and found none faster, or constraints keep all layers in "
            "FP32.",
            settle="A detailed engine dump: types inside a layer are not printed otherwise",
            same_as="allowed",
        )


@explained("TF215")
def islands(case: Case) -> Iterator[Observation]:
    """Count the Casts that ForeignNodes hold, where types are not binding."""
    held = foreign_members(case.build)
    casts = [node for node in case.build.onnx_nodes if node.op == "Cast" and node.name in held]
    if len(casts) > 1 and not strongly_typed(case.build) and allows(case.build, "FP16", "BF16"):
        between = [n for n in case.build.onnx_nodes if n.op in _REDUCTIONS and n.name in held]
        yield Observation(
            f"{counted(len(casts), 'Cast')} of the model are inside "
            f"{listed(sorted({held[c.name].name for c in casts}), 1)}, "
            "where weak typing need not keep them",
            [node.span for node in casts],
            confidence=Confidence.POSSIBLE,
            settle="A strongly typed build, in which Casts are binding, compared with this one",
            onnx_nodes=[node.name for node in (*casts, *between)],
            layers=sorted({held[node.name].name for node in casts}),
            steps=typed_step("Build with the model's types", trtexec(case, "--stronglyTyped")),
            same_as="islands",
        )


def _converted(case: Case) -> tuple[Step, ...]:
    cast = autocast(case, "--low_precision_type", "fp16")
    return Step(f"If FP16 was meant: {cast.what}", cast.command), typed(case)
