"""Types of a whole build: FP16 that loses digits or speed, INT8 without ranges, strongly and weakly typed networks."""

from collections.abc import Iterator, Mapping, Sequence

from trtforensics.console.counting import counted, listed
from trtforensics.engines.onnx_nodes import HoldingForeignNode, foreign_members
from trtforensics.engines.requests import REDUCED, WEAK_FLAGS, allows, command_span, precision_fact, strongly_typed
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Confidence, Observation, Severity, Step
from trtforensics.findings.layers import (
    FULL,
    cost_of,
    is_quantised,
    layer_types,
    output_types,
    runs_in,
    severity_of,
    spans_of,
)
from trtforensics.findings.observations import observe
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import autocast, given_flags, options, trtexec, typed, typed_step
from trtforensics.findings.steps.machine import compute_capability
from trtforensics.model.layer_types import COMPUTES_NOTHING, is_foreign_node
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
    """Count the weights, each once; what no layer of the engine uses is a note."""
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
        severity=Severity.NOTE if unused else Severity.WARNING,
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
    """Say how many weights hold such values: those named, or as many as one line counts where that is more."""
    counts = [int(note.number("count") or 0) for note in notes if note.kind == "weights_affected"]
    number = max(len(layers), *counts, 0)
    if not number:
        return "Weights hold values"
    bound = "At least " if number > len(layers) and len(counts) > 1 else ""
    return f"{bound}{counted(number, 'weight tensor')} {'holds' if number == 1 else 'hold'} values"


@explained("TF209")
def slow_half(case: Case) -> Iterator[Observation]:
    """Report the warnings where TensorRT knows the GPU, or FP16 allowed where it is slower than FP32."""
    warnings = [] if case.notes("sm_unknown") else case.notes("type_slow", "hardware_lacks")
    for name, same in (("INT8", "slow INT8"), ("FP16", "slow")):
        leave = trtexec(case, without=(f"--{name.lower()}", "--best"))
        steps = (Step(f"Build without {name}", leave),) * (not case.loads_engine)
        notes = [note for note in warnings if (note.text("type") == "Int8") is (name == "INT8")]
        yield from observe(notes, f"This GPU has no fast {name}", steps=steps, same_as=same)
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


@explained("TF212")
def calibrator(case: Case) -> Iterator[Observation]:
    """Report an ignored calibrator, and INT8 without one; trtexec makes one up where --calib gives none."""
    explicit = case.notes("calibrator_explicit") or case.notes("calibrator_told")
    if options(case) and "--calib" not in given_flags(case):
        title = "The model has Q/DQ, so the calibrator that trtexec makes up is not used; that is as it should be"
        yield from observe(explicit, title, severity=Severity.NOTE)
    else:
        unused = case.notes("calibrator_unused")
        yield from observe(explicit, "The model has Q/DQ, so the calibrator is ignored")
        title = "INT8 is on without a calibrator: every tensor needs a range"
        yield from observe(unused, title, severity=Severity.NOTE)


_PLACEHOLDERS = {"-2,2]", "-4,4]"}
"""The ranges that trtexec sets where it has none: 2 for inputs, 4 for every other tensor."""


@explained("TF219")
def uncalibrated(case: Case) -> Iterator[Observation]:
    """Report ranges that are all placeholders, or INT8 without a calibration cache for a model without Q/DQ."""
    notes = case.notes("dynamic_range")
    made_up = [note for note in notes if note.text("text").replace(" ", "") in _PLACEHOLDERS]
    if len(made_up) > 1 and len(made_up) == len(notes):
        title = f"The INT8 ranges of {counted(len(made_up), 'tensor')} are trtexec's placeholders [-4,4] and [-2,2]"
        unused = runs_in(case, "Int8") is False
        title += "; no layer of the engine is of INT8" if unused else ""
        yield from observe(made_up, title, severity=Severity.NOTE if unused else None, same_as="uncalibrated")
        return
    precision = precision_fact(case.build)
    calibration = next(iter(case.printed("build", "Calibration")), None)
    explicit = is_quantised(case) or case.notes("calibrator_explicit")
    if precision is None or calibration is None or explicit or not allows(case.build, "INT8"):
        return
    if calibration.value.strip() in {"", "Dynamic"}:
        known = bool(case.build.onnx_nodes)
        yield Observation(
            "INT8 is allowed without a calibration cache" + (", and the model has no Q/DQ" if known else ""),
            (precision.span, calibration.span),
            settle="" if known else "Whether the model has Q/DQ nodes, which need no calibration",
            same_as="uncalibrated",
        )


