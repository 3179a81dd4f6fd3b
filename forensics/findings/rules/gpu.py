"""GPUs that cannot be used, and memory: a workspace limit in the wrong unit or too small, memory that runs out."""

import re
from collections.abc import Iterator, Sequence

from trtforensics.console.counting import MEBIBYTE, counted, listed
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.observations import near, observe
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.machine import is_jetson, memory_mib, workspace
from trtforensics.knowledge.periods import beyond, dotted, spans
from trtforensics.knowledge.platforms import Platform, releases_for, supported
from trtforensics.knowledge.terms import error_code
from trtforensics.model.log import Outcome, Tool
from trtforensics.model.notes import Note


@explained("TF310")
def no_gpu(case: Case) -> Iterator[Observation]:
    """Report the errors; only a note where TensorRT-RTX goes on, as it does in every build without a GPU."""
    notes = case.notes("driver_old", "no_device", "cuda_failed")
    passing = {note.span.line for note in case.notes("driver_benign")}
    rtx = case.build.tool is Tool.TENSORRT_RTX and case.build.outcome is Outcome.PASSED
    last = max((note.span.line for note in notes), default=0)
    goes_on = any(each.span.line > last and each.severity != "E" for each in case.build.messages)
    benign = rtx or (goes_on and all(note.span.line in passing for note in notes))
    hindrance = " (TensorRT-RTX builds nevertheless)" if benign else ""
    known = {code: error_code("cuda", int(code)) for code in sorted({note.text("code") for note in notes} - {""})}
    asked = next((str(note.text("count")) for note in notes if note.kind == "no_device" and note.text("count")), "")
    why = "the driver is too old" if case.notes("driver_old") else "no GPU, or too old a driver"
    why = listed([f"{of.meaning} (error {code})" if of else f"error {code}" for code, of in known.items()]) or why
    title = f"There is no GPU {asked} here" if asked else f"CUDA cannot be used here: {why}{hindrance}"
    yield from observe(notes, title, severity=Severity.NOTE if benign else None, same_as="driver")


@explained("TF311")
def unknown_gpu(case: Case) -> Iterator[Observation]:
    """Name the GPU's SM version, and which releases support it."""
    notes = case.notes("target_sm")
    cause, fix = _direction(case, [divmod(int(note.text("sm")), 10) for note in notes])
    yield from observe(notes, "This TensorRT does not support SM {names}", names="sm", cause=cause, fix=fix)
    notes = case.notes("sm_unknown")
    capabilities = [divmod(int(note.text("sm"), 16), 0x100) for note in notes if note.text("sm")]
    bound = next((note.text("count") for note in notes if note.text("count")), "")
    known = listed(list(dict.fromkeys(f"{major}.{minor}" for major, minor in capabilities)))
    what = f"compute capability {known}" if known else "the GPU's compute capability"
    what = f"{what}: it ends before {bound}.0, and the GPU is newer" if bound else what
    cause, fix = _direction(case, capabilities)
    yield from observe(notes, f"This TensorRT does not know {what}", same_as="unknown SM", cause=cause, fix=fix)


def _direction(case: Case, capabilities: Sequence[tuple[int, int]]) -> tuple[str, str]:
    """Say which releases support the GPU, and the way to one; nothing where the log's is not known to refuse it."""
    version = None if case.version is None or case.version.rtx else case.version.numbers
    platforms: tuple[Platform, ...] = ("JetPack",) if is_jetson(case) else ("x86-64", "SBSA", "JetPack")
    entries = next(filter(None, (releases_for(sm, on) for sm in capabilities[:1] for on in platforms)), ())
    known = [entry for entry in entries if entry.state == "yes"]
    if not spans(known) or (version is not None and supported(entries, version) is None):
        return "", ""
    gpu, builds = f"{known[0].name} GPUs of compute capability {dotted(known[0].sm)}", _BUILDS[known[0].platform]
    what = f"{gpu} are supported by {builds}"
    if version is None or not supported(entries, version):
        return beyond(what, known, version, builds)
    mine = f"{what} {spans(known)}, and this TensorRT {dotted(version)} is a build without them."
    return (mine, "Use the TensorRT of your JetPack, not pip's.") if known[0].platform == "JetPack" else ("", "")


_BUILDS = {"x86-64": "TensorRT", "SBSA": "TensorRT for Arm servers (SBSA)", "JetPack": "TensorRT for Jetson (JetPack)"}


