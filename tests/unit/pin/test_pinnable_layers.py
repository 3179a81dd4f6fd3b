"""What of a log a replay can pin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.pin_logs import OTHER, WON, V, layer_log
from trtforensics.errors import UsageError
from trtforensics.pin.pinnable import pinnable_layers

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog


def test_a_layer_offers_what_was_timed_in_the_formats_that_won(load: Callable[[str], BuildLog]) -> None:
    found = pinnable_layers([load(layer_log())])
    (slot,) = found.slots
    assert slot.identity == "conv"
    offers = [(one.tactic, one.time_ms, one.facts.accumulator, one.span.line) for one in slot.offers]
    assert offers == [(int(WON, 16), 0.5, "Half", 5), (int(OTHER, 16), 0.75, "Float", 4)]
    assert (found.total_ms, found.left_ms, found.runner_ids) == (0.5, 0.0, {"CaskConvolution": 0x80000009})


def test_a_tactic_of_other_formats_is_no_offer(load: Callable[[str], BuildLog]) -> None:
    other = [line for line in layer_log().splitlines() if "Information" not in line and "Layer(" not in line]
    lost = "\n".join(other).replace("Half(8,4,2,1)", "Float(8,4,2,1)").replace("211a", "9999").replace("0.5", "4.5")
    (slot,) = pinnable_layers([load(f"{lost}\n{layer_log()}")]).slots
    assert [one.tactic for one in slot.offers] == [int(WON, 16), int(OTHER, 16)]
    assert slot.won.time_ms == 0.5


def test_a_log_without_autotuning_is_refused(load: Callable[[str], BuildLog]) -> None:
    with pytest.raises(UsageError, match="has no autotuning"):
        pinnable_layers([load(f"{V}Original: 1 layers\n")])
