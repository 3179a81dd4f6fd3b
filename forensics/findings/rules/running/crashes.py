"""Processes that crash or are ended by an exception, and messages that say no more than that something failed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.console.secrets import masked
from trtforensics.findings.finding import Confidence, Observation, Severity
from trtforensics.findings.rule import rule

if TYPE_CHECKING:
    from collections.abc import Iterator

    from trtforensics.findings.case import Case
    from trtforensics.model.notes import Note

_LONGEST = 160
"""Characters of a message that a title quotes."""
_EVERY_CAUSE = ("TF3*", "TF1*", "TF2*", "TF60*", "TF62*", "TF6[3-9]*", "TF61[1256]", "TF4*", "TF5*")
"""The codes of rules that may name why a process ended."""


@rule(
    "TF613",
    Severity.ERROR,
    "The process crashed",
    cause="The process died of a signal. Likeliest first: an earlier step failed and its null result was used (the "
    "parser, the build, the loading of an engine); libraries of two TensorRT, CUDA or PyTorch versions are loaded at "
    "once; a plugin or the program itself writes outside of its buffers; objects are destroyed in the wrong order or "
    "twice (a crash at the very end).",
    confirm="gdb -batch -ex run -ex bt --args PROGRAM …: the library of the topmost frames.",
    fixes=(
        "If an error stands before it: mend that one, and check results for null before they are used.",
        "If libnvinfer of another version is loaded than the program was built with (ldd, /proc/PID/maps): remove it.",
        "If the topmost frame is in a plugin or the program: run it under compute-sanitizer and valgrind.",
        "If it comes at the end: destroy context, engine and runtime in that order, before the CUDA context.",
    ),
    sources=("public threads of all programs; NVIDIA/TensorRT-LLM#621, wang-xinyu/tensorrtx#1419",),
    follows=(*_EVERY_CAUSE, "TF717"),
)
def crashed(case: Case) -> Iterator[Observation]:
    """Report every line that says so as one observation."""
    notes = case.notes("crashed")
    if notes:
        yield Observation(
            "The process crashed",
            [note.span for note in notes],
            confidence=Confidence.LIKELY,
            settle="A backtrace: gdb -batch -ex run -ex bt --args PROGRAM … names the library that crashed",
            same_as="crashed",
        )


@rule(
    "TF614",
    Severity.ERROR,
    "An exception that nobody catches ended the program",
    cause="The program threw, and nothing caught it. What it says (the line what()) is the reason, or an error of "
    "TensorRT before it is: wrappers throw where an object came back null.",
    confirm="The line what() behind it, and the first error before it.",
    fixes=("Mend the error that the line what() or the first error names.",),
    sources=("the C++ runtime's message; onnx/onnx-tensorrt#518",),
    follows=_EVERY_CAUSE,
)
def terminated(case: Case) -> Iterator[Observation]:
    """Name the exception."""
    for note in case.notes("terminated"):
        name = note.text("name")
        yield Observation(
            "The program ended by an exception that nobody caught" + (f": {name}" if name else ""),
            [note.span],
            confidence=Confidence.LIKELY,
            settle="The line what() behind it, and the first error before it",
            same_as=f"terminated {name}",
        )


@rule(
    "TF615",
    Severity.ERROR,
    "TensorRT failed a check of its own",
    cause="An assertion inside TensorRT failed: a case that its code did not expect. Likeliest first: a combination of "
    "layers, types or shapes that this release does not handle (a bug that another release may not have); libraries of "
    "two versions mixed; a network whose shapes are wrong.",
    confirm="Search for the source file and the assertion among TensorRT's issues and release notes.",
    fixes=(
        "Try the newest TensorRT of the same major version.",
        "Simplify the model (polygraphy surgeon sanitize --fold-constants), and try with static shapes or in FP32.",
        "Reduce the model to the failing part and report it.",
    ),
    sources=("error lines of 6 to 10",),
    follows=("TF416", "TF309", "TF310", "TF314", "TF10*"),
    last=True,
)
def internal_check(case: Case) -> Iterator[Observation]:
    """Quote the assertion, where no other rule knows it."""
    for note in _unexplained(case, "internal_check"):
        yield Observation(
            f"TensorRT failed a check of its own: {_quoted(note.text('text'))}",
            [note.span],
            confidence=Confidence.LIKELY,
            settle="Whether the newest TensorRT builds it, and which part of the model fails alone "
            "(trtforensics reduce)",
            same_as=f"check {note.text('text')}",
        )


@rule(
    "TF616",
    Severity.ERROR,
    "TensorRT refuses a call of its interface",
    cause="A function of TensorRT got an argument, or was called in a state, that it does not allow. The condition "
    "that is printed must hold. Likeliest first: an index or pointer that is null or out of range; shapes or "
    "flags that do not fit; a call in the wrong order.",
    confirm="The name of the function and the condition, in TensorRT's interface documentation.",
    fixes=("Change the call that is named so that the condition holds; check what earlier calls returned.",),
    sources=("parameter checks of 6 to 10",),
    follows=("TF309", "TF310", "TF314", "TF10*", "TF640"),
    last=True,
)
def call_refused(case: Case) -> Iterator[Observation]:
    """Quote the condition, where no other rule knows it."""
    for note in _unexplained(case, "call_refused"):
        text = note.text("text") or note.text("condition")
        function = note.text("site").rpartition(".cpp::")[2].rpartition("::")[0].rpartition("::")[2]
        where = f" ({function})" if function else ""
        yield Observation(
            f"TensorRT refuses a call{where}: {_quoted(text)}",
            [note.span],
            confidence=Confidence.LIKELY,
            settle="The arguments of the call that is named, printed right before it",
            same_as=f"call {text}",
        )


def _unexplained(case: Case, kind: str) -> Iterator[Note]:
    """Give the first note of each text on lines that no other finding cites."""
    seen: set[str] = set()
    for note in case.notes(kind):
        text = note.text("text") + note.text("condition")
        if note.span.line not in case.explained and text not in seen:
            seen.add(text)
            yield note


def _quoted(text: str) -> str:
    """Return a message for a title: masked, of one line, without the closing of what wraps it."""
    return masked(text).strip().removesuffix(" )").removesuffix(")").strip()[:_LONGEST]
