"""Two logs that differ in one fusion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.diff_samples import log_with

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def two_logs(tmp_path: Path) -> tuple[str, str]:
    (tmp_path / "good.log").write_text(log_with(fused=True))
    (tmp_path / "bad.log").write_text(log_with(fused=False, pool_tactic=0x3))
    return str(tmp_path / "good.log"), str(tmp_path / "bad.log")
