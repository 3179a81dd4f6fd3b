"""Both sides of a bisection from one log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.pin_logs import KEY, OTHER, WON, key_log, layer_log
from trtforensics.bisection.levers.cache import pinned_caches
from trtforensics.bisection.levers.tactics import pinned_replays
from trtforensics.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

WANTED = "pin:accumulate=fp32"
BYTES = 1 << 20


def written(folder: Path, text: str) -> str:
    path = folder / "bad.log"
    path.write_text(text)
    return str(path)


def test_bad_is_what_the_build_chose_and_good_what_the_request_asks(tmp_path: Path) -> None:
    good, bad, told = pinned_replays(written(tmp_path, layer_log()), WANTED, max_bytes=BYTES)
    tactics = [[entry.tactic for entry in side.replays[0].entries] for side in (good, bad)]
    assert tactics == [[int(OTHER, 16)], [int(WON, 16)]]
    assert [(side["conv"]["accumulator"], side["conv"]["time_ms"]) for side in told] == [("Float", 0.75), ("Half", 0.5)]


def test_keys_are_those_of_the_log(tmp_path: Path) -> None:
    sides = pinned_caches(written(tmp_path, key_log()), WANTED, max_bytes=BYTES)
    found = [[(key.key, key.selected) for key in side.keys] for side in sides]
    assert found == [[(KEY, int(OTHER, 16))], [(KEY, int(WON, 16))]]


def test_a_request_that_changes_nothing_is_refused_with_the_reason(tmp_path: Path) -> None:
    log = written(tmp_path, layer_log(OTHER))
    with pytest.raises(UsageError, match="changes no tactic"):
        pinned_replays(log, WANTED, max_bytes=BYTES)
    with pytest.raises(UsageError, match=r"what stays \(1\) is such as conv \(\*f16f32\* is refused"):
        pinned_replays(log, "pin:not=*f16f32*,not=*f16f16*", max_bytes=BYTES)
