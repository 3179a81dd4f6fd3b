"""How two builds of one model differ: versions, flags, fusions, types, tactics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.findings.case import Need
from trtforensics.findings.finding import Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed
from trtforensics.findings.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.diff.differences import Difference
    from trtforensics.findings.case import Case
    from trtforensics.model.log import Build
    from trtforensics.model.notes import Note

_NEED = (Need.OTHER_LOG,)


def _differences(case: Case, wanted: str) -> list[Difference]:
    """Return the differences from the baseline of one type (``fusion``, ``tactic`` …)."""
    return [difference for difference in case.differences if difference.type == wanted]


def _observed(case: Case, found: Sequence[Difference], title: str) -> Iterator[Observation]:
    spans = [span for one in found for entry in (*one.good, *one.bad) for span in entry.spans]
    if found and spans:
        first, second = case.the_baseline.log.source.path, case.log.source.path
        yield Observation(
            title.replace("{names}", listed([one.layer for one in found])),
            spans,
            layers=[one.layer for one in found],
            steps=(Step("See all differences, most suspicious first", f"trtforensics diff {first} {second}"),),
        )


@rule(
    "TF901",
    Severity.WARNING,
    "Two builds of one model fuse differently",
    cause="Layers that one build fuses, or gives to a ForeignNode, are separate in the other: other kernels run, "
    "which round differently. All later differences may follow from the first.",
    confirm="trtforensics diff FIRST SECOND lists the fusions before anything else.",
    fixes=("Make flags, version, GPU and marked outputs equal; what is left is TensorRT's choice.",),
    sources=("NVIDIA/TensorRT#4540, #4730",),
    needs=_NEED,
)
def fusions(case: Case) -> Iterator[Observation]:
    """Report differences of fusion."""
    found = _differences(case, "fusion")
    yield from _observed(case, found, f"{counted(len(found), 'group')} of layers fused differently: {{names}}")


@rule(
    "TF902",
    Severity.WARNING,
    "Two builds of one model run layers in different types",
    cause="A layer computes or hands on another type in one of the builds.",
    confirm="trtforensics diff FIRST SECOND prints both types with their lines.",
    fixes=(
        "Compare the precision flags; where they are equal, weak typing chose by speed: put the types into the model.",
    ),
    sources=("NVIDIA/TensorRT#4540, #4723, #4742",),
    needs=_NEED,
)
def types(case: Case) -> Iterator[Observation]:
    """Report differences of precision."""
    found = _differences(case, "precision")
    yield from _observed(case, found, f"{counted(len(found), 'layer')} in different types: {{names}}")


@rule(
    "TF903",
    Severity.NOTE,
    "Two builds of one model chose different tactics",
    cause="The kernels differ. Noise decides near ties; clocks, free memory, flags or the version decide the rest.",
    confirm="trtforensics diff FIRST SECOND prints both times.",
    fixes=(
        Fix("Pin them: an editable timing cache.", "10.8"),
        Fix("Pin them: a tactic replay.", "8.5", "11"),
        "Find which one matters: trtforensics bisect tactics, or bisect cache.",
    ),
    sources=("NVIDIA/TensorRT#4730, #4798, #3316",),
    needs=_NEED,
)
def tactics(case: Case) -> Iterator[Observation]:
    """Report differences of tactics."""
    found = _differences(case, "tactic")
    yield from _observed(case, found, f"{counted(len(found), 'layer')} with another tactic: {{names}}")


@rule(
    "TF904",
    Severity.NOTE,
    "Two logs are of different TensorRT versions or GPUs",
    cause="Tactics, fusions and even layer names differ between versions and GPUs: differences between these builds "
    "are to be expected.",
    confirm="The version and device lines of both logs.",
    fixes=("Compare builds of one version on one GPU, and change one thing at a time.",),
    sources=("NVIDIA/TensorRT#4723, #4742",),
    needs=_NEED,
)
def versions(case: Case) -> Iterator[Observation]:
    """Report different versions, or different selected devices."""
    builds = case.the_baseline.build, case.build
    spans = [build.notes[0].span for build in builds if build.notes]
    old, new = (build.tensorrt_version for build in builds)
    if old and new and old != new and spans:
        yield Observation(f"TensorRT {old} and {new} are compared", spans, same_as="versions")
    devices = [fact for build in builds for fact in build.options.get("device", ()) if fact.name == "Selected Device"]
    names = [fact.value.strip() for fact in devices]
    if len(set(names)) > 1:
        yield Observation(f"{' and '.join(names)} are compared", [fact.span for fact in devices], same_as="gpus")


@rule(
    "TF905",
    Severity.NOTE,
    "One build has a dynamic batch, the other a static one",
    cause="A static batch of 1 lets operations broadcast that dimension by accident; a dynamic batch is tuned for its "
    "optimum. That alone may make the results differ.",
    confirm="Build both forms from one model and run them at the same batch.",
    fixes=("Compare builds of one form. If only the static one is wrong, look for broadcast dimensions of 1 (TF217).",),
    sources=("public reports: right with batch 1 to 2, wrong with static batch 1",),
    needs=_NEED,
)
def batch(case: Case) -> Iterator[Observation]:
    """Report an input whose first dimension is -1 in one log and a number in the other."""
    before, now = (_inputs(build) for build in (case.the_baseline.build, case.build))
    for name in before.keys() & now.keys():
        sizes = [_batch(one[name]) for one in (before, now)]
        if ("-1" in sizes) and sizes[0] != sizes[1]:
            static = next(size for size in sizes if size != "-1")
            yield Observation(
                f"Input {name} has a dynamic batch in one build and {static} in the other",
                (before[name].span, now[name].span),
                layers=(name,),
                same_as="batch",
            )


def _inputs(build: Build) -> dict[str, Note]:
    return {note.text("tensor"): note for note in build.notes if note.kind == "adding_input"}


def _batch(note: Note) -> str:
    return note.text("dims").strip("()").partition(",")[0]
