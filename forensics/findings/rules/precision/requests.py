"""Types requested layer by layer (``--layerPrecisions``, ``--layerOutputTypes``), and whether they take effect."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING

from trtforensics.engines.membership import foreign_members, layer_names
from trtforensics.engines.requests import TYPE_WORDS, command_span, constraints, type_requests
from trtforensics.findings.engine_facts import is_foreign, output_types
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import trtexec
from trtforensics.parsers.notation.names import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.engines.requests import TypeRequest
    from trtforensics.findings.case import Case
    from trtforensics.model.log import OnnxNode


@rule(
    "TF203",
    Severity.WARNING,
    "A layer precision names no layer",
    cause="The name or pattern of --layerPrecisions or --layerOutputTypes matches none of the layers that the ONNX "
    "parser registered, so the request does nothing. trtexec does not warn.",
    confirm="The 'Registering layer' lines of the verbose log list every name.",
    fixes=(Fix("Use the names of the log; a name may hold one *, which stands for any text.", "8.4", "11"),),
    sources=("NVIDIA/TensorRT#3889", "trtexec's help of --layerPrecisions"),
)
def names_nothing(case: Case) -> Iterator[Observation]:
    """Compare each request with the registered layers, and suggest similar names."""
    layers = layer_names(case.build)
    for request in type_requests(case.build) if layers else ():
        if request.span is not None and not any(map(request.matches, layers)):
            like = _alike(request, layers)
            flag = f"--{request.option}={','.join(f'{name}:{request.type}' for name in like)}"
            yield Observation(
                f"{request.text} matches none of the {len(layers)} layers"
                + (f"; there is {listed(like)}" if like else ""),
                (request.span, *(layers[name].span for name in like)),
                onnx_nodes=[layers[name].name for name in like],
                steps=(Step("Ask for the layers by their names", trtexec(case, flag)),) if like else (),
            )


def _alike(request: TypeRequest, layers: Mapping[str, OnnxNode]) -> list[str]:
    """Return layers whose operator or name looks like the request's."""
    word = request.pattern.replace("*", "").strip("_/.")
    by_op = [name for name, node in layers.items() if word and word.lower().startswith(node.op.lower())]
    return by_op or get_close_matches(word, layers, n=5, cutoff=0.6)


@rule(
    "TF204",
    Severity.ERROR,
    "Layer precisions were given, but nothing makes them count",
    cause="--layerPrecisions and --layerOutputTypes are hints that TensorRT drops where they cost speed, and trtexec "
    "passes them on only with --precisionConstraints=obey or prefer.",
    confirm="The Precision line of the build options ends with (obey precision constraints) or (prefer …) where set.",
    fixes=(Fix("Add --precisionConstraints=obey; prefer where a layer has no such implementation.", "8.4", "11"),),
    sources=("trtexec's help, 8.4 to 10.16: effective only when precisionConstraints is obey or prefer",),
)
def no_constraints(case: Case) -> Iterator[Observation]:
    """Report requests without constraints."""
    asked = type_requests(case.build)
    span = command_span(case.build)
    if asked and constraints(case.build) == "none":
        spans = dict.fromkeys([*([span] if span else []), *(one.span for one in asked if one.span)])
        step = Step("Make them count", trtexec(case, "--precisionConstraints=obey"))
        if spans:
            yield Observation(
                f"{listed([one.text for one in asked], 2)} has no effect without --precisionConstraints",
                tuple(spans),
                steps=(step,),
                same_as="no constraints",
            )


@rule(
    "TF205",
    Severity.WARNING,
    "A layer does not run in the precision that was asked for",
    cause="TensorRT falls back to a faster implementation of another precision, because constraints are not binding, "
    "or "
    "because no implementation has the precision that was asked for. The ONNX parser asks for precisions too, for "
    "some layers that it adds.",
    confirm="The engine's dump shows the types of the layer's inputs and outputs.",
    fixes=(
        Fix(
            "Bind the constraints: --precisionConstraints=obey (8.4+), BuilderFlag.OBEY_PRECISION_CONSTRAINTS.",
            "8.4",
            "11",
        ),
        Fix("Put the types into the model and build strongly typed.", "10"),
    ),
    sources=("a 10.16 log", "NVIDIA/TensorRT#2462"),
)
def non_conforming(case: Case) -> Iterator[Observation]:
    """Name the layers; only a note where the user requested no type."""
    step = Step("Bind the constraints", trtexec(case, "--precisionConstraints=obey"))
    severity = Severity.WARNING if type_requests(case.build) else Severity.NOTE
    steps = (step,) if severity is Severity.WARNING else ()
    title = "Another precision than asked for was chosen for {names}"
    yield from observe(case.notes("non_conforming"), title, names="layer", steps=steps, severity=severity)
    title = "No implementation of {names} obeys the constraints; they were ignored"
    yield from observe(case.notes("no_conforming"), title, names="layer", severity=Severity.WARNING)


