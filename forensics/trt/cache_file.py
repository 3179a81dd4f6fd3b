"""Reads a binary editable timing cache, and changes it: ``python -m trtforensics.trt.cache_file FOLDER``.

It runs as a child process, since TensorRT deserialises the user's bytes, and may crash. ``FOLDER`` holds the bytes and,
if tactics are to be set, the updates; the report and the changed cache are written there.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.own_files import is_there
from trtforensics.trt.api import load
from trtforensics.trt.inside.cache import bytes_of, values_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    import tensorrt

    from trtforensics.trt.api import TensorRT

BASE, UPDATES, REPORT, CHANGED = "base.cache", "updates.json", "report.json", "changed.cache"
"""Files of the folder; ``UPDATES`` gives keys their tactics and times in ms."""


@dataclass(slots=True)
class CacheReport:
    """The outcome.

    ``absent`` says why ``tensorrt`` cannot be imported, ``said`` is the last warning or error of TensorRT. ``keys``
    gives each key its tactic, None if TensorRT has none, and the time in ms. ``refused`` is the key of the first
    update that TensorRT does not take; there is no changed cache then.
    """

    absent: str = ""
    version: str = ""
    editable: bool = False
    said: str = ""
    keys: dict[str, tuple[int | None, float]] = field(default_factory=dict)
    refused: str = ""


def read(folder: Path) -> CacheReport:
    """Read the folder's cache, and change it if there are updates."""
    try:
        trt = load("tensorrt")
    except ImportError as error:
        return CacheReport(absent=str(error))
    report = CacheReport(version=trt.__version__, editable=hasattr(trt, "TimingCacheKey"))
    if not report.editable:
        return report
    logger, messages = _logger(trt)
    builder = trt.Builder(logger)
    config = builder.create_builder_config()
    config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
    cache = config.create_timing_cache((folder / BASE).read_bytes())
    report.keys = {} if cache is None else values_in(cache)
    report.said = messages[-1] if messages else ""
    updates = folder / UPDATES
    if cache is not None and is_there(updates):
        for key, (tactic, time_ms) in json.loads(updates.read_text("ascii")).items():
            if not cache.update(trt.TimingCacheKey.parse(key), trt.TimingCacheValue(tactic, time_ms)):
                report.refused = key
                return report
        (folder / CHANGED).write_bytes(bytes_of(cache))
    return report


def _logger(trt: TensorRT) -> tuple[tensorrt.ILogger, list[str]]:
    """Return a logger, and the list in which it keeps warnings and errors."""
    if TYPE_CHECKING:
        from tensorrt import ILogger  # noqa: PLC0415 - stands for that of `trt`
    else:
        ILogger = trt.ILogger  # noqa: N806 - it is a class
    messages: list[str] = []

    class Logger(ILogger):
        def __init__(self) -> None:
            ILogger.__init__(self)

        def log(self, severity: tensorrt.ILogger.Severity, msg: str) -> None:
            if severity in {trt.Logger.WARNING, trt.Logger.ERROR, trt.Logger.INTERNAL_ERROR}:
                messages.append(msg.rstrip("."))

    return Logger(), messages


def main(arguments: Sequence[str]) -> int:
    """Read or change the cache of a folder."""
    folder = Path(arguments[0])
    (folder / REPORT).write_text(json.dumps(asdict(read(folder))), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
