"""Tactics and kernels that fail while they are built or timed."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.console.secrets import masked
from trtforensics.findings.engine_facts import runs_in
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity, Step
from trtforensics.findings.line_observations import listed, observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.commands import profile, reduce
from trtforensics.findings.steps.machine import workspace
from trtforensics.model.timings import tactic_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from trtforensics.findings.case import Case
    from trtforensics.model.log import Build
    from trtforensics.model.notes import Note
    from trtforensics.model.span import SourceSpan
    from trtforensics.model.timings import OpenBlock

_OF_OTHER_RULES = re.compile("CUDA_SUCCESS|^autotuning: CUDA error |^Formal output tensor ")
_REASONS = {
    "skipping_tactic": "a tactic was skipped",
    "device_request": "GPU memory was short",
    "myelin_budget": "Myelin's memory budget was exceeded",
    "workspace_limit": "nothing fits into the workspace",
    "no_tactics": "Myelin has no tactic for an operation",
    "out_of_memory": "memory ran out",
    "myelin_check": "Myelin failed a check of its own",
    "myelin_formal": "Myelin failed",
}
"""Kinds of lines before the error that may be the reason, and the reason in words."""


_SHORT_OF_MEMORY = {"device_request", "myelin_budget", "workspace_limit", "out_of_memory"}


@rule(
    "TF301",
    Severity.ERROR,
    "No implementation for a layer",
    cause="Every candidate of the layer was ruled out: by an exception, for want of memory, or because there is none "
    "for these types on this GPU. The lines before the error say which. Where a plain convolution has none, and "
    "nothing "
    "stands before it, this TensorRT most likely does not support the GPU's compute capability any more, or not yet.",
    confirm="Cut the subgraph out (polygraphy surgeon extract) and build it alone.",
    fixes=(
        "If the lines before name memory: raise the workspace, free the GPU.",
        "If they name an exception: break the fusion there (mark an output), change the operation, or update TensorRT.",
        (
            "If nothing stands before it: hold the GPU architecture against this release's support matrix (Maxwell and "
            "Pascal "
            "want an older TensorRT, new GPUs a newer one)."
        ),
        Fix("Try another --builderOptimizationLevel.", "8.6"),
    ),
    sources=("a 10.14 log", "NVIDIA/TensorRT#1917, #2918, #3423, #4736, #4739"),
    follows=("TF309", "TF343", "TF345", "TF349", "TF305"),
)
def no_implementation(case: Case) -> Iterator[Observation]:
    """Name the node, what it holds, and the reasons that stand before the error."""
    seen: set[str] = set()
    for note in case.notes("no_implementation", "no_implementation_old"):
        name = note.text("layer")
        if name in seen:
            continue
        seen.add(name)
        since = _block(case, note)
        reasons = [one for one in case.notes(*_REASONS) if since < one.span.line <= note.span.line]
        why = listed(list(dict.fromkeys(_REASONS[one.kind] for one in reversed(reasons))))
        members = next((f.onnx_nodes for f in case.build.foreign_nodes if f.name == name), ())
        yield Observation(
            f"There is no implementation for {name}" + (f": {why}" if why else ""),
            (note.span, *(one.span for one in reasons[-10:])),
            confidence=Confidence.LIKELY if reasons else Confidence.CERTAIN,
            settle="That there is none is certain; that the lines before it are the reason is not" if reasons else "",
            layers=(name,),
            onnx_nodes=members,
            steps=_after_failure(case, reasons),
            same_as=f"{name} {why}",
            because=[*(one.span for one in reasons), *_starved(case, name)],
        )


def _block(case: Case, note: Note) -> int:
    """Return the line behind which lines can be about the layer: the last choice of another one before the error."""
    chosen = [one.span.line for one in case.build.choices]
    chosen += [one.span.line for one in case.build.cached]
    return max((line for line in chosen if line < note.span.line), default=0)


def _starved(case: Case, name: str) -> list[SourceSpan]:
    return [span for layer in case.build.starved if layer.layer == name for span in layer.spans]


def _after_failure(case: Case, reasons: Sequence[Note]) -> tuple[Step, ...]:
    memory = [workspace(case)] if {one.kind for one in reasons} & _SHORT_OF_MEMORY or case.build.starved else []
    return (*memory, reduce(case))


@rule(
    "TF302",
    Severity.WARNING,
    "Tactics were skipped because of an exception",
    cause="A kernel or its compilation threw while it was timed. That is not fatal while other tactics remain, but "
    "the remaining tactics may differ from machine to machine.",
    confirm="The message names the operation or the assertion; search for it among TensorRT's issues.",
    fixes=("Update TensorRT; if the build fails, break the fusion at the operation named.",),
    sources=("a 10.14 log", "NVIDIA/TensorRT#4028, #4658, #4845"),
    follows=("TF343", "TF345", "TF349"),
)
def exceptions(case: Case) -> Iterator[Observation]:
    """Report skipped tactics, grouped by the exception."""
    groups: dict[str, list[Note]] = {}
    for note in case.notes("skipping_tactic"):
        text = note.text("text")
        if not text.startswith("insuf"):
            groups.setdefault(text.removeprefix("exception "), []).append(note)
    for text, notes in groups.items():
        title = f"{counted(len(notes), 'tactic')} skipped: {masked(text)[:160]}"
        yield Observation(title, [note.span for note in notes], same_as=text)


@rule(
    "TF308",
    Severity.ERROR,
    "Myelin failed inside",
    cause="The compiler of ForeignNodes failed a check of its own. That is a bug of TensorRT. The part of the model "
    "that provokes it can be searched for and changed.",
    confirm="The same model on another TensorRT version, or without the last change to its outputs (mark all).",
    fixes=(
        "Update TensorRT; NVIDIA mends these release by release.",
        "Do not mark all tensors as outputs: that alone provokes some.",
        "Reduce the model (trtforensics reduce) and break the fusion at what is left.",
    ),
    sources=("NVIDIA/TensorRT#2120, #2161, #2232, #3291, #3592, #4468",),
)
def myelin(case: Case) -> Iterator[Observation]:
    """Report every form of the message, unless another rule knows why (TF310, TF343, TF345)."""
    kinds = ("myelin_assertion", "myelin_exception", "myelin_check", "myelin_none", "myelin_formal", "myelin_unhandled")
    notes = [note for note in case.notes(*kinds) if not _OF_OTHER_RULES.search(note.text("text"))]
    said = next((note.text("text") for note in notes if note.text("text")), "")
    title = "Myelin failed inside" + (f": {masked(said)[:120]}" if said else "")
    yield from observe(notes, title, steps=(reduce(case),), same_as=said)


@rule(
    "TF309",
    Severity.ERROR,
    "A kernel crashed while it was timed",
    cause="A tactic read or wrote where it may not, or ran longer than the watchdog allows. The CUDA context is gone "
    "with it: every error after it is a consequence.",
    confirm="Run the build under compute-sanitizer, or exclude the tactic that was being timed last.",
    fixes=("Exclude the tactic (algorithm selector to 10.16, tactic sources), or update TensorRT and driver.",),
    sources=("open-mmlab/mmdeploy#1899", "NVIDIA/TensorRT#4845"),
)
def crash(case: Case) -> Iterator[Observation]:
    """Name what was being timed: the block that the message stands in, if that block came to no choice."""
    notes = case.notes("illegal_access", "launch_timeout")
    if notes:
        line = notes[0].span.line
        blocks = (one for one in case.build.open_blocks if one.span.line < line <= one.last_line)
        block = next(blocks, None)
        suspect = f" while timing {_timed(case.build, block, line)}" if block else ""
        what = "The launch timed out" if notes[0].kind == "launch_timeout" else "An illegal memory access was made"
        yield Observation(
            f"{what}{suspect}",
            [*([block.span] if block else []), *(note.span for note in notes)],
            confidence=Confidence.LIKELY if suspect else Confidence.CERTAIN,
            settle="A run under compute-sanitizer: CUDA reports errors late" if suspect else "",
            layers=(block.layer,) if block else (),
        )


def _timed(build: Build, block: OpenBlock, line: int) -> str:
    """Say what was being timed at a line: the layer, its runner, the tactic as far as the log tells, the formats."""
    timings = build.timings
    runner = int(timings.runner_line.searchsorted(line)) - 1
    done = timings.rows(int(timings.runner_line[runner]), line)
    if block.tactic is not None:
        tactic = f"tactic {tactic_text(block.tactic)}, {block.kernel}"
    elif done:
        tactic = f"the tactic behind {tactic_text(int(timings.tactic[done[-1]]))}"
    else:
        tactic = "before any of its tactics had a time"
    name = f"{block.layer} ({timings.texts[timings.runner_name[runner]]}; {tactic})"
    formats = f", formats {', '.join(block.inputs)} -> {', '.join(block.outputs)}" if block.outputs else ""
    return name + formats


@rule(
    "TF313",
    Severity.WARNING,
    "No tactic worked for a layer",
    cause="In every format that was tried, all tactics failed or were skipped.",
    confirm="Read the lines between 'Computing costs for' and the choice.",
    fixes=("Raise the workspace if tactics were skipped for it; else see the errors beside it.",),
    sources=("logs of 7.x to 10.x: 0xd15ea5edd15ea5ed, inf",),
    follows=("TF305", "TF309"),
)
def no_tactic(case: Case) -> Iterator[Observation]:
    """Report a layer only where none of its choices has a tactic and no cached result exists."""
    alive = {choice.layer for choice in case.build.choices if choice.tactic is not None}
    alive |= {cached.layer for cached in case.build.cached}
    dead = [one for one in case.build.choices if one.tactic is None and one.layer and one.layer not in alive]
    if dead:
        layers = list(dict.fromkeys(one.layer for one in dead))
        yield Observation(
            f"No tactic worked, in any format, for {listed(layers)}", [one.span for one in dead], layers=layers
        )


@rule(
    "TF315",
    Severity.NOTE,
    "A loop was not timed",
    cause="The loop's length is not known when building, so Myelin estimates instead of timing: the tactic may be a "
    "bad one.",
    confirm="Profile the engine (--dumpProfile) and look at the loop's share.",
    fixes=("Give the loop a constant trip count, or unroll it.",),
    sources=("a TensorRT-RTX 1.7.1 log",),
)
def untimed_loop(case: Case) -> Iterator[Observation]:
    """Name the layers."""
    steps = profile(case, "See the loop's share of the time")
    title = "The loop in {names} was not timed: its tactic is an estimate"
    yield from observe(case.notes("loop_heuristic"), title, names="layer", steps=steps)


_SPARSE_CHOSEN = ("TRT inference plan picked sparse implementation for layers:", "Chose ")


@rule(
    "TF323",
    Severity.NOTE,
    "Sparse layers were eligible, and none was chosen",
    cause="Weights of these layers have the 2:4 pattern (or were forced to it), and either a dense tactic was faster, "
    "or there was no sparse tactic to time: these need the sparse tensor cores of compute capability 8.0 and later, "
    "and FP16, INT8 or TF32.",
    confirm="The lines '(Sparsity)': which layers are eligible, and which were chosen; whether a kernel with 'sparse' "
    "in its name was timed.",
    fixes=(
        "Where no sparse kernel was timed: allow FP16 or INT8, on a GPU of 8.0 or later.",
        "Where one was timed and lost: nothing. Larger layers and batches favour sparse tactics.",
    ),
    sources=("8.4 and 10.x logs of the Sparsity samples",),
)
def no_sparse_layer(case: Case) -> Iterator[Observation]:
    """Report builds whose lines about chosen layers all name none."""
    notes = case.notes("sparsity")
    chosen = [note for note in notes if note.text("text").startswith(_SPARSE_CHOSEN)]
    if chosen and all(_names_none(note.text("text")) for note in chosen):
        full = runs_in(case, "Half") is False and runs_in(case, "Int8") is False
        why = ": no layer is of FP16 or INT8" if full else ""
        yield from observe(notes, f"Layers are eligible for sparse tactics, and none was chosen{why}", same_as="sparse")


def _names_none(text: str) -> bool:
    return text.startswith("Chose 0 ") or text.rstrip().endswith("for layers:")
