"""Logs that ran on different days, one that failed, one that is no log."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.repository import LOGS

if TYPE_CHECKING:
    from pathlib import Path

for _extra in ("pyarrow", "duckdb"):
    pytest.importorskip(_extra, reason="part of the extra `sql`")


def changed(text: str, day: int) -> str:
    """Return a log of another day, with the types of an option and a kernel changed."""
    return text.replace("[11/21/2026-", f"[11/{day:02}/2026-").replace("Precision: FP32+FP16", "Precision: FP32")


@pytest.fixture(scope="session")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of logs."""
    folder = tmp_path_factory.mktemp("logs")
    for path in LOGS.glob("*.log"):
        (folder / path.name).write_bytes(path.read_bytes())
    text = (LOGS / "emulated-trtexec-8.6.log").read_text("utf-8")
    (folder / "later.log").write_text(changed(text, 25).replace("_f16f16_f16f16_f16_", "_f32f32_f32f32_f32_"), "utf-8")
    (folder / "failed.log").write_text(changed(text, 24).replace("&&&& PASSED", "&&&& FAILED"), "utf-8")
    (folder / "poem.txt").write_text("no log at all\n", "utf-8")
    return folder
