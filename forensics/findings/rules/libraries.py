"""Libraries, plugins and plans that cannot be loaded or are of another version, calls of libraries that fail."""

import re
import shlex
from collections.abc import Iterator

from trtforensics.console.counting import grouped, listed
from trtforensics.findings.case import Case
from trtforensics.findings.finding import Observation, Severity, Step
from trtforensics.findings.observations import followed_by, near, observe, quoted, unexplained
from trtforensics.findings.rule import explained
from trtforensics.findings.steps.commands import engine_path, trtexec
from trtforensics.findings.versions import interface
from trtforensics.knowledge.operators import is_operator, shipped_plugins
from trtforensics.knowledge.table import release
from trtforensics.knowledge.terms import CodeKind, error_code
from trtforensics.model.notes import Note


@explained("TF410")
def library(case: Case) -> Iterator[Observation]:
    """Name the libraries; TensorFlow and GStreamer, which look for theirs so, go on without them."""
    optional = case.notes("library_optional")
    lines = {note.span.line for note in optional}
    notes = [note for note in case.notes("library_missing", "library_unopened") if note.span.line not in lines]
    torch = bool(notes) and all(note.text("name").startswith(("libtorch", "libc10")) for note in notes)
    stated = {version for note in notes for version in _SONAME.findall(note.text("name"))}
    versions = listed(sorted({f"{_OF_CUDA[stem]} {number}" for stem, number in stated}))
    cause, fix = library.variants["torch" if torch else "version"] if torch or versions else ("", "")
    title = "The library {names} cannot be loaded" + (f": {versions} is wanted" if versions else "")
    yield from observe(notes, title, names="name", cause=cause, fix=fix)
    goes_on = "" if case.notes("crashed", "tftrt_stub") else "; the program goes on without"
    title = f"TensorFlow, or a plugin of GStreamer, cannot load {{names}}{goes_on}"
    yield from observe(optional, title, names="name", severity=Severity.NOTE)


_OF_CUDA = {"cudart": "CUDA", "cublas": "CUDA", "nvrtc": "CUDA", "cudnn": "cuDNN", "nvinfer": "TensorRT"}
_SONAME = re.compile(r"lib(cudart|cublas|nvrtc|cudnn|nvinfer)\w*\.so\.(\d+(?:\.\d+)?)")


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


@explained("TF497")
def packages(case: Case) -> Iterator[Observation]:
    """Compare the releases of pip's packages of TensorRT, each as it is named last."""
    parts: dict[str, tuple[str, Note]] = {}
    for note in case.notes("pip_package", "pip_row"):
        text = note.text("text").partition(" (from ")[0]
        whole = text if "tensorrt" in text else f"tensorrt{text}"  # a row of pip's list begins with it
        parts |= {part: (release, note) for part, release in _PACKAGE.findall(whole)}
    inner = {part: each for part, each in parts.items() if part}
    held = inner if len({release for release, _ in inner.values()}) > 1 else parts
    if len({release for release, _ in held.values()}) > 1:
        names = ", ".join(f"{part or 'the package tensorrt'} {release}" for part, (release, _) in held.items())
        cause, fix = packages.variants["meta"] if held is parts else ("", "")
        title = f"TensorRT's packages are of several releases: {names}"
        severity = Severity.NOTE if held is parts else None
        spans = [*dict.fromkeys(note.span for _, note in held.values())]
        yield Observation(title, spans, cause=cause, fix=fix, severity=severity)


_PACKAGE = re.compile(r"(?<![\w-])tensorrt(?:[-_]cu\d+)?(?:[-_](libs|bindings))?(?: +|==|-)(\d+\.\d+\.\d+)")


@explained("TF659")
def interface_gone(case: Case) -> Iterator[Observation]:
    """Name what this TensorRT no longer has, with the last release that has it, where that is known."""
    unknown = "was removed in a later TensorRT than it was written for"
    yield from _outside(case, "attribute_gone", "TensorRT has up to {}", unknown)


@explained("TF667")
def interface_new(case: Case) -> Iterator[Observation]:
    """Name what this TensorRT does not have yet, with the first release that has it, where that is known."""
    unknown = "came with a later TensorRT than the one that is installed"
    yield from _outside(case, "attribute_new", "came with TensorRT {}", unknown)


def _outside(case: Case, kind: str, known: str, unknown: str) -> Iterator[Observation]:
    """Report names that are outside of the release on that side (``known``), and those in no table (``unknown``)."""
    none = {note.span.line for note in case.notes("engine_none")}  # what has no attribute is None (TF633)
    notes = {note.span.line: note for note in case.notes("attribute_of", kind) if note.span.line not in none}
    for name, alike in grouped(notes.values(), lambda note: note.text("name")).items():
        side, bound = _side(case, name)
        if side == kind or (alike[0].kind == kind and (not side or case.version is None)):
            which = known.format(bound) if side == kind else unknown
            yield from observe(alike, f"The program uses {name}, which {which}")


