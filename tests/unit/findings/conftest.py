"""Cases of logs in short notation."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.marked_logs import marked
from trtforensics.findings.case import Case

if TYPE_CHECKING:
    from collections.abc import Callable

    from trtforensics.model.log import BuildLog


@pytest.fixture
def case_of(load: Callable[[str], BuildLog]) -> Callable[[str], Case]:
    """Return what makes a case of a log in short notation."""

    def make(notation: str) -> Case:
        log = load(marked(notation).text)
        return Case(log.builds[0], log)

    return make
