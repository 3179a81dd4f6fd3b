"""Names the kind of a file that a command cannot read, and the command that can."""

from __future__ import annotations

import re
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from trtforensics.errors import (
    ForensicsError,
    NotABuildLogError,
    NotAnOnnxModelError,
    NotAReplayError,
    NotATimingCacheError,
    NotEngineInfoError,
    SourceError,
)
from trtforensics.parsers.text.decoding import JSON_OPENING
from trtforensics.parsers.text.notebook import NOTEBOOK
from trtforensics.sources.kinds import Kind, kind_of

_PLACE = re.compile(r"(?::[0-9]+)*\Z")
_OPENING = 64 << 10
_ONNX = re.compile(rb"\x08[\x01-\x20](?:[\x12\x1a\x22\x32\x3a\x42]|\x28[\x00-\x7f])")
"""ModelProto's first field is its IR version, a small number; then a text, a message, or the model's version."""
_VERSION = slice(24, 28)
"""Where a plan states the version of TensorRT that built it: major, minor, patch, build."""


class _Form(NamedTuple):
    """A form of file: its name, and the next step for the user."""

    name: str
    next_step: str


_PAPER = "Give the text: `trtforensics report -` reads what is pasted into it"
_UNPACK = "Unpack it, if a log is in it"
_MODEL = (
    "`trtforensics report build.log --onnx MODEL.onnx` reads it beside a build's log, "
    "`trtforensics bisect precision MODEL.onnx` looks for what FP16 costs it"
)
_PLAN = (
    "`trtexec --loadEngine=PLAN --dumpLayerInfo --profilingVerbosity=detailed --exportLayerInfo=layers.json` "
    "makes a file of its layers, which `trtforensics parse` reads"
)
_MAGIC = (
    (b"\x89PNG", _Form("a picture (PNG)", _PAPER)),
    (b"\xff\xd8\xff", _Form("a picture (JPEG)", _PAPER)),
    (b"%PDF-", _Form("a PDF document", _PAPER)),
    (b"ptrt", _Form("a timing cache in TensorRT's own form", "`trtforensics cache export` makes JSON of it")),
    (b"PK\x03\x04", _Form("a ZIP archive, as PyTorch's checkpoints are", _UNPACK)),
    (b"7z\xbc\xaf", _Form("a 7z archive", _UNPACK)),
    (b"Rar!", _Form("a RAR archive", _UNPACK)),
    (b"\x7fELF", _Form("a program or a library", "Give what TensorRT printed when it ran")),
    (b"\x93NUMPY", _Form("an array of numpy's", "`trtforensics bisect precision` takes such files with `--inputs`")),
    (b"SQLite format 3\0", _Form("an SQLite database, as Nsight Systems exports", "Give the log of the build")),
    (b"version https://git-lfs", _Form("a pointer of Git LFS, not the file itself", "`git lfs pull` brings the file")),
)
_AN_ONNX_MODEL = "an ONNX model"
_OTHER_JSON = _Form("JSON of a form that is not known here", "")
_NOTEBOOK = _Form(
    "a Jupyter notebook of which no output is TensorRT's",
    "Run its cells with a verbose logger, and save it with outputs",
)
_HTML = re.compile(rb"\s*<(?:!doctype html|html)", re.IGNORECASE)
_KINDS = {
    Kind.REPLAY: _Form("a tactic replay", "`trtforensics parse`, `replay lint` and `diff` read it"),
    Kind.LAYER_INFO: _Form("the layers of an engine (--exportLayerInfo)", "`trtforensics parse` and `diff` read it"),
    Kind.PROFILE: _Form("a profile of an engine (--exportProfile)", "`trtforensics parse` and `diff` read it"),
    Kind.TIMING_CACHE: _Form("a timing-cache export", "`trtforensics parse`, `cache apply` and `diff` read it"),
}
_EXPECTED = {
    NotABuildLogError: frozenset({Kind.BUILD_LOG}),
    NotAReplayError: frozenset(Kind),
    NotEngineInfoError: frozenset({Kind.LAYER_INFO, Kind.PROFILE, Kind.BUILD_LOG}),
    NotATimingCacheError: frozenset({Kind.TIMING_CACHE, Kind.BUILD_LOG}),
    NotAnOnnxModelError: frozenset({Kind.BUILD_LOG}),
}
"""The kinds that a reader expects: of a file of another kind, the error names the kind."""


def named(failure: ForensicsError) -> ForensicsError:
    """Return an error that names the kind of the file, where the reader's own error cannot."""
    expected = _EXPECTED.get(type(failure))
    path = _PLACE.sub("", failure.where)
    if expected is None or not Path(path).is_file():
        return failure
    form = None
    with suppress(OSError, SourceError):
        form = _form_of(path, expected)
    if form is None or (isinstance(failure, NotAnOnnxModelError) and form.name == _AN_ONNX_MODEL):
        return failure
    if isinstance(failure, NotAnOnnxModelError):  # what to do with the file is not what the user wants to do
        return type(failure)(path, f"is {form.name}, not an ONNX model", failure.next_step)
    return type(failure)(path, f"is {form.name}", form.next_step or failure.next_step)


def _form_of(path: str, expected: frozenset[Kind]) -> _Form | None:
    with Path(path).open("rb") as file:
        opening = file.read(_OPENING)
    form = next((form for magic, form in _MAGIC if opening.startswith(magic)), None) or _by_structure(opening)
    if form is not None:
        return form
    kind = kind_of(path)
    if expected == {Kind.BUILD_LOG} == {kind} and JSON_OPENING.match(opening):
        return _NOTEBOOK if NOTEBOOK.match(opening) else _OTHER_JSON
    return None if kind in expected else _KINDS.get(kind)


def _by_structure(opening: bytes) -> _Form | None:
    if opening.startswith((b"ftrt", b"vtrt")):
        return _Form(f"an engine, built by {_builder(opening)}", _PLAN)
    if _ONNX.match(opening):
        return _Form(_AN_ONNX_MODEL, _MODEL)
    if _HTML.match(opening):
        return _Form("a web page", _PAPER)
    return None


def _builder(opening: bytes) -> str:
    version = opening[_VERSION][:3]
    name = "TensorRT-RTX" if opening.startswith(b"v") else "TensorRT"
    return f"{name} {'.'.join(map(str, version))}" if any(version) else f"an unknown version of {name}"
