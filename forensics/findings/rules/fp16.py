"""Where FP16 loses digits or speed: LayerNorm, weights, hardware without fast FP16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted, listed
from trtforensics.engines.onnx_nodes import foreign_members
from trtforensics.engines.requests import allows, precision_fact
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.layers import runs_in
from trtforensics.findings.observations import observe
from trtforensics.findings.rule_tables import explained
from trtforensics.findings.steps.commands import autocast, trtexec, typed
from trtforensics.findings.steps.machine import compute_capability

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.engines.onnx_nodes import HoldingForeignNode
    from trtforensics.findings.case import Case
    from trtforensics.model.log import OnnxNode
    from trtforensics.model.notes import Note


@explained("TF202")
def layernorm(case: Case) -> Iterator[Observation]:
    """Collect both warnings and name the nodes: from the warning, else from the parser's lines."""
    notes = case.notes("layernorm_fp16", "layernorm_overflow")
    if not notes:
        return
    warning = " ".join(note.text("text") for note in notes if note.kind == "layernorm_fp16")
    known = {node.name: node for node in case.build.onnx_nodes}
    named = [node for name, node in known.items() if name and name in warning]
    nodes = named or [node for node in known.values() if node.op == "LayerNormalization"]
    held = foreign_members(case.build)
    inside = sorted({held[node.name].name for node in nodes if node.name in held})
    where = f" inside {listed(inside, 2)}" if inside else ""
    what = listed([node.name for node in nodes]) if nodes else "a LayerNorm"
    yield Observation(
        f"TensorRT warns that {what} has FP16 Reduce or Pow{where}, which may overflow",
        [note.span for note in notes] + [node.span for node in nodes],
        layers=inside,
        onnx_nodes=[node.name for node in nodes],
        steps=_keep_float(case, nodes, held),
        settle="The outputs of these nodes compared with FP32: the warning is about the pattern, not about values",
        same_as="layernorm",
    )


def _keep_float(case: Case, nodes: list[OnnxNode], held: Mapping[str, HoldingForeignNode]) -> tuple[Step, ...]:
    """Return the commands that keep these nodes in FP32: AutoCast from 10 on, before that layer precisions.

    A layer precision does not reach into a ForeignNode, so it is proposed for the nodes outside only.
    """
    if case.ran("10"):
        names = [node.name for node in nodes]
        types = ("--op_types_to_exclude", "ReduceMean", "Pow", "LayerNormalization")
        return autocast(case, *(("--nodes_to_exclude", *names) if names else types)), typed(case)
    flag = ",".join(f"{node.name}:fp32" for node in nodes if node.name not in held)
    if not flag:
        return ()
    asked = trtexec(case, f"--layerPrecisions={flag}", f"--layerOutputTypes={flag}", "--precisionConstraints=obey")
    return (Step("Ask for FP32", asked),)


@explained("TF208")
def weights(case: Case) -> Iterator[Observation]:
    """Count the weights, each once; overflow is an error, and what no layer of the engine uses is a note."""
    notes = case.notes("weights_affected", "weights_issue", "weights_layer")
    if not notes:
        return
    overflow = [note for note in notes if "overflow" in note.text("text")]
    layers = _named_weights(case, overflow)
    size, worst = "large" if overflow else "small", {note.span.line for note in overflow}
    unused = runs_in(case, "Half") is False
    yield Observation(
        f"{_how_many(overflow or notes, layers)} too {size} for FP16"
        + (f": {listed(layers)}" if layers else "")
        + ("; no layer of the engine is of FP16" if unused else ""),
        sorted(
            (note.span for note in (*notes, *case.notes("weights_names"))),
            key=lambda span: (span.line not in worst, span.line),
        ),
        layers=layers,
        severity=Severity.NOTE if unused else Severity.ERROR if overflow else Severity.WARNING,
        same_as="overflowed" if overflow else "became subnormal or too small",
    )


def _named_weights(case: Case, issues: Sequence[Note]) -> list[str]:
    """Return the weights that the lines name, each once: of issues those named above or below, where there are any."""
    lines = [note.span.line for note in issues]
    lists = [note for note in case.notes("weights_names") if not lines or note.span.line - 1 in lines]
    named = [name for note in lists for name in note.text("text").split(", ")]
    headed = case.notes("weights_layer")
    above = [[note for note in headed if note.span.line < line][-1:] for line in lines] if lines else [headed]
    return list(dict.fromkeys([*(note.text("layer") for notes in above for note in notes), *named]))


def _how_many(notes: Sequence[Note], layers: Sequence[str]) -> str:
    """Say how many weights hold such values: those that are named, else as many as one line counts, or more."""
    counts = [int(note.number("count") or 0) for note in notes if note.kind == "weights_affected"]
    number = len(layers) or max(counts, default=0)
    bound = "At least " if not layers and len(counts) > 1 else ""
    return f"{bound}{counted(number, 'weight tensor')} {'holds' if number == 1 else 'hold'} values"


@explained("TF209")
def slow_half(case: Case) -> Iterator[Observation]:
    """Report the warnings where TensorRT knows the GPU, or FP16 allowed where it is slower than FP32."""
    steps = (Step("Build without FP16", trtexec(case, without=("--fp16", "--best"))),)
    without_int8 = (Step("Build without INT8", trtexec(case, without=("--int8", "--best"))),)
    warnings = [] if case.notes("sm_unknown") else case.notes("type_slow", "hardware_lacks")
    notes = [note for note in warnings if note.text("type") != "Int8"]
    yield from observe(notes, "This GPU has no fast FP16", steps=steps, same_as="slow")
    int8 = [note for note in warnings if note.text("type") == "Int8"]
    yield from observe(int8, "This GPU has no fast INT8", steps=without_int8, same_as="slow INT8")
    capability, precision = compute_capability(case), precision_fact(case.build)
    if not notes and capability in _SLOW_HALF and precision is not None and allows(case.build, "FP16"):
        facts = case.printed("device", "Compute Capability")
        yield Observation(
            f"FP16 is allowed, and compute capability {'.'.join(map(str, capability))} has no fast FP16",
            (precision.span, *(fact.span for fact in facts)),
            steps=steps,
            same_as="slow",
        )


_SLOW_HALF = {(5, 0), (5, 2), (6, 1)}
"""Compute capabilities that TensorRT supports or did, and that compute FP16 no faster than FP32."""
