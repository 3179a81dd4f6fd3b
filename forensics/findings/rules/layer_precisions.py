"""Types requested layer by layer (``--layerPrecisions``, ``--layerOutputTypes``), and whether they take effect."""

from collections.abc import Iterator, Mapping, Sequence

from trtforensics.console.counting import listed
from trtforensics.engines.onnx_nodes import HoldingForeignNode, foreign_members, layer_names
from trtforensics.engines.requests import TYPE_WORDS, TypeRequest, allows, command_span, constraints, type_requests
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.layers import is_foreign, output_types
from trtforensics.findings.observations import observe
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import CLOSE, autocast, polygraphy_run, trtexec, typed
from trtforensics.model.layer_types import is_foreign_node
from trtforensics.model.log import EngineLayer, OnnxNode


@explained("TF203")
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
    from difflib import get_close_matches  # noqa: PLC0415 - few reports suggest names

    word = request.pattern.replace("*", "").strip("_/.")
    by_op = [name for name, node in layers.items() if word and word.lower().startswith(node.op.lower())]
    return by_op or get_close_matches(word, layers, n=5, cutoff=0.6)


@explained("TF204")
def no_constraints(case: Case) -> Iterator[Observation]:
    """Report requests without constraints."""
    asked = type_requests(case.build)
    span = command_span(case.build)
    if asked and constraints(case.build) == "none":
        spans = dict.fromkeys([*([span] if span else []), *(request.span for request in asked if request.span)])
        step = Step("Make them count", trtexec(case, "--precisionConstraints=obey"))
        if spans:
            yield Observation(
                f"{listed([request.text for request in asked], 2)} has no effect without --precisionConstraints",
                tuple(spans),
                steps=(step,),
                same_as="no constraints",
            )


@explained("TF205")
def non_conforming(case: Case) -> Iterator[Observation]:
    """Name the layers; only a note where the user requested no type."""
    step = Step("Bind the constraints", trtexec(case, "--precisionConstraints=obey"))
    severity = Severity.WARNING if type_requests(case.build) else Severity.NOTE
    steps = (step,) if severity is Severity.WARNING else ()
    title = "Another precision than asked for was chosen for {names}"
    yield from observe(case.notes("non_conforming"), title, names="layer", steps=steps, severity=severity)
    title = "No implementation of {names} obeys the constraints; they were ignored"
    yield from observe(case.notes("no_conforming", "type_raised"), title, names="layer", severity=Severity.WARNING)


@explained("TF206")
def output_type(case: Case) -> Iterator[Observation]:
    """Compare each request with the engine's layers that contain the node, without ForeignNodes."""
    layers, held = layer_names(case.build), foreign_members(case.build)
    engine = [layer for layer in case.engine if not is_foreign(layer)]
    for request in type_requests(case.build):
        nodes = [node.name for name, node in layers.items() if request.matches(name) and node.name not in held]
        flag = ",".join(f"{node}:{request.type}" for node in nodes)
        yield from _disobeyed(
            request,
            nodes,
            engine,
            "{request}: {layers} gives {types}",
            "A fused layer may compute as asked and round at its end; marking the output shows it",
            Step("Ask for the outputs' type too", trtexec(case, f"--layerOutputTypes={flag}")),
        )


def _disobeyed(
    request: TypeRequest, nodes: Sequence[str], engine: Sequence[EngineLayer], title: str, settle: str, *steps: Step
) -> Iterator[Observation]:
    """Give the layers of some nodes that write another type than the request for them names."""
    wanted = TYPE_WORDS.get(request.type)
    mine = [layer for layer in engine if not {*nodes}.isdisjoint(layer.onnx_nodes)]
    wrong = [layer for layer in mine if output_types(layer) - {wanted}]
    if wrong and request.span is not None and wanted is not None:
        names = [layer.name for layer in wrong]
        types = " and ".join(sorted({kind for layer in wrong for kind in output_types(layer)}))
        yield Observation(
            title.format(request=request.text, layers=listed(names), nodes=listed(nodes), types=types),
            (request.span, *(layer.span for layer in wrong)),
            settle=settle,
            layers=names,
            onnx_nodes=nodes,
            steps=steps,
        )


@explained("TF218")
def kernel_type(case: Case) -> Iterator[Observation]:
    """Compare each request with Myelin's kernels, whose metadata names their nodes."""
    layers = layer_names(case.build)
    kernels = _kernels_inside(case)
    for request in type_requests(case.build):
        yield from _disobeyed(
            request,
            sorted({node.name for name, node in layers.items() if request.matches(name)}),
            kernels,
            "{request}, but Myelin's kernels for {nodes} give {types}",
            "A kernel may compute as asked and round at its end; comparing its output with FP32 shows it",
        )


