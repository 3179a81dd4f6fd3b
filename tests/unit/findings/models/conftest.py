"""Models are checked without the child process that tries nodes, but where a test is about it."""

from __future__ import annotations

import pytest

from trtforensics.onnx_models import trying


@pytest.fixture(autouse=True)
def no_trials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no node be tried."""
    monkeypatch.setattr(trying, "PATIENCE_S", 0)
