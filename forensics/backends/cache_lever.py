"""Cache keys inside the build child: an editable timing cache (TensorRT 10.8 and later) whose tactics are set first.

The order is that of NVIDIA's Model-Connect (``timing_cache.py``): create the cache from bytes, update every key, attach
it, build, query again. Two caches are the same where their keys have the same tactic hashes; the bytes hold timings.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from trtforensics import atomic
from trtforensics.backends.lever import Findings
from trtforensics.model import tactic_text

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from pathlib import Path

    from trtforensics.backends.lever import Bench

_INVALID_HASH = (1 << 64) - 1
"""``TimingCacheValue`` of an absent key."""
_FLAGS = ("EDITABLE_TIMING_CACHE", "DISABLE_COMPILATION_CACHE")

_Tactics = dict[str, int]


class CacheLever:
    """Sets the tactic and time (ms) of every key in ``tactics``.

    ``bases`` are binary caches of which the first is the one that is edited and others add their keys. Without any,
    ``store`` holds one that a first build filled; keys that only some mixes have (``optional``) are filled in by one
    more build where they are missing, and may be missing for good.
    """

    def __init__(
        self, tactics: Mapping[str, tuple[int, float]], optional: Collection[str], bases: Sequence[Path], store: Path
    ) -> None:
        self.findings = Findings()
        self._tactics = tactics
        self._optional = optional
        self._bases = bases
        self._store = store
        self._wanted: _Tactics = {}

    def attach(self, bench: Bench, config: Any) -> None:  # noqa: ANN401 - TensorRT's
        """Create, update and attach the cache."""
        _set_flags(bench.trt, config, (*_FLAGS, "ERROR_ON_TIMING_CACHE_MISS"))
        cache = self._combined(config) if self._bases else config.create_timing_cache(self._filled(bench))
        missing = [key for key in self._update(bench.trt, cache) if key not in self._optional]
        self.findings.refused += [f"key {key} is not in the network's timing cache" for key in missing]
        self._wanted = tactics_in(cache)
        if not config.set_timing_cache(cache, True):  # noqa: FBT003 - as TensorRT has it
            self.findings.refused.append("TensorRT does not take the timing cache")

    def look(self, config: Any) -> None:  # noqa: ANN401 - the same
        """Query every key again; keys that came, went or changed are named."""
        there = tactics_in(config.get_timing_cache())
        for key in sorted(there.keys() | self._wanted.keys()):
            asked, has = self._wanted.get(key), there.get(key)
            if asked is None:
                self.findings.differs.append(f"key {key} was added with tactic {tactic_text(has)}")
            elif has is None:
                self.findings.differs.append(f"key {key} was removed")
            elif asked != has:
                what = f"key {key} changed from tactic {tactic_text(asked)} to {tactic_text(has)}"
                self.findings.differs.append(what)
        self.findings.details["keys"] = {key: tactic_text(tactic) for key, tactic in there.items()}

    def _combined(self, config: Any) -> Any:  # noqa: ANN401 - the same
        cache = config.create_timing_cache(self._bases[0].read_bytes())
        for path in self._bases[1:]:
            if not cache.combine(config.create_timing_cache(path.read_bytes()), False):  # noqa: FBT003 - as above
                self.findings.refused.append(f"TensorRT does not combine {path} with {self._bases[0]}")
        return cache

    def _filled(self, bench: Bench) -> bytes:
        """Return a cache with the network's keys; the first build of a directory makes it, as fast as it can be."""
        payload = self._store.read_bytes() if self._store.exists() else b""
        if not payload:
            payload = self._tuned(bench, payload)
            atomic.write_bytes(self._store, payload)
        config = _fresh(bench)
        if not self._update(bench.trt, config.create_timing_cache(payload)):
            return payload
        return self._tuned(bench, payload)

    def _tuned(self, bench: Bench, payload: bytes) -> bytes:
        """Build with the tactics set as far as their keys are there; new keys are timed."""
        config = _fresh(bench)
        cache = config.create_timing_cache(payload)
        self._update(bench.trt, cache)
        config.set_timing_cache(cache, True)  # noqa: FBT003 - as TensorRT has it
        if bench.builder.build_serialized_network(bench.network, config) is None:
            return payload
        return bytes(config.get_timing_cache().serialize())

    def _update(self, trt: Any, cache: Any) -> list[str]:  # noqa: ANN401 - the same
        """Update every key of a cache, those that nothing was asked for with what they have; return those missing."""
        for key in cache.queryKeys():
            cache.update(key, cache.query(key))
        missing = []
        for text, (tactic, time_ms) in self._tactics.items():
            if not cache.update(trt.TimingCacheKey.parse(text), trt.TimingCacheValue(tactic, time_ms)):
                missing.append(text)
        return missing


def tactics_in(cache: Any) -> _Tactics:  # noqa: ANN401 - TensorRT's
    """Return the tactic hash of every key of an editable cache."""
    found = {str(key): int(cache.query(key).tacticHash) for key in cache.queryKeys()}
    return {key: tactic for key, tactic in found.items() if tactic != _INVALID_HASH}


def _fresh(bench: Bench) -> Any:  # noqa: ANN401 - the same
    config = bench.make_config()
    _set_flags(bench.trt, config, _FLAGS)
    return config


def _set_flags(trt: Any, config: Any, names: Sequence[str]) -> None:  # noqa: ANN401 - the same
    for name in names:
        config.set_flag(getattr(trt.BuilderFlag, name))
