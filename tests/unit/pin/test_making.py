"""From logs and a request to a plan, and from a plan to a replay or the keys of a timing cache."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.pin_logs import KEY, OTHER, WON, key_log, layer_log
from trtforensics.model.data_types import Accumulator
from trtforensics.pin.conditions import PinConditions
from trtforensics.pin.pinnable import pinnable_keys, pinnable_layers
from trtforensics.pin.plan import (
    PinForm,
    PinState,
    form_of,
    keys_of_plan,
    make_plan,
    plan,
    replay_of_plan,
    text_of_plan,
)
from trtforensics.sources.cache import load_timing_cache
from trtforensics.sources.replay import load_replay

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

BYTES = 1 << 20
SINGLE = PinConditions(Accumulator.FP32)


def test_a_log_with_keys_is_pinned_by_them_and_another_by_its_layers(load: Callable[[str], BuildLog]) -> None:
    assert form_of(load(key_log())) is PinForm.CACHE
    assert form_of(load(layer_log())) is PinForm.REPLAY


def test_the_same_as_another_log_is_what_that_build_chose(load: Callable[[str], BuildLog], tmp_path: Path) -> None:
    for text, form, identity in ((layer_log, PinForm.REPLAY, "conv"), (key_log, PinForm.CACHE, KEY)):
        good = tmp_path / "good.log"
        good.write_text(text(OTHER))
        made = make_plan([load(text(WON))], PinConditions(same_as=str(good)), form, max_bytes=BYTES)
        (one,) = made.pinned
        assert (one.slot.identity, one.state, one.offer.tactic) == (identity, PinState.CHANGED, int(OTHER, 16))


def test_a_replay_holds_the_tactic_that_is_pinned(load: Callable[[str], BuildLog], tmp_path: Path) -> None:
    pinnable = pinnable_layers([load(layer_log())])
    for conditions, tactic in ((PinConditions(), WON), (SINGLE, OTHER)):
        made = plan(pinnable, conditions)
        (entry,) = replay_of_plan(made).entries
        assert (entry.layer, entry.runner_id, entry.tactic) == ("conv", 0x80000009, int(tactic, 16))
        path = tmp_path / "pinned.json"
        path.write_text(text_of_plan(made))
        (read,) = load_replay(str(path)).entries
        assert (read.layer, read.tactic, read.inputs) == (entry.layer, entry.tactic, entry.inputs)


def test_keys_hold_the_tactic_that_is_pinned_and_its_time(load: Callable[[str], BuildLog], tmp_path: Path) -> None:
    pinnable = pinnable_keys([load(key_log())])
    assert pinnable.base is not None
    made = plan(pinnable, SINGLE)
    (key,) = keys_of_plan(made, pinnable.base).keys
    assert (key.key, key.selected, key.time_ms, len(key.candidates)) == (KEY, int(OTHER, 16), 0.2, 2)
    path = tmp_path / "pinned.json"
    path.write_text(text_of_plan(made))
    (read,) = load_timing_cache(str(path)).keys
    assert (read.key, read.selected, read.time_ms) == (key.key, key.selected, key.time_ms)
