"""A build refuses what a timing cache cannot have."""

from __future__ import annotations

import pytest

from tests.emulator.engine.builder import Build, CacheEntry, Refused, Request
from tests.emulator.engine.net import Net, generate


def built(net: Net, **request: object) -> Build:
    made = Build(net, Request(**request))  # type: ignore[arg-type]
    made.run()
    return made


def test_a_key_with_a_tactic_of_another_layer_is_refused() -> None:
    net = generate(10, 1)
    cache: dict[int, CacheEntry] = {}
    built(net, luck="a", cache=cache)
    place, entry = next(iter(cache.items()))
    with pytest.raises(Refused, match="of the timing cache cannot implement"):
        built(net, luck="a", cache={**cache, place: CacheEntry(entry.tactic ^ (1 << 62), entry.ms)})
