"""From logs and a request to a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.pin_logs import KEY, OTHER, WON, key_log, layer_log
from trtforensics.pin.conditions import PinRequest
from trtforensics.pin.making import PinForm, form_of, make_plan
from trtforensics.pin.plan import PinState

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.log import BuildLog

BYTES = 1 << 20


def test_a_log_with_keys_is_pinned_by_them_and_another_by_its_layers(load: Callable[[str], BuildLog]) -> None:
    assert form_of(load(key_log())) is PinForm.CACHE
    assert form_of(load(layer_log())) is PinForm.REPLAY


def test_the_same_as_another_log_is_what_that_build_chose(load: Callable[[str], BuildLog], tmp_path: Path) -> None:
    for text, form, identity in ((layer_log, PinForm.REPLAY, "conv"), (key_log, PinForm.CACHE, KEY)):
        good = tmp_path / "good.log"
        good.write_text(text(OTHER))
        made = make_plan([load(text(WON))], PinRequest(same_as=str(good)), form, max_bytes=BYTES)
        (one,) = made.pinned
        assert (one.slot.identity, one.state, one.offer.tactic) == (identity, PinState.CHANGED, int(OTHER, 16))
