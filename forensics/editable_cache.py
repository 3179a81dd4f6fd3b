"""The binary editable timing cache, through TensorRT's own API (>= 10.8): there is no other way to read or write one.

Only where ``tensorrt`` is importable. TensorRT-RTX has the same classes and does nothing with them.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from trtforensics.errors import NotATimingCacheError, UsageError
from trtforensics.model import SourceSpan, TimingCacheKey, tactic_text
from trtforensics.timing_cache import TimingCache

if TYPE_CHECKING:
    from collections.abc import Iterable

    from trtforensics.parsers.document import Document

_INVALID_HASH = (1 << 64) - 1
"""``TimingCacheValue`` of an absent key."""


class EditableCache:
    """An editable timing cache held by TensorRT; tactics are changed with :meth:`update`, then :meth:`serialize`."""

    def __init__(self, payload: bytes, name: str) -> None:
        """Give the bytes of a cache file to TensorRT.

        Raises:
            UsageError: TensorRT is not installed, or too old for editable caches.
            NotATimingCacheError: TensorRT finds no key in it: no cache, one of another version or GPU, or not editable.
        """
        trt = self._trt = _tensorrt(name)
        self._name = name
        self._logger = _logger(trt)
        self._builder = trt.Builder(self._logger)
        self._config = self._builder.create_builder_config()
        self._config.set_flag(trt.BuilderFlag.EDITABLE_TIMING_CACHE)
        self._cache = self._config.create_timing_cache(payload)
        if self._cache is None or not self._cache.queryKeys():
            said = f" (it says: {self._logger.last})" if self._logger.last else ""
            what = f"TensorRT {trt.__version__} finds no key of an editable timing cache in it{said}"
            raise NotATimingCacheError(name, what, "Use the TensorRT version and the GPU that wrote it")

    def tactics(self) -> dict[str, tuple[int, float]]:
        """Return the tactic and its time in ms of every key, by the key's text."""
        found = {}
        for key in self._cache.queryKeys():
            value = self._cache.query(key)
            found[str(key)] = (int(value.tacticHash), float(value.timingMSec))
        return found

    def update(self, key: str, tactic: int, time_ms: float) -> None:
        """Set the tactic of a key; whether the operation can use it, only the next build tells.

        Raises:
            NotATimingCacheError: the cache has no such key, or TensorRT refuses the value.
        """
        trt = self._trt
        value = trt.TimingCacheValue(tactic, time_ms)
        if not self._cache.update(trt.TimingCacheKey.parse(key), value):
            what = f"TensorRT refuses the tactic {tactic_text(tactic)} for key {key}"
            raise NotATimingCacheError(self._name, what, "The key must be in the cache: keys change with the network")

    def serialize(self) -> bytes:
        """Return the cache as the bytes of a file."""
        return bytes(self._cache.serialize())


def read_editable_cache(document: Document) -> TimingCache:
    """Read a binary cache; its keys have no names and no candidates, which only a log tells.

    Raises:
        UsageError: TensorRT is not installed, or too old.
        NotATimingCacheError: TensorRT finds no key in it.
    """
    name = document.info.path
    cache = EditableCache(document.data, name)
    span = SourceSpan(name, 1, 0)
    keys = tuple(
        TimingCacheKey("", key, None if tactic == _INVALID_HASH else tactic, time_ms, (), span)
        for key, (tactic, time_ms) in cache.tactics().items()
    )
    return TimingCache(document.info, name, str(cache._trt.__version__), keys)  # noqa: SLF001 - our own class


def apply(base: Document, keys: Iterable[TimingCacheKey]) -> tuple[bytes, int]:
    """Return a binary cache with the tactics of ``keys`` set, and how many of them were set otherwise before.

    Raises:
        UsageError: TensorRT is not installed, or too old.
        NotATimingCacheError: TensorRT finds no key in the base, a key is not in it, or a value is refused.
    """
    cache = EditableCache(base.data, base.info.path)
    before = cache.tactics()
    changed = 0
    for key in keys:
        if key.selected is None:
            continue
        old = before.get(key.key)
        cache.update(key.key, key.selected, key.time_ms if key.time_ms is not None else old[1] if old else 0.0)
        changed += old is None or old[0] != key.selected
    return cache.serialize(), changed


def _tensorrt(name: str) -> Any:  # noqa: ANN401 - a module without types
    try:
        trt = importlib.import_module("tensorrt")
    except ImportError as error:
        what = f"is a binary timing cache, which only TensorRT can read, and `import tensorrt` fails ({error})"
        raise UsageError(name, what, "Export the keys from the build's verbose log, or install TensorRT") from error
    if not hasattr(trt, "TimingCacheKey"):
        what = f"TensorRT {trt.__version__} has no editable timing caches"
        raise UsageError(name, what, "Use TensorRT 10.8 or later")
    return trt


def _logger(trt: Any) -> Any:  # noqa: ANN401 - a module without types
    class Logger(trt.ILogger):  # type: ignore[misc]  # the base class has no types
        """Keeps the last warning or error; TensorRT must not write on our streams."""

        def __init__(self) -> None:
            trt.ILogger.__init__(self)
            self.last = ""

        def log(self, severity: Any, message: str) -> None:  # noqa: ANN401 - an enumerator without types
            """Take note of a message."""
            if severity in {trt.Logger.WARNING, trt.Logger.ERROR, trt.Logger.INTERNAL_ERROR}:
                self.last = message.rstrip(".")

    return Logger()