_FEW = 0.02
"""Share of the timed tactics up to which skipped tactics are no finding, where the limit is ample."""
_MANY = 20
"""Timed tactics from which a single one that was skipped is few too."""
_AMPLE = 256 * MEBIBYTE
_UNIT = re.compile(r"--memPoolSize=\S*workspace:[0-9.]+[KMG](?![A-Za-z])")
_POOL = re.compile(r"workspace: ([0-9.]+(?:e[-+]?[0-9]+)?) MiB")


@explained("TF305")
def unit(case: Case) -> Iterator[Observation]:
    """Read the workspace limit that trtexec prints."""
    meant = _UNIT.search(case.build.command or "")
    for fact in case.printed("build", "Memory Pools") if meant is None else ():
        limit = _POOL.search(fact.value)
        size = float(limit.group(1)) if limit else 1.0
        if size < 1:
            yield Observation(
                f"The workspace limit is {size * MEBIBYTE:,.0f} bytes: a unit is missing or wrong",
                (fact.span,),
                steps=(workspace(case),),
            )


@explained("TF304")
def starved(case: Case) -> Iterator[Observation]:
    """Sum up the layers that wanted more than there was; not where few tactics want more than an ample limit."""
    layers = case.build.starved
    if layers:
        skipped = sum(layer.skipped for layer in layers)
        most = layers[0]
        timed = case.build.autotuning.tactics_timed
        is_few = skipped <= max(_FEW * timed, 1 if timed >= _MANY else 0) and most.available >= _AMPLE
        yield Observation(
            f"{counted(skipped, 'tactic')}{f' of {timed:,}' * is_few} skipped for want of workspace: "
            f"{most.requested:,} bytes wanted, {most.available:,} available",
            sorted((span for layer in layers for span in layer.spans), key=lambda span: span.line),
            layers=[layer.layer for layer in layers if layer.layer],
            steps=(workspace(case),),
            same_as="starved",
            severity=Severity.NOTE if is_few else None,
        )
        return
    notes = case.notes("workspace_note", "workspace_hint", "workspace_short")
    asked = _largest(notes)
    sizes = f"{asked:,} bytes would enable more" if asked else "the log names no size"
    title = f"Some tactics were skipped for want of workspace: {sizes}"
    yield from observe(notes, title, steps=(workspace(case),), severity=Severity.NOTE, same_as="hint")


@explained("TF306")
def budget(case: Case) -> Iterator[Observation]:
    """Report the largest size that Myelin names."""
    notes = case.notes("myelin_budget")
    needed = _largest(notes)
    if needed:
        title = f"Myelin exceeded its memory budget, {len(notes)} times in all: it needs {needed:,} bytes"
        yield from observe(notes, title, steps=(workspace(case),), same_as="budget")


def _largest(notes: Sequence[Note]) -> int:
    """Return the most bytes that a line asks for; 0 where none says."""
    return max((int(note.number("requested") or 0) for note in notes), default=0)


@explained("TF307")
def none_fits(case: Case) -> Iterator[Observation]:
    """Report the message; older releases do not say whether it was the workspace."""
    notes, steps = case.notes("workspace_limit"), (workspace(case),)
    yield from observe(notes, "Myelin found no tactic within the workspace limit", steps=steps)
    none, operations = case.notes("no_tactics"), case.notes("tuned_operation")
    about = operations[0] if operations else None
    what = f"{about.text('op').lower()} at {about.text('layer')} in {_TYPES[about.text('type')]}" if about else ""
    cause, fix = none_fits.variants["no-kernel"]
    yield from observe(
        [*none, *operations],
        f"Myelin has no tactic for {f'the {what}' if what else 'an operation'}",
        confidence=Confidence.POSSIBLE,
        settle="A build of that operation in another type",
        cause=cause,
        fix=fix,
    )


_TYPES = {"f8": "FP8", "i8": "INT8", "f4": "FP4", "i4": "INT4", "f16": "FP16", "bf16": "BF16", "f32": "FP32"}


