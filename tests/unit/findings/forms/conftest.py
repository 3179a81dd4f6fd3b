"""The log of the seed case, for every form."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.emulator.engine.foreign import Transformer

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def seed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The log of the seed case, in the working directory, under a name that a URI must escape."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a b#1.log"
    path.write_text(Transformer(precisions="/layers.*LayerNormalization:fp32", constraints="obey").log().text())
    return path
