"""Builder configurations, optimization profiles and timing caches."""

from __future__ import annotations

import json
import math
import struct
from typing import TYPE_CHECKING, Any

from tests.emulator.engine import faults
from tests.emulator.engine.builder import CacheEntry
from tests.emulator.engine.files import BadFile, cache_bytes, read_cache
from tests.emulator.log.opening import Message

from ._enums import (
    BuilderFlag,
    DataType,
    EngineCapability,
    HardwareCompatibilityLevel,
    MemoryPoolType,
    ProfilingVerbosity,
    TacticSource,
)
from ._logging import ILogger, tell
from ._scenario import VERSION, read

if TYPE_CHECKING:
    from ._network import Dims

INVALID_HASH = (1 << 64) - 1
_KEY_DIGITS = 32
_KNOBS = ("conv_use_long_w", "kgen:tiling", "match_ragged_mha", "copy_ppg", "reshape_ppg", "transpose_ppg")
ROUTES = json.dumps(
    {
        "tuner_version": "2.19.15",
        "tuner_options": [
            {"option": f"-{name}", "allowed_values": f"-{name}=[on|off]", "default_value": "on", "help": name}
            for name in _KNOBS
        ],
    }
)
"""Knobs of two values; their names are TensorRT's, what they do is not."""


class IHostMemory(bytes):
    """Bytes that a builder or a cache hands out."""

    __slots__ = ()

    @property
    def nbytes(self) -> int:
        """Number of bytes."""
        return len(self)

    @property
    def dtype(self) -> Any:
        """Type of an element."""
        return DataType.INT8


class TimingCacheKey:
    """A key of an editable timing cache; `str` gives it back as it was parsed."""

    def __init__(self) -> None:
        self._number = 0

    @staticmethod
    def parse(text: str) -> TimingCacheKey:
        """Read ``0x`` and 32 hexadecimal digits."""
        digits = text.removeprefix("0x")
        if len(digits) != _KEY_DIGITS or len(digits) == len(text):
            raise ValueError(f"cannot parse a timing cache key: {text}")
        parsed = TimingCacheKey()
        parsed._number = int(digits, 16)
        return parsed

    def __str__(self) -> str:
        return f"0x{self._number:032x}"


class TimingCacheValue:
    """A tactic's hash and its time in ms, which is a 32-bit float."""

    def __init__(self, arg0: int, arg1: float) -> None:
        self.tacticHash = arg0
        self.timingMSec: float = struct.unpack("f", struct.pack("f", arg1))[0]


class ITimingCache:
    """What was timed. ``editable``: it was created with the flag that lets it be read and changed."""

    def __init__(self, entries: dict[int, CacheEntry], *, editable: bool) -> None:
        self._entries = entries
        self._editable = editable

    def serialize(self) -> IHostMemory:
        """Return what a file holds."""
        return IHostMemory(cache_bytes(self._entries, VERSION))

    def combine(self, input_cache: ITimingCache, ignore_mismatch: bool) -> bool:  # noqa: ARG002, FBT001 - as TensorRT
        """Add the entries of another cache; those that are here already stay."""
        self._entries.update({**input_cache._entries, **self._entries})
        return True

    def reset(self) -> bool:
        """Forget everything."""
        self._entries.clear()
        return True

    def queryKeys(self) -> list[TimingCacheKey]:  # noqa: N802 - TensorRT's name
        """Return the keys.

        Raises:
            RuntimeError: The cache is not editable.
        """
        if not self._editable:
            raise RuntimeError("queryKeys failed: the timing cache is not editable.")
        return [TimingCacheKey.parse(f"0x{place:032x}") for place in self._entries]

    def query(self, key: TimingCacheKey) -> TimingCacheValue:
        """Return what is stored under a key, or an invalid value."""
        entry = self._entries.get(key._number) if self._editable else None
        return TimingCacheValue(INVALID_HASH, -1.0) if entry is None else TimingCacheValue(*entry)

    def update(self, key: TimingCacheKey, value: TimingCacheValue) -> bool:
        """Override an entry, or delete it if the time is NaN; False where there is none or the value is invalid."""
        if not self._editable or key._number not in self._entries:
            return False
        if math.isnan(value.timingMSec):
            del self._entries[key._number]
            return True
        if value.tacticHash == INVALID_HASH or value.timingMSec < 0:
            return False
        self._entries[key._number] = CacheEntry(value.tacticHash, value.timingMSec)
        return True


