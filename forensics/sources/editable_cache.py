"""Reads and changes binary editable timing caches through TensorRT's API (10.8 and later), which alone can do so.

It needs ``tensorrt`` to be installed. A child process (``trt/cache_file.py``) does the work, so that a crash of
TensorRT becomes an error message. TensorRT-RTX has the same classes, but they do nothing.
"""

import json
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from trtforensics.console.processes import completed, describe_exit
from trtforensics.errors import NotATimingCacheError, UsageError
from trtforensics.model.engine import TimingCache
from trtforensics.model.log import MyelinOperation
from trtforensics.model.span import SourceSpan
from trtforensics.model.timings import tactic_text
from trtforensics.parsers.text.document import Document
from trtforensics.trt.cache_file import BASE, CHANGED, REPORT, UPDATES, CacheReport
from trtforensics.trt.installed import child_line, installed_modules

_PATIENCE_S = 120
_OTHERWISE = "Export the keys from the build's verbose log"
_SAME = "Use the TensorRT version and the GPU that wrote it"


def read_editable_cache(document: Document) -> TimingCache:
    """Read a binary cache; its keys have no names and no candidates, which only a log states."""
    name = document.info.path
    with TemporaryDirectory(prefix="trtforensics-") as folder:
        report = _read(document, Path(folder))
    span = SourceSpan(name, 1, 0)
    keys = tuple(MyelinOperation("", key, tactic, time_ms, (), span) for key, (tactic, time_ms) in report.keys.items())
    return TimingCache(document.info, name, report.version, keys)


def apply(base: Document, keys: Iterable[MyelinOperation]) -> tuple[bytes, int]:
    """Return a binary cache with the tactics of ``keys`` set, and how many of them were set otherwise before.

    A key whose time is not known keeps its present time. Only the next build shows whether an operation can use a
    tactic.

    Raises:
        UsageError: TensorRT is not installed, or too old.
        NotATimingCacheError: TensorRT finds no key in the base, crashes on it, or refuses a value; a key is not in it.
    """
    with TemporaryDirectory(prefix="trtforensics-") as folder:
        before = _read(base, Path(folder)).keys
        updates = {}
        for key in keys:
            if key.selected is not None:
                known = before[key.key][1] if key.key in before else 0.0
                updates[key.key] = (key.selected, known if key.time_ms is None else key.time_ms)
        report = _read(base, Path(folder), updates)
        if report.refused:
            what = f"TensorRT refuses the tactic {tactic_text(updates[report.refused][0])} for key {report.refused}"
            next_step = "The key must be in the cache: keys change with the network"
            raise NotATimingCacheError(base.info.path, what, next_step)
        changed = sum(before[key][0] != tactic for key, (tactic, _) in updates.items())
        return (Path(folder) / CHANGED).read_bytes(), changed


def _read(document: Document, folder: Path, updates: Mapping[str, tuple[int, float]] | None = None) -> CacheReport:
    """Let a child process read the cache and apply updates; the report has at least one key."""
    name = document.info.path
    (folder / BASE).write_bytes(document.data)
    if updates is not None:
        (folder / UPDATES).write_text(json.dumps(updates), encoding="ascii")
    report = _child(name, folder) if "tensorrt" in installed_modules() else CacheReport()
    if not report.version:
        why = f"`import tensorrt` fails ({report.absent})" if report.absent else "it is not installed"
        what = f"is a binary timing cache, which only TensorRT can read, and {why}"
        raise UsageError(name, what, f"{_OTHERWISE}, or install TensorRT")
    if not report.editable:
        what = f"TensorRT {report.version} has no editable timing caches"
        raise UsageError(name, what, "Use TensorRT 10.8 or later")
    if not report.keys:
        report_text = f" (it says: {report.message})" if report.message else ""
        what = f"TensorRT {report.version} finds no key of an editable timing cache in it{report_text}"
        raise NotATimingCacheError(name, what, _SAME)
    return report


def _child(name: str, folder: Path) -> CacheReport:
    line = child_line("trtforensics.trt.cache_file", str(folder))
    try:
        done = completed(line, timeout=_PATIENCE_S)
    except subprocess.TimeoutExpired as error:
        what = f"TensorRT does not finish reading it within {_PATIENCE_S} s"
        raise NotATimingCacheError(name, what, f"{_SAME}, or {_OTHERWISE.lower()}") from error
    if done.returncode:
        last = done.stderr.decode(errors="replace").strip().rpartition("\n")[2]
        how = describe_exit(done.returncode) + (f", {last}" if done.returncode > 0 and last else "")
        what = f"the process in which TensorRT read it ended before it was done ({how})"
        raise NotATimingCacheError(name, what, f"{_SAME}, or {_OTHERWISE.lower()}")
    return CacheReport(**json.loads((folder / REPORT).read_text(encoding="utf-8")))