@explained("TF221")
def absorbed_casts(case: Case) -> Iterator[Observation]:
    """Report fused attention kernels whose metadata lists a Softmax and a Cast."""
    ops = {node.name: node.op for node in case.build.onnx_nodes}
    for layer in case.engine:
        mine = [ops.get(node, "") for node in layer.onnx_nodes]
        if "_mha" in layer.name and "Softmax" in mine and "Cast" in mine and FULL not in output_types(layer):
            casts = [node for node in layer.onnx_nodes if ops.get(node) == "Cast"]
            yield Observation(
                f"{counted(len(casts), 'Cast')} around a Softmax {'is' if len(casts) == 1 else 'are'} absorbed into "
                f"{layer.name}",
                (layer.span, *(node.span for node in case.build.onnx_nodes if node.name in casts)),
                settle="The results with the scores marked as an output, compared with these",
                layers=(layer.name,),
                onnx_nodes=layer.onnx_nodes,
                same_as="absorbed",
            )


@explained("TF245")
def int8_alone(case: Case) -> Iterator[Observation]:
    """Report trtexec's hint, and the layers of a quantised engine that no option lets leave FP32."""
    title = "INT8 is allowed without FP16: layers that do not run in INT8 run in FP32"
    notes, precision = case.notes("int8_hint"), precision_fact(case.build)
    narrow = any("Int8" in layer_types(layer) for layer in case.engine)
    left = [layer for layer in case.engine if layer.type not in COMPUTES_NOTHING and layer_types(layer) == {FULL}]
    if narrow and not left:
        return  # nothing computes in FP32 alone that FP16 would make faster
    steps = (Step("Allow FP16 too", trtexec(case, "--fp16")),)
    silent = precision is None or strongly_typed(case.build) or allows(case.build, "FP16", "BF16")
    if precision is None or silent or not (narrow and left):
        yield from observe(notes, title, steps=steps)
        return
    cost = cost_of(case, left)
    yield Observation(
        f"INT8 without FP16: {len(left)} of {counted(len(case.engine), 'layer')} compute in FP32 or write nothing else",
        [*(note.span for note in notes), precision.span, *spans_of(left)],
        severity=severity_of(cost),
        layers=[layer.name for layer in left],
        steps=steps,
        same_as=title,
        cost=cost,
    )


@explained("TF231")
def unused(case: Case) -> Iterator[Observation]:
    """Report FP16 that is allowed where layers compute in FP32, and none of the engine has it."""
    precision = precision_fact(case.build)
    left = [layer for layer in case.engine if layer.type not in COMPUTES_NOTHING and FULL in layer_types(layer)]
    silent = precision is None or strongly_typed(case.build) or not allows(case.build, "FP16")
    if precision is not None and left and not silent and runs_in(case, "Half") is False:
        title = f"FP16 is allowed, and none of {counted(len(case.engine), 'layer')} uses it"
        yield Observation(title, [precision.span, *spans_of(left)], same_as="unused")


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
    fact, asked = precision_fact(case.build), case.notes("type_asked", "type_mode", "type_on", "int8_configured")
    types = [word for word in REDUCED if word in {(note.text("name") or "INT8").upper() for note in asked}]
    spans = [*([fact.span] if fact else []), *(n.span for n in case.notes("strongly_typed")), *spans_of(layers)]
    if strongly_typed(case.build):
        cast = autocast(case, "--low_precision_type", "fp16")
        meant = Step(f"If FP16 was meant: {cast.what}", cast.command)
        title = f"All {len(layers)} layers of this strongly typed engine give FP32"
        yield Observation(title, spans, steps=(meant, typed(case)), same_as="typed")
    elif types or allows(case.build, "FP16", "BF16", "INT8"):
        what = listed(types) if types else "A reduced precision"
        yield Observation(
            f"{what} was {'asked for' if types else 'allowed'}, but all {len(layers)} layers give FP32",
            [*dict.fromkeys(note.span for note in asked), *spans],
            cause="TensorRT was free to use a reduced type and found none faster, constraints keep all layers in FP32, "
            "or INT8 had no ranges, of a calibration or of Q/DQ.",
            settle="A detailed engine dump: types inside a layer are not printed otherwise",
            same_as="allowed",
        )


_FLOATS = {"FLOAT", "HALF", "BFLOAT16", "DOUBLE"}
"""The parser's words for types between which a Cast says something of precision."""


@explained("TF215")
def islands(case: Case) -> Iterator[Observation]:
    """Count the Casts that ForeignNodes hold, where types are not binding."""
    held = foreign_members(case.build)
    of_floats = (each for each in case.build.onnx_nodes if _FLOATS.issuperset((*each.input_types, *each.output_types)))
    casts = [node for node in of_floats if node.op == "Cast" and node.name in held]
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
