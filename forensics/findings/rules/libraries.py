"""Libraries that are missing, of another version, or that fail in a call."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from trtforensics.console.counting import grouped
from trtforensics.findings.finding import Observation, Severity
from trtforensics.findings.observations import observe, quoted, unexplained
from trtforensics.findings.rule_tables import explained
from trtforensics.knowledge.terms import error_code

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.notes import Note


@explained("TF410")
def library(case: Case) -> Iterator[Observation]:
    """Name the libraries; TensorFlow, which looks for its libraries so, goes on without them."""
    optional = case.notes("library_optional")
    lines = {note.span.line for note in optional}
    notes = [note for note in case.notes("library_missing", "library_unopened") if note.span.line not in lines]
    torch = bool(notes) and all(note.text("name").startswith(("libtorch", "libc10")) for note in notes)
    cause, fix = library.variants["torch"] if torch else ("", "")
    yield from observe(notes, "The library {names} cannot be loaded", names="name", cause=cause, fix=fix)
    title = "TensorFlow cannot load the library {names}, and goes on without it"
    yield from observe(optional, title, names="name", severity=Severity.NOTE)


@explained("TF416")
def libraries(case: Case) -> Iterator[Observation]:
    """Name both versions; an error where TensorRT refuses to go on."""
    errors = {message.span.line for message in case.build.messages if message.severity == "E"}
    differing = grouped(case.notes("libraries_differ"), lambda note: (note.text("first"), note.text("second")))
    for (first, second), notes in differing.items():
        yield from observe(
            notes,
            f"TensorRT was built with {first}, and the process loaded {second}",
            severity=Severity.ERROR if any(note.span.line in errors for note in notes) else None,
            same_as=f"libraries {first} {second}",
        )
    notes = case.notes("nvrtc_differs", "nvrtc_architecture")
    title = "The NVRTC (CUDA version) that is loaded is not the one that is needed"
    yield from observe(notes, title, severity=Severity.ERROR)


@explained("TF622")
def cuda_call(case: Case) -> Iterator[Observation]:
    """Give the meaning of the code, where no rule speaks of its words."""
    for (code, meaning), notes in grouped(unexplained(case, "cuda_code"), _code).items():
        number = f" with error {code}" if code else ""
        title = f"A CUDA call failed{number}" + (f": {meaning}" if meaning else "")
        settle = "" if meaning else "CUDA_LAUNCH_BLOCKING=1: the call that fails, with CUDA's own words"
        yield from observe(notes, title, settle=settle, same_as=f"CUDA {code or meaning}")


_CLOSED = re.compile(r"(?:[^()]|\([^()]*\))*")
"""Words up to the bracket that closes what wraps them; behind it stands what another process wrote into the line."""


def _code(note: Note) -> tuple[str, str]:
    """Return the number of an error and its words: the line's, else what ``cudaError_t`` means by it, if known."""
    code, closed = note.text("status"), _CLOSED.match(note.text("text"))
    known = error_code("cuda", int(code)) if code.isdecimal() else None
    words = closed.group().strip(" .") if closed else ""
    return code, words or (known.meaning if known else "")


@explained("TF624")
def library_call(case: Case) -> Iterator[Observation]:
    """Quote the call, where no rule knows its status."""
    calls = unexplained(case, "library_call")
    for call, notes in grouped(calls, lambda note: note.text("text").strip(" .)")).items():
        settle = "The first error of the run, and free GPU memory at that moment (nvidia-smi)"
        title = f"A GPU library failed inside TensorRT: {quoted(call)}"
        yield from observe(notes, title, settle=settle, same_as=f"library {call}")
