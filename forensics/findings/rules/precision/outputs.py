"""Outputs: marking them changes the engine, and their values differ from the reference."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.engines.requests import allows, command_span
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import polygraphy_run, trtexec
from trtforensics.model.log import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.log import OnnxNode
    from trtforensics.model.notes import Note

_EXACT = 1e-4
"""A tolerance below this is finer than FP16 can be: it has eleven bits, about three digits."""


@rule(
    "TF214",
    Severity.WARNING,
    "Every tensor is marked as output",
    cause="An output ends a fusion: with all tensors marked, TensorRT builds another engine than the one that is "
    "wrong. It may come out right, fail inside Myelin, or run out of memory; what it shows says little about the real "
    "one.",
    confirm="Compare the number of engine layers with and without the marks.",
    fixes=(
        "Mark a few tensors where fused layers end, not all.",
        Fix("Mark unfused tensors as debug tensors: these marks leave fusions alone.", "10.12"),
        "Search the smallest set of marks that makes the result right: trtforensics bisect outputs.",
    ),
    sources=("NVIDIA/TensorRT#3258, #3592, #2232", "Polygraphy's --mark-unfused-tensors-as-debug-tensors"),
)
def mark_all(case: Case) -> Iterator[Observation]:
    """Report the command that marks all tensors, or a large number of marked outputs."""
    marks, span, nodes = case.notes("marking_output"), command_span(case.build), len(case.build.onnx_nodes)
    many = [note for note in case.notes("poly_mark") if _number(note) > _MANY_OUTPUTS]
    if span is not None and "--trt-outputs mark all" in (case.build.command or ""):
        title = "All tensors are marked as outputs (mark all)"
        yield Observation(title, (span, *(note.span for note in many)), steps=_fewer(case), same_as="all")
    elif many or (nodes and len(marks) > max(_MANY_OUTPUTS, nodes / 2)):
        number = _number(many[0]) if many else len(marks)
        yield Observation(
            f"{number} tensors are marked as outputs" + ("" if many else f", of a network of {nodes} nodes"),
            [note.span for note in many or marks],
            confidence=Confidence.LIKELY if many else Confidence.POSSIBLE,
            settle="Whether the model has that many outputs of its own",
            severity=Severity.WARNING if many else Severity.NOTE,
            steps=_fewer(case),
            same_as="all",
        )


def _number(note: Note) -> int:
    """Return how many tensors Polygraphy says it marks: ``24 tensors as outputs``, ``all ONNX tensors as outputs``."""
    first = note.text("scope").partition(" ")[0]
    return int(first) if first.isdecimal() and len(first) <= _MOST_DIGITS else 0


_CLOSE = ("--atol", "1e-3", "--rtol", "1e-3")
_MANY_OUTPUTS = 10
_MOST_DIGITS = 9
"""Digits of the largest number of tensors that is read; longer numbers are not believed."""


def _fewer(case: Case) -> tuple[Step, ...]:
    """Return the step for the tool: debug tensors leave fusions alone, but only trtexec 10.12 and later has them."""
    command = trtexec(case, "--markUnfusedTensorsAsDebugTensors", without=("--markDebug",))
    if command:
        return (Step("Mark tensors without breaking fusions", command),)
    return (Step("Mark two or three tensors where fused layers end, not all"),)


@rule(
    "TF216",
    Severity.ERROR,
    "TensorRT's results differ from the reference",
    cause="An output is further from the reference than the tolerance allows. Polygraphy's default of 1e-5 is finer "
    "than the precision of FP16 and of TF32.",
    confirm="Compare an FP32 build (without TF32) first, with a tolerance of 1e-3. Only when FP32 is right, go on to "
    "FP16 step by step.",
    fixes=(
        "Is FP32 right? polygraphy run MODEL --trt --onnxrt --atol 1e-3 --rtol 1e-3. If not, FP16 is not the cause.",
        "If FP32 is right and FP16 is not: trtforensics bisect precision, or compare a few tensors marked as outputs.",
    ),
    sources=("Polygraphy's comparison, 0.38 to 0.53",),
)
def differs(case: Case) -> Iterator[Observation]:
    """Name the outputs; only a warning where reduced types cannot meet the tolerances."""
    notes = case.notes("output_differs")
    if not notes:  # Polygraphy's last line, in an excerpt that has nothing else
        yield from observe(case.notes("outputs_mismatched"), "An output differs from the reference", same_as="mismatch")
    fine = [note for note in notes if min(note.number("relative") or 0, note.number("absolute") or 0) < _EXACT]
    half = allows(case.build, "FP16", "BF16", "INT8")
    polygraphy_log = case.build.tool is Tool.POLYGRAPHY
    float_run = polygraphy_run(case, *([] if polygraphy_log else ["--onnxrt"]), *_CLOSE, reduced=False)
    name = "{names}" if any(note.text("tensor") for note in notes) else "An output"
    yield from observe(
        notes,
        f"{name} differs from the reference{', by a tolerance that FP16 cannot meet' if half and fine else ''}",
        names="tensor",
        severity=Severity.WARNING if half and len(fine) == len(notes) else None,
        steps=(Step("Is FP32 right?", float_run),),
    )


@rule(
    "TF217",
    Severity.NOTE,
    "A static batch of 1 is broadcast",
    cause="Where the batch is fixed to 1, an operation may broadcast that dimension by accident: the result is right "
    "with a dynamic batch and wrong with a static one.",
    confirm="Build once with a dynamic batch (MIN 1, MAX 2) and compare the results at batch 1.",
    fixes=("Export with a dynamic batch axis, or give the operands equal shapes.",),
    sources=("public reports: right with batch 1 to 2, wrong with static batch 1",),
)
def broadcast(case: Case) -> Iterator[Observation]:
    """Report inputs with a static leading 1 together with operations that are broadcast along a leading 1.

    Each operand has its line: the network's input, the node that makes it, or the import of the weight. Where the
    parser's lines are missing, an operand may be a weight, which is broadcast in every network; two operands that are
    both broadcast are no weights.
    """
    if not case.build.onnx_nodes:
        yield from _both_stretched(case)
        return
    inputs = {note.text("tensor"): note for note in case.notes("adding_input")}
    static = [note for note in inputs.values() if note.text("dims").startswith("(1,")]
    nodes = {node.name: node for node in case.build.onnx_nodes}
    computed = _computed(nodes.values(), inputs)
    wide = [note for note in case.notes("broadcasting") if _stretches(note, nodes.get(note.text("layer")), computed)]
    if static and wide:
        made = {tensor: node.span for node in nodes.values() for tensor in node.outputs}
        named = {note.text("tensor"): note.span for note in case.notes("importing_initializer")}
        named |= made | {tensor: note.span for tensor, note in inputs.items()}
        operands = [tensor for note in wide for tensor in nodes[note.text("layer")].inputs]
        spans = [note.span for note in (*static, *wide)] + [named[tensor] for tensor in operands if tensor in named]
        yield Observation(
            f"A leading dimension of 1 is broadcast {counted(len(wide), 'time')}, and the batch is fixed to 1",
            list(dict.fromkeys(spans)),
            layers=list(dict.fromkeys(note.text("layer") for note in wide)),
            confidence=Confidence.POSSIBLE,
            settle="The same model built with a dynamic batch, run at batch 1",
            same_as="broadcast",
        )


def _computed(nodes: Iterable[OnnxNode], inputs: Iterable[str]) -> set[str]:
    """Return the tensors that depend on the network's inputs; all others are weights, or follow from weights."""
    computed = set(inputs)
    for node in nodes:  # the parser meets a node after those that make its inputs
        if not computed.isdisjoint(node.inputs):
            computed.update(node.outputs)
    return computed


