"""Tactics and kernels that fail while they are built or timed."""

import re
from collections.abc import Iterator, Sequence

from trtforensics.console.counting import counted, grouped, listed
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation
from trtforensics.findings.layers import runs_in
from trtforensics.findings.observations import observe, quoted
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import profile, reduce
from trtforensics.findings.steps.machine import workspace
from trtforensics.knowledge.table import rows
from trtforensics.model.log import Build
from trtforensics.model.notes import Note
from trtforensics.model.timings import OpenBlock, tactic_text

_OF_OTHER_RULES = re.compile("CUDA_SUCCESS|^autotuning: CUDA error |^Formal output tensor ")
_REASONS = {row["kind"]: row["reason"] for row in rows("reasons", "trtforensics.findings")}
"""Kinds of lines before the error that may be the reason, and the reason in words."""


_SHORT_OF_WORKSPACE = {"device_request", "myelin_budget", "workspace_limit", "workspace_advice"}
"""Where memory itself ran out, and no tactic was skipped for it, more workspace is no help."""


@explained("TF301")
def no_implementation(case: Case) -> Iterator[Observation]:
    """Name the node, what it holds, and the reasons that stand before the error."""
    notes = case.notes("no_implementation", "no_implementation_old")
    for name, (note, *again) in grouped(notes, lambda note: note.text("layer")).items():
        since = _block(case, note)
        reasons = [reason for reason in case.notes(*_REASONS) if since < reason.span.line <= note.span.line]
        why = listed(list(dict.fromkeys(_REASONS[reason.kind] for reason in reversed(reasons))))
        starved = [span for layer in case.build.starved if layer.layer == name for span in layer.spans]
        members = next((f.onnx_nodes for f in case.build.foreign_nodes if f.name == name), ())
        yield Observation(
            f"There is no implementation for {name}" + (f": {why}" if why else ""),
            (note.span, *(reason.span for reason in reasons[-10:]), *(other.span for other in again)),
            settle="That there is none is certain; that the lines before it are the reason is not" if reasons else "",
            layers=(name,),
            onnx_nodes=members,
            steps=(*([workspace(case)] if _short(case, reasons) else []), reduce(case)),
            same_as=f"{name} {why}",
            because=[*(reason.span for reason in reasons), *starved],
        )


def _block(case: Case, note: Note) -> int:
    """Return the line behind which lines can be about the layer: the last choice of another one before the error."""
    chosen = [choice.span.line for choice in case.build.choices]
    chosen += [choice.span.line for choice in case.build.cached]
    return max((line for line in chosen if line < note.span.line), default=0)


def _short(case: Case, reasons: Sequence[Note]) -> bool:
    kinds = {reason.kind for reason in reasons}
    return bool(kinds & _SHORT_OF_WORKSPACE or case.build.starved) or kinds >= {"skipping_tactic", "out_of_memory"}


@explained("TF302")
def exceptions(case: Case) -> Iterator[Observation]:
    """Report skipped tactics, grouped by the exception."""
    thrown = [note for note in case.notes("skipping_tactic") if not note.text("text").startswith("insuf")]
    for text, notes in grouped(thrown, lambda note: note.text("text").removeprefix("exception ")).items():
        yield from observe(notes, f"{counted(len(notes), 'tactic')} skipped: {quoted(text)}", same_as=text)


_MYELIN = ("myelin_assertion", "myelin_exception", "myelin_check", "myelin_none", "myelin_formal", "myelin_unhandled")


@explained("TF308")
def myelin(case: Case) -> Iterator[Observation]:
    """Report every form of the message, unless another rule knows why (TF310, TF343, TF345)."""
    notes = [note for note in case.notes(*_MYELIN) if not _OF_OTHER_RULES.search(note.text("text"))]
    text = next((note.text("text") for note in notes if note.text("text")), "")
    unhandled = next((note.text("name") for note in notes if note.text("name")), "")
    suspect = being_timed(case, notes[0])[0] if notes else ""
    title = f"Myelin failed inside{suspect}" + (f": {quoted(text, 120)}" if text else "")
    title = f"A {unhandled} of a Bool tensor is needed, and Myelin cannot take it" if unhandled else title
    cause, fix = myelin.variants["bool"] if unhandled else ("", "")
    yield from observe(notes, title, steps=(reduce(case),), same_as=text, cause=cause, fix=fix)


