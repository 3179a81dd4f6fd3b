"""Where FP16 and INT8 lose digits: LayerNorm, weights, quantisation, casts, marked outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.engine_facts import FULL, output_types, spans_of
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import count, listed, told
from trtforensics.findings.precision import (
    WEAK_FLAGS,
    allows,
    command_span,
    foreign_members,
    precision_fact,
    strongly_typed,
)
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import model_path, polygraphy, trtexec
from trtforensics.parsers.notation.names import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.log import OnnxNode
    from trtforensics.model.notes import Note

_REDUCTIONS = {"LayerNormalization", "Softmax", "Pow", "ReduceMean", "ReduceSum", "InstanceNormalization"}
_EXACT = 1e-4
"""A tolerance below this is finer than FP16 can be: it has eleven bits, about three digits."""


@rule(
    "TF202",
    Severity.WARNING,
    "LayerNorm runs in FP16 and may overflow",
    cause="The squares that a LayerNorm adds up pass 65504 easily; FP16 then holds infinity, and the layers after it "
    "NaN or noise. More than 20 % of accuracy was lost so on A100.",
    confirm="Mark the output of each LayerNorm and compare it with FP32; look for infinity and NaN.",
    fixes=(
        "Export with opset 17 or later: LayerNormalization becomes one node, which TensorRT normalises in FP32.",
        Fix(
            "Ask for FP32: --layerPrecisions=NAME:fp32 --precisionConstraints=obey. Inside a ForeignNode it does "
            "not reach (TF201).",
            "8.4",
            "11",
        ),
        Fix("Keep LayerNormalization out of AutoCast: --op_types_to_exclude LayerNormalization.", "10"),
    ),
    sources=("NVIDIA/TensorRT#2781, #3692, #2564, #4493", "pytorch/TensorRT#2730, #4061"),
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
    what = listed([node.name for node in nodes]) if nodes else "LayerNorm"
    yield Observation(
        f"TensorRT warns that {what} runs in FP16{where} and may overflow",
        [note.span for note in notes] + [node.span for node in nodes],
        layers=inside,
        onnx_nodes=[node.name for node in nodes],
        steps=_keep_float(case, nodes),
        same_as="layernorm",
    )


def _keep_float(case: Case, nodes: list[OnnxNode]) -> tuple[Step, ...]:
    """Give the commands that keep these nodes in FP32: AutoCast from 10 on, layer precisions before."""
    if case.version is None or case.version.has("10"):
        names = " ".join(f"'{node.name}'" for node in nodes)
        what = f"--nodes_to_exclude {names}" if names else "--op_types_to_exclude LayerNormalization"
        cast = f"python -m modelopt.onnx.autocast --onnx_path {model_path(case)} --output_path mixed.onnx"
        typed = trtexec(case, "--onnx=mixed.onnx", "--stronglyTyped", without=WEAK_FLAGS)
        return Step("Keep them in FP32 in the model", f"{cast} {what}"), Step("and build strongly typed", typed)
    flag = ",".join(f"{node.name}:fp32" for node in nodes) or "NAME:fp32"
    asked = trtexec(case, f"--layerPrecisions={flag}", f"--layerOutputTypes={flag}", "--precisionConstraints=obey")
    return (Step("Ask for FP32", asked),)


@rule(
    "TF208",
    Severity.WARNING,
    "Weights do not fit into FP16",
    cause="Weights were rounded to subnormal numbers, to zero's neighbour or to the largest number of FP16 when they "
    "were "
    "converted. Subnormals lose digits; overflow changes the model.",
    confirm="The verbose log lists the weights; look at their smallest and largest values in the model.",
    fixes=(
        "Keep the layers named in FP32, or clip and regularise their weights in training.",
        Fix("AutoCast leaves weights beyond --init_max in FP32.", "10"),
    ),
    sources=("logs of 8.4 and 8.5", "NVIDIA/TensorRT#3101"),
)
def weights(case: Case) -> Iterator[Observation]:
    """Count them; overflow is an error."""
    notes = case.notes("weights_affected", "weights_issue", "weights_layer")
    if not notes:
        return
    summed = sum(int(note.number("count") or 0) for note in notes if note.kind == "weights_affected")
    layers = list(dict.fromkeys(note.text("layer") for note in notes if note.kind == "weights_layer"))
    overflow = [note for note in notes if "overflow" in note.text("text")]
    how = "overflowed" if overflow else "became subnormal or too small"
    number = summed or len(layers)
    yield Observation(
        f"{count(number, 'weight tensor')} {how} when converted to FP16" + (f": {listed(layers)}" if layers else ""),
        [note.span for note in notes],
        layers=layers,
        severity=Severity.ERROR if overflow else Severity.WARNING,
        same_as=how,
    )


@rule(
    "TF209",
    Severity.WARNING,
    "This hardware is slow in FP16",
    cause="The GPU has no fast FP16 arithmetic: FP16 costs accuracy and gains nothing.",
    confirm="Build with and without FP16 and compare throughput.",
    fixes=("Build in FP32 for this GPU.",),
    sources=("8.x logs",),
)
def slow_half(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    step = Step("Build in FP32", trtexec(case, without=("--fp16", "--best")))
    yield from told(case.notes("fp16_slow"), "This GPU has no fast FP16", steps=(step,))


@rule(
    "TF210",
    Severity.WARNING,
    "The hardware emulates a quantised type",
    cause="The network has Q/DQ layers of a type that this GPU does not accelerate.",
    confirm="Compute Capability in the log: FP8 needs 8.9, FP4 needs 10.0.",
    fixes=("Quantise to INT8 for this GPU, or run on a newer one.",),
    sources=("10.14 to 10.16 logs",),
)
def emulated(case: Case) -> Iterator[Observation]:
    """Name the types."""
    yield from told(case.notes("type_emulated"), "{names} Q/DQ is not accelerated by this hardware", names="type")


@rule(
    "TF211",
    Severity.WARNING,
    "Tensors have no INT8 range",
    cause="Implicit INT8 needs a range for every tensor; a layer that touches one without stays in FP32 or FP16.",
    confirm="Count INT8 layers in the engine's dump.",
    fixes=("Calibrate with data that reaches these tensors, set their ranges, or quantise the model with Q/DQ.",),
    sources=("10.x and 8.x logs", "NVIDIA/TensorRT#2462"),
)
def no_range(case: Case) -> Iterator[Observation]:
    """Name the tensors."""
    title = "No INT8 range is known of {names}"
    yield from told(case.notes("missing_scale"), title, names="tensor", same_as="range")


@rule(
    "TF212",
    Severity.WARNING,
    "The INT8 calibrator is not used",
    cause="With Q/DQ in the model the calibrator is ignored; without a calibrator every tensor needs a range of its "
    "own.",
    confirm="Look for QuantizeLinear nodes in the model.",
    fixes=("Use either Q/DQ or calibration, not both.", Fix("Calibration is gone; quantise with Q/DQ.", "11")),
    sources=("8.4 and 8.6 logs",),
)
def calibrator(case: Case) -> Iterator[Observation]:
    """Tell the two apart."""
    yield from told(case.notes("calibrator_explicit"), "The model has Q/DQ, so the calibrator is ignored")
    yield from told(
        case.notes("calibrator_unused"),
        "INT8 is on without a calibrator: every tensor needs a range",
        severity=Severity.NOTE,
    )


@rule(
    "TF213",
    Severity.NOTE,
    "The engine computes in FP32 throughout",
    cause="A strongly typed network takes its types from the model: an FP32 model gives an FP32 engine, silently. "
    "TensorRT 11 and RTX are always so, and there is no --fp16 to change it.",
    confirm="The engine's dump shows FP32 outputs only; the model's weights are FP32.",
    fixes=(Fix("Convert the model: python -m modelopt.onnx.autocast --onnx_path MODEL, then build that.", "10"),),
    sources=("roboflow/rf-detr#1453", "the 10.x to 11.x migration guide"),
)
def silent_float(case: Case) -> Iterator[Observation]:
    """Strongly typed, or FP16 allowed, and no layer of another type."""
    layers = [layer for layer in case.engine if output_types(layer)]
    hidden = any(is_foreign_node(layer.name) for layer in layers)  # their inner types are not printed
    if not layers or hidden or any(output_types(layer) - {FULL} for layer in layers):
        return
    fact = precision_fact(case.build)
    spans = [*([fact.span] if fact else []), *(n.span for n in case.notes("strongly_typed")), *spans_of(layers)]
    cast = f"python -m modelopt.onnx.autocast --onnx_path {model_path(case)} --low_precision_type fp16"
    if strongly_typed(case):
        title = f"All {len(layers)} layers of this strongly typed engine give FP32"
        yield Observation(title, spans, steps=(Step("If FP16 was meant, convert the model", cast),), same_as="typed")
    elif allows(case, "FP16", "BF16", "INT8"):
        yield Observation(
            f"A reduced precision was allowed, but all {len(layers)} layers give FP32",
            spans,
            cause="TensorRT was free to use a reduced type and found none faster, or constraints keep all layers in "
            "FP32.",
            confidence=Confidence.LIKELY,
            settle="A detailed engine dump: types inside a layer are not printed otherwise",
            same_as="allowed",
        )


@rule(
    "TF214",
    Severity.WARNING,
    "Every tensor is marked as output",
    cause="An output ends a fusion: with all tensors marked, TensorRT builds another engine than the one that is "
    "wrong. "
    "It may come out right, fail inside Myelin, or run out of memory; what it shows says little about the real one.",
    confirm="Compare the number of engine layers with and without the marks.",
    fixes=(
        "Mark a few tensors where fused layers end, not all.",
        Fix("Mark unfused tensors as debug tensors, which leaves fusions alone.", "10.12"),
        "Search the smallest set of marks that makes the result right: trtforensics bisect outputs.",
    ),
    sources=("NVIDIA/TensorRT#3258, #3592, #2232", "Polygraphy's --mark-unfused-tensors-as-debug-tensors"),
)
def mark_all(case: Case) -> Iterator[Observation]:
    """See the command, or how many outputs are marked."""
    marks, span, nodes = case.notes("marking_output"), command_span(case), len(case.build.onnx_nodes)
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


_MANY_OUTPUTS = 10
_MOST_DIGITS = 9
"""Of a count of tensors."""


def _fewer(case: Case) -> tuple[Step, ...]:
    """Right for the version: debug tensors from 10.12 on, the ends of fused layers before."""
    if case.version is not None and case.version.has("10.13"):
        seen = trtexec(case, "--markUnfusedTensorsAsDebugTensors")
        return (Step("Look at tensors without breaking fusions", seen),)
    return (Step("Mark two or three tensors instead", polygraphy("run", case, "--trt", "--trt-outputs", "TENSOR")),)


@rule(
    "TF215",
    Severity.WARNING,
    "FP32 islands of the model are inside a ForeignNode",
    cause="With weak typing TensorRT folds Casts that follow each other and picks types again: what the model computes "
    "in FP32 between two Casts may run in FP16.",
    confirm="Build strongly typed and compare; or mark the tensors between the Casts.",
    fixes=(Fix("Build with --stronglyTyped: the model's Casts are then binding.", "10"),),
    sources=("public reports of FP16 models with FP32 islands", "NVIDIA/TensorRT#4540"),
)
def islands(case: Case) -> Iterator[Observation]:
    """Count the Casts that ForeignNodes hold, where types are not binding."""
    held = foreign_members(case.build)
    casts = [node for node in case.build.onnx_nodes if node.op == "Cast" and node.name in held]
    if len(casts) > 1 and not strongly_typed(case) and allows(case, "FP16", "BF16"):
        between = [n for n in case.build.onnx_nodes if n.op in _REDUCTIONS and n.name in held]
        typed = trtexec(case, "--stronglyTyped", without=WEAK_FLAGS)
        yield Observation(
            f"{count(len(casts), 'Cast')} of the model are inside "
            f"{listed(sorted({held[c.name].name for c in casts}), 1)}, "
            "where weak typing need not keep them",
            [node.span for node in casts],
            confidence=Confidence.POSSIBLE,
            settle="A strongly typed build, in which Casts are binding, compared with this one",
            onnx_nodes=[node.name for node in (*casts, *between)],
            layers=sorted({held[node.name].name for node in casts}),
            steps=(Step("Build with the model's types", typed),) if _has_typing(case) else (),
            same_as="islands",
        )


def _has_typing(case: Case) -> bool:
    return case.version is None or case.version.has("10")


@rule(
    "TF216",
    Severity.ERROR,
    "TensorRT's results differ from the reference",
    cause="An output is further from the reference than the tolerance allows. Polygraphy's default of 1e-5 is finer "
    "than "
    "FP16 can be, and than TF32.",
    confirm="First FP32 alone (without TF32): a fair start is 1e-3. Only when FP32 is right, go on to FP16 step by "
    "step.",
    fixes=(
        (
            "Is FP32 right? polygraphy run MODEL --trt --onnxrt --atol 1e-3 --rtol 1e-3. If not, it is no question of "
            "FP16."
        ),
        "If FP32 is right and FP16 is not: trtforensics bisect precision, or mark a few tensors on the way.",
    ),
    sources=("Polygraphy's comparison, 0.38 to 0.53",),
)
def differs(case: Case) -> Iterator[Observation]:
    """Say by what tolerance; a fine one under FP16 is only a warning."""
    notes = case.notes("output_differs")
    fine = [note for note in notes if min(note.number("relative") or 0, note.number("absolute") or 0) < _EXACT]
    half = allows(case, "FP16", "BF16", "INT8")
    float_run = polygraphy("run", case, "--trt", "--onnxrt", "--atol", "1e-3", "--rtol", "1e-3")
    yield from told(
        notes,
        f"{{names}} differs from the reference{', by a tolerance that FP16 cannot meet' if half and fine else ''}",
        names="tensor",
        severity=Severity.WARNING if half and len(fine) == len(notes) else None,
        steps=(Step("Is FP32 right?", float_run),),
    )


@rule(
    "TF217",
    Severity.NOTE,
    "A static batch of 1 is broadcast",
    cause="Where the batch is fixed to 1, an operation may broadcast that dimension by accident: the result is right "
    "with "
    "a dynamic batch and wrong with a static one.",
    confirm="Build once with a dynamic batch (MIN 1, MAX 2) and compare the results at batch 1.",
    fixes=("Export with a dynamic batch axis, or give the operands equal shapes.",),
    sources=("public reports: right with batch 1 to 2, wrong with static batch 1",),
)
def broadcast(case: Case) -> Iterator[Observation]:
    """A static leading 1, and operations that TensorRT says it broadcasts along a leading 1."""
    static = [note for note in case.notes("adding_input") if note.text("dims").startswith("(1,")]
    nodes = {node.name: node for node in case.build.onnx_nodes}
    made = {tensor for node in nodes.values() for tensor in node.outputs} | {n.text("tensor") for n in static}
    wide = [note for note in case.notes("broadcasting") if _stretches(note, nodes.get(note.text("layer")), made)]
    if static and wide:
        yield from told(
            [*static, *wide],
            f"A leading dimension of 1 is broadcast {count(len(wide), 'time')}, and the batch is fixed to 1",
            names="layer",
            confidence=Confidence.POSSIBLE,
            settle="The same model built with a dynamic batch, run at batch 1",
            same_as="broadcast",
        )


def _stretches(note: Note, node: OnnxNode | None, made: set[str]) -> bool:
    """Whether a tensor that varies is stretched along its leading 1; of weights that is the usual thing."""
    at = int(note.number("count") or 0)
    if node is None or at >= len(node.inputs) or node.inputs[at] not in made:
        return False
    return f"dims(input{at})=[1," in note.text("text")
