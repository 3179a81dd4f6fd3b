"""Memory: a workspace limit in the wrong unit or too small, and GPU or host memory that runs out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.counting import counted
from trtforensics.findings.finding import Confidence, Fix, Observation, Severity
from trtforensics.findings.line_observations import observe
from trtforensics.findings.rule import rule
from trtforensics.findings.steps.machine import MEBIBYTE, memory_mib, workspace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case

_FEW = 0.02
"""Share of the timed tactics up to which skipped tactics are only a note, where the limit is ample."""
_MANY = 20
"""Timed tactics from which a single one that was skipped is few too."""
_AMPLE = 256 * MEBIBYTE
_UNIT = re.compile(r"--memPoolSize=\S*workspace:[0-9.]+[KMG](?![A-Za-z])")
_POOL = re.compile(r"workspace: ([0-9.]+(?:e[-+]?[0-9]+)?) MiB")


@rule(
    "TF305",
    Severity.WARNING,
    "The workspace limit is below one MiB: a unit is missing or wrong",
    cause="trtexec takes a bare number of --memPoolSize as MiB, and otherwise looks at the last letter only: "
    "workspace:1024MiB ends in B and means 1024 bytes.",
    confirm="The Memory Pools line of the build options prints what trtexec understood.",
    fixes=(Fix("Give a bare number of MiB, or one letter: --memPoolSize=workspace:1024 or workspace:1G.", "8.4"),),
    sources=("trtexec's option parser (samples/common/sampleOptions.cpp), 8.4 to 11.1",),
)
def unit(case: Case) -> Iterator[Observation]:
    """Read the workspace limit that trtexec prints."""
    meant = _UNIT.search(case.build.command or "")
    for fact in case.build.options.get("build", ()) if meant is None else ():
        found = _POOL.search(fact.value) if fact.name == "Memory Pools" else None
        size = float(found.group(1)) if found else 1.0
        if size < 1:
            yield Observation(
                f"The workspace limit is {size * MEBIBYTE:,.0f} bytes: a unit is missing or wrong",
                (fact.span,),
                steps=(workspace(case),),
            )


@rule(
    "TF304",
    Severity.WARNING,
    "Tactics were skipped for want of workspace",
    cause="A tactic that wants more scratch memory than the workspace limit is not timed: the engine may be slower, "
    "and which tactics compete depends on the limit, so two builds with different limits are not comparable.",
    confirm="Build with a larger limit and compare the tactics of the layers named (trtforensics diff OLD NEW).",
    fixes=(
        Fix("Raise --memPoolSize=workspace:N (MiB) or IBuilderConfig.set_memory_pool_limit.", "8.4"),
        Fix("Raise --workspace=N (MiB) or IBuilderConfig.max_workspace_size.", before="8.4"),
    ),
    sources=("verbose logs of 8.x and 10.16", "NVIDIA/TensorRT#4136"),
    follows=("TF305",),
)
def starved(case: Case) -> Iterator[Observation]:
    """Sum up the layers that wanted more than there was."""
    layers = case.build.starved
    if layers:
        skipped = sum(layer.skipped for layer in layers)
        most = layers[0]
        timed = case.build.autotuning.tactics_timed
        few = skipped <= max(_FEW * timed, 1 if timed >= _MANY else 0) and most.available >= _AMPLE
        yield Observation(
            f"{counted(skipped, 'tactic')} skipped for want of workspace: {most.requested:,} "
            f"bytes wanted, {most.available:,} available",
            sorted((span for layer in layers for span in layer.spans), key=lambda span: span.line),
            layers=[layer.layer for layer in layers if layer.layer],
            steps=(workspace(case),),
            severity=Severity.NOTE if few else Severity.WARNING,
            same_as="starved",
        )
        return
    notes = case.notes("workspace_note", "workspace_hint", "workspace_short")
    asked = max((int(note.number("requested") or 0) for note in notes), default=0)
    sizes = f"{asked:,} bytes would enable more" if asked else "the log names no size"
    title = f"Some tactics were skipped for want of workspace: {sizes}"
    yield from observe(notes, title, steps=(workspace(case),), severity=Severity.NOTE, same_as="hint")


@rule(
    "TF306",
    Severity.WARNING,
    "Myelin gave up a fusion because of its memory budget",
    cause="Myelin compiles a ForeignNode within the workspace limit; where a fused form wants more, it falls back to a "
    "split one, which is slower and rounds differently.",
    confirm="Build with the budget the line names and look whether the line is gone.",
    fixes=("Raise the workspace limit beyond what the line says it needs.",),
    sources=("a verbose log of 10.16 (pass.cpp, run_passes)",),
    follows=("TF305",),
)
def budget(case: Case) -> Iterator[Observation]:
    """Report the largest size that Myelin names."""
    notes = case.notes("myelin_budget")
    needed = max((int(note.number("requested") or 0) for note in notes), default=0)
    if needed:
        yield Observation(
            f"Myelin exceeded its memory budget, {len(notes)} times in all: it needs {needed:,} bytes",
            [note.span for note in notes],
            steps=(workspace(case),),
            same_as="budget",
        )


@rule(
    "TF307",
    Severity.ERROR,
    "No tactic fits into the workspace",
    cause="Every tactic of an operation wants more scratch memory than the workspace limit, so there is none left.",
    confirm="The message says so; a larger limit makes it go away, or shows another reason.",
    fixes=("Raise the workspace limit.", "If it stays: the operation has no tactic for this type on this GPU."),
    sources=("a TensorRT-RTX 1.7.1 log (tactic.cpp, enumerate_tactics)", "NVIDIA/TensorRT#2647"),
    follows=("TF305",),
)
def none_fits(case: Case) -> Iterator[Observation]:
    """Report the message; older releases do not say whether it was the workspace."""
    told = ("workspace_limit", Confidence.CERTAIN, "Myelin found no tactic within the workspace limit")
    guessed = ("no_tactics", Confidence.POSSIBLE, "Myelin found no tactic, perhaps for want of workspace")
    for kind, confidence, title in (told, guessed):
        notes = case.notes(kind)
        if notes:
            yield Observation(
                title,
                [note.span for note in notes],
                confidence=confidence,
                settle="" if confidence is Confidence.CERTAIN else "A build with a larger workspace",
                steps=(workspace(case),),
            )


@rule(
    "TF303",
    Severity.WARNING,
    "Tactics were skipped because GPU memory was short",
    cause="While timing, memory was too short for a tactic. Which tactics are timed depends on what else uses the "
    "GPU, so the next build may choose others. On Jetson, CPU and GPU share memory, and one contiguous block is "
    "wanted.",
    confirm="nvidia-smi (on Jetson tegrastats: its largest free block) while building: what else holds memory?",
    fixes=(
        (
            "Free up GPU memory and build on an idle GPU, or lower the workspace so that the same tactics compete each "
            "time."
        ),
        "On Jetson: stop containers and the desktop, and drop the page cache before the build.",
    ),
    sources=("10.16 and 8.x logs", "NVIDIA/TensorRT#1661, #493"),
    follows=("TF305",),
)
def short_of_memory(case: Case) -> Iterator[Observation]:
    """Report both forms of the message."""
    skipped = [note for note in case.notes("skipping_tactic") if note.text("text").startswith("insuf")]
    requests = case.notes("device_request")
    largest = max((note.number("requested") or 0 for note in requests), default=0)
    wanted = f": {largest:,.0f} MB wanted" if largest else ""
    notes = sorted([*skipped, *requests], key=lambda note: note.span.line)
    number = counted(len(skipped) or len(requests), "tactic")
    title = f"{number} skipped because memory was short while timing{wanted}"
    tight = case.build.starved or case.notes("myelin_budget")
    settle = "This log's workspace limit is small too, which gives the same message" if tight else ""
    yield from observe(notes, title, settle=settle, same_as="memory")


@rule(
    "TF314",
    Severity.ERROR,
    "Memory ran out",
    cause="An allocation failed, on the GPU or on the host: what is asked for does not fit beside what other "
    "processes, "
    "and other copies of the engine in this one, hold.",
    confirm="nvidia-smi and free while it runs.",
    fixes=(
        "Free the GPU, lower the workspace, or shrink the largest shapes of the profile.",
        "In a server: load the engine once on a GPU (in Triton an instance_group of count 2 loads it twice).",
    ),
    sources=("NVIDIA/TensorRT#948",),
)
def out_of_memory(case: Case) -> Iterator[Observation]:
    """Report the errors, without those for which only a tactic was skipped (TF303).

    TensorFlow's allocator says that it is short of memory where the program goes on.
    """
    skipped = {note.span.line for note in case.notes("skipping_tactic", "device_request")}
    notes = [note for note in case.notes("out_of_memory") if note.span.line not in skipped and not note.text("text")]
    yield from observe(notes, "Memory ran out", same_as="out of memory")


_MOST_USED = 2 / 3
"""Share of the GPU's memory in use before a build from which it is worth a word."""


@rule(
    "TF346",
    Severity.NOTE,
    "Most of the GPU's memory was in use before the build",
    cause="When CUDA was initialised, other programs held most of the GPU's memory (on a Jetson, which shares its "
    "memory, the system and its page cache too). Tactics that want more than is left are skipped, and the next build "
    "may find another amount.",
    confirm="nvidia-smi before the build; on a Jetson, tegrastats.",
    fixes=("Stop what else uses the GPU and build again.", "On a Jetson: stop the desktop, and drop the page cache."),
    sources=("logs of 8.0 to 10.16, [MemUsageChange] Init CUDA beside Device Global Memory",),
)
def little_left(case: Case) -> Iterator[Observation]:
    """Compare what was in use at the start with the memory that trtexec prints."""
    memory = memory_mib(case)
    facts = [fact.span for fact in case.build.options.get("device", ()) if fact.name == "Device Global Memory"]
    for note in case.notes("init_cuda")[:1]:
        used = note.number("count")
        if memory and facts and used is not None and used >= _MOST_USED * memory:
            yield Observation(
                f"{used:,.0f} of the GPU's {memory:,} MiB were in use before the build",
                (*facts, note.span),
                same_as="memory in use",
            )
