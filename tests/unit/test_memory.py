"""A command runs without the garbage collector, and leaves it as it was."""

from __future__ import annotations

import gc
import sys

import pytest

from trtforensics import memory


@pytest.mark.parametrize("enabled", [True, False])
def test_the_collector_is_off_while_a_command_runs_and_then_as_before(enabled: bool) -> None:  # noqa: FBT001
    before = gc.isenabled()
    (gc.enable if enabled else gc.disable)()
    try:
        with memory.of_one_command():
            assert not gc.isenabled()
        assert gc.isenabled() is enabled
    finally:
        (gc.enable if before else gc.disable)()


def test_where_the_c_library_cannot_be_asked_a_command_runs_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ctypes", None)
    with memory.of_one_command():
        pass
