"""What of a log timing-cache keys can pin."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.pin_logs import KEY, OTHER, WON, key_log, layer_log
from trtforensics.errors import UsageError
from trtforensics.pin.pinnable import pinnable_keys

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog


def test_an_operation_offers_the_rows_of_its_table(load: Callable[[str], BuildLog]) -> None:
    (slot,) = pinnable_keys([load(key_log())]).slots
    assert (slot.name, slot.identity, slot.in_engine) == ("mm", KEY, True)
    offers = [(one.tactic, one.time_ms, one.facts.accumulator) for one in slot.offers]
    assert offers == [(int(WON, 16), 0.1, "Half"), (int(OTHER, 16), 0.2, "Float")]


def test_a_layer_outside_foreign_nodes_is_left_out_with_its_line(load: Callable[[str], BuildLog]) -> None:
    found = pinnable_keys([load(layer_log() + key_log())])
    assert [(one.layer, one.span.line) for one in found.left_out] == [("conv", 5)]
    assert "no timing-cache key" in found.left_out[0].why


def test_a_log_without_keys_is_refused(load: Callable[[str], BuildLog]) -> None:
    with pytest.raises(UsageError, match="prints no keys"):
        pinnable_keys([load(layer_log())])