class IOptimizationProfile:
    """Ranges of dynamic dimensions."""

    def __init__(self) -> None:
        self._shapes: dict[str, list[Any]] = {}
        self.extra_memory_target = 1.0

    def __bool__(self) -> bool:
        return True

    def set_shape(self, input: str, min: Any, opt: Any, max: Any) -> None:  # noqa: A002 - TensorRT's names
        """Set the range of an input."""
        self._shapes[input] = [min, opt, max]

    def get_shape(self, input: str) -> list[Dims]:  # noqa: A002 - TensorRT's name
        """Return the range of an input."""
        return self._shapes.get(input, [])


class IBuilderConfig:
    """How to build."""

    def __init__(self, logger: ILogger) -> None:
        self._logger = logger
        self._cache: ITimingCache | None = None
        self._limits: dict[Any, int] = {}
        self._sources = sum(1 << int(source) for source in TacticSource)
        self._profiles: list[IOptimizationProfile] = []
        self._previews: dict[Any, bool] = {}
        self.reset()

    def reset(self) -> None:
        """Set everything back."""
        self.flags = 1 << int(BuilderFlag.TF32)
        self.algorithm_selector: Any = None
        self.avg_timing_iterations = 1
        self.builder_optimization_level = 3
        self.max_num_tactics = -1
        self.max_aux_streams = -1
        self.DLA_core = -1
        if VERSION >= (11, 1, 0):
            self.build_route = ""
            self.all_build_routes = ROUTES
        self.profiling_verbosity = ProfilingVerbosity.LAYER_NAMES_ONLY
        self.engine_capability = EngineCapability.STANDARD
        self.hardware_compatibility_level = HardwareCompatibilityLevel.NONE
        self.progress_monitor: Any = None
        self.int8_calibrator: Any = None

    def set_flag(self, flag: Any) -> None:
        """Set a flag."""
        self.flags |= 1 << int(flag)

    def clear_flag(self, flag: Any) -> None:
        """Clear a flag."""
        self.flags &= ~(1 << int(flag))

    def get_flag(self, flag: Any) -> bool:
        """Whether a flag is set."""
        return bool(self.flags & 1 << int(flag))

    def _has(self, name: str) -> bool:
        """Whether a flag is set that this version may lack."""
        flag = BuilderFlag.__members__.get(name)
        return flag is not None and self.get_flag(flag)

    def set_memory_pool_limit(self, pool: Any, pool_size: int) -> None:
        """Set a limit in bytes."""
        self._limits[pool] = pool_size

    def get_memory_pool_limit(self, pool: Any) -> int:
        """Return a limit in bytes."""
        everything = 16 << 30 if pool is MemoryPoolType.WORKSPACE else 0
        return self._limits.get(pool, everything)

    def set_preview_feature(self, feature: Any, enable: bool) -> None:  # noqa: FBT001 - as TensorRT
        """Switch a feature."""
        self._previews[feature] = enable

    def get_preview_feature(self, feature: Any) -> bool:
        """Whether a feature is on."""
        return self._previews.get(feature, False)

    def set_tactic_sources(self, tactic_sources: int) -> bool:
        """Set the mask of sources; nothing depends on it here."""
        self._sources = tactic_sources
        return True

    def get_tactic_sources(self) -> int:
        """Return the mask of sources."""
        return self._sources

    @property
    def num_optimization_profiles(self) -> int:
        """Number of profiles."""
        return len(self._profiles)

    def add_optimization_profile(self, profile: IOptimizationProfile) -> int:
        """Add a profile and return its index."""
        self._profiles.append(profile)
        return len(self._profiles) - 1

    def create_timing_cache(self, serialized_timing_cache: Any) -> ITimingCache | None:
        """Return a cache of what a file holds; an empty one for no bytes or for another version's."""
        content = bytes(serialized_timing_cache)
        entries: dict[int, CacheEntry] = {}
        if content:
            faults.strike(list(read().reading))
            try:
                entries = read_cache(content, VERSION)
            except BadFile as error:
                tell(self._logger, [Message("E", f"ITimingCache::create: Error Code 1: Serialization ({error})")])
        return ITimingCache(entries, editable=self._has("EDITABLE_TIMING_CACHE"))

    def set_timing_cache(self, cache: ITimingCache, ignore_mismatch: bool) -> bool:  # noqa: ARG002, FBT001 - as TensorRT
        """Let builds use a cache and complete it."""
        self._cache = cache
        return True

    def get_timing_cache(self) -> ITimingCache | None:
        """Return the cache that builds use."""
        return self._cache
