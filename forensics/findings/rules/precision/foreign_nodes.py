"""A precision requested for a layer without effect, because a ForeignNode contains the layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.membership import foreign_members, layer_names
from trtforensics.engines.requests import allows, constraints, type_requests
from trtforensics.findings.engine_facts import is_foreign
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import autocast, polygraphy_run, trtexec, typed
from trtforensics.parsers.notation.names import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.engines.membership import HoldingForeignNode
    from trtforensics.engines.requests import TypeRequest
    from trtforensics.findings.case import Case
    from trtforensics.model.log import OnnxNode


@rule(
    "TF201",
    Severity.ERROR,
    "FP32 was asked for a layer that a ForeignNode swallowed",
    cause="Myelin compiles the whole ForeignNode and picks types inside it by itself: a per-layer precision does not "
    "reach in. LayerNorm, Softmax, Pow and reductions then run in FP16 and overflow or lose digits.",
    confirm="Build with --profilingVerbosity=detailed and look at the types of the kernel that holds the node, or mark "
    "the layer's output and compare it with ONNX Runtime.",
    fixes=(
        Fix("Mark the output of the layer as a network output: it ends the ForeignNode there.", before="11"),
        Fix(
            "Export with opset 17, so that LayerNormalization is one node and not ReduceMean, Pow and Sqrt.",
            before="11",
        ),
        Fix(
            "Put the types into the model: Cast around the layers, or ModelOpt AutoCast, and build strongly typed.",
            "10",
        ),
        Fix("Write the layer as a plugin, which Myelin does not swallow.", before="10"),
    ),
    sources=("NVIDIA/TensorRT#3889, #4505, #4540", "trtexec's help of --layerPrecisions, 8.4 to 10.16"),
)
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
        confidence=Confidence.LIKELY,
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
    version = case.version
    if version is None or version.has("10"):
        names = [node.name for node in nodes]
        yield autocast(case, "--low_precision_type", "fp16", "--nodes_to_exclude", *names)
        yield typed(case)
    outputs = [tensor for node in nodes for tensor in node.outputs]
    if outputs:
        close = ("--atol", "1e-3", "--rtol", "1e-3")
        marks = ("--onnxrt", "--trt-outputs", *outputs, "--onnx-outputs", *outputs, *close)
        yield Step(
            "Compare their outputs with ONNX Runtime (marking ends the ForeignNode there)", polygraphy_run(case, *marks)
        )
    if not _detailed(case):
        seen = trtexec(case, "--profilingVerbosity=detailed", "--dumpLayerInfo")
        yield Step("See the types of the kernels inside", seen)


def _detailed(case: Case) -> bool:
    """Whether the log shows the kernels inside ForeignNodes already."""
    return any(is_foreign(layer) and not is_foreign_node(layer.name) for layer in case.engine)
