"""The ticket of a probe, and the claims of the workers that run it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from trtforensics.bisection.runner import executors

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


def test_a_probe_goes_on_until_its_ticket_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PATIENCE_S", 0.1)
    executors.issue_ticket(tmp_path, "word")
    with executors.claimed_ticket(tmp_path, "word") as may_go_on:
        assert may_go_on()
        executors.revoke_ticket(tmp_path)
        assert not may_go_on()
    assert not list(tmp_path.glob(".runs-*"))


def test_a_later_worker_ends_an_earlier_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executors, "_PATIENCE_S", 0.1)
    executors.issue_ticket(tmp_path, "word")
    with executors.claimed_ticket(tmp_path, "word") as first, executors.claimed_ticket(tmp_path, "word") as second:
        assert (first(), second()) == (False, True)
