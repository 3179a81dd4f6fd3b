"""Nodes that the ONNX parser and Torch-TensorRT refuse or warn about."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import inf

from trtforensics.console.counting import grouped, listed
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.observations import CLASSES, NEAR, near, observe
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import autocast, polygraphy, sanitize
from trtforensics.knowledge.operators import import_of, is_operator, shipped_plugins
from trtforensics.knowledge.periods import beyond
from trtforensics.knowledge.table import rows
from trtforensics.model.notes import Note
from trtforensics.model.run import Program
from trtforensics.model.span import SourceSpan

_UNREGISTERED = ("plugin_unknown", "creator_missing")
_BEHIND = ("node_name", "parser_assertion", "plugin_missing", *_UNREGISTERED)
"""What may stand below ``While parsing node``."""
_WITH_BODY = {"Loop", "If", "Scan"}
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
    inner: str
    """The plugin that was looked for: of a node with a body, a node inside."""

    @property
    def name(self) -> str:
        return f"{self.node or 'node ' + self.index} [{self.op}]"


def _failures(case: Case) -> Iterator[_Failure]:
    begins, later = case.notes("parse_failed"), case.notes(*_BEHIND, "dumped_node")
    for begin, ahead in zip_longest(begins, begins[1:]):
        tried = [n for n in case.notes("plugin_tried") if 0 < begin.span.line - n.span.line <= NEAR]
        tried = [n for n in tried if n.text("name").rpartition("::")[2] == begin.text("op") or not begin.text("op")]
        mine = _behind(begin, later, ahead.span.line - 1 if ahead else inf)
        mine += [n for n in case.notes(*_UNREGISTERED) if 0 < begin.span.line - n.span.line <= _BEFORE]
        node = next((note.text("node") for note in mine if note.kind == "node_name"), "")
        reason = next((note.text("text") for note in mine if note.kind == "parser_assertion"), "")
        if any(note.kind in {"plugin_missing", *_UNREGISTERED} for note in mine):
            reason = reason or "Plugin not found"
        around = sorted((note.span for note in (*tried, *mine)), key=lambda span: span.line)
        inner = next((name for note in mine if note.kind == "plugin_unknown" and (name := note.text("name"))), "")
        yield _Failure(begin.text("op"), begin.text("index"), node, reason, (begin.span, *around), inner)


def _behind(begin: Note, later: Sequence[Note], last: float) -> list[Note]:
    """Return what stands near the line about a node, or near what tells of it up to a last line: dumps may be long."""
    mine, end = [], float(begin.span.line + NEAR)
    for note in later:
        if begin.span.line < note.span.line <= end:
            mine.append(note)
            end = max(end, min(note.span.line + NEAR, last))
    return [note for note in mine if note.kind in _BEHIND]


def _no_importer(reason: str) -> bool:
    return "Plugin not found" in reason or "plugin registry" in reason or "getPluginCreator" in reason


@explained("TF101")
def no_importer(case: Case) -> Iterator[Observation]:
    """Report the failures whose reason is a missing plugin."""
    for failure in _failures(case):
        if _no_importer(failure.reason):
            cut = polygraphy("inspect model", case, "--show", "layers", "attrs")
            inner = failure.inner if failure.op in _WITH_BODY else ""
            cause, fix = _why_no_importer(case, inner or failure.op)
            within = f"{inner}, inside " if inner else ""
            yield Observation(
                f"TensorRT has no importer and no plugin for {within}{failure.name}",
                failure.spans,
                cause=cause,
                fix=fix,
                onnx_nodes=[failure.node] * bool(failure.node),
                steps=(Step("See the node and its neighbours", cut),),
                same_as=failure.op,
            )
    placed = {span.line for failure in _failures(case) for span in failure.spans}
    named = {note.text("op") for note in case.notes("importer_plugin")}  # TF150 reports it
    for note in case.notes("plugin_unknown"):
        name = note.text("name")
        if note.span.line not in placed and name not in named and is_operator(name):
            cause, fix = _why_no_importer(case, name)
            title, severity = f"TensorRT has no importer and no plugin for the operator {name}", None
            run = case.log.run_of(case.build)
            if run is not None and run.program is Program.ONNXRUNTIME:
                (cause, fix), severity = no_importer.variants["served"], Severity.WARNING
                title = f"TensorRT does not run {name}; ONNX Runtime gives it to another provider"
            yield from observe([note], title, cause=cause, fix=fix, severity=severity, same_as=name)


def _why_no_importer(case: Case, op: str) -> tuple[str, str]:
    """Say why an operator has no importer, and what mends that; nothing where neither is known."""
    rtx = case.version is not None and case.version.rtx
    old = case.version is None or case.version.has(before="8.5")
    sized = op in _SIZED_BY_DATA and ("sized-rtx" if rtx else "data-dependent" * old)
    known = no_importer.variants.get("function" if op.startswith(_FUNCTIONS) else sized or op)
    if known or not op:
        return known or ("", "")
    plugin, version = shipped_plugins().get(op), None if rtx else case.release
    period = import_of(op)
    if period and not rtx and period.words and (version is None or version < period.first):
        cause, way = beyond(f"ONNX's {op} is imported by TensorRT", [period], version)
        run, first = case.log.run_of(case.build), _SETS.get(op, 0)
        told = re.search(r"Opset version (\d+)", "; ".join(text for text, _ in run.facts) if run else "")
        if told and int(told[1]) < first:
            early = f"ONNX has {op} from set {first} on, and the model is of set {told[1]}: its exporter made the node."
            cause = f"{early} {cause}"
            way = f"Let the exporter write it with older operators. Or: {way}"
        return cause, way
    if plugin is not None and (version is None or plugin.holds(version)):
        return no_importer.variants["shipped"]
    if is_operator(op):
        return "", ""
    if plugin is None or version is None:
        return no_importer.variants["custom"]
    cause, way = beyond(f"{op} is in the plugin library of TensorRT", [plugin], version)
    return cause, f"Use {plugin.instead} in its place. Or: {way}" if plugin.instead else way


_SETS = {row["operator"]: int(row["first"]) for row in rows("opsets")}
"""The operator sets of ONNX in which operators began that came after the first ones."""
_FUNCTIONS = ("aten_", "_aten_", "prim_", "prims_", "IsScalar")
"""How names begin of the functions that torch.onnx writes with dynamo (``pkg.onnxscript.torch_lib``)."""
_SIZED_BY_DATA = {"NonZero", "NonMaxSuppression"}


@explained("TF115")
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


@explained("TF102")
def mixed_types(case: Case) -> Iterator[Observation]:
    """Pair the error with the warning that names the tensors."""
    warnings = case.notes("input_types")
    for note in case.notes("elementwise_types"):
        before = [w for w in warnings if w.span.line < note.span.line]
        about = before[-1].text("text").partition(":")[0] if before else ""
        yield Observation(
            f"{note.text('op')} gets {note.text('first')} and {note.text('second')}" + (f" ({about})" if about else ""),
            (note.span, *(w.span for w in before[-1:])),
            layers=about.split(" and ") if about else [],
            steps=(autocast(case, "--low_precision_type", "fp16"),),
        )


@explained("TF103")
def inner_dimensions(case: Case) -> Iterator[Observation]:
    """Report both dimensions."""
    for note in case.notes("matmul_shapes"):
        first, second = note.text("first"), note.text("second")
        which = f"are {first} and {second}" if first else "differ"
        yield from observe([note], f"The inner dimensions of a matrix product {which}", steps=(sanitize(case),))


@explained("TF104")
def int64_weights(case: Case) -> Iterator[Observation]:
    """Report a clamped value as a warning, a cast alone as a note."""
    clamped = case.notes("int64_clamped")
    what = "did not fit into INT32 and were clamped" if clamped else "were cast to INT32, without any being clamped"
    notes = [*clamped, *case.notes("int64_weights")]
    yield from observe(notes, f"INT64 weights {what}", severity=Severity.WARNING if clamped else None)


@explained("TF107")
def reshape(case: Case) -> Iterator[Observation]:
    """Report a refused Reshape as an error, a doubtful zero as a warning."""
    steps = (sanitize(case),)
    volumes = grouped(
        case.notes("reshape_volume"), lambda note: (note.text("layer"), note.text("first"), note.text("second"))
    )
    for (_, first, second), notes in volumes.items():
        title = f"Reshape {{names}} would change the volume from {first} to {second}"
        yield from observe(notes, title, names="layer", steps=steps)
    for text, notes in grouped(case.notes("reshape_changes"), lambda note: note.text("text")).items():
        which = "Reshape {names}" if notes[0].text("layer") else "A reshape"
        yield from observe(notes, f"{which} changes the volume{text}", names="layer", steps=steps)
    for note in case.notes("reshape_fails"):
        title = f"Reshape {{names}} does not fit its input {note.text('tensor')}"
        yield from observe([note], title, names="layer", steps=steps)
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


@explained("TF108")
def parse_failed(case: Case) -> Iterator[Observation]:
    """Report every failure that no other rule explains."""
    explained = case.notes(*_EXPLAINED)
    for failure in _failures(case):
        line = failure.spans[0].line
        classed = any(0 <= note.span.line - line <= NEAR for note in case.notes(*CLASSES))
        if not (_no_importer(failure.reason) or near(line, explained) or classed):
            yield Observation(
                f"The parser failed at {failure.name}" + (f": {failure.reason}" if failure.reason else ""),
                failure.spans,
                onnx_nodes=[failure.node] if failure.node else [],
                steps=(sanitize(case),),
                same_as=f"{failure.op} {failure.reason}",
            )


@explained("TF150")
def plugin(case: Case) -> Iterator[Observation]:
    """Report the refusal where no line names the node, which TF101 would."""
    cited = {span for failure in _failures(case) if _no_importer(failure.reason) for span in failure.spans}
    parsing = [note for note in case.notes("parse_failed") if note.span in cited]
    refused = [note for note in case.notes("importer_plugin") if note.span not in cited]
    notes = [note for note in refused if not near(note.span.line, parsing)]
    if case.notes("parse_failed") and not notes and not cited:  # else an engine is loaded (TF609)
        unknown = case.notes("plugin_unknown")
        yield from observe(unknown, "No plugin {names} is registered: a custom op without its library", names="name")
        return
    op = next((note.text("op") for note in notes if note.text("op")), "")
    beside = [note for note in case.notes(*_UNREGISTERED) if near(note.span.line, notes)]
    missing = next((note.text("name") for note in beside if note.text("name")), "") if not op else ""
    title = f"A node needs {f'the plugin {missing}, which' if missing else 'a plugin that'} is not loaded"
    title = "The parser has no importer for {names}" if op else title
    cause, fix = _why_no_importer(case, op or missing)
    around = sorted((*notes, *beside), key=lambda note: note.span.line)
    yield from observe(around, title, names="op", cause=cause, fix=fix)


_OF_OTHER_RULES = (
    *("parse_failed", "input_missing", "axis_outside", "importer_plugin", "constant_wanted", "weights_unread"),
    *("implicit_batch", "unsupported_node", "plugin_missing", *CLASSES),
)
"""Reasons why an importer refuses a node that other rules report."""


@explained("TF151")
def importer(case: Case) -> Iterator[Observation]:
    """Name the importer where neither a node nor a reason that another rule knows stands beside it."""
    known = case.notes(*_OF_OTHER_RULES)
    notes = [note for note in case.notes("importer_refused") if not near(note.span.line, known)]
    yield from observe(notes, "The importer {names} refuses a node", names="name")


@explained("TF162")
def not_parsed(case: Case) -> Iterator[Observation]:
    """Report the message, unless errors stand below it: into a file it is printed before the errors it follows from."""
    notes = case.notes("polygraphy_parse")
    last = max((note.span.line for note in notes), default=0)
    if not any(message.severity == "E" and message.span.line > last for message in case.build.messages):
        yield from observe(notes, "Polygraphy could not parse the model", settle="The parser's errors before it.")


@explained("TF683")
def unsupported_operators(case: Case) -> Iterator[Observation]:
    """Name the operators, of the list and of single messages."""
    if case.notes("torch_unsupported"):
        notes = case.notes("torch_unsupported", "torch_operator")
        names = list(dict.fromkeys(note.text("op") for note in notes if note.text("op")))
        title = "Torch-TensorRT has no converter for operators of the model" + (f": {listed(names)}" if names else "")
        yield from observe(notes, title, same_as=f"torch {names}")
