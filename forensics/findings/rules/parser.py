"""Nodes that the ONNX parser and Torch-TensorRT refuse or warn about."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from trtforensics.console.counting import listed
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.observations import CLASSES, NEAR, explained_by_class, near, observe
from trtforensics.findings.rule import WRAPPED, rule
from trtforensics.findings.steps.commands import autocast, polygraphy, sanitize
from trtforensics.knowledge.operators import first_release_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.span import SourceSpan


_UNREGISTERED = ("plugin_unknown", "creator_missing")
_BEHIND = ("node_name", "parser_assertion", "plugin_missing", *_UNREGISTERED)
"""What may stand below ``While parsing node``."""
_OF_FAILURES = ("parse_failed", "plugin_tried", *_BEHIND)
_BEFORE = 3
"""Lines before ``While parsing node`` within which the plugin registry says that it lacks a plugin."""


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
    later = case.notes(*_BEHIND)
    for begin in case.notes("parse_failed"):
        tried = [note for note in case.notes("plugin_tried") if 0 < begin.span.line - note.span.line <= NEAR]
        mine = [note for note in later if 0 < note.span.line - begin.span.line <= NEAR]
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
            "own: load libnvinfer_plugin (initLibNvInferPlugins), of a TensorRT new enough to hold it."
        ),
        "Rewrite the operator with others before export, or cut it out of the graph and run it outside.",
        Fix("Load it with --staticPlugins=LIB (trtexec) or --plugins (Polygraphy).", "8.6"),
        Fix("Load it with --plugins=LIB.", before="8.6"),
    ),
    sources=("TensorRT-RTX 1.7.1 logs of a custom operator and of NonZero (onnxOpCheckers.cpp, onnxOpImporters.cpp)",),
    reads=("plugin_created", *_OF_FAILURES),
    refuters=("plugin_created",),
)
def no_importer(case: Case) -> Iterator[Observation]:
    """Report the failures whose reason is a missing plugin."""
    for failure in _failures(case):
        if _no_importer(failure.reason):
            names = [failure.node] if failure.node else []
            cut = polygraphy("inspect model", case, "--show", "layers", "attrs")
            cause, fix = _why_no_importer(case, failure.op)
            yield Observation(
                f"TensorRT has no importer and no plugin for {failure.name}",
                failure.spans,
                cause=cause,
                fix=fix,
                onnx_nodes=names,
                steps=(Step("See the node and its neighbours", cut),),
                same_as=failure.op,
            )


def _why_no_importer(case: Case, op: str) -> tuple[str, str]:
    """Say why an operator has no importer, and what mends that; nothing where neither is known."""
    old = case.version is None or case.version.has(before="8.5")
    return _DATA_DEPENDENT if op in _SIZED_BY_DATA and old else _NATIVE.get(op) or _imported_later(case, op)


def _imported_later(case: Case, op: str) -> tuple[str, str]:
    """Say from which release on an operator is imported, and to use it, where the log's is older or not stated."""
    first = first_release_of(op)
    if first is None or (case.version is not None and (case.version.rtx or case.version.numbers >= first)):
        return "", ""
    this = f", and this is {case.version}" if case.version else ""
    since = ".".join(map(str, first))
    return (
        f"ONNX's {op} is imported from TensorRT {since} on{this}. Older releases look for a plugin of its name.",
        f"Use TensorRT {since} or later, or rewrite the operator before export.",
    )


_NATIVE = {
    "GroupNorm": (
        "GroupNorm was a plugin of the diffusion demo up to 8.5; since 8.6 TensorRT has native group normalisation.",
        "Export the model with the ONNX operator GroupNormalization of opset 18.",
    ),
    "LayerNorm": (
        "LayerNorm was a plugin of the diffusion demo up to 8.5; since 8.6 TensorRT has native layer normalisation.",
        "Export the model with the ONNX operator LayerNormalization of opset 17.",
    ),
    "InstanceNormalization": (
        "The importer maps InstanceNormalization to a plugin of libnvinfer_plugin, which older builds of it lack.",
        "Use a newer TensorRT (on Jetson a newer JetPack), and load the plugin library.",
    ),
}
"""Why the plugins of some operators are not there, and what mends that."""
_SIZED_BY_DATA = {"NonZero", "NonMaxSuppression"}
_DATA_DEPENDENT = (
    "Its output's size depends on the data: TensorRT imports it from 8.5 on and looks for a plugin of its name before.",
    "Upgrade TensorRT to 8.5 or later, or take the operator out of the graph.",
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
    reads=("input_types", "elementwise_types"),
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
    reads=("matmul_shapes",),
)
def inner_dimensions(case: Case) -> Iterator[Observation]:
    """Report both dimensions."""
    for note in case.notes("matmul_shapes"):
        first, second = note.text("first"), note.text("second")
        title = f"The inner dimensions of a matrix product are {first} and {second}" if first else _DIFFERENT
        yield from observe([note], title, steps=(sanitize(case),))


