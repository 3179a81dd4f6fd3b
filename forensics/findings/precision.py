"""The precisions that the build options request, and which ONNX nodes each ForeignNode contains."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from trtforensics.findings.engine_facts import in_engine
from trtforensics.parsers.notation.names import is_foreign_node, members

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from trtforensics.findings.case import Case
    from trtforensics.model.log import Build, Fact, OnnxNode
    from trtforensics.model.span import SourceSpan

WEAK_FLAGS = (
    "--fp16",
    "--bf16",
    "--int8",
    "--fp8",
    "--int4",
    "--best",
    "--layerPrecisions",
    "--layerOutputTypes",
    "--precisionConstraints",
)
"""Flags that trtexec refuses together with --stronglyTyped, and that TensorRT 11 no longer has."""

_ENTRY = re.compile(r"(.+):([a-z0-9+]+)")
_SPEC = re.compile(r" --(layerPrecisions|layerOutputTypes|precisionConstraints)[= ](\S+)")

TYPE_WORDS = {"fp32": "Float", "fp16": "Half", "bf16": "BFloat16", "int8": "Int8", "int32": "Int32"}
"""trtexec's words for types, and how the engine's dump spells them."""


@dataclass(frozen=True, slots=True)
class TypeRequest:
    """One entry of ``--layerPrecisions`` or ``--layerOutputTypes``: a name with at most one ``*``, and a type."""

    option: str
    pattern: str
    type: str
    span: SourceSpan | None

    def matches(self, layer: str) -> bool:
        """Whether trtexec would apply it to a layer of this name."""
        before, star, after = self.pattern.partition("*")
        if not star:
            return layer == self.pattern
        return layer.startswith(before) and layer.endswith(after) and len(layer) >= len(before) + len(after)

    @property
    def text(self) -> str:
        """The option with this entry alone, as on a command line."""
        return f"--{self.option}={self.pattern}:{self.type}"


def type_requests(case: Case) -> list[TypeRequest]:
    """Return the requests of trtexec's command in order (8.4 to 10.16: later entries override earlier ones)."""
    specs = dict(_SPEC.findall(f" {case.build.command or ''}"))
    fact = _fact(case.build, "LayerPrecisions")
    if fact is not None and fact.value.strip():
        specs.setdefault("layerPrecisions", fact.value.strip())
    banner = command_span(case)
    return [
        TypeRequest(
            option, found.group(1), found.group(2), (fact.span if fact and option == "layerPrecisions" else banner)
        )
        for option in ("layerPrecisions", "layerOutputTypes")
        for entry in _entries(specs.get(option, ""))
        if (found := _ENTRY.fullmatch(entry))
    ]


def _entries(spec: str) -> Iterator[str]:
    """Split a specification at the commas that follow a type: names may hold commas."""
    yield from filter(None, re.split(r"(?<=:fp32|:fp16|:bf16|:int8|:int4),|(?<=:int32|:int64),", spec.strip("'\"")))


def constraints(case: Case) -> str:
    """Return the precision constraints, which say how binding requests are: ``obey``, ``prefer`` or ``none``."""
    given = dict(_SPEC.findall(f" {case.build.command or ''}"))
    printed = case.build.option("build", "Precision") or ""
    for word in ("obey", "prefer"):
        if f"({word} precision constraints)" in printed or given.get("precisionConstraints") == word:
            return word
    return "none"


def precision_fact(build: Build) -> Fact | None:
    """Return the ``Precision`` line of trtexec's build options."""
    return _fact(build, "Precision")


def allows(case: Case, *types: str) -> bool:
    """Whether the build options allow one of these reduced types (``FP16``); False where the log does not say."""
    fact = precision_fact(case.build)
    printed = "" if fact is None else fact.value
    flags = " ".join(note.text("text") for note in case.notes("poly_flags"))
    return any(f"+{one}" in printed or re.search(rf"\b{one}(?:: True|[,\]])", flags) for one in types)


def strongly_typed(case: Case) -> bool:
    """Whether the log says, or its version implies, that the network is strongly typed."""
    fact = precision_fact(case.build)
    printed = fact is not None and "Strongly Typed" in fact.value
    return printed or bool(case.notes("strongly_typed")) or bool(case.version and case.version.has("11"))


def command_span(case: Case) -> SourceSpan | None:
    """Return the line that prints the command."""
    return next((note.span for note in case.notes("banner", "poly_run") if note.text("command")), None)


def _fact(build: Build, name: str) -> Fact | None:
    return next((fact for fact in build.options.get("build", ()) if fact.name == name), None)


def layer_names(build: Build) -> Mapping[str, OnnxNode]:
    """Return the network layers that the ONNX parser registered, each with its node."""
    return {layer: node for node in build.onnx_nodes for layer in node.layers}


class HoldingForeignNode(NamedTuple):
    """The ForeignNode that contains an ONNX node.

    ``listed``: the log lists its members; otherwise the order of the nodes suggests them.
    """

    name: str
    span: SourceSpan
    listed: bool


def foreign_members(build: Build) -> Mapping[str, HoldingForeignNode]:
    """Return the ForeignNode that contains each ONNX node, without passes that were discarded.

    TensorRT 10 and later list the members. Before, a ForeignNode's name gives its two ends: the nodes between them, in
    the model's order, are its members unless they are on another branch.
    """
    held: dict[str, HoldingForeignNode] = {}
    for foreign in build.foreign_nodes:
        for node in foreign.onnx_nodes if in_engine(build, foreign.pass_index) else ():
            held.setdefault(node, HoldingForeignNode(foreign.name, foreign.span, listed=True))
    if held:
        return held
    places = {name: at for at, node in enumerate(build.onnx_nodes) for name in (node.name, *node.layers)}
    layers = {layer.name: layer.span for layer in build.engine_layers} or {c.layer: c.span for c in build.choices}
    for name, span in layers.items():
        ends = [places.get(end.split(" + ")[0]) for end in members(name)] if is_foreign_node(name) else []
        if ends and ends[0] is not None and ends[-1] is not None:
            between = build.onnx_nodes[ends[0] : ends[-1] + 1]
            held |= {
                node.name: HoldingForeignNode(name, span, listed=False) for node in between if node.name not in held
            }
    return held
