"""Optimisation profiles and the shapes of inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule, said
from trtforensics.findings.steps.commands import trtexec

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
    """Report the refusal, unless a contradictory profile (TF402) explains it."""
    notes = case.notes("no_profile")
    if not case.notes("bad_profile"):
        dynamic = [note for note in case.notes("adding_input") if "-1" in note.text("dims")]
        inputs = "; ".join(f"{note.text('tensor')} {note.text('dims')}" for note in dynamic)
        what = "Give --minShapes, --optShapes and --maxShapes for every dynamic input"
        step = Step(what + (f", with a size for each -1: {inputs}" if inputs else ""))
        yield from observe(notes, "A dynamic input has no optimisation profile", steps=(step,))


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
    """Name the inputs, and quote the shapes where trtexec prints them."""
    shapes = [fact for fact in case.build.options.get("build", ()) if fact.name.startswith("Input build shape")]
    named = [note for note in case.notes("bad_profile") if note.text("tensor")]
    if not named:
        refused = case.notes("bad_profile") or case.notes("profile_refused")
        yield from observe(refused, "An optimisation profile is not MIN <= OPT <= MAX")
    for note in named:
        printed = "; ".join(fact.value for fact in shapes)
        yield Observation(
            f"The profile of {note.text('tensor')} is not MIN <= OPT <= MAX" + (f": {printed}" if printed else ""),
            (note.span, *(fact.span for fact in shapes)),
            layers=(note.text("tensor"),),
        )


@rule(
    "TF403",
    Severity.WARNING,
    "The shape of a dynamic input was guessed",
    cause="No shapes were given for the input, so trtexec or Polygraphy set every dynamic dimension to 1: tactics are "
    "tuned for batch 1, and the engine takes no other size.",
    confirm="The line names the input and the shape.",
    fixes=(
        "trtexec: give --minShapes, --optShapes and --maxShapes, or --shapes for one fixed size.",
        "Polygraphy: give --trt-min-shapes, --trt-opt-shapes and --trt-max-shapes, and --input-shapes for the data.",
    ),
    sources=("verbose logs of 8.4 to 10.16", "Polygraphy 0.35 to 0.49"),
)
def guessed_shape(case: Case) -> Iterator[Observation]:
    """Name the inputs; where stderr with trtexec's warning is missing, the shapes that it set say so too."""
    asked = [fact for fact in case.build.options.get("build", ()) if fact.name == "Input build shapes"]
    unasked = [fact.span for fact in asked if fact.value.strip() == "model"]
    notes = case.notes("shape_guessed") or (case.notes("shape_set") if unasked else [])
    if notes:
        used = ", ".join(f"{note.text('tensor')}:{_optimum(note.text('text'))}" for note in notes)
        step = Step(f"Give the sizes that the application uses by --minShapes, --optShapes and --maxShapes, not {used}")
        names = list(dict.fromkeys(note.text("tensor") for note in notes))
        without_warning = unasked if notes[0].kind == "shape_set" else []
        yield Observation(
            f"trtexec guessed the shape of {listed(names)}",
            [*without_warning, *(note.span for note in notes)],
            layers=names,
            steps=(step,),
        )
    made_up = case.notes("poly_shape_guessed")
    if made_up:
        names = list(dict.fromkeys(note.text("tensor") for note in made_up))
        yield Observation(
            f"Polygraphy guessed the shape of {listed(names)}",
            [note.span for note in made_up],
            layers=names,
            because=[note.span for note in case.notes("input_unknown")],
            same_as="guessed",
        )


def _optimum(shapes: str) -> str:
    """Return the optimum of ``MIN=1x3 OPT=1x3 MAX=1x3``, or the shape where there is only one."""
    return shapes.partition("OPT=")[2].partition(" ")[0] or shapes.strip()


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
    yield from observe(case.notes("static_shapes"), "Shapes were given for a static model", steps=(step,))


unknown_input = said(
    "TF419",
    Severity.ERROR,
    "A shape is given for an input that does not exist",
    kinds=("input_unknown",),
    says="A shape is given for {tensor}, which is no input",
    cause="No input has this name, so its shape is not used. trtexec stops; Polygraphy goes on with the shapes of the "
    "optimum that it makes up for the real inputs, which become static.",
    confirm="The names of the inputs (polygraphy inspect model). Exporters add or drop parts such as ':0', and "
    "simplifiers remove inputs that no node reads.",
    fixes=("Give the shapes with the names of the inputs as the model or the engine has them.",),
    sources=("trtexec's source, 8.5 to 11.1", "Polygraphy 0.33 to 0.49"),
)


@rule(
    "TF422",
    Severity.ERROR,
    "The model cannot run at the shapes of an optimisation profile",
    cause="The profile's shapes are in order, and the model has a node whose inputs do not fit each other at them: "
    "inputs that must be equal in a dimension got different values, or the export fixed a size.",
    confirm="Run the model in ONNX Runtime with exactly those shapes.",
    fixes=(
        "Give profile shapes that the model takes (inputs that share a dimension get one value in it).",
        "Export again with that dimension dynamic, where the export fixed it.",
    ),
    sources=("shapeCompiler.cpp of 8.x; NVIDIA/TensorRT#1947", "10.x and TensorRT-RTX, which only warn"),
)
def impossible_profile(case: Case) -> Iterator[Observation]:
    """Quote what does not fit; releases that do not number the profile warn and go on."""
    for note in case.notes("profile_impossible"):
        profile = f"profile {note.text('index')}" if note.text("index") else "a profile"
        yield from observe(
            [note],
            f"The model cannot run at the shapes of {profile}: {note.text('text') or '?'}",
            settle="ONNX Runtime with the shapes of the profile.",
            severity=None if note.text("index") else Severity.WARNING,
        )


other_shape = said(
    "TF449",
    Severity.ERROR,
    "An optimisation profile does not fit the network's input",
    kinds=("profile_differs", "profile_rank"),
    says="The optimisation profile does not fit the input {tensor}",
    cause="The profile gives another number of dimensions than the input has, or a range for a dimension that is fixed "
    "in the model. A profile may only choose where the model says -1.",
    confirm="Print the model's input (polygraphy inspect model): -1 or a name stands for a dynamic dimension.",
    fixes=(
        "Give min = opt = max = the model's own size in each fixed dimension, and as many dimensions as the input has.",
        "If the dimension is to vary: export the model with it as a dynamic axis (torch.onnx.export, dynamic_axes).",
    ),
    sources=("network.cpp (validate) of 7.x and 8.x; NVIDIA/TensorRT#939, wenet-e2e/wenet#2206",),
)

some_shapes = said(
    "TF451",
    Severity.ERROR,
    "ONNX Runtime was given shape profiles for some of the dynamic inputs only",
    kinds=("ort_profiles",),
    cause="With trt_profile_min_shapes, _opt_shapes and _max_shapes every input of dynamic shape needs all three. "
    "Where ONNX Runtime gives TensorRT a part of the model only, the inputs of that part count too.",
    confirm="The names behind 'no associated shape profiles provided'; the model's inputs (polygraphy inspect model).",
    fixes=(
        "Give all three shapes for every name in the message, inner tensors included.",
        (
            "If inner tensors are named: run symbolic shape inference on the model first (python -m "
            "onnxruntime.tools.symbolic_shape_infer --auto_merge), so that TensorRT gets the model in one part."
        ),
        "Or leave the three options out: the engine is then built for the shapes that come.",
    ),
    sources=("tensorrt_execution_provider.cc; microsoft/onnxruntime#16600, #17007, #17434",),
)
