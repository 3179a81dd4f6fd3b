"""Options that exclude each other, are unknown or have no effect; optimisation profiles and the shapes of inputs."""

import re
from collections.abc import Iterator

from trtforensics.console.counting import listed
from trtforensics.engines.requests import WEAK_FLAGS, command_span
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.observations import observe
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import default_level, given_flags, options, trtexec, without_effect
from trtforensics.findings.versions import flags


@explained("TF413")
def unknown_option(case: Case) -> Iterator[Observation]:
    """Name the options."""
    names = tuple(note.text("name").partition("=")[0] for note in case.notes("unknown_option"))
    step = Step("Take it out", trtexec(case, without=names))
    since = listed([flags()[name].since for name in dict.fromkeys(names) if name in flags() and flags()[name].since])
    title = "trtexec does not know {names}" + (f" (since {since})" if since else "")
    yield from observe(case.notes("unknown_option"), title, names="name", steps=(step,))
    yield from observe(case.notes("options_unrecognized"), "Polygraphy does not know {names}", names="name")


@explained("TF418")
def idle_flags(case: Case) -> Iterator[Observation]:
    """Name the flags."""
    given, idle = given_flags(case), without_effect(case)
    span = command_span(case.build)
    if idle and span is not None:
        step = Step("Leave them out", trtexec(case, without=idle))
        yield Observation(
            f"{listed(idle)} {'does' if len(idle) == 1 else 'do'} nothing beside --loadEngine",
            (span,),
            severity=Severity.WARNING if {*idle} & {*WEAK_FLAGS} else Severity.NOTE,
            steps=(step,),
            same_as="idle flags",
        )
    if "--calib" in given and span is not None and {*given}.isdisjoint({"--int8", "--best", "--loadEngine"}):
        cause, fix = idle_flags.variants["calib"]
        step = Step("Build in INT8 with it", trtexec(case, "--int8"))
        yield Observation("--calib does nothing without --int8", (span,), steps=(step,), cause=cause, fix=fix)


@explained("TF444")
def old_parser(case: Case) -> Iterator[Observation]:
    """Name the parser by the format of the model that trtexec prints."""
    for fact in case.printed("model", "Format"):
        if fact.value in {"Caffe", "UFF"}:
            title = f"The model is read by the {fact.value} parser, which TensorRT 10 does not have"
            yield Observation(title, (fact.span,), same_as=fact.value)


_BELOW_DEFAULT = {"0", "1", "2"}
"""The optimisation levels below the default."""


@explained("TF446")
def low_level(case: Case) -> Iterator[Observation]:
    """Report the level that trtexec prints."""
    for fact in case.printed("build", "BuilderOptimizationLevel"):
        level = fact.value.strip()
        if level in _BELOW_DEFAULT:
            title = f"The optimisation level is {level}"
            yield Observation(title, (fact.span,), steps=(default_level(case),), same_as="level")


@explained("TF447")
def random_weights(case: Case) -> Iterator[Observation]:
    """Report a command with a Caffe network and no file of its weights."""
    given, span = {*given_flags(case)}, command_span(case.build)
    if "--deploy" in given and not given & {"--model", "--loadEngine"} and span is not None:
        yield Observation("No --model beside --deploy: the weights are random", (span,), same_as="random weights")


@explained("TF401")
def no_profile(case: Case) -> Iterator[Observation]:
    """Report the refusal, unless a contradictory profile (TF402) explains it."""
    notes = case.notes("no_profile")
    if not case.notes("bad_profile"):
        dynamic = [note for note in case.notes("adding_input") if "-1" in note.text("dims")]
        inputs = "; ".join(f"{note.text('tensor')} {note.text('dims')}" for note in dynamic)
        what = "Give --minShapes, --optShapes and --maxShapes for every dynamic input"
        step = Step(what + (f", with a size for each -1: {inputs}" if inputs else ""))
        yield from observe(notes, "A dynamic input has no optimisation profile", steps=(step,))


