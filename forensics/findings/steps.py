"""Next steps of findings: the log's own command with flags added or removed, for its TensorRT version."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from trtforensics.findings.finding import Step
from trtforensics.model.log import Tool

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.findings.case import Case

MODEL = "model.onnx"
"""Stands for the model's path where the log does not state it."""
TIMING_CACHE = "--timingCacheFile=timing.cache"
"""trtexec's flag that keeps the timings of a build."""

_OPTION = re.compile(r" (?=--[A-Za-z])")
_PLAIN = re.compile(r"[\w@%+=:,./\\-]*")
MEBIBYTE = 1 << 20
_AMPLE = 1 << 30


def model_path(case: Case) -> str:
    """Return the path of the ONNX model: of ``--onnx``, of the command, of the parser's header."""
    if case.model is not None:
        return case.model.path
    paths = [option.partition("=")[2] for option in _options(case) if option.startswith("--onnx=")]
    paths += [note.text("value") for note in case.notes("onnx_header") if note.text("name") == "Input filename"]
    return next((path for path in paths if path), MODEL)


def trtexec(case: Case, *flags: str, without: Iterable[str] = ()) -> str:
    """Return the log's trtexec command with these flags, which replace flags of the same name.

    ``without`` names flags to leave out (``--fp16``). Where the log has no trtexec command, the result names only the
    model and these flags.
    """
    given = [option for option in _options(case) if not option.startswith("--verbose")]
    if not given:
        given = [f"--onnx={model_path(case)}"]
    dropped = {*without, *(flag.partition("=")[0] for flag in flags)}
    kept = [option for option in given if option.partition("=")[0] not in dropped]
    return " ".join(["trtexec", *(_quoted(option) for option in (*kept, *flags, "--verbose"))])


def polygraphy(words: str, case: Case, *flags: str) -> str:
    """Return a Polygraphy command on the model: ``polygraphy("run", case, "--trt")``."""
    return " ".join(["polygraphy", words, _quoted(model_path(case)), *map(_quoted, flags)])


def reduce(case: Case) -> Step:
    """Return the step that reduces the model with Polygraphy to the smallest that trtexec still fails to build."""
    check = "--check trtexec --onnx=polygraphy_debug.onnx"
    command = f"{polygraphy('debug reduce', case, '-o', 'reduced.onnx', '--mode=bisect')} {check}"
    return Step("Find the smallest model that fails", command)


def workspace(case: Case, needed: int | None) -> Step:
    """Return the step that builds with a workspace of at least ``needed`` bytes, rounded up to a power of two of MiB.

    Without ``needed`` (the log names no size) that is 1 GiB.
    """
    mebibytes = 1 << max(0, (-(-(needed or _AMPLE) // MEBIBYTE) - 1).bit_length())
    named = f" (the log names {needed:,} bytes)" if needed else ""
    what = f"Build with a workspace of {mebibytes} MiB or more{named}"
    if case.build.tool in {Tool.TENSORRT_PYTHON, Tool.TENSORRT_RTX}:
        call = f"config.set_memory_pool_limit(trt.MemoryPoolType.WORKSPACE, {mebibytes} << 20)"
        old = case.version is not None and case.version.has(before="8.4")
        return Step(what, f"config.max_workspace_size = {mebibytes} << 20" if old else call)
    if case.build.tool is Tool.POLYGRAPHY:
        return Step(what, polygraphy("run", case, "--trt", "--pool-limit", f"workspace:{mebibytes}M"))
    old = case.version is not None and case.version.has(before="8.4")
    flag = f"--workspace={mebibytes}" if old else f"--memPoolSize=workspace:{mebibytes}"
    return Step(what, trtexec(case, flag, without=("--workspace", "--memPoolSize")))


def _options(case: Case) -> list[str]:
    """Return the options of the log's trtexec command; the log does not quote them, so a path may contain blanks."""
    if case.build.tool not in {Tool.TRTEXEC, Tool.TENSORRT_RTX} or not case.build.command:
        return []
    return [part.strip() for part in _OPTION.split(f" {case.build.command.strip()}") if part.strip().startswith("--")]


def _quoted(word: str) -> str:
    return word if _PLAIN.fullmatch(word) else shlex.quote(word)
