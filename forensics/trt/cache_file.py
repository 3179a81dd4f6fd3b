"""Editable timing caches (TensorRT 10.8 and later), in a child process: set before a build, or read and changed.

The order of a build is that of NVIDIA's Model-Connect (``timing_cache.py``): create the cache from bytes, update every
key, attach it, build, query again. Two caches are equal if their keys have the same tactic hashes; the bytes differ by
timings.

``python -m trtforensics.trt.cache_file FOLDER`` reads a binary cache, and changes it. TensorRT deserialises the user's
bytes there, and may crash. ``FOLDER`` holds the bytes and, if tactics are to be set, the updates; the report and the
changed cache are written there.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from trtforensics.console.output import write_bytes
from trtforensics.console.own_files import is_there
from trtforensics.model.timings import tactic_text
from trtforensics.trt.api import TensorRT, load
from trtforensics.trt.build_levers import BuildLever, BuildSetup

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    import tensorrt

    _Tactics = dict[str, int]

BASE, UPDATES, REPORT, CHANGED = "base.cache", "updates.json", "report.json", "changed.cache"
"""Files of the folder; ``UPDATES`` gives keys their tactics and times in ms."""

_INVALID_HASH = (1 << 64) - 1
"""``TimingCacheValue`` of an absent key."""


class CacheKeyPinning(BuildLever):
    """Sets the tactic and time (ms) of every key in ``tactics``.

    ``bases`` are binary caches: the first is edited, the others add their keys. Without any, the first build of a
    directory fills a cache and keeps it in ``store``. If keys are missing, one more build adds them; those that only
    some mixes have (``optional``) may stay missing.
    """

    def __init__(
        self, tactics: Mapping[str, tuple[int, float]], optional: Collection[str], bases: Sequence[Path], store: Path
    ) -> None:
        super().__init__()
        self._tactics = tactics
        self._optional = optional
        self._bases = bases
        self._store = store
        self._wanted: _Tactics = {}
        self._payload = b""

    def attach(self, setup: BuildSetup, config: tensorrt.IBuilderConfig) -> None:
        """Create, update and attach the cache."""
        _make_editable(setup.trt, config)
        config.set_flag(setup.trt.BuilderFlag.ERROR_ON_TIMING_CACHE_MISS)
        cache = self._combined(config) if self._bases else _created(config, self._filled(setup), self._store)
        missing = [key for key in self._update(setup.trt, cache) if key not in self._optional]
        self.result.refused += [f"key {key} is not in the network's timing cache" for key in missing]
        self._wanted, self._payload = tactics_in(cache), bytes_of(cache)
        if not config.set_timing_cache(cache, True):  # noqa: FBT003 - as TensorRT has it
            self.result.refused.append("TensorRT does not take the timing cache")

    def look(self, config: tensorrt.IBuilderConfig) -> None:
        """Query every key again, and name keys that were added, removed or changed."""
        there = tactics_in(_attached(config))
        for key in sorted(there.keys() | self._wanted.keys()):
            asked, has = self._wanted.get(key), there.get(key)
            if asked is None:
                self.result.differs.append(f"key {key} was added with tactic {tactic_text(has)}")
            elif has is None:
                self.result.differs.append(f"key {key} was removed")
            elif asked != has:
                what = f"key {key} changed from tactic {tactic_text(asked)} to {tactic_text(has)}"
                self.result.differs.append(what)
        self.result.details["keys"] = {key: tactic_text(tactic) for key, tactic in there.items()}

    def explain(self, setup: BuildSetup) -> None:
        """Build once more and time the missing keys; no known message of TensorRT names them."""
        sys.stderr.write("the build failed: the next one is to tell which keys the timing cache misses, if any\n")
        filled = _created(_fresh(setup), self._tuned(setup, self._payload))
        missed = sorted(tactics_in(filled).keys() - self._wanted.keys())
        self.result.refused += [f"the network needs key {key}, which the timing cache does not have" for key in missed]

    def _combined(self, config: tensorrt.IBuilderConfig) -> tensorrt.ITimingCache:
        first, *others = self._bases
        cache = _created(config, first.read_bytes(), first)
        for path in others:
            if not cache.combine(_created(config, path.read_bytes(), path), False):  # noqa: FBT003 - as above
                self.result.refused.append(f"TensorRT does not combine {path} with {first}")
        return cache

    def _filled(self, setup: BuildSetup) -> bytes:
        """Return a cache with the network's keys; the first build of a directory makes it."""
        payload = self._store.read_bytes() if self._store.exists() else b""
        if not payload:
            payload = self._tuned(setup, payload)
            write_bytes(self._store, payload)
        config = _fresh(setup)
        if not self._update(setup.trt, _created(config, payload, self._store)):
            return payload
        return self._tuned(setup, payload)

    def _tuned(self, setup: BuildSetup, payload: bytes) -> bytes:
        """Build with the tactics of the keys that are there; TensorRT times new keys."""
        config = _fresh(setup)
        cache = _created(config, payload)
        self._update(setup.trt, cache)
        config.set_timing_cache(cache, True)  # noqa: FBT003 - as TensorRT has it
        if setup.builder.build_serialized_network(setup.network, config) is None:
            return payload
        return bytes_of(_attached(config))

    def _update(self, trt: TensorRT, cache: tensorrt.ITimingCache) -> list[str]:
        """Update every key of a cache, other keys with their own values; return the keys that are missing."""
        for key in cache.queryKeys():
            cache.update(key, cache.query(key))
        missing = []
        for text, (tactic, time_ms) in self._tactics.items():
            if not cache.update(trt.TimingCacheKey.parse(text), trt.TimingCacheValue(tactic, time_ms)):
                missing.append(text)
        return missing


def tactics_in(cache: tensorrt.ITimingCache) -> _Tactics:
    """Return the tactic hash of every key of an editable cache."""
    return {key: tactic for key, (tactic, _) in values_in(cache).items() if tactic is not None}


def values_in(cache: tensorrt.ITimingCache) -> dict[str, tuple[int | None, float]]:
    """Return the tactic hash and the time in ms of every key of an editable cache; None is TensorRT's invalid hash."""
    values = {str(key): cache.query(key) for key in cache.queryKeys()}
    hashes = {key: int(value.tacticHash) for key, value in values.items()}
    return {
        key: (None if hashes[key] == _INVALID_HASH else hashes[key], float(value.timingMSec))
        for key, value in values.items()
    }


def _created(config: tensorrt.IBuilderConfig, payload: bytes, path: Path | None = None) -> tensorrt.ITimingCache:
    cache = config.create_timing_cache(payload)
    if cache is None:
        raise RuntimeError(f"TensorRT does not take {path or 'what it wrote'} as a timing cache")
    return cache


def _attached(config: tensorrt.IBuilderConfig) -> tensorrt.ITimingCache:
    cache = config.get_timing_cache()
    if cache is None:
        raise RuntimeError("TensorRT has lost the timing cache that was attached")
    return cache


def _fresh(setup: BuildSetup) -> tensorrt.IBuilderConfig:
    config = setup.make_config()
    _make_editable(setup.trt, config)
    return config


def bytes_of(cache: tensorrt.ITimingCache) -> bytes:
    """Return a cache as a file holds it."""
    return bytes(memoryview(cache.serialize()))


def _make_editable(trt: TensorRT, config: tensorrt.IBuilderConfig) -> None:
    config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
    config.set_flag(trt.BuilderFlag.DISABLE_COMPILATION_CACHE)


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
    message: str = ""
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
    report.message = messages[-1] if messages else ""
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
