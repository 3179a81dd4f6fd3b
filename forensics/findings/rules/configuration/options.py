"""Options that exclude each other, are unknown or deprecated, or have no effect for some layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.engines.requests import WEAK_FLAGS, command_span
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule, said
from trtforensics.findings.steps.commands import options, trtexec
from trtforensics.findings.steps.trtexec_flags import flags

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case


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
    yield from observe(case.notes("refit_flags"), "Several refit flags were set; only the last one counts")


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
    yield from observe(notes, "DLA refused {names}", names="layer", same_as="dla")


@rule(
    "TF413",
    Severity.ERROR,
    "trtexec or Polygraphy does not know an option",
    cause="The option was removed or never existed in this version. 11.1 prints its help and no verdict then.",
    confirm="trtexec --help, or polygraphy SUBTOOL --help, of this version.",
    fixes=(
        Fix("Types and precisions come from the model: no --fp16, --int8, --best, --layerPrecisions any more.", "11"),
        "Take the option out.",
    ),
    sources=("trtexec's option parser, 6 to 11.1", "Polygraphy's tools/_main.py"),
)
def unknown_option(case: Case) -> Iterator[Observation]:
    """Name the options."""
    names = tuple(note.text("name").partition("=")[0] for note in case.notes("unknown_option"))
    step = Step("Take it out", trtexec(case, without=names))
    yield from observe(case.notes("unknown_option"), "trtexec does not know {names}", names="name", steps=(step,))
    yield from observe(case.notes("options_unrecognized"), "Polygraphy does not know {names}", names="name")


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
    yield from observe(notes, "Deprecated: {names}", names="flag", same_as="deprecated")


@rule(
    "TF418",
    Severity.NOTE,
    "Build flags beside --loadEngine do nothing",
    cause="With --loadEngine trtexec builds no network: flags of the build are read and then unused. Precisions, "
    "shapes of profiles and memory pools are those of the plan.",
    confirm="The log has no build options with values of its own, and no tuning.",
    fixes=("Leave them out, or build anew with --onnx and --saveEngine.",),
    sources=("trtexec's source, getEngineBuildEnv, 7.2 to 11.1",),
)
def idle_flags(case: Case) -> Iterator[Observation]:
    """Name the flags."""
    given = [option.partition("=")[0] for option in options(case)]
    known = flags()
    idle = [name for name in given if name in known and known[name].when == "build" and name != "--onnx"]
    span = command_span(case.build)
    if "--loadEngine" in given and idle and span is not None:
        step = Step("Leave them out", trtexec(case, without=idle))
        yield Observation(
            f"{listed(idle)} {'does' if len(idle) == 1 else 'do'} nothing beside --loadEngine",
            (span,),
            severity=Severity.WARNING if {*idle} & {*WEAK_FLAGS} else Severity.NOTE,
            steps=(step,),
            same_as="idle flags",
        )


@rule(
    "TF444",
    Severity.NOTE,
    "The model comes through a parser that later versions do not have",
    cause="The Caffe and UFF parsers are deprecated since TensorRT 7.0. trtexec 8.6 is the last with options for them "
    "(--deploy, --uff), and TensorRT 10 has neither parser.",
    confirm="trtexec --help of the version that you move to.",
    fixes=("Convert the model to ONNX (tf2onnx for TensorFlow) and build with --onnx.",),
    sources=("TensorRT's release notes of 7.0 and 10.0", "trtexec's options, 8.6 and 9.1"),
)
def old_parser(case: Case) -> Iterator[Observation]:
    """Name the parser by the format of the model that trtexec prints."""
    for fact in case.build.options.get("model", ()):
        if fact.name == "Format" and fact.value in {"Caffe", "UFF"}:
            yield Observation(
                f"The model is read by the {fact.value} parser, which TensorRT 10 does not have",
                (fact.span,),
                same_as=fact.value,
            )


constraints = said(
    "TF423",
    Severity.ERROR,
    "Two builder flags exclude each other",
    kinds=("flags_conflict",),
    cause="OBEY_PRECISION_CONSTRAINTS and PREFER_PRECISION_CONSTRAINTS cannot be set at once.",
    confirm="The flags that the program sets; trtexec --precisionConstraints sets one of them.",
    fixes=("Set one of the two (--precisionConstraints=obey or =prefer), or clear the other flag first.",),
    sources=("builderConfig.cpp of 8.2 to 10",),
)


_DEFAULT_LEVEL = 3


@rule(
    "TF446",
    Severity.NOTE,
    "The optimisation level is below the default",
    cause="Below level 3 the builder compiles and times fewer tactics, at level 0 it takes the first that heuristics "
    "give: the build is fast and the engine is not. Choices of such a build say little about one at the default level.",
    confirm="BuilderOptimizationLevel in the build options.",
    fixes=(Fix("Leave --builderOptimizationLevel out, or give 3 or more.", "8.6"),),
    sources=("TensorRT's description of builder_optimization_level",),
)
def low_level(case: Case) -> Iterator[Observation]:
    """Report the level that trtexec prints."""
    for fact in case.build.options.get("build", ()):
        level = fact.value.strip()
        if fact.name == "BuilderOptimizationLevel" and level in {str(one) for one in range(_DEFAULT_LEVEL)}:
            step = Step("Build at the default level", trtexec(case, without=("--builderOptimizationLevel",)))
            yield Observation(f"The optimisation level is {level}", (fact.span,), steps=(step,), same_as="level")


value = said(
    "TF453",
    Severity.ERROR,
    "trtexec refuses the value of an option",
    kinds=("option_value",),
    says="trtexec refuses a format of --inputIOFormats or --outputIOFormats",
    cause="An element is no TYPE:FORMAT pair that this release knows; an empty one behind a comma at the end of the "
    "list counts too, from TensorRT 10 on.",
    confirm="The option in the command: fp16:chw,fp16:chw has no comma at its end.",
    fixes=("Take the comma at the end away, and give one TYPE:FORMAT for each input or output.",),
    sources=("trtexec's sampleOptions.cpp; linClubs/BEVFusion-ROS-TensorRT#16",),
)


@rule(
    "TF447",
    Severity.NOTE,
    "The network has random weights",
    cause="trtexec takes --deploy without --model as a Caffe network without weights and fills in random ones. The "
    "engine's speed is right, its numbers mean nothing.",
    confirm="The command, and an empty Model line in the model options.",
    fixes=("Give the weights: --model=FILE.caffemodel.", "Use such an engine to measure speed only."),
    sources=("trtexec's help, 5.0 to 8.6: --model, default: no model, random weights",),
)
def random_weights(case: Case) -> Iterator[Observation]:
    """Report a command with a Caffe network and no file of its weights."""
    given, span = {option.partition("=")[0] for option in options(case)}, command_span(case.build)
    if "--deploy" in given and not given & {"--model", "--loadEngine"} and span is not None:
        yield Observation("No --model beside --deploy: the weights are random", (span,), same_as="random weights")
