"""Models are checked without the child process that tries nodes, but where a test is about it."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def untried(no_trials: None) -> None:
    """Let no node be tried."""
