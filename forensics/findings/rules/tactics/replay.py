"""What the build log says of the tactic replay that the build followed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule
from trtforensics.parsers.notation.names import is_foreign_node

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case

_LINT = Step(
    "Hold the replay against a log of the same network", "trtforensics replay lint replay.json --log build.log"
)


@rule(
    "TF319",
    Severity.ERROR,
    "TensorRT does not offer what the replay asks for",
    cause="The replay was edited, or made for another network, GPU, TensorRT or set of flags. Of a ForeignNode only "
    "what TensorRT recorded can be replayed: it offers one tactic, and other types are refused.",
    confirm="The message prints the entry and the choices that were offered; the field that differs is the reason.",
    fixes=(
        "Record the replay again with these flags, and edit only tactics that the log offers.",
        Fix("To change the precision inside a ForeignNode put Casts into the model (AutoCast).", "10"),
        Fix("To pin kernels inside a ForeignNode use an editable timing cache.", "10.8"),
    ),
    sources=("NVIDIA/TensorRT#4040", "Polygraphy's algorithm selector, 0.29 to 0.53"),
)
def refused(case: Case) -> Iterator[Observation]:
    """Name the layers; a ForeignNode has a reason of its own."""
    notes = case.notes("replay_refused")
    layers = list(dict.fromkeys(note.text("layer") for note in notes))
    for layer in layers:
        spans = [n.span for n in notes if n.text("layer") == layer]
        spans += [n.span for n in case.notes("selector_threw") if n.span not in spans]
        foreign = is_foreign_node(layer)
        yield Observation(
            f"The replay's tactic for {layer} is refused"
            + (": a ForeignNode offers what it recorded only" if foreign else ""),
            spans,
            layers=(layer,),
            steps=(_LINT,),
            same_as="refused" + (" foreign" if foreign else ""),
        )


@rule(
    "TF320",
    Severity.ERROR,
    "There is no algorithm selector in this TensorRT",
    cause="IAlgorithmSelector went with TensorRT 11 and never was in TensorRT-RTX: tactics cannot be recorded or "
    "replayed as JSON.",
    confirm="The message names the version.",
    fixes=(Fix("Use an editable timing cache: trtforensics bisect cache.", "10.8"),),
    sources=("Polygraphy 0.53.6", "bindings 10.0 to 11.4"),
)
def no_selector(case: Case) -> Iterator[Observation]:
    """Report the refusal."""
    title = "TensorRT {names} has no algorithm selector: replays do not work"
    yield from observe(case.notes("selector_gone"), title, names="version")


@rule(
    "TF321",
    Severity.WARNING,
    "The replay was followed in part only",
    cause="Layers that the replay does not name, or names otherwise, got TensorRT's own choice: the engine is not the "
    "one that was recorded.",
    confirm="Record the tactics of this build too and compare: trtforensics diff OLD NEW.",
    fixes=("Record the replay again: layer names change with TensorRT, the model and its outputs.",),
    sources=("Polygraphy's algorithm selector, 0.29 to 0.53",),
)
def partly(case: Case) -> Iterator[Observation]:
    """Report layers that the replay lacks, and tactics of the replay that were not taken."""
    title = "The replay does not hold {names}"
    yield from observe(case.notes("replay_unknown"), title, names="layer", steps=(_LINT,), same_as="missing")
    title = "TensorRT did not take the replay's tactic for {names}"
    yield from observe(
        case.notes("replay_ignored"), title, names="layer", steps=(_LINT,), severity=Severity.ERROR, same_as="ignored"
    )


@rule(
    "TF322",
    Severity.ERROR,
    "A type was set that the layer does not give",
    cause="verify_output_type fails where a replay, a layer precision or an output type asks a layer for a type that "
    "its implementation does not produce, often inside a ForeignNode. Without such a request it is the compiler that "
    "takes a wrong type for a tensor of its own: a bug of TensorRT.",
    confirm="Remove the requests for that layer: the error disappears, or it is the compiler's.",
    fixes=(
        Fix("Ask for the output type as well as the precision, or for neither.", before="11"),
        Fix("Put a Cast behind the layer in the model instead.", "10"),
        "Without such a request, try a newer TensorRT, or mark a tensor around the layer as output.",
    ),
    sources=("reports of users with edited replays", "NVIDIA/TensorRT#4538 (10.7, without a request)"),
)
def output_type(case: Case) -> Iterator[Observation]:
    """Report the error."""
    title = "verify_output_type failed: a layer was asked for a type it does not give"
    yield from observe(case.notes("output_type"), title, settle="A build without layer types and without a replay")
