"""The log that the rows are made from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from trtforensics.model.log import BuildLog


@pytest.fixture
def log(session: Any) -> BuildLog:
    outcome: BuildLog = session.outcome
    return outcome
