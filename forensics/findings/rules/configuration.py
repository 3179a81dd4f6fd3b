"""Profiles, typing, flags: what the build was told to do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import told
from trtforensics.findings.precision import WEAK_FLAGS, precision_fact
from trtforensics.findings.rule import rule
from trtforensics.findings.steps import model_path, trtexec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


@rule(
    "TF401",
    Severity.ERROR,
    "A dynamic input has no optimisation profile",
    cause="Dimensions of an input are unknown and no profile says which sizes to tune for.",
    confirm="The parser's 'Adding network input' lines show -1 for the dynamic dimensions.",
    fixes=("Give minimal, optimal and maximal shapes for every dynamic input.",),
    sources=("a TensorRT-RTX 1.7.1 log (network.cpp, validate)",),
)
def no_profile(case: Case) -> Iterator[Observation]:
    """Report the refusal, unless a bad profile explains it."""
    notes = case.notes("no_profile")
    if not case.notes("bad_profile"):
        shapes = ("--minShapes=INPUT:…", "--optShapes=INPUT:…", "--maxShapes=INPUT:…")
        step = Step("Name the shapes of every dynamic input", trtexec(case, *shapes))
        yield from told(notes, "A dynamic input has no optimisation profile", steps=(step,))


@rule(
    "TF402",
    Severity.ERROR,
    "An optimisation profile is not minimum <= optimum <= maximum",
    cause="A profile's shapes contradict each other, or the input's fixed dimensions.",
    confirm="Compare the three shapes, dimension by dimension, with each other and with the model's input.",
    fixes=("Give shapes with MIN <= OPT <= MAX in every dimension, equal where the model's dimension is fixed.",),
    sources=("a TensorRT-RTX 1.7.1 log (optimizationProfile.cpp, isValid)",),
)
def bad_profile(case: Case) -> Iterator[Observation]:
    """Name the inputs, and cite the shapes where trtexec prints them."""
    shapes = [fact for fact in case.build.options.get("build", ()) if fact.name.startswith("Input build shape")]
    for note in case.notes("bad_profile"):
        printed = "; ".join(fact.value for fact in shapes)
        yield Observation(
            f"The profile of {note.text('tensor')} is not MIN <= OPT <= MAX" + (f": {printed}" if printed else ""),
            (note.span, *(fact.span for fact in shapes)),
            layers=(note.text("tensor"),),
        )


@rule(
    "TF403",
    Severity.WARNING,
    "trtexec guessed the shape of a dynamic input",
    cause="No shapes were given, so trtexec set every dynamic dimension to 1: tactics are tuned for batch 1, and the "
    "engine takes no other size.",
    confirm="The line names the input and the shape.",
    fixes=("Give --minShapes, --optShapes and --maxShapes, or --shapes for one fixed size.",),
    sources=("verbose logs of 8.4 to 10.16",),
)
def guessed_shape(case: Case) -> Iterator[Observation]:
    """Name the inputs."""
    notes = case.notes("shape_guessed")
    flag = ",".join(f"{note.text('tensor')}:…" for note in notes)
    step = Step("Name the shape", trtexec(case, f"--shapes={flag}"))
    yield from told(notes, "trtexec guessed the shape of {names}", names="tensor", steps=(step,))


@rule(
    "TF404",
    Severity.ERROR,
    "Shapes were given for a static model",
    cause="The model's inputs have fixed dimensions; trtexec refuses shapes for them.",
    confirm="The ONNX inputs hold no dynamic dimension (polygraphy inspect model).",
    fixes=("Leave the shapes out, or export with dynamic axes.",),
    sources=("trtexec's source, 8.0 to 11.1",),
)
def static_shapes(case: Case) -> Iterator[Observation]:
    """Report trtexec's refusal."""
    flags = ("--shapes", "--minShapes", "--optShapes", "--maxShapes")
    step = Step("Leave the shapes out", trtexec(case, without=flags))
    yield from told(case.notes("static_shapes"), "Shapes were given for a static model", steps=(step,))


@rule(
    "TF405",
    Severity.ERROR,
    "A precision flag was given for a strongly typed network",
    cause="A strongly typed network takes its types from the model; FP16, INT8 and their like contradict it.",
    confirm="The message names the flag.",
    fixes=("Leave the precision flags out, and put the types into the model (Cast, Q/DQ, AutoCast).",),
    sources=("a 10.16 log (createNetworkBuildConfig)",),
)
def precision_flag(case: Case) -> Iterator[Observation]:
    """Name the flags."""
    step = Step("Leave the precision flags out", trtexec(case, without=WEAK_FLAGS))
    title = "A strongly typed network was given the precision flag {names}"
    yield from told(case.notes("precision_flag"), title, names="flag", steps=(step,))


@rule(
    "TF406",
    Severity.ERROR,
    "A layer's type was set in a strongly typed network",
    cause="Layer precision and output types cannot be set where the model's own types are binding.",
    confirm="The message names the call.",
    fixes=("Use Cast in the model instead.",),
    sources=("the message table of 10.16",),
)
def typed_setter(case: Case) -> Iterator[Observation]:
    """Name the calls."""
    yield from told(case.notes("typed_setter"), "{names} was called for a strongly typed network", names="setter")


