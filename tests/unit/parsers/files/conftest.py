"""What reads a text as engine layers, and what reads it as a profile."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.parsers.files.layer_json import read_layer_json
from trtforensics.parsers.files.profile_json import read_profile_json
from trtforensics.parsers.text.document import read_document

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from trtforensics.model.engine import EngineInfo, ProfileInfo


@pytest.fixture
def layers(tmp_path: Path) -> Callable[[str], EngineInfo]:
    def read(text: str) -> EngineInfo:
        (tmp_path / "layers.json").write_text(text, encoding="utf-8")
        return read_layer_json(read_document(str(tmp_path / "layers.json")))

    return read


@pytest.fixture
def profile(tmp_path: Path) -> Callable[[str], ProfileInfo]:
    def read(text: str) -> ProfileInfo:
        (tmp_path / "profile.json").write_text(text, encoding="utf-8")
        return read_profile_json(read_document(str(tmp_path / "profile.json")))

    return read
