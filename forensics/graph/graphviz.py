"""Runs Graphviz' ``dot``, which lays pictures out; it is a program of its own that many systems have."""

from __future__ import annotations

import shutil
import subprocess

from trtforensics.errors import OutputError

TIME_LIMIT_S = 120.0
_SHOWN = 200
_DPI, _COARSE_DPI = 110, 72
_LARGE_BYTES = 300_000
"""Documents above that, of about 400 nodes, become bitmaps of fewer dots: at 110 an inch they take 100 megapixels."""


def rendered(document: bytes, form: str, where: str) -> bytes:
    """Return a DOT document as a picture. ``form`` is ``svg``, ``png`` or ``pdf``; ``where`` is the file to be written.

    Raises:
        OutputError: ``dot`` is not installed, fails, or takes longer than two minutes.
    """
    program = shutil.which("dot")
    if program is None:
        what = f"a .{form} is drawn by Graphviz, whose program `dot` is not installed"
        raise OutputError(where, what, "Install graphviz, or write .dot, .graphml, .json or .onnx")
    for options in _ways(document, form):
        done = _run([program, *options], document, where)
        if done.returncode == 0 and done.stdout:
            return done.stdout
    said = done.stderr.decode("utf-8", "replace").strip().split("\n")[0][:_SHOWN]
    raise OutputError(where, f"Graphviz fails: {said or f'exit code {done.returncode}'}", "Write .dot to see why")


def _ways(document: bytes, form: str) -> list[list[str]]:
    """Return the options for ``dot``, best first.

    A large bitmap is written by gd, in 256 colours: a 1,000-layer engine takes 1.0 s and 1.2 MB so, 2.3 s and 4 MB by
    Cairo's own writer. Graphviz can be built without gd.
    """
    if form != "png":
        return [[f"-T{form}"]]
    if len(document) <= _LARGE_BYTES:
        return [["-Tpng", f"-Gdpi={_DPI}"]]
    return [[f"-T{writer}", f"-Gdpi={_COARSE_DPI}"] for writer in ("png:cairo:gd", "png")]


def _run(command: list[str], document: bytes, where: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(command, input=document, capture_output=True, check=False, timeout=TIME_LIMIT_S)  # noqa: S603 - the program that PATH has; its input is ours
    except subprocess.TimeoutExpired:
        what = f"Graphviz has not laid it out in {TIME_LIMIT_S:.0f} seconds"
        raise OutputError(where, what, "Draw a part: `--top 50`, `--around LAYER` or `--filter`") from None