def _side(case: Case, name: str) -> tuple[str, str]:
    """Return on which side of a name's releases the log's is, and the nearest that has it; nothing where it has it.

    Where the log states no release, a name that was removed is taken for that.
    """
    first, last = interface().get(name, ("", ""))
    if last and (case.version is None or case.version.numbers[:2] > release(last)):
        return "attribute_gone", last
    early = first and (case.version is None or case.version.numbers < release(first))
    return ("attribute_new", first) if early else ("", "")


@explained("TF428")
def interface_lacks(case: Case) -> Iterator[Observation]:
    """Name what neither knows, or the release has for another object."""
    other = {note.span.line for note in case.notes("attribute_gone", "attribute_new")}
    for note in case.notes("attribute_of"):
        if not _side(case, note.text("name"))[0] and note.span.line not in other:
            yield from observe([note], f"This TensorRT's {note.text('type').split('.')[-1]} has no {note.text('name')}")


@explained("TF622")
def cuda_call(case: Case) -> Iterator[Observation]:
    """Give the meaning of the code, where no rule speaks of its words."""
    for (code, meaning), notes in grouped(unexplained(case, "cuda_code"), _code).items():
        title = f"A CUDA call failed{f' with error {code}' if code else ''}{f': {meaning}' if meaning else ''}"
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
        said = (message.text for message in case.build.messages if message.span == notes[0].span)
        number = _STATUS.search(" ".join(said))
        kind: CodeKind = "cudnn" if number and number[1].lower() == "cudnn" else "cublas"
        known = error_code(kind, int(number[2])) if number else None
        title = f"A GPU library failed inside TensorRT{f' ({known.meaning})' if known else ''}: {quoted(call)}"
        yield from observe(notes, title, settle=settle, same_as=f"library {call}")


_STATUS = re.compile(r"(?i:\b(cudnn|cublas) error in )\w+: (\d+)\b")


@explained("TF601")
def version(case: Case) -> Iterator[Observation]:
    """Report every form of the message."""
    versions = case.notes("plan_version")
    of_caches = followed_by(versions, case.notes("cache_unused"))
    damaged = {note.span for note in case.notes("plan_size")}
    notes = [note for note in versions if note not in of_caches and note.span not in damaged]
    step = Step("Which version built it?", trtexec(case, "--getPlanVersionOnly") if engine_path(case) else "")
    texts = (message.text for message in case.build.messages if message.span in {note.span for note in notes})
    tags = next(filter(None, map(_TAGS.search, texts)), None)
    older = tags is not None and int(tags[2]) < int(tags[1])
    which = f"{'an older' if older else 'a newer'} TensorRT than the one that loads it" if tags else ""
    yield from observe(notes, f"The plan was built by {which or 'another TensorRT version'}", steps=(step,))


_TAGS = re.compile(r"Current Version: (?!0\b)(\d{1,9}), Serialized Engine Version: (?!\1\b)(\d{1,9})")
"""The numbers of serialisation, which grow with the releases; 0 is the safety runtime's."""


@explained("TF603")
def magic(case: Case) -> Iterator[Observation]:
    """Report the message, unless another line names the version as the reason."""
    headers = case.notes("plan_magic")
    of_caches = followed_by(headers, case.notes("cache_unused"))
    named = {note.span.line for note in (*case.notes("plan_version"), *of_caches)}
    notes = [note for note in headers if note.span.line not in named]
    path = engine_path(case)
    step = Step("See its first bytes", f"head -c 4 {shlex.quote(path)}" if path else "")
    yield from observe(notes, "The file does not begin as a plan does", steps=(step,))


@explained("TF604")
def refit(case: Case) -> Iterator[Observation]:
    """Report the refusal."""
    step = Step("Build a refittable engine", trtexec(case, "--refit"))
    yield from observe(case.notes("refit_count"), "The weights for a refit are of another count than the engine's")
    layers = [note for note in case.notes("refit_refused") if note.text("layer")]
    notes = [note for note in case.notes("refit_refused") if note not in layers]
    named = ": {names}" if any(note.text("name") for note in notes) else ""
    yield from observe(notes, f"Weights cannot be refitted{named}", names="name", steps=(step,), same_as="refit")
    yield from observe(layers, "The engine has no such layers, or no such weights of theirs: {names}", names="layer")


@explained("TF609")
def unregistered(case: Case) -> Iterator[Observation]:
    """Name the plugins, where no node was being parsed."""
    parsing = case.notes("parse_failed", "importer_plugin")  # the parser's lines (TF101, TF150)
    kinds = ("plugin_unknown", "creator_missing", "plugin_unloaded")
    notes = [note for note in case.notes(*kinds) if not near(note.span.line, parsing)]
    notes = [note for note in notes if not is_operator(note.text("name"))]  # a model is parsed (TF101)
    created = {note.text("name") for note in case.notes("plugin_created")}
    unknown = dict.fromkeys(note.text("name") for note in notes if note.kind == "plugin_unknown")
    names = [name for name in unknown if name not in created]
    what = listed(names) if names else "a plugin"
    custom = bool(names) and shipped_plugins().keys().isdisjoint(names)
    cause, fix = unregistered.variants["custom"] if custom else ("", "")
    title = f"No plugin library that holds {what} is loaded"
    yield from observe(notes, title, same_as=f"plugin {what}", cause=cause, fix=fix)
