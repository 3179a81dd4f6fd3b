"""Nodes that the ONNX parser refuses or warns about."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import autocast, polygraphy, sanitize

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.notes import Note
    from trtforensics.model.span import SourceSpan

_UNREGISTERED = ("plugin_unknown", "creator_missing")
_BEFORE = 3
"""Lines before ``While parsing node`` within which the plugin registry says that it lacks a plugin."""
_REACH = 12
"""Lines after ``While parsing node`` within which the parser says what is wrong with the node."""


@dataclass(frozen=True, slots=True)
class _Failure:
    """A node that the parser could not import, and the lines that say so."""

    op: str
    index: str
    node: str
    reason: str
    spans: tuple[SourceSpan, ...]

    @property
    def name(self) -> str:
        return f"{self.node or 'node ' + self.index} [{self.op}]"


def _failures(case: Case) -> Iterator[_Failure]:
    later = case.notes("node_name", "parser_assertion", "plugin_missing", *_UNREGISTERED)
    for begin in case.notes("parse_failed"):
        tried = [note for note in case.notes("plugin_tried") if 0 < begin.span.line - note.span.line <= _REACH]
        mine = [note for note in later if 0 < note.span.line - begin.span.line <= _REACH]
        mine += [n for n in case.notes(*_UNREGISTERED) if 0 < begin.span.line - n.span.line <= _BEFORE]
        node = next((note.text("node") for note in mine if note.kind == "node_name"), "")
        reason = next((note.text("text") for note in mine if note.kind == "parser_assertion"), "")
        if any(note.kind in {"plugin_missing", *_UNREGISTERED} for note in mine):
            reason = reason or "Plugin not found"
        around = sorted((note.span for note in (*tried, *mine)), key=lambda span: span.line)
        spans = (begin.span, *around)
        yield _Failure(begin.text("op"), begin.text("index"), node, reason, spans)


def _no_importer(reason: str) -> bool:
    return "Plugin not found" in reason or "plugin registry" in reason or "getPluginCreator" in reason


@rule(
    "TF101",
    Severity.ERROR,
    "No importer and no plugin for an operator",
    cause="The parser knows no importer for the operator and found no plugin of its name, version and namespace.",
    confirm="The lines before the error list the name, version and namespace that were tried; a plugin library that "
    "was not loaded registers nothing (Registered plugin creator lines).",
    fixes=(
        (
            "Load the library that registers the plugin, or write one. Plugins whose names end in _TRT are TensorRT's "
            "own: "
            "load libnvinfer_plugin (initLibNvInferPlugins), of a TensorRT new enough to hold it."
        ),
        "Rewrite the operator with others before export, or cut it out of the graph and run it outside.",
        Fix("Load it with --staticPlugins=LIB (trtexec) or --plugins (Polygraphy).", "8.6"),
        Fix("Load it with --plugins=LIB.", before="8.6"),
    ),
    sources=("TensorRT-RTX 1.7.1 logs of a custom operator and of NonZero (onnxOpCheckers.cpp, onnxOpImporters.cpp)",),
)
def no_importer(case: Case) -> Iterator[Observation]:
    """Report the failures whose reason is a missing plugin."""
    for failure in _failures(case):
        if _no_importer(failure.reason):
            names = [failure.node] if failure.node else []
            old = case.version is None or case.version.has(before="8.5")
            cut = polygraphy("inspect model", case, "--show", "layers", "attrs")
            yield Observation(
                f"TensorRT has no importer and no plugin for {failure.name}",
                failure.spans,
                cause=_DATA_DEPENDENT if failure.op in _SIZED_BY_DATA and old else _NATIVE.get(failure.op, ""),
                onnx_nodes=names,
                steps=(Step("See the node and its neighbours", cut),),
                same_as=failure.op,
            )


_NATIVE = {
    "GroupNorm": "GroupNorm was a plugin of the diffusion demo up to 8.5, and was removed in 8.6: since then TensorRT "
    "has "
    "native group normalisation, as the ONNX operator GroupNormalization of opset 18. Export the model with that.",
    "LayerNorm": "LayerNorm was a plugin of the diffusion demo up to 8.5; since 8.6 the ONNX operator "
    "LayerNormalization "
    "of opset 17 is native. Export the model with that.",
    "InstanceNormalization": "The importer maps InstanceNormalization to a plugin of libnvinfer_plugin, and older "
    "builds "
    "of that library do not hold it: use a newer TensorRT (on Jetson a newer JetPack), and load the plugin library.",
}
"""Operators of which it is known why their plugin is not there."""
_SIZED_BY_DATA = {"NonZero", "NonMaxSuppression"}
_DATA_DEPENDENT = (
    "The size of this operator's output depends on the data. TensorRT imports such operators from 8.5 on: upgrade "
    "TensorRT, or take the operator out of the graph. Older releases look for a plugin of its name."
)


@rule(
    "TF115",
    Severity.NOTE,
    "Shapes depend on the data",
    cause="How many elements NonZero or NonMaxSuppression finds is known only when the engine runs. Layers behind them "
    "have shapes that TensorRT cannot tune for, and outputs need memory that is allocated during the run.",
    confirm="The outputs of these nodes have a dimension -1 that no input has.",
    fixes=(
        "Cut the operator out and run it behind the engine, or use an NMS plugin with a fixed number of results.",
        Fix("Give such outputs an IOutputAllocator.", "8.5"),
    ),
    sources=("TensorRT 8.5's release notes", "the ONNX operators NonZero and NonMaxSuppression"),
)
def sized_by_data(case: Case) -> Iterator[Observation]:
    """Name the nodes, where they were imported."""
    nodes = [node for node in case.build.onnx_nodes if node.op in _SIZED_BY_DATA and node.layers]
    if nodes:
        yield Observation(
            f"The data decides how large the output of {listed([node.name for node in nodes])} is",
            [node.span for node in nodes],
            onnx_nodes=[node.name for node in nodes],
            same_as="sized by data",
        )


@rule(
    "TF102",
    Severity.ERROR,
    "An operation mixes types",
    cause="In a strongly typed network both inputs of an elementwise operation or a matrix product must have one "
    "type; a Cast is missing in the model.",
    confirm="The warning before the error names both tensors and their types.",
    fixes=("Insert a Cast in the model, or let ModelOpt AutoCast convert the whole model.",),
    sources=("a TensorRT-RTX 1.7.1 log (elementWiseNode.cpp, validateTypes)",),
)
def mixed_types(case: Case) -> Iterator[Observation]:
    """Pair the error with the warning that names the tensors."""
    warnings = case.notes("input_types")
    for note in case.notes("elementwise_types"):
        before = [w for w in warnings if w.span.line < note.span.line]
        about = before[-1].text("text").partition(":")[0] if before else ""
        names = about.split(" and ") if about else []
        yield Observation(
            f"{note.text('op')} gets {note.text('first')} and {note.text('second')}" + (f" ({about})" if about else ""),
            (note.span, *(w.span for w in before[-1:])),
            layers=names,
            steps=(autocast(case, "--low_precision_type", "fp16"),),
        )


_DIFFERENT = "The inner dimensions of a matrix product differ"


@rule(
    "TF103",
    Severity.ERROR,
    _DIFFERENT,
    cause="The shapes that the model's tensors have at this node do not fit: the export fixed a dimension that "
    "differs, an earlier node has the wrong shape, or the shapes given at run time do not fit each other.",
    confirm="onnxruntime refuses the same model with the same shapes.",
    fixes=("Run polygraphy surgeon sanitize, check the shapes, and export again with the right dynamic axes.",),
    sources=("a TensorRT-RTX 1.7.1 log (matrixMultiplyLayer.cpp)", "shapeMachine.cpp of 8.x, at run time"),
)
def inner_dimensions(case: Case) -> Iterator[Observation]:
    """Report both dimensions."""
    for note in case.notes("matmul_shapes"):
        first, second = note.text("first"), note.text("second")
        title = f"The inner dimensions of a matrix product are {first} and {second}" if first else _DIFFERENT
        yield Observation(title, (note.span,), steps=(sanitize(case),))


@rule(
    "TF104",
    Severity.NOTE,
    "INT64 weights become INT32",
    cause="TensorRT before 10 has no INT64, so weights are cast to INT32. That is harmless unless a value does not "
    "fit: such a value is clamped.",
    confirm="A line 'outside the range of INT32 was clamped' follows where a value did not fit.",
    fixes=(Fix("Ignore it unless values were clamped; if so, change the constants of the model.", before="10"),),
    sources=("NVIDIA/TensorRT#800, #2574",),
)
def int64_weights(case: Case) -> Iterator[Observation]:
    """Report a clamped value as a warning, a cast alone as a note."""
    clamped = case.notes("int64_clamped")
    both = case.notes("int64_clamped", "int64_weights")
    if clamped:
        yield from observe(both, "INT64 weights did not fit into INT32 and were clamped", severity=Severity.WARNING)
    else:
        yield from observe(both, "INT64 weights were cast to INT32, without any being clamped")


@rule(
    "TF105",
    Severity.NOTE,
    "An input or output is INT64",
    cause="From 10 on INT64 tensors stay INT64: a host buffer sized for INT32 is too small, and values read wrong.",
    confirm="The engine's binding has data type INT64.",
    fixes=(Fix("Allocate 8 bytes an element for the tensors named.", "10"),),
    sources=("verbose logs of 10.14 to 10.16",),
)
def int64_binding(case: Case) -> Iterator[Observation]:
    """Name the tensors."""
    yield from observe(case.notes("int64_binding"), "INT64 at the network's edge: {names}", names="tensor")


@rule(
    "TF106",
    Severity.WARNING,
    "A Loop has both a trip limit and a condition",
    cause="Where the condition ends the loop before the trip limit, a scan output may have the wrong length.",
    confirm="Compare the scan output's shape with onnxruntime's on an input that ends the loop early.",
    fixes=("Export the loop with a trip limit alone.",),
    sources=("a TensorRT-RTX 1.7.1 log (onnxOpImporters.cpp)",),
)
def loop(case: Case) -> Iterator[Observation]:
    """Name the loops."""
    yield from observe(case.notes("loop_both"), "Loop {names} has both a trip limit and a condition", names="layer")


@rule(
    "TF107",
    Severity.ERROR,
    "A Reshape does not fit its input",
    cause="The export baked a size into a Reshape (often a batch of 1, or heads and sequence of MultiheadAttention), "
    "or a 0 in its shape means 'as the input' where the model means zero (allowzero).",
    confirm="polygraphy surgeon sanitize folds the shape computation; the shape that is left shows what was baked in.",
    fixes=(
        "Export with dynamic axes and with sizes taken from the tensor, not from Python numbers; -1 for what varies.",
        "Set allowzero of the Reshape as the model means it.",
        "Run polygraphy surgeon sanitize --fold-constants first.",
    ),
    sources=("NVIDIA/TensorRT#3990, #2487, #3639",),
)
def reshape(case: Case) -> Iterator[Observation]:
    """Report a refused Reshape as an error, a doubtful zero as a warning."""
    for note in case.notes("reshape_volume"):
        yield Observation(
            f"Reshape {note.text('layer')} would change the volume from {note.text('first')} to {note.text('second')}",
            (note.span,),
            layers=(note.text("layer"),),
            steps=(sanitize(case),),
        )
    for note in case.notes("reshape_changes"):
        yield Observation(f"A reshape changes the volume{note.text('text')}", (note.span,), steps=(sanitize(case),))
    for note in case.notes("reshape_fails"):
        title = f"Reshape {note.text('layer')} does not fit its input {note.text('tensor')}"
        yield Observation(title, (note.span,), layers=(note.text("layer"),), steps=(sanitize(case),))
    yield from observe(
        case.notes("reshape_shape"), "A Reshape of a shape tensor has several dimensions", steps=(sanitize(case),)
    )
    yield from observe(
        case.notes("reshape_zero"),
        "Reshape dimensions might be zero, where zero means 'as the input'",
        severity=Severity.WARNING,
        settle="The shape tensor's value, after polygraphy surgeon sanitize",
        steps=(sanitize(case),),
    )


@rule(
    "TF108",
    Severity.ERROR,
    "The parser failed at a node",
    cause="The importer of this operator refuses the node: an attribute, a type or a shape that this TensorRT does "
    "not support.",
    confirm="The lines after the error dump the node and name the check that failed.",
    fixes=("Run polygraphy surgeon sanitize, export with another opset, or rewrite the node.",),
    sources=("TensorRT-RTX 1.7.1 logs (ModelImporter.cpp)",),
)
def parse_failed(case: Case) -> Iterator[Observation]:
    """Report every failure that no other rule explains."""
    explained = case.notes(
        "elementwise_types", "matmul_shapes", "reshape_volume", "reshape_fails", "reshape_shape", "input_missing",
        "axis_outside", "tensor_expected", "constant_wanted", "rank_refused", "weights_count",
    )  # fmt: skip
    for failure in _failures(case):
        if not _no_importer(failure.reason) and not _near(failure, explained):
            yield Observation(
                f"The parser failed at {failure.name}" + (f": {failure.reason}" if failure.reason else ""),
                failure.spans,
                onnx_nodes=[failure.node] if failure.node else [],
                steps=(sanitize(case),),
                same_as=f"{failure.op} {failure.reason}",
            )


def _near(failure: _Failure, notes: list[Note]) -> bool:
    return any(abs(note.span.line - failure.spans[0].line) <= _REACH for note in notes)


@rule(
    "TF109",
    Severity.ERROR,
    "Tensors lie on different devices",
    cause="PyTorch was given tensors on the CPU and on the GPU at once: the model was exported or checked with inputs "
    "on another device than its weights.",
    confirm="The traceback above the line names the call.",
    fixes=("Move model and inputs to one device before exporting or comparing: model.to(d), inputs.to(d).",),
    sources=("PyTorch's message",),
)
def mixed_devices(case: Case) -> Iterator[Observation]:
    """Report PyTorch's refusal."""
    yield from observe(case.notes("mixed_devices"), "PyTorch refused inputs that lie on several devices")