@rule(
    "TF104",
    Severity.NOTE,
    "INT64 weights become INT32",
    cause="TensorRT before 10 has no INT64, so weights are cast to INT32. That is harmless unless a value does not "
    "fit: such a value is clamped.",
    confirm="A line 'outside the range of INT32 was clamped' follows where a value did not fit.",
    fixes=(Fix("Ignore it unless values were clamped; if so, change the constants of the model.", before="10"),),
    sources=("NVIDIA/TensorRT#800, #2574",),
    reads=("int64_weights", "int64_clamped"),
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
    reads=("reshape_volume", "reshape_fails", "reshape_zero", "reshape_shape", "reshape_changes"),
)
def reshape(case: Case) -> Iterator[Observation]:
    """Report a refused Reshape as an error, a doubtful zero as a warning."""
    steps = (sanitize(case),)
    for note in case.notes("reshape_volume"):
        title = f"Reshape {{names}} would change the volume from {note.text('first')} to {note.text('second')}"
        yield from observe([note], title, names="layer", steps=steps)
    for note in case.notes("reshape_changes"):
        yield from observe([note], f"A reshape changes the volume{note.text('text')}", steps=steps)
    for note in case.notes("reshape_fails"):
        title = f"Reshape {{names}} does not fit its input {note.text('tensor')}"
        yield from observe([note], title, names="layer", steps=steps)
    yield from observe(case.notes("reshape_shape"), "A Reshape of a shape tensor has several dimensions", steps=steps)
    yield from observe(
        case.notes("reshape_zero"),
        "Reshape dimensions might be zero, where zero means 'as the input'",
        severity=Severity.WARNING,
        settle="The shape tensor's value, after polygraphy surgeon sanitize",
        steps=steps,
    )


_EXPLAINED = (
    *("elementwise_types", "matmul_shapes", "reshape_volume", "reshape_fails", "reshape_shape", "input_missing"),
    *("axis_outside", "tensor_expected", "constant_wanted", "rank_refused", "weights_count"),
)
"""Reasons for a failure that other rules report."""


@rule(
    "TF108",
    Severity.ERROR,
    "The parser failed at a node",
    cause="The importer of this operator refuses the node: an attribute, a type or a shape that this TensorRT does "
    "not support.",
    confirm="The lines after the error dump the node and name the check that failed.",
    fixes=("Run polygraphy surgeon sanitize, export with another opset, or rewrite the node.",),
    sources=("TensorRT-RTX 1.7.1 logs (ModelImporter.cpp)",),
    reads=(*_OF_FAILURES, *_EXPLAINED, *CLASSES),
    follows=(WRAPPED,),
)
def parse_failed(case: Case) -> Iterator[Observation]:
    """Report every failure that no other rule explains."""
    explained = case.notes(*_EXPLAINED)
    for failure in _failures(case):
        line = failure.spans[0].line
        if not _no_importer(failure.reason) and not near(line, explained) and not explained_by_class(case, line):
            yield Observation(
                f"The parser failed at {failure.name}" + (f": {failure.reason}" if failure.reason else ""),
                failure.spans,
                onnx_nodes=[failure.node] if failure.node else [],
                steps=(sanitize(case),),
                same_as=f"{failure.op} {failure.reason}",
            )


@rule(
    "TF150",
    Severity.ERROR,
    "A node needs a plugin that is not loaded",
    cause="No importer knows the operator, and no registered plugin has its name, version and namespace: the library "
    "of the plugin is not loaded, or is of another project or version.",
    confirm="polygraphy inspect model MODEL --show layers names the operator; Registered plugin creator lines of a "
    "verbose log list what is loaded.",
    fixes=(
        (
            "Load the library before parsing: trt.init_libnvinfer_plugins for TensorRT's own, ctypes.CDLL for others. "
            "A library of custom ops of ONNX Runtime registers none."
        ),
        "mmdeploy and mmcv: compile their TensorRT ops (libmmdeploy_tensorrt_ops.so), and check their environment.",
        "Or replace the operator before export.",
    ),
    sources=("checkFallbackPluginImporter, 7.0 to 10; open-mmlab/mmdeploy#1167, #2398",),
    reads=("importer_plugin", "plugin_created", *_OF_FAILURES),
    refuters=("plugin_created",),
)
def plugin(case: Case) -> Iterator[Observation]:
    """Report the refusal where no line names the node, which TF101 would."""
    cited = {span for failure in _failures(case) if _no_importer(failure.reason) for span in failure.spans}
    parsing = [note for note in case.notes("parse_failed") if note.span in cited]
    notes = [note for note in case.notes("importer_plugin") if not near(note.span.line, parsing)]
    if case.notes("parse_failed") and not notes and not cited:  # else an engine is loaded (TF609)
        unknown = case.notes("plugin_unknown")
        yield from observe(unknown, "No plugin {names} is registered: a custom op without its library", names="name")
        return
    op = next((note.text("op") for note in notes if note.text("op")), "")
    title = "The parser has no importer for {names}" if op else "A node needs a plugin that is not loaded"
    beside = [note for note in case.notes(*_UNREGISTERED) if near(note.span.line, notes)]
    cause, fix = _why_no_importer(case, op)
    for refusal in observe(sorted((*notes, *beside), key=lambda note: note.span.line), title, names="op"):
        yield replace(refusal, cause=cause, fix=fix)