@explained("TF402")
def bad_profile(case: Case) -> Iterator[Observation]:
    """Name the inputs, and quote the shapes where trtexec prints them."""
    shapes = [fact for fact in case.build.options.get("build", ()) if fact.name.startswith("Input build shape")]
    named = [note for note in case.notes("bad_profile") if note.text("tensor")]
    if not named:
        refused = case.notes("bad_profile") or case.notes("profile_refused")
        warned = {message.span.line for message in case.build.messages if message.severity == "W"}
        goes_on = all(note.span.line in warned for note in refused)  # Torch-TensorRT
        severity = Severity.WARNING if goes_on else None
        yield from observe(refused, "An optimisation profile is not MIN <= OPT <= MAX", severity=severity)
    for note in named:
        printed = "; ".join(fact.value for fact in shapes)
        yield Observation(
            f"The profile of {note.text('tensor')} is not MIN <= OPT <= MAX" + (f": {printed}" if printed else ""),
            (note.span, *(fact.span for fact in shapes)),
            layers=(note.text("tensor"),),
        )


@explained("TF403")
def guessed_shape(case: Case) -> Iterator[Observation]:
    """Name the inputs; where stderr with trtexec's warning is missing, the shapes that it set say so too."""
    asked = case.printed("build", "Input build shapes")
    unasked = [fact.span for fact in asked if fact.value.strip() == "model"]
    notes = case.notes("shape_guessed") or case.notes("shape_missing") or (case.notes("shape_set") if unasked else [])
    if notes:
        shapes = ((note.text("tensor"), note.text("text")) for note in notes)  # MIN=1x3 OPT=1x3 MAX=1x3, or one shape
        opts = ((name, text.partition("OPT=")[2].partition(" ")[0] or text.strip()) for name, text in shapes)
        used = ", ".join(f"{name}:{opt or '1x…'}" for name, opt in opts)
        loads = case.build.loads_engine
        given = "--shapes" if loads else "--minShapes, --optShapes and --maxShapes"
        step = Step(f"Give the sizes that the application uses by {given}, not {used}")
        names = list(dict.fromkeys(note.text("tensor") for note in notes))
        without_warning = unasked if notes[0].kind == "shape_set" else []
        yield Observation(
            f"trtexec guessed the shape of {listed(names)}",
            [*without_warning, *(note.span for note in notes)],
            layers=names,
            steps=(step,),
            cause=guessed_shape.variants["loaded"][0] if loads else "",
            severity=Severity.NOTE if loads else None,
        )
    because = [note.span for note in case.notes("input_unknown")]
    title = "Polygraphy guessed the shape of {names}"
    yield from observe(case.notes("poly_shape_guessed"), title, names="tensor", because=because, same_as="guessed")
    cause, fix = guessed_shape.variants["unfit"]
    for note in case.notes("poly_shape_unfit"):
        title = f"{note.text('tensor')} does not run at the shape given, {note.text('shape')}: the model fixes another"
        yield from observe([note], title, cause=cause, fix=fix, same_as=title)


@explained("TF462")
def other_shape(case: Case) -> Iterator[Observation]:
    """Name the inputs whose shape in the run is not the one that tactics were timed for, with both."""
    given = dict(option.partition("=")[::2] for option in options(case))
    run, tuned = (dict(_NAMED.findall(given.get(flag, ""))) for flag in ("--shapes", "--optShapes"))
    other = [f"{name} {run[name]}, tuned for {tuned[name]}" for name in run if tuned.get(name, run[name]) != run[name]]
    span = command_span(case.build)
    if other and span is not None and case.build.results:
        yield Observation(f"The run's shapes are not those of the tuning: {listed(other)}", (span,))


_NAMED = re.compile(r"([^,'\"]+?)'?:([0-9x]+)")


@explained("TF404")
def static_shapes(case: Case) -> Iterator[Observation]:
    """Report trtexec's refusal."""
    flags = ("--shapes", "--minShapes", "--optShapes", "--maxShapes")
    step = Step("Leave the shapes out", trtexec(case, without=flags))
    yield from observe(case.notes("static_shapes"), "Shapes were given for a static model", steps=(step,))


@explained("TF422")
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
