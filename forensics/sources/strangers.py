"""Names the kind of a file that a command cannot read, and the command that can.

``tables/forms.tsv`` lists the forms of files by how their bytes open, or by their kind. An ONNX model's first field is
its IR version, a small number; then a text, a message, or the model's version.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from trtforensics import errors
from trtforensics.knowledge.table import rows
from trtforensics.parsers.text.decoding import JSON_OPENING
from trtforensics.parsers.text.notebook import NOTEBOOK
from trtforensics.sources.kinds import Kind, kind_of

_PLACE = re.compile(r"(?::[0-9]+)*\Z")
_OPENING = 64 << 10
_VERSION = slice(24, 28)
"""Where a plan states the version of TensorRT that built it: major, minor, patch, build."""
_NO_MAJOR = 32
"""From here on, such a byte is no major release, and the file is damaged or of another form."""


AN_ONNX_MODEL = "an ONNX model"
_EXPECTED = {
    errors.NotABuildLogError: frozenset({Kind.BUILD_LOG}),
    errors.NotAReplayError: frozenset(Kind),
    errors.NotEngineInfoError: frozenset({Kind.LAYER_INFO, Kind.PROFILE, Kind.BUILD_LOG}),
    errors.NotATimingCacheError: frozenset({Kind.TIMING_CACHE, Kind.BUILD_LOG}),
    errors.NotAnOnnxModelError: frozenset({Kind.BUILD_LOG}),
}
"""The kinds that a reader expects: of a file of another kind, the error names the kind."""


def named(failure: errors.ForensicsError) -> errors.ForensicsError:
    """Return an error that names the kind of the file, where the reader's own error cannot."""
    expected = _EXPECTED.get(type(failure))
    path = _PLACE.sub("", failure.where)
    if expected is None or not Path(path).is_file():
        return failure
    form = None
    with suppress(OSError, errors.SourceError):
        form = _form_of(path, expected)
    if form is None or (isinstance(failure, errors.NotAnOnnxModelError) and form["name"] == AN_ONNX_MODEL):
        return failure
    if isinstance(failure, errors.NotAnOnnxModelError):  # what to do with the file is not what the user wants to do
        return type(failure)(path, f"is {form['name']}, not an ONNX model", failure.next_step)
    size = f", of {Path(path).stat().st_size:,} bytes" if form["name"].startswith("an engine") else ""
    return type(failure)(path, f"is {form['name']}{size}", form["next_step"] or failure.next_step)


def _form_of(path: str, expected: frozenset[Kind]) -> Mapping[str, str] | None:
    with Path(path).open("rb") as file:
        opening = file.read(_OPENING)
    form = form_by_opening(opening)
    if form is not None:
        return form
    kind: str = kind_of(path)
    if expected == {Kind.BUILD_LOG} == {kind} and JSON_OPENING.match(opening):
        kind = "notebook" if NOTEBOOK.match(opening) else "json"
    elif kind in expected:
        return None
    return next((form for form in rows("forms", "trtforensics.sources") if form["kind"] == kind), None)


def form_by_opening(opening: bytes) -> Mapping[str, str] | None:
    """Return the row of ``forms.tsv`` of a file that opens so; None where no opening fits.

    An engine's name tells what built it; its ``release`` is TensorRT's, empty where none is there, or TensorRT-RTX's.
    """
    for form in rows("forms", "trtforensics.sources"):
        if form["opening"] and re.match(form["opening"].encode(), opening):
            numbers, is_rtx = opening[_VERSION][:3], opening.startswith(b"v")
            is_told = any(numbers) and numbers[0] < _NO_MAJOR
            version, name = ".".join(map(str, numbers)) if is_told else "", "TensorRT" + "-RTX" * is_rtx
            builder = f"{name} {version}" if version else f"an unknown version of {name}"
            return {**form, "name": form["name"].format(builder=builder), "release": "" if is_rtx else version}
    return None