@rule(
    "TF407",
    Severity.NOTE,
    "Weak typing is deprecated, and gone with TensorRT 11",
    cause="With weak typing TensorRT picks types by speed; 11 takes them from the model only. --fp16, --int8, layer "
    "precisions and precision constraints are gone there.",
    confirm="The warning is printed from 10.16 on; the Precision line of the options shows flags instead of types.",
    fixes=(Fix("Convert the model with ModelOpt AutoCast and build with --stronglyTyped.", "10", "11"),),
    sources=("10.16 logs", "the 10.x to 11.x migration guide"),
)
def weak_typing(case: Case) -> Iterator[Observation]:
    """Cite the warning and the options line."""
    facts = [fact for fact in (precision_fact(case.build),) if fact is not None]
    notes = case.notes("weak_typing")
    if notes:
        cast = f"python -m modelopt.onnx.autocast --onnx_path {model_path(case)} --output_path mixed.onnx"
        typed = trtexec(case, "--onnx=mixed.onnx", "--stronglyTyped", without=WEAK_FLAGS)
        yield Observation(
            "The network is weakly typed, which TensorRT 11 no longer knows",
            (*(note.span for note in notes), *(fact.span for fact in facts)),
            steps=(Step("Put the types into the model", cast), Step("and build it strongly typed", typed)),
        )


@rule(
    "TF408",
    Severity.WARNING,
    "Refit flags exclude each other",
    cause="Only one of REFIT, REFIT_INDIVIDUAL and REFIT_IDENTICAL can be set; the last one given wins.",
    confirm="The warning names them.",
    fixes=("Set the one that is meant.",),
    sources=("a 10.16 log",),
)
def refit_flags(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    yield from told(case.notes("refit_flags"), "Several refit flags were set; only the last one counts")


@rule(
    "TF409",
    Severity.WARNING,
    "TensorRT-RTX does not know this setting",
    cause="TensorRT-RTX shares the interface of TensorRT, but not all of what is behind it.",
    confirm="The message names the call.",
    fixes=("For RTX: compute capabilities instead of hardware compatibility, no timing cache, no algorithm selector.",),
    sources=("TensorRT-RTX 1.7.1 logs", "pytorch/TensorRT#3817"),
)
def rtx(case: Case) -> Iterator[Observation]:
    """Name the calls."""
    yield from told(case.notes("rtx_unsupported"), "TensorRT-RTX does not support {names}", names="name")


@rule(
    "TF410",
    Severity.ERROR,
    "A library of TensorRT is missing",
    cause="A component that the build asks for (lean runtime, builder resources of a GPU) is not installed or not "
    "found.",
    confirm="Look for the file in the folders of LD_LIBRARY_PATH.",
    fixes=("Install the package that holds it, or drop the option that needs it (--versionCompatible).",),
    sources=("a TensorRT-RTX 1.7.1 log",),
)
def library(case: Case) -> Iterator[Observation]:
    """Name the libraries."""
    yield from told(case.notes("library_missing"), "The library {names} cannot be loaded", names="name")


@rule(
    "TF411",
    Severity.NOTE,
    "Two loggers in one process",
    cause="The process registered another logger before: TensorRT keeps the first one, so this log may miss messages.",
    confirm="Search the program for a second trt.Logger, also inside libraries that use TensorRT.",
    fixes=("Create one logger and pass it everywhere.",),
    sources=("a 10.x log",),
)
def second_logger(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    title = "A second logger was passed: what follows may not be in this log"
    yield from told(case.notes("second_logger"), title, settle="Whether all loggers of the process write to this log")


@rule(
    "TF412",
    Severity.WARNING,
    "Layers asked for on DLA run on the GPU",
    cause="A layer that DLA does not support falls back to the GPU, with copies between the two.",
    confirm="The placement lines list what runs where.",
    fixes=("Change the layers named, or take them out of DLA with --layerDeviceTypes.",),
    sources=("public logs of 5.x to 8.5 on Jetson",),
)
def dla(case: Case) -> Iterator[Observation]:
    """Name the layers."""
    kinds = ("dla_fallback", "dla_precision", "dla_subgraphs", "dla_unsupported", "dla_validation", "dla_empty")
    notes = case.notes(*kinds)
    yield from told(notes, "DLA refused {names}", names="layer", same_as="dla")


@rule(
    "TF413",
    Severity.ERROR,
    "trtexec does not know an option",
    cause="The option was removed or never existed in this version. 11.1 prints its help and no verdict then.",
    confirm="trtexec --help of this version.",
    fixes=(
        Fix("Types and precisions come from the model: no --fp16, --int8, --best, --layerPrecisions any more.", "11"),
        "Take the option out.",
    ),
    sources=("trtexec's option parser, 8.0 to 11.1",),
)
def unknown_option(case: Case) -> Iterator[Observation]:
    """Name the options."""
    names = tuple(note.text("name").partition("=")[0] for note in case.notes("unknown_option"))
    step = Step("Take it out", trtexec(case, without=names))
    yield from told(case.notes("unknown_option"), "trtexec does not know {names}", names="name", steps=(step,))


@rule(
    "TF415",
    Severity.NOTE,
    "TensorRT-RTX takes its types from the model",
    cause="TensorRT-RTX builds strongly typed by default: no flag asks for FP16, an FP32 model gives an FP32 engine.",
    confirm="The warning; the types of the model's weights.",
    fixes=("Put the types into the model, with Casts or by ModelOpt AutoCast.",),
    sources=("TensorRT-RTX 1.7.1 logs",),
)
def rtx_types(case: Case) -> Iterator[Observation]:
    """Report the warning."""
    yield from told(case.notes("strongly_typed"), "Strong typing is on: types come from the model alone")


@rule(
    "TF414",
    Severity.NOTE,
    "A deprecated option was given",
    cause="The option still works or is ignored, and will be refused later.",
    confirm="The message names what replaces it.",
    fixes=("Use what the message names.",),
    sources=("trtexec logs of 8.6 to 10.16",),
)
def deprecated(case: Case) -> Iterator[Observation]:
    """Name the options."""
    notes = case.notes("deprecated_flag", "deprecated_value")
    yield from told(notes, "Deprecated: {names}", names="flag", same_as="deprecated")