@explained("TF207")
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
                settle="The type of the folded constant in a detailed engine dump",
                layers=sorted({name for fusion in hit for name in fusion.inputs}),
            )


@explained("TF220")
def eliminated(case: Case) -> Iterator[Observation]:
    """Name the layers where a type was asked for one of them; without that, nothing is lost."""
    notes = case.notes("eliminating_concat", "eliminating_slice", "eliminating_duplicate")
    names = list(dict.fromkeys(note.text("layer") or note.text("first") for note in notes))
    nodes = [layer_names(case.build)[name].name for name in names if name in layer_names(case.build)]
    asked = [
        request for request in type_requests(case.build) if request.pattern != "*" and any(map(request.matches, names))
    ]
    if asked:
        vain = f", though {listed([request.text for request in asked], 2)} asks for a type"
        yield Observation(
            f"TensorRT eliminated {listed(names)}{vain}",
            [note.span for note in notes],
            layers=names,
            onnx_nodes=nodes,
            same_as="eliminated",
        )


@explained("TF201")
def swallowed(case: Case) -> Iterator[Observation]:
    """Join requests to layers, layers to nodes, nodes to the ForeignNode that holds them."""
    held, layers = foreign_members(case.build), layer_names(case.build)
    groups: dict[str, list[tuple[TypeRequest, str]]] = {}
    for request in type_requests(case.build):
        for layer in (name for name in layers if request.type == "fp32" and request.matches(name)):
            if layers[layer].name in held:
                groups.setdefault(held[layers[layer].name].name, []).append((request, layer))
    for asked in groups.values():
        nodes = {layers[layer].name: layers[layer] for _, layer in asked}
        foreign = held[next(iter(nodes))]
        yield _observation(case, foreign, list(nodes.values()), asked)


def _observation(
    case: Case, foreign: HoldingForeignNode, nodes: Sequence[OnnxNode], asked: Sequence[tuple[TypeRequest, str]]
) -> Observation:
    name = foreign.name
    options = dict.fromkeys(request.text for request, _ in asked)
    spans = {span.line: span for request, _ in asked if (span := request.span)}
    spans |= {foreign.span.line: foreign.span, **{node.span.line: node.span for node in nodes}}
    ops = ", ".join(dict.fromkeys(node.op for node in nodes))
    reduced = allows(case.build, "FP16", "BF16", "INT8")
    return Observation(
        f"FP32 was asked for {len(nodes)} {ops} node{'s' if len(nodes) > 1 else ''} that {name} swallowed",
        [spans[line] for line in sorted(spans)],
        cause=f"{' and '.join(options)} ({constraints(case.build)} precision constraints) names them, but they are "
        f"inside {name}, where Myelin picks the types by itself; a per-layer precision does not reach in.",
        settle=(_CERTAIN if foreign.listed else _BETWEEN)
        + "; which type they ran in shows in a detailed engine dump, or in their outputs compared with FP32"
        + ("" if reduced else ". No reduced type is allowed in this log's options, so they may run in FP32 after all"),
        severity=Severity.ERROR if reduced else Severity.NOTE,
        layers=(name, *dict.fromkeys(layer for _, layer in asked)),
        onnx_nodes=[node.name for node in nodes],
        steps=tuple(_steps(case, nodes)),
        same_as=" ".join(sorted(options)),
    )


_CERTAIN = "That they are inside is certain"
_BETWEEN = "This version does not list members: the nodes lie between the ForeignNode's ends in the model's order"


def _steps(case: Case, nodes: Sequence[OnnxNode]) -> Iterator[Step]:
    """Right for the version: 10 and later put the types into the model, before that outputs are marked."""
    if case.version is None or case.version.has("10"):
        names = [node.name for node in nodes]
        yield autocast(case, "--low_precision_type", "fp16", "--nodes_to_exclude", *names)
        yield typed(case)
    outputs = [tensor for node in nodes for tensor in node.outputs]
    if outputs:
        marks = ("--onnxrt", "--trt-outputs", *outputs, "--onnx-outputs", *outputs, *CLOSE)
        yield Step(
            "Compare their outputs with ONNX Runtime (marking ends the ForeignNode there)", polygraphy_run(case, *marks)
        )
    if not _kernels_inside(case):
        dump = trtexec(case, "--profilingVerbosity=detailed", "--dumpLayerInfo")
        yield Step("See the types of the kernels inside", dump)


def _kernels_inside(case: Case) -> list[EngineLayer]:
    """Return the kernels inside ForeignNodes, as far as the log shows them."""
    return [layer for layer in case.engine if is_foreign(layer) and not is_foreign_node(layer.name)]