@explained("TF303")
def short_of_memory(case: Case) -> Iterator[Observation]:
    """Report both forms of the message."""
    skipped = [note for note in case.notes("skipping_tactic") if note.text("text").startswith("insuf")]
    requests = case.notes("device_request")
    largest = max((note.number("requested") or 0 for note in requests), default=0)
    bytes_wanted = max((note.number("size") or 0 for note in case.notes("memory_requested")), default=0)
    wanted = f": {largest or bytes_wanted / 1e6:,.0f} MB wanted" if largest or bytes_wanted else ""
    free = [note.number("available") for note in requests if note.number("requested") == largest]
    wanted += f", {free[0]:,.0f} MB free" if free and free[0] is not None else ""
    lines = {note.span.line for note in (*skipped, *requests)}
    short = [n for n in case.notes("out_of_memory") if n.span.line not in lines and near(n.span.line, skipped)]
    notes = sorted([*skipped, *requests, *short], key=lambda note: note.span.line)
    number = counted(len(skipped) or len(requests), "tactic")
    title = f"{number} skipped because memory was short while timing{wanted}"
    tight = case.build.starved or case.notes("myelin_budget")
    settle = "This log's workspace limit is small too, which gives the same message" if tight else ""
    yield from observe(notes, title, settle=settle, same_as="memory")


_BEYOND = 1 << 60
"""Bytes that no memory has: a size computed from a dimension that is not known yet."""


@explained("TF314")
def out_of_memory(case: Case) -> Iterator[Observation]:
    """Report the errors, without those for which only a tactic was skipped (TF303).

    TensorFlow's allocator says that it is short of memory where the program goes on.
    """
    skipped = {note.span.line for note in case.notes("skipping_tactic", "device_request")}
    timed = [note for note in case.notes("skipping_tactic") if note.text("text").startswith("insuf")]
    notes = [note for note in case.notes("out_of_memory") if note.span.line not in skipped and not note.text("text")]
    notes = [note for note in notes if not near(note.span.line, timed)]
    told = [(note.text("size"), note.text("free"), note.text("total")) for note in notes if note.text("size")][:1]
    requested = case.notes("memory_requested")
    sizes = [int(note.number("size") or 0) for note in requested][: not told]
    told += [(f"{size / MEBIBYTE:,.0f} MiB" if size < _BEYOND else "an impossible size", "", "") for size in sizes]
    numbers = "".join(f": {size} wanted{f', {free} of {total} free' if free else ''}" for size, free, total in told)
    cause, fix = out_of_memory.variants["torch"] if any(note.text("size") for note in notes) else ("", "")
    fatal = notes or case.notes("no_implementation")
    severity = None if fatal and case.build.outcome is not Outcome.PASSED else Severity.WARNING
    title = f"Memory ran out{numbers}"
    yield from observe(notes or requested, title, same_as="out of memory", cause=cause, fix=fix, severity=severity)


_MOST_USED = 2 / 3
"""Share of the GPU's memory in use before a build from which it is worth a word."""


@explained("TF346")
def little_left(case: Case) -> Iterator[Observation]:
    """Compare what was in use at the start with the memory that trtexec prints."""
    memory = memory_mib(case)
    facts = [fact.span for fact in case.printed("device", "Device Global Memory")]
    loaded = case.build.result("loaded_engine_mib")  # what is in use behind that is the engine's own too
    for note in case.notes("init_cuda")[:1]:
        used = None if loaded is not None and loaded.span.line < note.span.line else note.number("count")
        if memory and facts and used is not None and used >= _MOST_USED * memory:
            what = "the engine was loaded" if case.loads_engine else "the build"
            title = f"{used:,.0f} of the GPU's {memory:,} MiB were in use before {what}"
            yield Observation(title + unfitting(case), (*facts, note.span), same_as="memory in use")


def unfitting(case: Case) -> str:
    """Say that a loaded engine is larger than what was left of the GPU's memory; empty where it is not, or unknown."""
    memory, size = memory_mib(case), case.build.result("loaded_engine_mib")
    used = next((note.number("count") for note in case.notes("init_cuda")), None)
    if memory is None or used is None or size is None or not isinstance(size.value, float):
        return ""
    if size.value > memory - used:
        return f"; its {size.value:,.0f} MiB are more than was left"
    last = next((_IN_USE.search(note.text("text")) for note in case.notes("memory_change")[-1:]), None)
    full = last is not None and int(last.group(1)) >= _FULL * memory
    return f"; {int(last.group(1)):,} of the GPU's {memory:,} MiB were in use" if last and full else ""


_IN_USE = re.compile(r"now: CPU \d+, GPU (\d+) \(MiB\)")
_FULL = 0.95
"""Share of the GPU's memory from which what an engine still needs is not there."""
