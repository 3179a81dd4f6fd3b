"""A probe in a folder of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from trtforensics.bisection.runner.command import Urgency
from trtforensics.bisection.runner.probe import ProbeOutcome, ProbeSpec, run_probe

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


@pytest.fixture
def probe(tmp_path: Path) -> Callable[..., ProbeOutcome]:
    """Run a probe in a folder of its own."""

    def go(
        build: str | None, check: str | None, halt: Callable[[], Urgency] | None = None, **more: object
    ) -> ProbeOutcome:
        values = {"dir": str(tmp_path), "engine": str(tmp_path / "engine"), "items": str(tmp_path / "it's items")}
        spec = ProbeSpec(str(tmp_path), str(tmp_path), build, check, values, **more)  # type: ignore[arg-type]
        return run_probe(spec, halt or (lambda: Urgency.GO_ON))

    return go
