"""What types the options of a build ask for: for all layers, and for single layers."""

import re
from dataclasses import dataclass

from trtforensics.model.log import Build, Fact, Tool
from trtforensics.model.span import SourceSpan
from trtforensics.render.headline import allowed_types

TYPE_WORDS = {"fp32": "Float", "fp16": "Half", "bf16": "BFloat16", "int8": "Int8", "int32": "Int32"}
"""trtexec's words for types, and how the engine's dump spells them."""

REDUCED = {"FP16": "Half", "BF16": "BFloat16", "INT8": "Int8", "FP8": "FP8", "INT4": "Int4"}
"""The reduced types that build options name, and how the engine's dump spells them."""

_OF_LAYERS = ("--layerPrecisions", "--layerOutputTypes", "--precisionConstraints")
WEAK_FLAGS = ("--fp16", "--bf16", "--int8", "--fp8", "--int4", "--best", *_OF_LAYERS)
"""Flags that trtexec refuses together with --stronglyTyped, and that TensorRT 11 no longer has."""

_ENTRY = re.compile(r"(.+):([a-z0-9+]+)")
_ENTRY_ENDS = re.compile(r"(?<=:fp32|:fp16|:bf16|:int8|:int4),|(?<=:int32|:int64),")
"""The commas that follow a type: names may hold commas."""
_SPEC = re.compile(r" --(layerPrecisions|layerOutputTypes|precisionConstraints)[= ](\S+)")


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


def type_requests(build: Build) -> list[TypeRequest]:
    """Return the requests of trtexec's command in order (8.4 to 10.16: later entries override earlier ones)."""
    specs = dict(_SPEC.findall(f" {build.command or ''}"))
    fact = build.fact("build", "LayerPrecisions")
    if fact is not None and fact.value.strip():
        specs.setdefault("layerPrecisions", fact.value.strip())
    banner = command_span(build)
    return [
        TypeRequest(
            option, match.group(1), match.group(2), (fact.span if fact and option == "layerPrecisions" else banner)
        )
        for option in ("layerPrecisions", "layerOutputTypes")
        for entry in _ENTRY_ENDS.split(specs.get(option, "").strip("'\""))
        if (match := _ENTRY.fullmatch(entry))
    ]


def constraints(build: Build) -> str:
    """Return the precision constraints, which say how binding requests are: ``obey``, ``prefer`` or ``none``."""
    given = dict(_SPEC.findall(f" {build.command or ''}"))
    fact = precision_fact(build)
    printed = "" if fact is None else fact.value
    for word in ("obey", "prefer"):
        if f"({word} precision constraints)" in printed or given.get("precisionConstraints") == word:
            return word
    return "none"


def precision_fact(build: Build) -> Fact | None:
    """Return the ``Precision`` line of the build's options; None for an engine that was loaded."""
    return None if build.loads_engine else build.fact("build", "Precision")


def allows(build: Build, *types: str) -> bool:
    """Whether the build options allow one of these reduced types (``FP16``); False where the log does not say."""
    return not allowed_types(build).isdisjoint(types)


def strongly_typed(build: Build) -> bool:
    """Whether the network is strongly typed, as the log says or its release (TensorRT 11, TensorRT-RTX) implies."""
    fact = precision_fact(build)
    if fact is not None and "Strongly Typed" in fact.value:
        return True
    major = (build.tensorrt_version or "").partition(".")[0]
    implied = build.tool is Tool.TENSORRT_RTX or (major.isdecimal() and int(major) >= 11)  # noqa: PLR2004 - see above
    return implied or any(note.kind == "strongly_typed" for note in build.notes)


def command_span(build: Build) -> SourceSpan | None:
    """Return the line that prints the command."""
    kinds = ("banner", "poly_run", "poly_verdict")
    return next((note.span for note in build.notes if note.kind in kinds and note.text("command")), None)