@rule(
    "TF206",
    Severity.WARNING,
    "A layer asked for in FP32 hands on another type",
    cause="--layerPrecisions sets the type a layer computes in, not the type of its output: that is "
    "--layerOutputTypes, and without it TensorRT chooses the type to which the result is rounded.",
    confirm="The engine's dump shows the output's type; mark the output and compare it with FP32.",
    fixes=(Fix("Ask for the output too: --layerOutputTypes=NAME:fp32, or layer.set_output_type.", "8.4", "11"),),
    sources=("trtexec's help, 8.4 to 10.16", "the interface's own description of setPrecision and setOutputType"),
)
def output_type(case: Case) -> Iterator[Observation]:
    """Compare each request with the engine's layers that contain the node, without ForeignNodes."""
    layers, held = layer_names(case.build), foreign_members(case.build)
    engine = [layer for layer in case.engine if not is_foreign(layer)]
    for request in (one for one in type_requests(case.build) if one.type in TYPE_WORDS and one.span is not None):
        nodes = [node.name for name, node in layers.items() if request.matches(name) and node.name not in held]
        other = [layer for layer in engine if output_types(layer) - {TYPE_WORDS[request.type]}]
        wrong = [layer for layer in other if set(nodes) & set(layer.onnx_nodes)]
        if wrong and request.span:
            types = sorted({kind for layer in wrong for kind in output_types(layer)})
            flag = ",".join(f"{node}:{request.type}" for node in nodes)
            yield Observation(
                f"{request.text}: {listed([layer.name for layer in wrong])} gives {' and '.join(types)}",
                (request.span, *(layer.span for layer in wrong)),
                confidence=Confidence.LIKELY,
                settle="A fused layer may compute as asked and round at its end; marking the output shows it",
                layers=[layer.name for layer in wrong],
                onnx_nodes=nodes,
                steps=(Step("Ask for the outputs' type too", trtexec(case, f"--layerOutputTypes={flag}")),),
            )


@rule(
    "TF218",
    Severity.ERROR,
    "Inside a ForeignNode a node runs in another type than asked for",
    cause="The detailed engine dump shows the kernel that holds the node, and its output is of another type.",
    confirm="The kernel's line names the ONNX node in its metadata, and the types of its tensors.",
    fixes=(
        Fix("Put Casts around the node in the model, and build strongly typed.", "10"),
        Fix("Mark the node's output, which takes it out of the ForeignNode.", before="11"),
    ),
    sources=("NVIDIA/TensorRT#4505", "detailed engine dumps of 10.x"),
)
def kernel_type(case: Case) -> Iterator[Observation]:
    """Compare each request with Myelin's kernels, whose metadata names their nodes."""
    layers = layer_names(case.build)
    kernels = [layer for layer in case.engine if is_foreign(layer) and not is_foreign_node(layer.name)]
    for request in (one for one in type_requests(case.build) if one.type in TYPE_WORDS and one.span is not None):
        nodes = {node.name for name, node in layers.items() if request.matches(name)}
        wrong = [k for k in kernels if nodes & set(k.onnx_nodes) and output_types(k) - {TYPE_WORDS[request.type]}]
        if wrong and request.span is not None:
            types = sorted({kind for kernel in wrong for kind in output_types(kernel)})
            yield Observation(
                f"{request.text}, but Myelin's kernels for {listed(sorted(nodes))} give {' and '.join(types)}",
                (request.span, *(kernel.span for kernel in wrong)),
                confidence=Confidence.LIKELY,
                settle="A kernel may compute as asked and round at its end; comparing its output with FP32 shows it",
                layers=[kernel.name for kernel in wrong],
                onnx_nodes=sorted(nodes),
            )


@rule(
    "TF207",
    Severity.WARNING,
    "A fusion of constants undoes a precision that was asked for",
    cause="ConstShuffleFusion folds a shuffle into a constant; a precision that was set on one of the two is lost.",
    confirm="Look whether the layer is in the engine's dump, and with which type.",
    fixes=(Fix("Put a Cast behind the constant in the model, or mark the shuffle's output.", before="11"),),
    sources=("NVIDIA/TensorRT#2838, #3224, #3257",),
)
def const_shuffle(case: Case) -> Iterator[Observation]:
    """Report requests that name an input of such a fusion."""
    fusions = [fusion for fusion in case.build.fusions if fusion.kind == "ConstShuffleFusion"]
    for request in type_requests(case.build):
        hit = [fusion for fusion in fusions if any(map(request.matches, fusion.inputs))]
        if hit and request.span is not None and request.pattern != "*":
            yield Observation(
                f"{request.text} names {listed(sorted({n for f in hit for n in f.inputs if request.matches(n)}))}, "
                "which ConstShuffleFusion folded",
                (request.span, *(fusion.span for fusion in hit)),
                confidence=Confidence.LIKELY,
                settle="The type of the folded constant in a detailed engine dump",
                layers=sorted({name for fusion in hit for name in fusion.inputs}),
            )


@rule(
    "TF220",
    Severity.NOTE,
    "TensorRT eliminated layers of the model",
    cause="A concatenation or slice that only moves data, or a duplicate, has no layer in the engine: its inputs write "
    "where it would copy to. That changes no value, but what is asked for such a layer has no effect.",
    confirm="The layer is not in the engine's dump.",
    fixes=("Ask the layers before or behind it instead.",),
    sources=("verbose logs of 8.4 to 10.16",),
)
def eliminated(case: Case) -> Iterator[Observation]:
    """Name the layers; a warning where a type was asked for one of them."""
    notes = case.notes("eliminating_concat", "eliminating_slice", "eliminating_duplicate")
    names = list(dict.fromkeys(note.text("layer") or note.text("first") for note in notes))
    nodes = [layer_names(case.build)[name].name for name in names if name in layer_names(case.build)]
    asked = [one for one in type_requests(case.build) if one.pattern != "*" and any(map(one.matches, names))]
    if notes:
        vain = f", though {listed([one.text for one in asked], 2)} asks for a type" if asked else ""
        yield Observation(
            f"TensorRT eliminated {listed(names)}{vain}",
            [note.span for note in notes],
            severity=Severity.WARNING if asked else Severity.NOTE,
            layers=names,
            onnx_nodes=nodes,
            same_as="eliminated",
        )
