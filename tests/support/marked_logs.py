"""Short notation for the lines of a log, with marks on those that a finding must cite."""

from __future__ import annotations

from typing import NamedTuple

STAMP = "[11/21/2026-10:00:00]"
_VERSIONS = {
    "10.16.1": "101601",
    "10.12.0": "101200",
    "11.1.0": "110100",
    "8.6.1": "8601",
    "8.0.3": "8003",
}


class Marked(NamedTuple):
    """The text of a log, and the numbers of its marked lines."""

    text: str
    marked: list[int]


def marked(notation: str) -> Marked:
    """Return a log from its notation, a line a line.

    ``> `` marks a line. Then: ``V``, ``I``, ``W`` or ``E`` and a blank is TensorRT's line at that level, the small
    letter trtexec's own; ``&& 10.16.1 --fp16`` is trtexec's first line, ``&&.`` its last after success, ``&&!`` after
    failure; ``| `` is a line without prefix. Blank lines do not count.
    """
    lines = [line.strip() for line in notation.strip().splitlines() if line.strip()]
    bodies = [line.removeprefix("> ") for line in lines]
    marks = [number for number, line in enumerate(lines, 1) if line.startswith("> ")]
    return Marked("".join(f"{_line(body)}\n" for body in bodies), marks)


def _line(body: str) -> str:
    kind, _, rest = body.partition(" ")
    if kind == "&&":
        version, _, flags = rest.partition(" ")
        return (
            f"&&&& RUNNING TensorRT.trtexec [TensorRT v{_VERSIONS[version]}] # trtexec --onnx=m.onnx {flags} --verbose"
        )
    if kind in {"&&.", "&&!"}:
        verdict = "PASSED" if kind == "&&." else "FAILED"
        return f"&&&& {verdict} TensorRT.trtexec [TensorRT v101601] # trtexec --onnx=m.onnx"
    if kind == "|":
        return rest
    assert kind.upper() in {"V", "I", "W", "E"}, body
    return f"{STAMP} [{kind.upper()}] {'[TRT] ' if kind.isupper() else ''}{rest}"