def _both_stretched(case: Case) -> Iterator[Observation]:
    """Report operations of which both operands are broadcast, at least one of them along a leading 1."""
    notes = [note for note in case.notes("broadcasting") if note.text("second") and _has_leading_one(note)]
    yield from observe(
        notes,
        f"Both operands of {{names}} are broadcast, along a leading dimension of 1 ({counted(len(notes), 'line')})",
        names="layer",
        confidence=Confidence.POSSIBLE,
        settle="The same model built with a dynamic batch, run at batch 1",
        same_as="broadcast",
    )


def _has_leading_one(note: Note) -> bool:
    return any(f"dims(input{at})=[1," in note.text("text") for at in (0, 1))


def _stretches(note: Note, node: OnnxNode | None, computed: set[str]) -> bool:
    """Whether a tensor that is no weight is broadcast along its leading 1; for weights that is usual."""
    at = int(note.number("count") or 0)
    if node is None or at >= len(node.inputs) or node.inputs[at] not in computed:
        return False
    return f"dims(input{at})=[1," in note.text("text")


@rule(
    "TF246",
    Severity.NOTE,
    "Only outputs of integers were compared",
    cause="An output of integers, such as the place of the largest score, is equal as long as no error changes the "
    "order. That it matches says nothing of how far the values before it are off.",
    confirm="The lines 'Comparing Output' print the type of each output.",
    fixes=("Mark the floating-point tensor before the ArgMax or TopK as output too, and compare that.",),
    sources=("Polygraphy's comparison, 0.33 to 0.49",),
)
def integers_compared(case: Case) -> Iterator[Observation]:
    """Report a comparison in which every output holds integers."""
    notes = case.notes("poly_compared")
    if all(note.text("dtype").startswith(("int", "uint", "bool")) for note in notes):
        yield from observe(notes, "Only integers were compared: {names}", names="tensor", same_as="integers")