@explained("TF309")
def crash(case: Case) -> Iterator[Observation]:
    """Name what was being timed: the block that the message stands in, if that block came to no choice."""
    notes = case.notes("illegal_access", "launch_timeout")
    if notes:
        suspect, block = being_timed(case, notes[0])
        kernel = next((f" by the kernel {note.text('kernel')}" for note in notes if note.text("kernel")), "")
        is_slow = notes[0].kind == "launch_timeout"
        what = "The launch timed out" if is_slow else f"An illegal memory access was made{kernel}"
        settle = "A run under compute-sanitizer: CUDA reports errors late" if suspect and not is_slow else ""
        is_built = block or case.build.stages or len(case.build.timings.tactic)
        cause, fix = crash.variants["run"] if not is_slow and not is_built else ("", "")
        yield Observation(
            f"{what}{suspect}",
            [*([block.span] if block else []), *(note.span for note in notes)],
            settle=settle,
            layers=(block.layer,) if block else (),
            cause=cause,
            fix=fix,
        )


def being_timed(case: Case, note: Note) -> tuple[str, OpenBlock | None]:
    """Say what was being timed where a message stands: the block around it that came to no choice, and its words."""
    line = note.span.line
    block = next((each for each in case.build.open_blocks if each.span.line < line <= each.last_line), None)
    return f" while timing {_timed(case.build, block, line)}" if block else "", block


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


@explained("TF313")
def no_tactic(case: Case) -> Iterator[Observation]:
    """Report a layer only where none of its choices has a tactic and no cached result exists."""
    alive = {choice.layer for choice in case.build.choices if choice.tactic is not None}
    alive |= {cached.layer for cached in case.build.cached}
    dead = [
        choice for choice in case.build.choices if choice.tactic is None and choice.layer and choice.layer not in alive
    ]
    if dead:
        layers = list(dict.fromkeys(choice.layer for choice in dead))
        yield Observation(
            f"No tactic worked, in any format, for {listed(layers)}", [choice.span for choice in dead], layers=layers
        )


@explained("TF315")
def untimed_loop(case: Case) -> Iterator[Observation]:
    """Name the layers."""
    steps = profile(case, "See the loop's share of the time")
    title = "The loop in {names} was not timed: its tactic is an estimate"
    yield from observe(case.notes("loop_heuristic"), title, names="layer", steps=steps)


@explained("TF343")
def failed_timing(case: Case) -> Iterator[Observation]:
    """Report want of memory once, with the largest size, and every other error."""
    notes = grouped(case.notes("tuning_cuda"), lambda note: (note.text("status"), note.text("text")))
    for (status, text), alike in notes.items():
        most = max(int(note.text("size") or 0) for note in alike)
        what = f"CUDA error {status}" if status else "Memory ran out"
        title = f"{what} while tactics were timed ({text if status else f'{most} bytes wanted'})"
        settle = "Whether another model builds in the same process."
        yield from observe(alike, title, settle=settle, same_as=f"tuning {status} {text}")


_SPARSE_CHOSEN = ("TRT inference plan picked sparse implementation for layers:", "Chose ")


@explained("TF323")
def no_sparse_layer(case: Case) -> Iterator[Observation]:
    """Report builds whose lines about chosen layers all name none."""
    notes = case.notes("sparsity")
    texts = [text for note in notes if (text := note.text("text")).startswith(_SPARSE_CHOSEN)]
    if texts and all(text.startswith("Chose 0 ") or text.rstrip().endswith("for layers:") for text in texts):
        full = runs_in(case, "Half") is False and runs_in(case, "Int8") is False
        why = ": no layer is of FP16 or INT8" if full else ""
        yield from observe(notes, f"Layers are eligible for sparse tactics, and none was chosen{why}", same_as="sparse")
