"""Where FP16 loses digits or speed: LayerNorm, weights, hardware without fast FP16."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.membership import foreign_members
from trtforensics.engines.requests import allows, precision_fact
from trtforensics.findings.engine_facts import runs_in
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import autocast, trtexec, typed
from trtforensics.findings.steps.machine import compute_capability

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from trtforensics.engines.membership import HoldingForeignNode
    from trtforensics.findings.case import Case
    from trtforensics.model.log import OnnxNode
    from trtforensics.model.notes import Note


@rule(
    "TF202",
    Severity.WARNING,
    "A LayerNorm pattern may run in FP16",
    cause="The line says that a LayerNorm made of small operations was found and that one of its ReduceMean or Pow "
    "nodes gives FP16. It does not say that a value overflowed: that takes a difference from the mean of more than "
    "255, whose square FP16 cannot hold. TensorRT forces nothing; the line is advice.",
    confirm="Mark the output of each LayerNorm and compare it with FP32; look for infinity and NaN.",
    fixes=(
        "Export with opset 17 or later: LayerNormalization becomes one node, which TensorRT normalises in FP32.",
        Fix(
            "Ask for FP32 for the nodes that no ForeignNode holds: --layerPrecisions=NAME:fp32 "
            "--precisionConstraints=obey. Inside a ForeignNode it does not reach (TF201).",
            "8.4",
            "11",
        ),
        Fix("Keep ReduceMean, Pow and LayerNormalization out of AutoCast: --op_types_to_exclude.", "10"),
    ),
    sources=(
        "NVIDIA/TensorRT#2781, #3692, #2564, #4493",
        "pytorch/TensorRT#2730, #4061",
        "builds with TensorRT-RTX 1.7.1 of LayerNorms whose nodes have one type or another",
    ),
)
def layernorm(case: Case) -> Iterator[Observation]:
    """Collect both warnings and name the nodes: from the warning, else from the parser's lines."""
    notes = case.notes("layernorm_fp16", "layernorm_overflow")
    if not notes:
        return
    said = " ".join(note.text("text") for note in notes if note.kind == "layernorm_fp16")
    known = {node.name: node for node in case.build.onnx_nodes}
    named = [node for name, node in known.items() if name and name in said]
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
        confidence=Confidence.LIKELY,
        settle="The outputs of these nodes compared with FP32: the warning is about the pattern, not about values",
        same_as="layernorm",
    )


def _keep_float(case: Case, nodes: list[OnnxNode], held: Mapping[str, HoldingForeignNode]) -> tuple[Step, ...]:
    """Return the commands that keep these nodes in FP32: AutoCast from 10 on, before that layer precisions.

    A layer precision does not reach into a ForeignNode, so it is proposed for the nodes outside only.
    """
    if case.version is not None and case.version.has("10"):
        names = [node.name for node in nodes]
        types = ("--op_types_to_exclude", "ReduceMean", "Pow", "LayerNormalization")
        return autocast(case, *(("--nodes_to_exclude", *names) if names else types)), typed(case)
    flag = ",".join(f"{node.name}:fp32" for node in nodes if node.name not in held)
    if not flag:
        return ()
    asked = trtexec(case, f"--layerPrecisions={flag}", f"--layerOutputTypes={flag}", "--precisionConstraints=obey")
    return (Step("Ask for FP32", asked),)


@rule(
    "TF208",
    Severity.WARNING,
    "Weights do not fit into FP16",
    cause="Weights were rounded to subnormal numbers, to zero's neighbour or to the largest number of FP16 when they "
    "were converted. Subnormals lose digits; overflow changes the model.",
    confirm="The verbose log lists the weights; look at their smallest and largest values in the model.",
    fixes=(
        "Keep the layers named in FP32, or clip and regularise their weights in training.",
        Fix("AutoCast leaves weights beyond --init_max in FP32.", "10"),
    ),
    sources=("logs of 8.4 and 8.5", "NVIDIA/TensorRT#3101"),
)
def weights(case: Case) -> Iterator[Observation]:
    """Count the weights, each once; overflow is an error, and what no layer of the engine uses is a note."""
    notes = case.notes("weights_affected", "weights_issue", "weights_layer")
    if not notes:
        return
    layers = _named_weights(case)
    overflow = [note for note in notes if "overflow" in note.text("text")]
    how = "overflowed" if overflow else "became subnormal or too small"
    unused = runs_in(case, "Half") is False
    yield Observation(
        f"{_how_many(notes, layers)} {how} when converted to FP16"
        + (f": {listed(layers)}" if layers else "")
        + ("; no layer of the engine is of FP16" if unused else ""),
        sorted((note.span for note in (*notes, *case.notes("weights_names"))), key=lambda span: span.line),
        layers=layers,
        severity=Severity.NOTE if unused else Severity.ERROR if overflow else Severity.WARNING,
        same_as=how,
    )


def _named_weights(case: Case) -> list[str]:
    """Return the weights that the lines name, each once: some have two of the issues."""
    lists = [name for note in case.notes("weights_names") for name in note.text("text").split(", ")]
    return list(dict.fromkeys([*(note.text("layer") for note in case.notes("weights_layer")), *lists]))


def _how_many(notes: Sequence[Note], layers: Sequence[str]) -> str:
    """Say how many weights: those that are named, else as many as the lines count, which may count one twice."""
    counts = [int(note.number("count") or 0) for note in notes if note.kind == "weights_affected"]
    if layers or len(counts) == 1:
        return counted(len(layers) or counts[0], "weight tensor")
    return f"{max(counts, default=0):,} to {sum(counts):,} weight tensors"


@rule(
    "TF209",
    Severity.WARNING,
    "This hardware is slow in FP16",
    cause="The GPU has no fast FP16 arithmetic: FP16 costs accuracy and gains nothing but memory.",
    confirm="Build with and without FP16 and compare throughput.",
    fixes=("Build in FP32 for this GPU.",),
    sources=(
        "8.x logs",
        "CUDA C++ Programming Guide, throughput of arithmetic instructions by compute capability",
    ),
)
def slow_half(case: Case) -> Iterator[Observation]:
    """Report the warning, or FP16 allowed on a compute capability that computes it slower than FP32."""
    steps = (Step("Build without FP16", trtexec(case, without=("--fp16", "--best"))),)
    notes = case.notes("fp16_slow")
    yield from observe(notes, "This GPU has no fast FP16", steps=steps, same_as="slow")
    capability, precision = compute_capability(case), precision_fact(case.build)
    if not notes and capability in _SLOW_HALF and precision is not None and allows(case.build, "FP16"):
        facts = [fact for fact in case.build.options.get("device", ()) if fact.name == "Compute Capability"]
        yield Observation(
            f"FP16 is allowed, and compute capability {'.'.join(map(str, capability))} has no fast FP16",
            (precision.span, *(fact.span for fact in facts)),
            steps=steps,
            same_as="slow",
        )


_SLOW_HALF = {(5, 0), (5, 2), (6, 1)}
"""Compute capabilities that TensorRT supports or did, and that compute FP16 no faster than FP32."""
