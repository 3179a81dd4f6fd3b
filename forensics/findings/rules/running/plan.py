"""Plans that cannot be loaded or refitted."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import followed_by, listed, observe
from trtforensics.findings.rule import rule, said
from trtforensics.findings.steps.commands import engine_path, trtexec

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.notes import Note


@rule(
    "TF601",
    Severity.ERROR,
    "The plan is of another TensorRT version",
    cause="A plan runs on the version that built it, unless it was built version compatible.",
    confirm="trtexec --getPlanVersionOnly --loadEngine=PLAN (9.1 and later).",
    fixes=("Rebuild the engine with the TensorRT version that runs it.", Fix("Build with --versionCompatible.", "8.6")),
    sources=("NVIDIA/TensorRT#574, #2195",),
)
def version(case: Case) -> Iterator[Observation]:
    """Report every form of the message."""
    versions = case.notes("plan_version")
    of_caches = followed_by(versions, case.notes("cache_unused"))
    notes = [note for note in versions if note not in of_caches]
    step = Step("Which version built it?", trtexec(case, "--getPlanVersionOnly") if engine_path(case) else "")
    yield from observe(notes, "The plan was built by another TensorRT version", steps=(step,))


@rule(
    "TF602",
    Severity.ERROR,
    "The plan is of another GPU",
    cause="A plan runs on the compute capability it was built for, unless it was built hardware compatible.",
    confirm="Compare Compute Capability of both machines.",
    fixes=(
        "Rebuild the engine on the GPU that runs it: the plan was built on another GPU.",
        Fix("Build with --hardwareCompatibilityLevel=ampere+.", "8.6"),
    ),
    sources=("NVIDIA/TensorRT#2176, #2177",),
)
def device(case: Case) -> Iterator[Observation]:
    """Name both compute capabilities."""
    for note in case.notes("plan_device"):
        title = f"The plan wants compute capability {note.text('first')}, this GPU has {note.text('second')}"
        yield Observation(title, (note.span,))


@rule(
    "TF603",
    Severity.ERROR,
    "The file is no plan of this TensorRT",
    cause="The first bytes are not a plan's: an ONNX model, a Git LFS pointer, a cut file, or a TensorRT-RTX plan "
    "(vtrt) given to TensorRT (ftrt). For a timing cache the same message means that another version wrote it.",
    confirm="head -c 4 FILE prints ftrt for TensorRT, vtrt for RTX.",
    fixes=("Give the file that the builder wrote, whole.",),
    sources=("NVIDIA/TensorRT#3566", "plans of 10.x and RTX 1.7.1"),
)
def magic(case: Case) -> Iterator[Observation]:
    """Report the message, unless another line names the version as the reason."""
    headers = case.notes("plan_magic")
    of_caches = followed_by(headers, case.notes("cache_unused"))
    named = {note.span.line for note in (*case.notes("plan_version"), *of_caches)}
    notes = [note for note in headers if note.span.line not in named]
    yield from observe(
        notes, "The file does not begin as a plan does", steps=(Step("See its first bytes", _head(case)),)
    )


def _head(case: Case) -> str:
    path = engine_path(case)
    return f"head -c 4 {shlex.quote(path)}" if path else ""


@rule(
    "TF604",
    Severity.ERROR,
    "Weights cannot be refitted",
    cause="The engine was built without REFIT, or the weights were fused away under another name.",
    confirm="List what is refittable: trtexec --dumpRefit --loadEngine=PLAN.",
    fixes=("Build with --refit, and refit the names that the engine lists.",),
    sources=("10.x logs",),
)
def refit(case: Case) -> Iterator[Observation]:
    """Report the refusal."""
    step = Step("Build a refittable engine", trtexec(case, "--refit"))
    yield from observe(case.notes("refit_refused"), "Weights cannot be refitted", steps=(step,))


_STANDARD = (
    "TensorRT's own plugins (names end in _TRT): register the standard plugins before deserializing, by "
    'trt.init_libnvinfer_plugins(logger, "") or initLibNvInferPlugins.'
)


@rule(
    "TF609",
    Severity.ERROR,
    "A plan needs a plugin that is not registered",
    cause="The plan holds a layer of a plugin, and the process that loads it registered no plugin of that name, "
    "version and namespace: the plugin library was not loaded, or TensorRT's own plugins were not registered.",
    confirm="Registered plugin creator lines of a verbose log list what the process has.",
    fixes=(
        _STANDARD,
        "A custom plugin: load its library before deserializing (ctypes.CDLL, dlopen, LD_PRELOAD).",
        Fix("Or build with --setPluginsToSerialize=LIB, which puts the library into the plan.", "8.6"),
    ),
    sources=("Deci-AI/super-gradients#1816", "laugh12321/TensorRT-YOLO#118"),
)
def unregistered(case: Case) -> Iterator[Observation]:
    """Name the plugins, where no node was being parsed."""
    parsing = [note.span.line for note in case.notes("parse_failed")]
    notes = [n for n in case.notes("plugin_unknown", "creator_missing", "plugin_unloaded") if not _near(n, parsing)]
    names = list(dict.fromkeys(note.text("name") for note in notes if note.kind == "plugin_unknown"))
    what = listed(names) if names else "a plugin"
    yield from observe(notes, f"No plugin library that holds {what} is loaded", same_as=f"plugin {what}")


def _near(note: Note, lines: Sequence[int]) -> bool:
    return any(abs(note.span.line - line) <= _PARSER_LINES for line in lines)


_PARSER_LINES = 12
"""Lines around ``While parsing node`` that are of the parser (TF101)."""

streaming_memory = said(
    "TF648",
    Severity.NOTE,
    "Loading the engine needs its weights twice in host memory",
    kinds=("weight_streaming_memory",),
    cause="With weight streaming TensorRT keeps a copy of the weights in host memory, beside the engine file that the "
    "program read into memory itself.",
    confirm="The resident memory of the process while it loads the engine.",
    fixes=("Load the engine through a stream reader (IStreamReader), as the line advises.",),
    sources=("TensorRT 10.x, IRuntime::deserializeCudaEngine",),
)