_OF_OTHER_RULES = (
    *("parse_failed", "input_missing", "axis_outside", "importer_plugin", "constant_wanted", "weights_unread"),
    *("implicit_batch", "unsupported_node", "plugin_missing", *CLASSES),
)
"""Reasons why an importer refuses a node that other rules report."""


@rule(
    "TF151",
    Severity.ERROR,
    "An importer refuses a node",
    cause="The importer of the operator checks the node, and the check fails: an attribute, rank, type or input that "
    "this TensorRT does not support.",
    confirm="The assertion printed beside the importer's name says what it wants.",
    fixes=(
        "Change the node as the assertion wants it: fold constants, export with another opset, or rewrite it.",
        "Use a newer TensorRT: importers take more with each release.",
    ),
    sources=("builtin_op_importers.cpp and onnxOpImporters.cpp, 5 to 10",),
    reads=("importer_refused", *_OF_OTHER_RULES),
    follows=("TF134", "TF101", "TF150"),
)
def importer(case: Case) -> Iterator[Observation]:
    """Name the importer where neither a node nor a reason that another rule knows stands beside it."""
    known = case.notes(*_OF_OTHER_RULES)
    notes = [note for note in case.notes("importer_refused") if not near(note.span.line, known)]
    yield from observe(notes, "The importer {names} refuses a node", names="name")


@rule(
    "TF162",
    Severity.ERROR,
    "Polygraphy could not parse the model",
    cause="TensorRT's parser gave no network. An error of the parser stands before it; without one, likeliest first: "
    "the path is wrong or a folder, the file is no whole ONNX model, its external data are not beside it.",
    confirm="python -c \"import onnx; onnx.checker.check_model('MODEL')\"; ls -l on the file.",
    fixes=(
        "Mend the first error of the parser; without one, give the path of a whole model with its data beside it.",
        "If an export comes just before it: read the exporter's own error, the model was not written.",
    ),
    sources=("Polygraphy's backend/trt/loader.py; onnx/onnx#4392, ComfyUI-Upscaler-Tensorrt#5",),
    reads=("polygraphy_parse",),
    follows=("TF1*", "TF716", WRAPPED),
)
def not_parsed(case: Case) -> Iterator[Observation]:
    """Report the message, unless errors stand below it: into a file it is printed before the errors it follows from."""
    notes = case.notes("polygraphy_parse")
    last = max((note.span.line for note in notes), default=0)
    if not any(message.severity == "E" and message.span.line > last for message in case.build.messages):
        yield from observe(notes, "Polygraphy could not parse the model", settle="The parser's errors before it.")


@rule(
    "TF683",
    Severity.ERROR,
    "Torch-TensorRT has no converter for an operator",
    cause="TorchScript operators without a converter cannot go into an engine. With require_full_compilation, or "
    "convert_method_to_trt_engine, one of them ends the compilation; else they run in PyTorch.",
    confirm="torch_tensorrt.ts.check_method_op_support(module, 'forward').",
    fixes=(
        "Leave the operators to PyTorch: compile without require_full_compilation (torch_executed_ops).",
        "Use the Dynamo frontend (ir='dynamo'), which has more converters, or write the model without the operator.",
        "Remove training code (losses, asserts, profiler calls) from the method that is compiled.",
    ),
    sources=("core/conversion of Torch-TensorRT and TRTorch; pytorch/TensorRT#829, #1912",),
    reads=("torch_unsupported", "torch_operator"),
)
def unsupported_operators(case: Case) -> Iterator[Observation]:
    """Name the operators, of the list and of single messages."""
    if case.notes("torch_unsupported"):
        notes = case.notes("torch_unsupported", "torch_operator")
        names = list(dict.fromkeys(note.text("op") for note in notes if note.text("op")))
        title = "Torch-TensorRT has no converter for operators of the model" + (f": {listed(names)}" if names else "")
        yield from observe(notes, title, same_as=f"torch {names}")
